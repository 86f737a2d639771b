package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxHops bounds a chain of symbolic links, as the kernel does.
const maxHops = 40

// place is where a file is: an open folder inside the root, and a name in it
// that is no link. Everything is done relative to the open folder, so nothing
// that happens to the path meanwhile can lead a write elsewhere.
type place struct {
	rel     string // as asked
	dirName string // the folder's path; may lead through links, never outside
	dir     *os.File
	base    string
	key     string // for a write: one for each file, by whatever path it was found
}

func (p place) close() { p.dir.Close() }

// refused tells that a folder may not be written from all else that can go
// wrong in it: waiting does not help then, and the file itself may be fine.
func (p place) refused(err error) error { return refused(p.dirName, err) }

func refused(dir string, err error) error {
	name := "the folder " + dir
	if dir == "." {
		name = "the work folder"
	}
	if errno := denial(err); errno != 0 {
		return fmt.Errorf("%w: %w for %s", ErrReadOnly, errno, name)
	}
	return err
}

// denial is the system's word for something that may not be written, 0 when
// err is about something else.
func denial(err error) unix.Errno {
	for _, errno := range [...]unix.Errno{unix.EACCES, unix.EPERM, unix.EROFS} {
		if errors.Is(err, errno) {
			return errno
		}
	}
	return 0
}

// locate finds where rel is, also when nothing is there, for a write. The caller
// closes it.
func (s *Store) locate(rel string) (place, error) {
	p, err := s.find(rel)
	if err != nil {
		return p, err
	}
	return p.keyed()
}

// find is locate for a read, which needs no key.
func (s *Store) find(rel string) (place, error) {
	if !filepath.IsLocal(rel) || strings.HasSuffix(rel, "/") || rel == "." {
		return place{}, ErrOutside
	}
	at := rel
	for range maxHops {
		p, link, err := s.step(rel, at)
		if err != nil || link == "" {
			return p, err
		}
		p.close()
		if strings.HasPrefix(link, "/") {
			return place{}, ErrLink
		}
		// Not cleaned: ".." after a linked folder means the parent of its target.
		at = p.dirName + "/" + link
	}
	return place{}, unix.ELOOP
}

// step opens the folder of at and reads the link there, if it is one.
func (s *Store) step(rel, at string) (p place, link string, err error) {
	dirName, base := ".", at
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		dirName, base = at[:i], at[i+1:]
	}
	if base == "." || base == ".." || base == "" {
		return place{}, "", ErrNotFile
	}
	dir, err := s.openDir(dirName)
	if err != nil {
		return place{}, "", err
	}
	p = place{rel: rel, dirName: dirName, dir: dir, base: base}
	if link, err = readLink(dir, base); err != nil {
		p.close()
		return place{}, "", err
	}
	return p, link, nil
}

// openDir opens a folder of the root. os.Root says that a path escapes by an
// error that is no system error, which is how it is told apart.
func (s *Store) openDir(name string) (*os.File, error) {
	if err := s.disk.at(pointOpen); err != nil {
		return nil, err
	}
	dir, err := s.root.OpenFile(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		return nil, ErrLink
	}
	return dir, err
}

// keyed sets the key, or closes the place.
func (p place) keyed() (place, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fdOf(p.dir), &st) }); err != nil {
		p.close()
		return place{}, err
	}
	p.key = fmt.Sprintf("%d:%d/%s", st.Dev, st.Ino, p.base)
	return p, nil
}

// readLink returns where base links to, or nothing when it is no link or is
// not there.
func readLink(dir *os.File, base string) (string, error) {
	buf := make([]byte, unix.PathMax)
	var n int
	err := retry(func() (err error) {
		n, err = unix.Readlinkat(fdOf(dir), base, buf)
		return err
	})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return "", nil
	}
	return strings.TrimRight(string(buf[:n]), "/"), err
}

// locks lets one writer at a time touch a file.
type locks struct {
	mu   sync.Mutex
	held map[string]*lockEntry // guarded by mu
}

type lockEntry struct {
	token chan struct{} // holds one value while somebody has the lock
	users int           // guarded by locks.mu
}

func newLocks() *locks { return &locks{held: map[string]*lockEntry{}} }

// lock waits for the lock of key or the end of ctx.
func (l *locks) lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	e := l.held[key]
	if e == nil {
		e = &lockEntry{token: make(chan struct{}, 1)}
		l.held[key] = e
	}
	e.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if e.users--; e.users == 0 {
			delete(l.held, key)
		}
	}
	select {
	case e.token <- struct{}{}:
		return func() { <-e.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
