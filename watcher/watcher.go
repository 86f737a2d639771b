// Package watcher says which paths of a folder may have changed.
//
// It watches folders, never single files: an editor that saves by renaming
// replaces the file, and a watch on it would follow the old one. Events only
// name what to look at; what is there is read by Lstat:
//
//	fsnotify ─► drain (a set of paths) ─► look (Lstat, list, add watches) ─► gather (batches) ─► Batches()
//
// Each arrow is a goroutine's border. The first does nothing but drain, because
// adding a watch can block while events wait. A new folder is watched first and
// listed then, so a file made right after it is found by one or the other. Lost
// events (the kernel's queue overflowed, Rescan was called) lead to a look at
// everything; a slow poll does the same for file systems that tell nothing, and
// a faster one for folders that could not be watched.
//
// When the watched folder itself goes away, nothing tells of its return, so it
// is looked for every second for as long as it is gone. Another folder in its
// place is not it.
//
// A batch waits Debounce for more and is never postponed beyond Ceiling. A file
// renamed away and made again meanwhile is one path in one batch.
//
// Left out: names that start with a dot, files that start with # or end in ~,
// and what Skip says, before anything is registered. Symbolic links are named
// and never followed.
//
// Not for: what a path means, what is in a file, or whether it really changed: a
// path may be named that did not.
package watcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options of a Watcher.
type Options struct {
	// Skip reports whether a path (relative, slashes) is of no interest. It is
	// asked before a folder is watched or listed, by one goroutine. Dot names
	// are skipped without asking.
	Skip     func(rel string, dir bool) bool
	Debounce time.Duration // how long a batch waits for more (50 ms)
	Ceiling  time.Duration // how long it can be postponed at most (500 ms)
	Poll     time.Duration // the slow poll (5 min with events, 5 s for folders without)
}

// awayLook is how often the watched folder is looked for while it is gone.
const awayLook = time.Second

// pollBlind is the poll of folders without events.
const pollBlind = 5 * time.Second

func (o Options) defaults() Options {
	if o.Skip == nil {
		o.Skip = func(string, bool) bool { return false }
	}
	if o.Debounce == 0 {
		o.Debounce = 50 * time.Millisecond
	}
	if o.Ceiling == 0 {
		o.Ceiling = 500 * time.Millisecond
	}
	if o.Poll == 0 {
		o.Poll = 5 * time.Minute
	}
	return o
}

// Batch is a set of paths that may have changed, appeared or gone.
type Batch struct {
	Paths  []string // relative, slashes, sorted, each once; files only
	Links  []string // symbolic links, as Paths; not followed
	Rescan bool     // events were lost: Paths holds what differs after a rescan
	First  bool     // the first scan is over: this one and those before it hold every file
	Gone   bool     // the watched folder itself is gone: Paths holds every file that was there
	Back   bool     // it was gone and is back: Paths holds every file, as in the first scan, and those that went
	Other  bool     // while it is gone, another folder is in its place; said once
}

// Watcher watches one folder.
type Watcher struct {
	root    string
	opts    Options
	source  source
	drain   *drain
	found   chan found
	batches chan Batch
	tree    *tree // touched by the look goroutine only
	gone    bool  // as tree: the root is not there
	other   bool  // as tree: and another folder is, which was said

	mu   sync.Mutex
	mode string // guarded by mu
}

// New prepares a watcher of the folder root; Run starts it.
func New(root string, o Options) (*Watcher, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	// Events carry the path that was watched; a link may be turned meanwhile.
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	st, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("%s: not a folder", root)
	}
	return with(root, o, newSource(root)), nil
}

func with(root string, o Options, src source) *Watcher {
	o = o.defaults()
	return &Watcher{
		root: root, opts: o, source: src, mode: "events",
		drain:   newDrain(root),
		found:   make(chan found),
		batches: make(chan Batch),
		tree:    newTree(root, o.Skip, src),
	}
}

