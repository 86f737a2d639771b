package store

import (
	"bytes"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// attr is an extended attribute: labels, access lists, what editors keep.
type attr struct {
	name  string
	value []byte
}

func readAttrs(f *os.File) ([]attr, error) {
	names, err := growing(func(buf []byte) (int, error) { return unix.Flistxattr(fdOf(f), buf) })
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var attrs []attr
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		value, err := growing(func(buf []byte) (int, error) { return unix.Fgetxattr(fdOf(f), name, buf) })
		if err != nil {
			return nil, err
		}
		attrs = append(attrs, attr{name, bytes.Clone(value)})
	}
	return attrs, nil
}

// growing calls a read of unknown length with a larger and larger buffer. What
// the file system does not have or does not show is empty.
func growing(read func([]byte) (int, error)) ([]byte, error) {
	for size := 1 << 10; ; size *= 4 {
		buf := make([]byte, size)
		n, err := read(buf)
		switch {
		case err == nil:
			return buf[:n], nil
		case errors.Is(err, unix.ERANGE) && size < 1<<20:
			continue
		case notAllowed(err):
			return nil, nil
		default:
			return nil, err
		}
	}
}

// setAttrs makes the temp file what the file it replaces was. What only root
// may set is left out, and when the group cannot be kept the file shows the new
// group no more than it showed everybody.
func (d *disk) setAttrs(f *os.File, c *contents) error {
	if err := d.at(pointAttrs); err != nil {
		return err
	}
	mode := uint32(c.stat.Mode) & 0o7777
	uid, gid := int(c.stat.Uid), int(c.stat.Gid)
	if unix.Fchown(fdOf(f), uid, gid) != nil && unix.Fchown(fdOf(f), -1, gid) != nil {
		mode = mode&^0o070 | mode&0o007<<3
	}
	if err := unix.Fchmod(fdOf(f), mode); err != nil {
		return err
	}
	for _, a := range c.attrs {
		if err := unix.Fsetxattr(fdOf(f), a.name, a.value, 0); err != nil && !notAllowed(err) {
			return err
		}
	}
	return nil
}

func notAllowed(err error) bool {
	return missing(err) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES)
}
