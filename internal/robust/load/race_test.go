//go:build race

package load

const raced = true