// Batches gives what was found; it is closed when Run returns. A large folder is
// found in parts, so that the receiver reads while the walk goes on.
func (w *Watcher) Batches() <-chan Batch { return w.batches }

// Mode says how changes are noticed: "events", or what is polled and why.
func (w *Watcher) Mode() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mode
}

// Rescan makes the watcher look at everything.
func (w *Watcher) Rescan() { w.drain.lose() }

// Run watches until ctx ends.
func (w *Watcher) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { w.drain.run(ctx, w.source) })
	wg.Go(func() {
		defer close(w.batches)
		gather(ctx, w.found, w.batches, w.opts.Debounce, w.opts.Ceiling)
	})
	w.look(ctx)
	cancel()
	// Closing waits for the reader, which waits for drain to take its event.
	err := w.source.close()
	wg.Wait()
	return err
}

// look is the goroutine that touches the tree: it takes what was drained, looks
// at it and hands on what it found.
func (w *Watcher) look(ctx context.Context) {
	var first found
	w.tree.listed = func(out *found) { w.giveGrown(ctx, out) }
	w.tree.visit(".", true, &first)
	w.tree.listed = nil
	first.first = true
	w.lookForRoot(&first)
	w.say()
	if !w.give(ctx, first) {
		return
	}
	slow := time.NewTicker(w.opts.Poll)
	defer slow.Stop()
	var blind, away <-chan time.Time // nil while every folder has a watch: then nothing wakes an idle program but slow
	for {
		if blind == nil && len(w.tree.blind) > 0 {
			blind = time.After(min(w.opts.Poll, pollBlind))
		}
		if away == nil && w.gone {
			away = time.After(awayLook)
		}
		var f found
		select {
		case <-ctx.Done():
			return
		case <-w.drain.wake:
			f = w.takeDrained()
		case <-slow.C:
			w.tree.visit(".", true, &f)
		case <-blind:
			blind = nil
			w.tree.visitBlind(&f)
		case <-away:
			away = nil
		}
		w.lookForRoot(&f)
		w.say()
		if !w.give(ctx, f) {
			return
		}
	}
}

// lookForRoot notices that the root went, and that it is back. Everything is
// forgotten in between, so that it is watched and named anew.
func (w *Watcher) lookForRoot(f *found) {
	if w.gone && !w.tree.lost() {
		w.gone, w.other, f.back = false, false, true
		w.tree.visit(".", true, f)
	}
	if !w.gone && w.tree.lost() { // perhaps again
		w.gone, f.gone, f.back = true, true, false
		w.tree.forget(".", f)
	}
	if w.gone && !w.other && w.tree.replaced() {
		w.other, f.other = true, true
	}
}

func (w *Watcher) takeDrained() (f found) {
	names, lost := w.drain.take()
	if lost {
		f.rescan = true
		w.tree.visit(".", true, &f)
	}
	for _, rel := range names {
		w.tree.event(rel, &f)
	}
	return f
}

// partSize is how many files make a part of the first scan: enough that handing
// them on costs nothing beside reading them, few enough that readers soon start.
const partSize = 256

// giveGrown gives what was found so far when that is enough for a part.
func (w *Watcher) giveGrown(ctx context.Context, f *found) {
	if len(f.paths) < partSize {
		return
	}
	f.part = true
	w.give(ctx, *f)
	*f = found{}
}

func (w *Watcher) give(ctx context.Context, f found) bool {
	if f.empty() {
		return true
	}
	select {
	case w.found <- f:
		return true
	case <-ctx.Done():
		return false
	}
}

// say keeps Mode true.
func (w *Watcher) say() {
	mode := "events"
	if n := len(w.tree.blind); n > 0 {
		mode = fmt.Sprintf("polling %d %s: %s", n, plural(n), w.tree.why)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode = mode
}

func plural(n int) string {
	if n == 1 {
		return "folder"
	}
	return "folders"
}

// isGone reports that a path is not there (any more): normal after an event.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) }
