package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"deckhand/internal/store"
	"deckhand/watcher"
)

// The watcher's times: a batch waits this long for more, and never longer
// than the ceiling; the slow poll finds what no event told. The wait is added
// to settle for a card that was moved, so it is as short as the gaps in which
// editors save; a file that is caught in the middle is looked at again.
const (
	debounce = 5 * time.Millisecond
	ceiling  = 300 * time.Millisecond
	slowPoll = 5 * time.Minute
)

// giveBack is how long after the first scan what it took in passing is given back
// to the system, a third of all; the runtime alone was seen to keep it.
const giveBack = 3 * time.Second

// gcPercent holds after the first scan. What comes then is little and soon over:
// lines of agents, and chats, which are read and written whole.
const gcPercent = 50

// skip reports what the watcher leaves out: the ignores of the moment, and dot
// folders by itself.
func (m *model) skip() func(rel string, dir bool) bool {
	return func(rel string, dir bool) bool {
		ignore := *m.ignore.Load()
		if dir {
			return ignore.folder(rel)
		}
		return ignore.match(rel)
	}
}

func (d *daemon) watchFolder() error {
	w, err := watcher.New(d.f.dir, watcher.Options{
		Skip: d.skip(), Debounce: debounce, Ceiling: ceiling, Poll: slowPoll,
	})
	if err != nil {
		return err
	}
	d.watch = w
	d.wg.Go(func() {
		if err := w.Run(d.ctx); err != nil && d.ctx.Err() == nil {
			d.post(func() { d.fail(fmt.Errorf("watch: %w", err)) })
		}
	})
	d.wg.Go(func() {
		for b := range w.Batches() {
			looked := make(chan struct{}) // one batch at a time: what comes meanwhile waits in the watcher, and is merged there
			d.post(func() { d.look(b, func() { close(looked) }) })
			select {
			case <-looked:
			case <-d.ctx.Done():
			}
		}
	})
	return nil
}

// looked is what looking at a batch gave.
type looked struct {
	notes, others []file
	outside       map[string]bool // links, and whether they lead out of the folder
}

// look looks at the files of a batch, outside the loop, and takes what was seen
// into the model. Looks come one after another, so that an older one cannot
// replace what a newer one saw.
func (d *daemon) look(b watcher.Batch, then func()) {
	l, step := d.looker(d.store), d.step
	d.queues.add("look", func() any { return l.batch(d.f.dir, b) }, func(v any) {
		d.taken(b, v.(looked), step)
		then()
	})
}

func (l *looker) batch(dir string, b watcher.Batch) looked {
	var out looked
	var paths []string
	for _, p := range b.Paths {
		if note(p) {
			paths = append(paths, p)
			continue
		}
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(p)))
		out.others = append(out.others, file{path: p, gone: err != nil})
	}
	out.notes = l.all(paths)
	out.outside = map[string]bool{}
	for _, rel := range b.Links {
		out.outside[rel] = leaves(dir, rel)
	}
	return out
}

// leaves reports whether a link leads out of the folder: what is behind it is
// not read, and that is said.
func leaves(dir, rel string) bool {
	real, err := filepath.EvalSymlinks(filepath.Join(dir, filepath.FromSlash(rel)))
	return err == nil && real != dir && !strings.HasPrefix(real, dir+string(filepath.Separator))
}

// taken puts what was seen into the model. A board that we wrote since the look
// began is looked at again: which of the two is newer is not known.
func (d *daemon) taken(b watcher.Batch, l looked, step int64) {
	for _, f := range l.notes {
		if s := d.boards[f.path]; s != nil && s.read > step {
			d.lookSoon(f.path, 0)
			continue
		}
		if d.take(f) {
			d.dirty = true
			d.changed(f.path)
		}
		d.busyLook(f)
		d.special(f.path)
		d.noteChanged(f.path)
	}
	for _, f := range l.others {
		if f.gone {
			d.files.drop(f.path)
		} else {
			d.files.put(f.path)
		}
		d.special(f.path)
		d.noteChanged(f.path)
	}
	for rel, out := range l.outside {
		if d.links[rel] != out {
			d.dirty = true
		}
		if d.links[rel] = out; !out {
			delete(d.links, rel)
		}
	}
	d.folder(b)
	if d.ready {
		d.watched()
	} else {
		d.scanning(len(l.notes))
	}
	if b.First {
		d.firstScan(d.scanned)
	}
}

// changed takes note that a board is not what it was: what failed on it may
// work now, and what a person asked for may be gone.
func (d *daemon) changed(path string) {
	for id, r := range d.runs {
		if r.Board == path && !r.fault.again.IsZero() {
			r.fault.again = time.Time{}
			delete(d.writing, id)
		}
	}
	for id := range d.forced {
		if id.Board == path && !d.asks(id) {
			d.served(id)
		}
	}
}

