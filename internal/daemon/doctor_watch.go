package daemon

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"deckhand/internal/control"
	"deckhand/watcher"
)

// checkWatches looks whether every folder has its watch: by what a daemon says
// that runs, because other programs of the user share the limit, and by how many
// folders there are.
func (m *model) checkWatches() control.Check {
	return watchCheck(m.watching(), foldersIn(m.f.dir, m.skip()), watcher.Limits())
}

// fewWatches is a limit that other programs alone can use up.
const fewWatches = 8192

// watchCheck judges how a folder is watched (empty: it is not) with so many
// folders in it.
func watchCheck(mode string, folders int, limits []watcher.Limit) control.Check {
	c := control.Check{Name: "watches", OK: true, Text: "no limit is known here"}
	if len(limits) > 0 {
		c.Text = fmt.Sprintf("%s to watch, %s is %d", plural(folders, "folder", "folders"), limits[0].Name, limits[0].Most)
		if limits[0].Most < max(fewWatches, 2*folders) {
			c.OK, c.Hint = false, raise(limits[0], folders)
		}
	}
	if !strings.HasPrefix(mode, "polling") {
		return c
	}
	c.Text = mode
	for _, l := range limits {
		if strings.Contains(mode+" ", " "+l.Name+" ") {
			c.OK, c.Hint = false, raise(l, folders)
		}
	}
	return c
}

// raise is what to type to raise a limit: to what systems ship with today, or
// more where that is not enough.
func raise(l watcher.Limit, folders int) string {
	most, need := 65536, max(2*l.Most, 4*folders)
	if strings.HasSuffix(l.Name, "instances") {
		most, need = 1024, 2*l.Most
	}
	for most < need {
		most *= 2
	}
	return fmt.Sprintf("sudo sysctl %s=%d", l.Name, most)
}

// watching is how the daemon of this folder watches it; empty if none runs.
func (m *model) watching() string {
	r, err := m.f.daemon()
	if err != nil || unix.Kill(r.PID, 0) == unix.ESRCH {
		return ""
	}
	return r.Watch
}

// foldersIn counts the folders that the watcher watches. What cannot be read it
// does not watch either.
func foldersIn(dir string, skip func(rel string, dir bool) bool) (n int) {
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if rel = filepath.ToSlash(rel); err != nil || rel != "." && (filepath.Base(p)[0] == '.' || skip(rel, true)) {
			return filepath.SkipDir
		}
		n++
		return nil
	})
	return n
}
