package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// File is a file that a driver's program is started with, besides its own.
type File struct {
	Name string // below Agent.Files; it changes when Data does
	Data []byte
}

// PlaceFiles sees to it that files stand in dir, whole, as they are meant to be
// and readable by nobody else: before each use, because what ran before could
// write there.
func PlaceFiles(dir string, files []File) error {
	for _, f := range files {
		if err := f.place(dir); err != nil {
			return fmt.Errorf("file for the agent: %w", err)
		}
	}
	return nil
}

func (f File) place(dir string) error {
	path := filepath.Join(dir, f.Name)
	if f.stands(path) {
		return nil
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(folder, ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(f.Data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// stands reports whether the file is there: itself, no link to another.
func (f File) stands(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 || info.Size() != int64(len(f.Data)) {
		return false
	}
	data, err := os.ReadFile(path)
	return err == nil && bytes.Equal(data, f.Data)
}
