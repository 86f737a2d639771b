package robust

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Await waits until ok, which is asked again with every change of a file or
// folder of the place. It is false when stop closes before; stop may be nil.
func (p *Place) Await(ctx context.Context, stop <-chan struct{}, ok func() bool) bool {
	p.t.Helper()
	return p.await(ctx, p.Root, stop, ok)
}

// await does the same with one folder of the place and what is below it.
func (p *Place) await(ctx context.Context, dir string, stop <-chan struct{}, ok func() bool) bool {
	p.t.Helper()
	w, err := fsnotify.NewBufferedWatcher(256)
	must(p.t, err)
	defer w.Close()
	for must(p.t, watchTree(w, dir)); !ok(); {
		select {
		case e := <-w.Events:
			if e.Has(fsnotify.Create) {
				must(p.t, watchTree(w, e.Name))
			}
		case err := <-w.Errors: // events were lost, no more is known than that
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				p.t.Fatal(err)
			}
			must(p.t, watchTree(w, dir))
		case <-stop:
			return ok()
		case <-ctx.Done():
			p.t.Fatalf("%v\n%s\n%s", ctx.Err(), p.Log, p.Logs())
		}
	}
	return true
}

// watchTree watches a folder and those below it. What goes meanwhile is no
// error, and a file is none of them.
func watchTree(w *fsnotify.Watcher, root string) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = w.Add(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
