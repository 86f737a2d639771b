package watcher

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// drain empties the source into a set of paths and does nothing else, so that
// the kernel's queue stays short whatever the others do.
type drain struct {
	root string
	wake chan struct{} // holds one value when there is something to take

	mu    sync.Mutex
	paths map[string]bool // guarded by mu: relative, slashes
	lost  bool            // guarded by mu: events are missing
}

func newDrain(root string) *drain {
	return &drain{root: root, wake: make(chan struct{}, 1), paths: map[string]bool{}}
}

// run drains until the source is closed; without a source, until ctx ends.
func (d *drain) run(ctx context.Context, src source) {
	if src.events == nil {
		<-ctx.Done()
		return
	}
	for {
		select {
		case e, ok := <-src.events:
			if !ok {
				return
			}
			d.add(e)
		case err, ok := <-src.errors:
			if !ok {
				return
			}
			// Whatever went wrong, something may have been missed.
			if err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
				d.lose()
			}
		}
	}
}

func (d *drain) add(e fsnotify.Event) {
	rel, ok := strings.CutPrefix(e.Name, d.root)
	if !ok {
		return
	}
	rel = strings.TrimPrefix(filepath.ToSlash(rel), "/")
	if rel == "" {
		rel = "."
	} else if strings.HasPrefix(rel[strings.LastIndexByte(rel, '/')+1:], ".") {
		return
	}
	d.mu.Lock()
	d.paths[rel] = true
	d.mu.Unlock()
	d.ring()
}

func (d *drain) lose() {
	d.mu.Lock()
	d.lost = true
	d.mu.Unlock()
	d.ring()
}

func (d *drain) ring() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// take empties the set.
func (d *drain) take() (paths []string, lost bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p := range d.paths {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	lost = d.lost
	d.paths, d.lost = map[string]bool{}, false
	return paths, lost
}
