//go:build !race

package load

const (
	raced  = false
	fewest = 6000 // lines of an agent: enough that all are at it at the same time
)
