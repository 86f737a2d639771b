package mirror

import (
	"os"

	"golang.org/x/sys/unix"
)

const nonblock = unix.O_NONBLOCK

// clone lets a new file share the bytes of another, as btrfs, XFS and bcachefs can.
func clone(to, from *os.File) error { return unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) }
