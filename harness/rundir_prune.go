package harness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// objectsFolder holds contents before and after changes, named by their hash.
const objectsFolder = "objects"

// Prune drops captures and objects that are older than days, and then the
// oldest until the rest is at most size bytes, and returns the bytes freed. Runs
// that open names lose nothing, nor does any object since the first of them
// began. Logs stay; of a capture the first segment stays, empty, because it says
// that the life was started.
func Prune(state string, days int, size int64, open func(run string) bool) (freed int64, err error) {
	things, total, err := prunable(state, open)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(things, func(a, b pruned) int { return a.age.Compare(b.age) })
	limit := time.Now().AddDate(0, 0, -days)
	var errs []error
	for _, t := range things {
		if total <= size && !t.age.Before(limit) {
			break
		}
		if err := t.drop(); err != nil {
			errs = append(errs, err)
			continue
		}
		freed += t.bytes
		total -= t.bytes
	}
	return freed, errors.Join(errs...)
}

// pruned is what is dropped as one: an object, or the capture of a life.
type pruned struct {
	age    time.Time // when it was last written
	bytes  int64
	object string   // path, or
	files  []string // of a capture
}

func (p pruned) drop() error {
	if p.object != "" {
		return os.Remove(p.object)
	}
	for _, f := range p.files {
		var err error
		if filepath.Base(f) == segmentName(1) {
			err = os.Truncate(f, 0)
		} else {
			err = os.Remove(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// prunable lists what may be dropped, and the bytes of all there is.
func prunable(state string, open func(string) bool) (things []pruned, total int64, err error) {
	runs, err := readDir(filepath.Join(state, runsFolder))
	if err != nil {
		return nil, 0, err
	}
	first := time.Now() // when the first open run began
	for _, e := range runs {
		d := Dir{Path: filepath.Join(state, runsFolder, e.Name())}
		lives, err := d.Lives()
		if err != nil {
			return nil, 0, err
		}
		isOpen := open(d.Run())
		if isOpen {
			first = earliest(first, began(d, lives))
		}
		for _, l := range lives {
			c := captureFiles(l)
			total += c.bytes
			if !isOpen && c.bytes > 0 {
				things = append(things, c)
			}
		}
	}
	objects, err := readDir(filepath.Join(state, objectsFolder))
	if err != nil {
		return nil, 0, err
	}
	for _, e := range objects {
		info, err := e.Info()
		if err != nil {
			continue // dropped by somebody else
		}
		total += info.Size()
		if info.ModTime().Before(first) {
			things = append(things, pruned{
				age: info.ModTime(), bytes: info.Size(),
				object: filepath.Join(state, objectsFolder, e.Name()),
			})
		}
	}
	return things, total, nil
}

// began is when the first life of a run was made, or else its folder changed.
func began(d Dir, lives []Life) time.Time {
	path := d.Path
	if len(lives) > 0 {
		path = filepath.Join(lives[0].Path, specFile)
	}
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{} // not known: nothing is newer
	}
	return info.ModTime()
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// captureFiles are the files of a capture, the first segment last: while it has
// bytes, the capture is still to be dropped.
func captureFiles(l Life) pruned {
	var c pruned
	entries, _ := readDir(l.Path)
	slices.Reverse(entries)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), "out.") {
			continue
		}
		c.files = append(c.files, filepath.Join(l.Path, e.Name()))
		c.bytes += info.Size()
		if info.ModTime().After(c.age) {
			c.age = info.ModTime()
		}
	}
	return c
}

// readDir lists a folder that may not be there yet.
func readDir(path string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}