// special are files of the folder that mean something beside their text.
func (d *daemon) special(path string) {
	switch path {
	case settingsName:
		d.reload(nil)
	case d.settings.Output + "/" + machineName:
		d.lookMachine()
	}
}

// firstLook is how soon a file is looked at again that was being written.
const firstLook = 100 * time.Millisecond

// busyLook looks again at a file that could not be read: soon when somebody was
// writing it, else as often as a disk that failed is asked. No event says that a
// disk has come back.
func (d *daemon) busyLook(f file) {
	if f.fault == "" {
		delete(d.looks, f.path)
		return
	}
	d.looks[f.path]++
	switch n := d.looks[f.path]; {
	case f.busy && !(d.o.Once && n > 50): // else somebody writes it all the time
		d.lookSoon(f.path, firstLook)
	case !f.busy && !d.o.Once:
		d.lookSoon(f.path, min(pause<<min(n-1, 10), longest))
	}
}

// lookSoon looks at a file again.
func (d *daemon) lookSoon(path string, after time.Duration) {
	at := time.Now().Add(after)
	if old, ok := d.again[path]; !ok || at.Before(old) {
		d.again[path] = at
	}
}

func (d *daemon) lookDue(now time.Time) {
	var paths []string
	for path, at := range d.again {
		if !now.Before(at) {
			paths = append(paths, path)
			delete(d.again, path)
		}
	}
	if len(paths) > 0 {
		d.look(watcher.Batch{Paths: paths}, func() {})
	}
}

// errReplaced: what was decided for the work folder does not go to another one.
var errReplaced = errors.New("another folder is in the place of the work folder")

// folder takes note of what became of the work folder itself. While it is gone
// everything is left alone; the watcher looks for it.
func (d *daemon) folder(b watcher.Batch) {
	switch {
	case b.Other:
		d.fail(fmt.Errorf("%s: %w", d.f.dir, errReplaced))
	case b.Gone:
		d.say("%s is gone: nothing starts before it is back", d.f.dir)
		for _, s := range d.boards {
			s.gone = "the work folder is gone"
		}
		d.dirty = true
	case b.Back:
		d.say("%s is back", d.f.dir)
		d.dirty = true
	}
}

// watched keeps it true how the folder is watched: a limit may be reached later,
// and be raised.
func (d *daemon) watched() {
	mode := d.watch.Mode()
	if mode == d.daemon.Watch {
		return
	}
	d.daemon.Watch, d.dirty = mode, true
	if err := d.daemon.say(d.f); err != nil {
		d.say("%v", err)
	}
	if d.ready {
		d.say("watching: %s", mode)
	}
}

// firstScan takes up what there is. Until then the daemon says that it is
// scanning, and takes no commands.
func (d *daemon) firstScan(n int) {
	dir, output, state := d.f.dir, d.settings.Output, d.o.State
	d.queues.add("machine", func() any {
		return firstLooked{wiki: isDir(filepath.Join(dir, ".obsidian")), mine: readMachine(dir, output, state)}
	}, func(v any) {
		first := v.(firstLooked)
		d.wiki, d.daemon.Watch = first.wiki, d.watch.Mode()
		if err := d.daemon.say(d.f); err != nil {
			d.say("%v", err)
		}
		d.runBy(first.mine, false)
		d.takeUpAll()
		time.AfterFunc(giveBack, debug.FreeOSMemory)
		debug.SetGCPercent(gcPercent)
		d.say("ready: %s, %s, %s", plural(n, "note", "notes"), plural(len(d.boards), "board", "boards"), d.daemon.Watch)
	})
}

// firstLooked is what else is looked at in a folder at a start.
type firstLooked struct {
	wiki bool
	mine machineState
}

// takeUpAll goes on where the daemon before ended.
func (d *daemon) takeUpAll() {
	d.regrant(false)
	d.record.missing(d) // before anything is logged anew
	d.recover()
	for _, r := range d.sorted() {
		d.carryOn(r)
	}
	d.ready, d.dirty = true, true
	d.tidy(time.Now())
}

// late is told of a save that came after a swap had been compared.
func (d *daemon) late(r store.Recovered) { d.post(func() { d.recovered(r) }) }

// recovered says what became of a copy that a swap, or a kill in one, left.
func (d *daemon) recovered(r store.Recovered) {
	if r.Kept != "" {
		d.say("%s: %s: two saves met; the earlier one is kept in %s", r.Path, r.What, r.Kept)
		return
	}
	if r.What != store.Swept {
		d.say("%s: %s", r.Path, r.What)
	}
}

// list walks a folder as the watcher does.
func list(dir string, skip func(rel string, dir bool) bool) (notes, others []string, err error) {
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		hidden := filepath.Base(p)[0] == '.'
		switch {
		case e.IsDir() && (hidden || skip(rel, true)):
			return filepath.SkipDir
		case e.IsDir() || hidden || skip(rel, false):
		case note(rel):
			notes = append(notes, rel)
		default:
			others = append(others, rel)
		}
		return nil
	})
	return notes, others, err
}
