//go:build !linux

package harness

import "context"

// Sweep does nothing here and says so.
func Sweep(context.Context, string, []string) (ended, kept []Proc, err error) {
	return nil, nil, ErrNotSwept
}
