package store

import (
	"io"
	"os"
)

// Glancer reads files as they are at this moment, perhaps in the middle of a
// save, without asking anybody to wait. It is for telling the few files that
// matter from the many that do not; what is decided on is read with Read. It is
// used by one goroutine.
type Glancer struct {
	store *Store
	dir   *os.File // the work folder, once it was opened
	buf   []byte
}

// glance is how much a glancer has room for at first: nearly every note.
const glance = 64 << 10

// Glancer makes one; the caller closes it.
func (s *Store) Glancer() *Glancer {
	if buf, ok := s.glances.Get().(*[glance]byte); ok {
		return &Glancer{store: s, buf: buf[:]}
	}
	return &Glancer{store: s, buf: make([]byte, glance)}
}

// Close lets go of the work folder, and leaves the room to the next one.
func (g *Glancer) Close() {
	if g.dir != nil {
		g.dir.Close()
	}
	if len(g.buf) == glance {
		g.store.glances.Put((*[glance]byte)(g.buf))
	}
}

// Head returns what a file begins with, all of it when it is not long; it is
// valid until the next call.
func (g *Glancer) Head(rel string) ([]byte, error) {
	f, err := g.open(rel)
	if err != nil {
		return nil, wrap(rel, err)
	}
	defer f.Close()
	n, err := io.ReadFull(f, g.buf[:glance])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, wrap(rel, err)
	}
	return g.buf[:n], nil
}

// Read returns what a file holds; it is valid until the next call.
func (g *Glancer) Read(rel string) ([]byte, error) {
	f, err := g.open(rel)
	if err != nil {
		return nil, wrap(rel, err)
	}
	defer f.Close()
	for n := 0; ; {
		m, err := f.Read(g.buf[n:])
		if n += m; err == io.EOF {
			return g.buf[:n], nil
		}
		if err != nil {
			return nil, wrap(rel, err)
		}
		if n == len(g.buf) {
			// Before there is room for it: twice 64 MB for each reader would be a lot.
			if info, err := g.store.root.Stat(rel); n > maxSize || err == nil && info.Size() > maxSize {
				return nil, wrap(rel, ErrTooLarge)
			}
			g.buf = append(g.buf, make([]byte, len(g.buf))...)
		}
	}
}
