package store

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// disk makes every file operation of a write, so that one place knows the
// system calls and one place can make them fail. A point names what is about
// to be done; a test can refuse it, end the process at it, or save a file as
// an editor would at exactly this moment.
type disk struct {
	fault      func(point string) error // nil: no faults
	noLease    bool                     // as on macOS and NFS
	noExchange bool                     // as on some FUSE file systems
	noUnnamed  bool                     // as on macOS and NFS
}

// The points, in the order in which a swap meets them.
const (
	pointOpen     = "open"
	pointRead     = "read"
	pointLog      = "log"
	pointLogSync  = "logsync"
	pointCreate   = "create"
	pointWrite    = "write"
	pointAttrs    = "attrs"
	pointSync     = "sync"
	pointName     = "name"
	pointExchange = "exchange"
	pointSyncDir  = "syncdir"
	pointCompare  = "compare"
	pointRename   = "rename"
	pointMkdir    = "mkdir"
	pointAppend   = "append"
	pointRemove   = "remove"
)

func (d *disk) at(point string) error {
	if d.fault == nil {
		return nil
	}
	return d.fault(point)
}

// retry repeats a system call that a signal interrupted: the runtime's own
// preemption signals reach slow file systems.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func fdOf(f *os.File) int { return int(f.Fd()) }

// open opens name in dir for reading and nothing else: no link is followed, no
// pipe and no foreign write lease is waited for.
func (d *disk) open(dir *os.File, name string) (*os.File, error) {
	if err := d.at(pointOpen); err != nil {
		return nil, err
	}
	fd, err := openFD(dir, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	// Reading a file never blocks; package os would try to poll it.
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0)
	return os.NewFile(uintptr(fd), name), err
}

func (d *disk) create(dir *os.File, name string, mode uint32) (*os.File, error) {
	if err := d.at(pointCreate); err != nil {
		return nil, err
	}
	return d.openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
}

// createUnnamed makes a file in dir that has no name before name gives it one,
// and that is gone with its descriptor until then. ENOTSUP: the file system has
// no such files.
func (d *disk) createUnnamed(dir *os.File, mode uint32) (*os.File, error) {
	if d.noUnnamed {
		return nil, unix.ENOTSUP
	}
	if err := d.at(pointCreate); err != nil {
		return nil, err
	}
	var fd int
	err := retry(func() (err error) {
		fd, err = openUnnamed(fdOf(dir), mode)
		return err
	})
	if missing(err) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENOENT) { // what older kernels say
		return nil, unix.ENOTSUP
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "a file without a name"), nil
}

func (d *disk) name(f, dir *os.File, name string) error {
	if err := d.at(pointName); err != nil {
		return err
	}
	return retry(func() error { return linkUnnamed(fdOf(f), fdOf(dir), name) })
}

func (d *disk) openat(dir *os.File, name string, flags int, mode uint32) (*os.File, error) {
	fd, err := openFD(dir, name, flags, mode)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func openFD(dir *os.File, name string, flags int, mode uint32) (fd int, err error) {
	err = retry(func() (err error) {
		fd, err = unix.Openat(fdOf(dir), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, err
}

// write fails like a full disk does, when it is made to fail: in the middle.
func (d *disk) write(f *os.File, data []byte) error {
	if err := d.at(pointWrite); err != nil {
		_, _ = f.Write(data[:len(data)/2])
		return err
	}
	_, err := f.Write(data)
	return err
}

func (d *disk) sync(f *os.File) error {
	if err := d.at(pointSync); err != nil {
		return err
	}
	return f.Sync()
}

func (d *disk) syncDir(dir *os.File) error {
	if err := d.at(pointSyncDir); err != nil {
		return err
	}
	err := dir.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // some network file systems cannot sync a folder
	}
	return err
}

// exchange swaps two names of one folder: afterwards temp is what base was.
// ENOENT means that base is not there.
func (d *disk) exchange(dir *os.File, temp, base string) error {
	if err := d.at(pointExchange); err != nil {
		return err
	}
	err := error(unix.ENOTSUP)
	if !d.noExchange {
		err = retry(func() error { return exchange(fdOf(dir), temp, base) })
	}
	if missing(err) {
		return d.exchangeByLink(dir, temp, base)
	}
	return err
}

// exchangeByLink does in three steps what the file system cannot do in one.
// What base was is kept under a second name first, so that a save into the
// same file in between is found by the comparison; a save by rename in between
// is not. This is what doctor warns of.
func (d *disk) exchangeByLink(dir *os.File, temp, base string) error {
	held := temp + "~"
	fd := fdOf(dir)
	if err := retry(func() error { return unix.Linkat(fd, base, fd, held, 0) }); err != nil {
		return err
	}
	if err := retry(func() error { return unix.Renameat(fd, temp, fd, base) }); err != nil {
		_ = unix.Unlinkat(fd, held, 0)
		return err
	}
	return retry(func() error { return unix.Renameat(fd, held, fd, temp) })
}

// renameNew gives temp the name base, unless there is one: EEXIST.
func (d *disk) renameNew(dir *os.File, temp, base string) error {
	return d.renameAcross(dir, temp, dir, base)
}

// renameAcross is renameNew from one folder to another.
func (d *disk) renameAcross(dir *os.File, name string, toDir *os.File, to string) error {
	if err := d.at(pointRename); err != nil {
		return err
	}
	fd, toFD := fdOf(dir), fdOf(toDir)
	err := error(unix.ENOTSUP)
	if !d.noExchange {
		err = retry(func() error { return renameNew(fd, name, toFD, to) })
	}
	if !missing(err) {
		return err
	}
	if err := retry(func() error { return unix.Linkat(fd, name, toFD, to, 0) }); err != nil {
		return err
	}
	return retry(func() error { return unix.Unlinkat(fd, name, 0) })
}

func (d *disk) remove(dir *os.File, name string) error {
	if err := d.at(pointRemove); err != nil {
		return err
	}
	return retry(func() error { return unix.Unlinkat(fdOf(dir), name, 0) })
}

func (d *disk) stat(dir *os.File, name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(fdOf(dir), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return st, err
}

func (d *disk) fstat(f *os.File) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(fdOf(f), &st) })
	return st, err
}

// readAll reads an open file from its start. One read tells the end of a file
// that has the size it was said to have.
func (d *disk) readAll(f *os.File, size int64) ([]byte, error) {
	if err := d.at(pointRead); err != nil {
		return nil, err
	}
	buf := make([]byte, size+1)
	for at := 0; ; {
		if at > maxSize {
			return nil, ErrTooLarge
		}
		n, err := pread(f, buf[at:], at)
		at += n
		if err != nil || n == 0 || at == int(size) {
			return buf[:at], err
		}
		if at == len(buf) { // it has grown
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

func pread(f *os.File, buf []byte, at int) (n int, err error) {
	err = retry(func() (err error) {
		n, err = unix.Pread(fdOf(f), buf, int64(at))
		return err
	})
	return max(n, 0), err
}

// holds reports whether the open file is want, byte for byte. It needs no
// second copy of a large board.
func (d *disk) holds(f *os.File, want []byte) (bool, error) {
	if err := d.at(pointRead); err != nil {
		return false, err
	}
	buf := make([]byte, 64<<10)
	for at := 0; ; {
		n, err := pread(f, buf, at)
		if err != nil || n == 0 {
			return err == nil && at == len(want), err
		}
		if n > len(want)-at || !bytes.Equal(buf[:n], want[at:at+n]) {
			return false, nil
		}
		at += n
	}
}

// missing reports that the file system does not have an operation.
func missing(err error) bool {
	return errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL)
}
