package store

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func exchange(dir int, a, b string) error {
	return unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
}

func renameNew(dir int, from string, toDir int, to string) error {
	return unix.Renameat2(dir, from, toDir, to, unix.RENAME_NOREPLACE)
}

// openUnnamed needs /proc for the name that comes later: without, there is none.
func openUnnamed(dir int, mode uint32) (int, error) {
	if err := unix.Access(descriptors, unix.F_OK); err != nil {
		return -1, err
	}
	return unix.Openat(dir, ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, mode)
}

const descriptors = "/proc/self/fd/"

func linkUnnamed(fd, dir int, name string) error {
	return unix.Linkat(unix.AT_FDCWD, descriptors+strconv.Itoa(fd), dir, name, unix.AT_SYMLINK_FOLLOW)
}

// setLease asks for a lease, or gives it back. The kernel grants a read lease
// when nobody has the file open for writing, a write lease when nobody has it
// open at all, and makes whoever opens it then wait until it is given back:
// never hold one across work, and never open a leased file a second time.
func setLease(fd int, l lease) error {
	kind := unix.F_UNLCK
	switch l {
	case readLease:
		kind = unix.F_RDLCK
	case writeLease:
		kind = unix.F_WRLCK
	}
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, kind)
	return err
}

func ctime(st *unix.Stat_t) (sec, nsec int64) { return st.Ctim.Unix() }
func mtime(st *unix.Stat_t) (sec, nsec int64) { return st.Mtim.Unix() }

// dataSync makes appended rows durable without the times of the file.
func dataSync(f *os.File) error { return retry(func() error { return unix.Fdatasync(fdOf(f)) }) }
