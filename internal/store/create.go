package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Create writes a new file, durable, with the folders above it. ErrExists when
// anything has that name, a link too.
func (s *Store) Create(ctx context.Context, rel string, data []byte) error {
	return wrap(rel, s.create(ctx, rel, data))
}

func (s *Store) create(ctx context.Context, rel string, data []byte) error {
	p, err := s.locateNew(rel)
	if err != nil {
		return err
	}
	defer p.close()
	unlock, err := s.keys.lock(ctx, p.key)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := s.root.Lstat(rel); err == nil {
		return ErrExists
	}
	_, err = s.install(p, data)
	return err
}

// locateNew locates a file whose folders may be missing; they are made.
func (s *Store) locateNew(rel string) (place, error) {
	p, err := s.locate(rel)
	if !errors.Is(err, unix.ENOENT) {
		return p, err
	}
	if err := s.mkdirs(path.Dir(rel)); err != nil {
		return place{}, err
	}
	return s.locate(rel)
}

// mkdirs makes a folder and those above it, each synced into its parent.
func (s *Store) mkdirs(rel string) error {
	if rel == "." {
		return nil
	}
	for i := range len(rel) + 1 {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		if err := s.mkdir(rel[:i]); err != nil {
			return fmt.Errorf("folder %s: %w", rel[:i], err)
		}
	}
	return nil
}

func (s *Store) mkdir(rel string) error {
	if err := s.disk.at(pointMkdir); err != nil {
		return err
	}
	err := s.root.Mkdir(rel, 0o755)
	if errors.Is(err, ErrExists) {
		return nil
	}
	if err != nil {
		return refused(path.Dir(rel), err)
	}
	parent, err := s.openDir(path.Dir(rel))
	if err != nil {
		return err
	}
	defer parent.Close()
	return s.disk.syncDir(parent)
}

// Append adds whole lines to a file of ours, durable, and makes it when it is
// not there. A missing line end of what is there is repaired first; a write
// that fails leaves the file as it was.
func (s *Store) Append(ctx context.Context, rel string, data []byte) error {
	return wrap(rel, s.append(ctx, rel, data))
}

func (s *Store) append(ctx context.Context, rel string, data []byte) error {
	p, err := s.locateNew(rel)
	if err != nil {
		return err
	}
	defer p.close()
	unlock, err := s.keys.lock(ctx, p.key)
	if err != nil {
		return err
	}
	defer unlock()
	if !strings.HasSuffix(string(data), "\n") {
		data = append(data[:len(data):len(data)], '\n')
	}
	f, err := s.disk.openat(p.dir, p.base, unix.O_RDWR|unix.O_APPEND|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENOENT) {
		_, err = s.install(p, data)
		return err
	}
	if denial(err) != 0 {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return s.appendTo(p, f, data)
}

func (s *Store) appendTo(p place, f *os.File, data []byte) error {
	st, err := s.disk.fstat(f)
	if err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ErrNotFile
	}
	if st.Size > maxSize {
		return ErrTooLarge
	}
	old, err := s.disk.readAll(f, st.Size)
	if err != nil {
		return err
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		data = append([]byte{'\n'}, data...)
	}
	whole := append(old, data...)
	st.Size = int64(len(whole))
	s.own.add(p.key, hashOf(whole), markOf(whole), st)
	if err := s.disk.append(f, data); err != nil {
		return errors.Join(err, f.Truncate(int64(len(old))))
	}
	return s.disk.sync(f)
}

func (d *disk) append(f *os.File, data []byte) error {
	if err := d.at(pointAppend); err != nil {
		_, _ = f.Write(data[:len(data)/2])
		return err
	}
	_, err := f.Write(data)
	return err
}
