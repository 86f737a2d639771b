package store

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

type lease int

const (
	noLease lease = iota
	readLease
	writeLease
)

// How long reading waits for whoever writes. A save takes milliseconds; a
// program that keeps a file open for writing is not waited for any longer, its
// file is read between two equal stats.
const (
	readWait  = 250 * time.Millisecond
	writeWait = 2 * time.Second
	leaseStep = 200 * time.Microsecond
	statPause = 2 * time.Millisecond
	statTries = 100
	// calm is the age above which a file is not being written in the very
	// moment in which it is read.
	calm = time.Second
)

// contents are the bytes of a file and what the kernel said about them.
type contents struct {
	data  []byte
	stat  unix.Stat_t
	attrs []attr        // only when asked for
	mark  func() string // of data, computed once
}

func marking(data []byte) func() string {
	return sync.OnceValue(func() string { return markOf(data) })
}

// Read returns a file as it is between two saves, never the middle of one.
func (s *Store) Read(rel string) ([]byte, Info, error) {
	p, err := s.find(rel)
	if err != nil {
		return nil, Info{}, wrap(rel, err)
	}
	defer p.close()
	ctx, cancel := context.WithTimeout(context.Background(), readWait)
	defer cancel()
	c, err := s.read(ctx, p.dir, p.base, false)
	if errors.Is(err, ErrBusy) {
		c, err = s.readStable(p.dir, p.base, false)
	}
	if err != nil {
		return nil, Info{}, wrap(rel, err)
	}
	return c.data, infoOf(&c.stat), nil
}

func infoOf(st *unix.Stat_t) Info {
	return Info{ModTime: time.Unix(mtime(st)), CTime: time.Unix(ctime(st)), Size: st.Size, Inode: st.Ino}
}

// read reads under a read lease, waiting for writers until ctx ends (ErrBusy).
// Without leases it reads between two equal stats.
func (s *Store) read(ctx context.Context, dir *os.File, base string, attrs bool) (contents, error) {
	for {
		c, err := s.readOnce(dir, base, attrs)
		if !errors.Is(err, ErrBusy) {
			return c, err
		}
		if err := sleep(ctx, leaseStep); err != nil {
			return contents{}, ErrBusy
		}
	}
}

func (s *Store) readOnce(dir *os.File, base string, attrs bool) (contents, error) {
	f, err := s.openFile(dir, base)
	if err != nil {
		return contents{}, err
	}
	defer f.Close()
	switch err := s.disk.lease(f, readLease); {
	case err == nil:
		defer func() { _ = s.disk.lease(f, noLease) }()
		return s.readOpen(f, attrs)
	case errors.Is(err, unix.EAGAIN):
		return contents{}, ErrBusy
	}
	return s.readStable(dir, base, attrs)
}

// openFile opens what should be a regular file; somebody else's write lease is
// ErrBusy.
func (s *Store) openFile(dir *os.File, base string) (*os.File, error) {
	f, err := s.disk.open(dir, base)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return nil, ErrBusy
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO):
		return nil, ErrNotFile
	}
	return f, err
}

func (s *Store) readOpen(f *os.File, attrs bool) (c contents, err error) {
	if c.stat, err = s.disk.fstat(f); err != nil {
		return c, err
	}
	if c.stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return c, ErrNotFile
	}
	if c.stat.Size > maxSize {
		return c, ErrTooLarge
	}
	if c.data, err = s.disk.readAll(f, c.stat.Size); err != nil {
		return c, err
	}
	c.mark = marking(c.data)
	if attrs {
		c.attrs, err = readAttrs(f)
	}
	return c, err
}

// readStable reads until the file was the same before and after, for at least
// a pause when it is young.
func (s *Store) readStable(dir *os.File, base string, attrs bool) (contents, error) {
	for range statTries {
		c, same, err := s.readTwice(dir, base, attrs)
		if err != nil || same {
			return c, err
		}
	}
	return contents{}, ErrBusy
}

func (s *Store) readTwice(dir *os.File, base string, attrs bool) (c contents, same bool, err error) {
	f, err := s.openFile(dir, base)
	if err != nil {
		return c, false, err
	}
	defer f.Close()
	if c, err = s.readOpen(f, attrs); err != nil {
		return c, false, err
	}
	if time.Since(time.Unix(ctime(&c.stat))).Abs() < calm {
		time.Sleep(statPause)
	}
	after, err := s.disk.stat(dir, base)
	if err != nil {
		return c, false, err
	}
	return c, sameFile(&c.stat, &after) && int64(len(c.data)) == after.Size, nil
}

// sameFile reports that nothing was written between two stats.
func sameFile(a, b *unix.Stat_t) bool {
	return a.Ino == b.Ino && a.Size == b.Size && a.Mtim == b.Mtim && a.Ctim == b.Ctim
}

// lease asks for a lease on f or gives it back. EAGAIN: somebody has it open.
func (d *disk) lease(f *os.File, l lease) error {
	if d.noLease {
		return unix.ENOTSUP
	}
	return setLease(fdOf(f), l)
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
