//go:build !linux

package mirror

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const nonblock = unix.O_NONBLOCK

// clone is not to be had of open files here.
func clone(_, _ *os.File) error { return errors.ErrUnsupported }
