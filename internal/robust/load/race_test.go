//go:build race

package load

// With the race detector a program is several times as large and as slow.
const (
	raced  = true
	fewest = 1500
)
