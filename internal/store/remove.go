package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrChanged: the file is not what the caller took it for. Nothing was done.
var ErrChanged = errors.New("changed meanwhile")

// Plain refuses a path that leads through a symbolic link or to one, or that is
// no path inside. What is not there is no link.
func (s *Store) Plain(rel string) error {
	if !local(rel) {
		return wrap(rel, ErrOutside)
	}
	for i := range len(rel) + 1 {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		p, link, err := s.step(rel, rel[:i])
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		if err != nil {
			return wrap(rel, err)
		}
		p.close()
		if link != "" {
			return wrap(rel, fmt.Errorf("%s is a symbolic link", rel[:i]))
		}
	}
	return nil
}

// local reports whether rel is a clean path of a file inside.
func local(rel string) bool {
	return rel != "." && rel != ".." && path.Clean(rel) == rel && !strings.HasPrefix(rel, "/") && !strings.HasPrefix(rel, "../")
}

// Replace puts after in the place of before, at once: ErrChanged when the file is
// neither. A person's save that falls into it stays.
func (s *Store) Replace(ctx context.Context, rel string, before, after []byte) error {
	_, err := s.UpdateNow(ctx, rel, func(cur []byte) ([]byte, error) {
		switch {
		case cur != nil && bytes.Equal(cur, after):
			return cur, nil
		case cur == nil || !bytes.Equal(cur, before):
			return nil, ErrChanged
		}
		return after, nil
	})
	return err
}

// Remove takes the file away if it holds want: ErrChanged when it does not, or is
// not there. It is renamed first and looked at then, so that a person's save
// that falls into it goes back to its place; the copy is kept for Grace.
func (s *Store) Remove(ctx context.Context, rel string, want []byte) error {
	return wrap(rel, s.remove(ctx, rel, want))
}

func (s *Store) remove(ctx context.Context, rel string, want []byte) error {
	p, err := s.locate(rel)
	if err != nil {
		return absent(err)
	}
	defer p.close()
	unlock, err := s.keys.lock(ctx, p.key)
	if err != nil {
		return err
	}
	defer unlock()
	cur, err := s.expect(ctx, p, want)
	if err != nil {
		return err
	}
	temp := tempName()
	// Recovery reads the rows so: what is in temp and is what was read may go,
	// anything else gets its name back.
	for _, row := range []swapRow{
		{Do: doBegin, Temp: temp, Dir: p.dirName, File: p.base}, {Do: doReady, Temp: temp, Read: cur.mark()},
	} {
		if err := s.log.add(row); err != nil {
			return err
		}
	}
	if err := s.log.sync(); err != nil {
		return err
	}
	if err := s.disk.renameNew(p.dir, p.base, temp); err != nil {
		s.log.gone(temp)
		return absent(p.refused(err))
	}
	unsynced := s.disk.syncDir(p.dir)
	came, same, err := s.readOut(p, temp, want)
	if same || err != nil { // what cannot be read now is looked at later
		s.setAside(p, temp, cur, false, func(now []byte) ([]byte, error) { return now, nil })
		return unsynced
	}
	return s.putBack(p, temp, came.data)
}

// putBack gives a person's save its name again. Another file has it: then that is
// the newer state, and this one is kept.
func (s *Store) putBack(p place, temp string, data []byte) error {
	err := s.disk.renameNew(p.dir, temp, p.base)
	switch {
	case errors.Is(err, ErrExists):
		if !s.keep(p, temp, data) {
			return errors.Join(ErrChanged, err)
		}
	case err != nil:
		return errors.Join(ErrChanged, p.refused(err)) // the next start puts it back
	default:
		s.log.gone(temp)
	}
	return errors.Join(ErrChanged, s.disk.syncDir(p.dir))
}

// Move gives the file another name, if it holds want and no file has that name:
// ErrChanged, ErrExists. A person's save that falls into it goes back.
func (s *Store) Move(ctx context.Context, from, to string, want []byte) error {
	return wrap(from, s.move(ctx, from, to, want))
}

func (s *Store) move(ctx context.Context, from, to string, want []byte) error {
	p, err := s.locate(from)
	if err != nil {
		return absent(err)
	}
	defer p.close()
	q, err := s.locateNew(to)
	if err != nil {
		return err
	}
	defer q.close()
	unlock, err := s.lockBoth(ctx, p.key, q.key)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := s.expect(ctx, p, want); err != nil {
		return err
	}
	if err := s.disk.renameAcross(p.dir, p.base, q.dir, q.base); err != nil {
		return absent(p.refused(err))
	}
	if _, same, err := s.readOut(q, q.base, want); err == nil && !same {
		back := s.disk.renameAcross(q.dir, q.base, p.dir, p.base)
		return errors.Join(ErrChanged, back, s.disk.syncDir(q.dir), s.disk.syncDir(p.dir))
	}
	return errors.Join(s.disk.syncDir(q.dir), s.disk.syncDir(p.dir))
}

// lockBoth takes two locks, always in the same order.
func (s *Store) lockBoth(ctx context.Context, a, b string) (func(), error) {
	if a == b {
		return nil, ErrExists
	}
	first, err := s.keys.lock(ctx, min(a, b))
	if err != nil {
		return nil, err
	}
	second, err := s.keys.lock(ctx, max(a, b))
	if err != nil {
		first()
		return nil, err
	}
	return func() { second(); first() }, nil
}

// expect reads a file that should hold want and may be written.
func (s *Store) expect(ctx context.Context, p place, want []byte) (*contents, error) {
	u := &update{s: s, p: p}
	cur, err := u.read(ctx)
	switch {
	case errors.Is(err, errAgain):
		return nil, ErrChanged
	case err != nil:
		return nil, err
	case !bytes.Equal(cur.data, want):
		return nil, ErrChanged
	}
	return &cur, u.writable(&cur)
}

// absent makes of a file that is not there one that has changed.
func absent(err error) error {
	if errors.Is(err, unix.ENOENT) {
		return ErrChanged
	}
	return err
}
