package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"deckhand/harness"
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

// skip reports what the watcher leaves out: the ignores, and dot folders by itself.
func (m *model) skip() func(rel string, dir bool) bool {
	ignore := globs(m.settings.Ignore)
	return func(rel string, dir bool) bool {
		if dir {
			return ignore.folder(rel)
		}
		return ignore.match(rel)
	}
}

func (d *daemon) watchFolder() error {
	w, err := watcher.New(d.f.dir, watcher.Options{
		Skip: d.skip(), Debounce: debounce, Ceiling: ceiling, Poll: slowPoll,
		Progress: func(folders, files int) {
			if files > 0 && files%5000 == 0 {
				d.say("looking: %d files in %d folders", files, folders)
			}
		},
	})
	if err != nil {
		return err
	}
	d.watch = w
	d.wg.Go(func() {
		if err := w.Run(d.ctx); err != nil && d.ctx.Err() == nil {
			d.post(func() { d.say("watch: %v", err); d.end() })
		}
	})
	d.wg.Go(func() {
		for b := range w.Batches() {
			d.batch(b)
		}
	})
	return nil
}

func (d *daemon) batch(b watcher.Batch) { d.look(b, func() {}) }

// look looks at the files of a batch, outside the loop, gives the loop what was
// seen, and lets it do what comes then.
func (d *daemon) look(b watcher.Batch, then func()) {
	var look *looker
	d.ask(func() { look = d.looker(d.store) })
	if look == nil {
		return
	}
	var paths []string
	var others []file
	for _, p := range b.Paths {
		if note(p) {
			paths = append(paths, p)
			continue
		}
		_, err := os.Lstat(filepath.Join(d.f.dir, filepath.FromSlash(p)))
		others = append(others, file{path: p, gone: err != nil})
	}
	var progress func(int)
	if b.First && len(paths) > 5000 {
		progress = func(done int) { d.say("reading: %d of %d notes", done, len(paths)) }
	}
	files := look.all(paths, progress)
	d.post(func() {
		d.taken(b, files, others)
		then()
	})
}

// ask runs fn in the loop and waits for it.
func (d *daemon) ask(fn func()) bool {
	done := make(chan struct{})
	d.post(func() { fn(); close(done) })
	select {
	case <-done:
		return true
	case <-d.ctx.Done():
		return false
	}
}

func (d *daemon) taken(b watcher.Batch, files, others []file) {
	for _, f := range files {
		if d.take(f) {
			d.dirty = true
		}
		if f.busy {
			d.lookAgain(f.path)
		}
	}
	for _, f := range others {
		if f.gone {
			d.files.drop(f.path)
		} else {
			d.files.put(f.path)
		}
	}
	d.linked(b.Links)
	if b.Gone {
		for _, s := range d.boards {
			s.gone = "the work folder is gone"
		}
		d.dirty = true
	}
	for _, f := range slices.Concat(files, others) {
		d.special(f.path)
	}
	if b.First {
		d.firstScan(len(files))
	}
}

// special are files of the folder that mean something beside their text.
func (d *daemon) special(path string) {
	switch path {
	case settingsName:
		d.reload()
	case d.settings.Output + "/Machine.md":
		d.readMachine()
	}
}

// lookAgain looks at a file soon: it was being written when it was looked at.
func (d *daemon) lookAgain(path string) {
	if d.busyLook[path] {
		return
	}
	d.busyLook[path] = true
	time.AfterFunc(100*time.Millisecond, func() {
		d.post(func() { delete(d.busyLook, path) })
		d.batch(watcher.Batch{Paths: []string{path}})
	})
}

func (d *daemon) firstScan(n int) {
	d.wiki = isDir(filepath.Join(d.f.dir, ".obsidian"))
	d.daemon.Watch = d.watch.Mode()
	if err := writeJSON(d.f.path("daemon.json"), d.daemon); err != nil {
		d.say("%v", err)
	}
	d.readMachine()
	d.regrant(false)
	d.record.catchUp(d) // before anything is logged anew
	d.recover()
	d.prune()
	d.ready, d.dirty = true, true
	d.say("ready: %s, %s, %s", plural(n, "note", "notes"), plural(len(d.boards), "board", "boards"), d.daemon.Watch)
}

// prune drops captures that are too old or too much, never of an open run.
func (d *daemon) prune() {
	live := map[string]bool{}
	for id, r := range d.runs {
		live[id] = r.Live()
	}
	state, days, size := d.f.state, d.machine.KeepDays, d.machine.KeepSize
	d.queues.add("prune", func() any {
		_, err := harness.Prune(state, days, size, func(run string) bool { return live[run] })
		return err
	}, func(v any) {
		if err, _ := v.(error); err != nil {
			d.say("captures: %v", err)
		}
	})
}
