// Package mirror makes the private copy of the notes in which an agent works,
// and says what the agent changed in it.
//
// What it is for: an agent that is given the notes themselves as its project
// never touches them. It gets a copy in the machine's state, and what it did
// there becomes one proposal. What it is not for: keeping an agent from other
// folders of its user, and deciding anything about the changes.
//
// A copy is a folder:
//
//	notes/         what the agent sees, and changes
//	base/          the same files as they were, those that can be proposed
//	files.json     whose it is, and every file that was copied
//
// It is complete when files.json is there: that is written last. A copy of
// which it is missing is dropped and made anew. Nothing of it is synced: it can
// always be made again.
package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const (
	notesDir = "notes"
	baseDir  = "base"
	listFile = "files.json"
)

// largest is how long a file may be that can be proposed, in bytes; larger ones
// are copied, and a change of them is only named.
const largest = 1 << 20

// Spec says what is copied.
type Spec struct {
	Owner string                          // whoever goes on in it finds it by that
	From  string                          // the work folder, a real path
	To    string                          // the copy's folder
	Skip  func(rel string, dir bool) bool // what is left out, besides what starts with a dot and links
	Max   int64                           // bytes that may be copied where the file system cannot share them
}

// TooLargeError says that the notes are more than may be copied here.
type TooLargeError struct{ Size, Max int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%d bytes are more than copy_max (%d), and this file system cannot share them", e.Size, e.Max)
}

// list is what was copied, for whom.
type list struct {
	Owner string `json:"owner"`
	Files []file `json:"files"`
}

// file is one that was copied.
type file struct {
	Path string    `json:"path"`
	Size int64     `json:"size"`
	Time time.Time `json:"time"`
	Base bool      `json:"base"` // its bytes are in base
}

// Notes is the folder in a copy that the agent works in.
func Notes(dir string) string { return filepath.Join(dir, notesDir) }

// Made reports whether a copy is complete, and this owner's.
func Made(dir, owner string) bool {
	l, err := readList(dir)
	return err == nil && l.Owner == owner
}

func readList(dir string) (l list, err error) {
	data, err := os.ReadFile(filepath.Join(dir, listFile))
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, fmt.Errorf("%s: %w", listFile, err)
	}
	return l, nil
}

// End says that a copy is nobody's any more: it is made anew when one is wanted.
func End(dir string) error {
	err := os.Remove(filepath.Join(dir, listFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Make makes a copy, in place of a part of one that was left. A file that goes
// away meanwhile is left out. When there is too much it fails with a
// *TooLargeError and leaves nothing.
func Make(ctx context.Context, s Spec) error {
	files, err := s.files(ctx)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(s.To); err != nil {
		return err
	}
	for _, dir := range []string{notesDir, baseDir} {
		if err := os.MkdirAll(filepath.Join(s.To, dir), 0o700); err != nil {
			return err
		}
	}
	c, err := newCopier(s, files)
	if err != nil {
		return errors.Join(err, os.RemoveAll(s.To))
	}
	defer c.close()
	kept := files[:0]
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, os.RemoveAll(s.To))
		}
		switch err := c.copy(&f); {
		case err == nil:
			kept = append(kept, f)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errChanged):
			return errors.Join(fmt.Errorf("copying %s: %w", f.Path, err), os.RemoveAll(s.To))
		}
	}
	data, err := json.Marshal(list{Owner: s.Owner, Files: kept})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.To, listFile), data, 0o600)
}

// files walks the work folder.
func (s Spec) files(ctx context.Context) ([]file, error) {
	root, err := os.OpenRoot(s.From)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []file
	err = walk(ctx, root, s.Skip, func(rel string, info fs.FileInfo) {
		if info.Mode().IsRegular() {
			files = append(files, file{Path: rel, Size: info.Size()})
		}
	})
	return files, err
}

// walk calls fn for everything below a folder that is not left out and no
// folder. Links are told, never followed.
func walk(ctx context.Context, root *os.Root, skip func(rel string, dir bool) bool, fn func(rel string, info fs.FileInfo)) error {
	return fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case rel == ".":
			return err
		case strings.HasPrefix(path.Base(rel), ".") || skip(rel, d.IsDir()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		fn(rel, info)
		return nil
	})
}
