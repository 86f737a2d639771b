package watcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// failAfter is how long a test waits for what must come. Nothing is measured
// by it.
const failAfter = 20 * time.Second

type running struct {
	*Watcher
	t    *testing.T
	root string
}

// start runs a watcher on root and takes its first batch.
func start(t *testing.T, root string, o Options) (running, Batch) {
	t.Helper()
	w, err := New(root, o)
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, w)
}

func startWith(t *testing.T, w *Watcher) (running, Batch) {
	t.Helper()
	r := run(t, w)
	first := r.next()
	if !first.First {
		t.Fatalf("the first batch is %+v", first)
	}
	return r, first
}

// run runs a watcher until the end of the test.
func run(t *testing.T, w *Watcher) running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range w.Batches() { // until it is closed
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return running{w, t, w.root}
}

func (r running) next() Batch {
	r.t.Helper()
	select {
	case b := <-r.Batches():
		return b
	case <-time.After(failAfter):
		r.t.Fatal("no batch came")
		return Batch{}
	}
}

// until takes batches until all paths were named; it returns everything named.
func (r running) until(paths ...string) []string {
	r.t.Helper()
	var got []string
	for {
		named := map[string]bool{}
		for _, p := range got {
			named[p] = true
		}
		missing := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return named[p] })
		if len(missing) == 0 {
			return got
		}
		select {
		case b := <-r.Batches():
			got = append(got, b.Paths...)
		case <-time.After(failAfter):
			r.t.Fatalf("not named: %q", missing[:min(len(missing), 5)])
		}
	}
}

func (r running) put(rel, data string) {
	r.t.Helper()
	put(r.t, filepath.Join(r.root, rel), data)
}

func put(t testing.TB, name, data string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(data), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r running) abs(rel string) string { return filepath.Join(r.root, rel) }

func TestFirstBatchHoldsEveryFile(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"a.md", "sub/b.md", "sub/deep/c.md", "Templates/t.md", ".obsidian/x.json", ".dot.md", "#auto#", "old~", "# Plan.md", "#folder/d.md"} {
		put(t, filepath.Join(root, f), "x")
	}
	must(t, os.Symlink("a.md", filepath.Join(root, "link.md")))
	must(t, os.Symlink(".", filepath.Join(root, "loop")))
	_, b := start(t, root, Options{Skip: func(rel string, dir bool) bool { return dir && rel == "Templates" }})
	if want := []string{"# Plan.md", "#folder/d.md", "a.md", "sub/b.md", "sub/deep/c.md"}; !slices.Equal(b.Paths, want) {
		t.Errorf("got %q, want %q", b.Paths, want)
	}
	if want := []string{"link.md", "loop"}; !slices.Equal(b.Links, want) {
		t.Errorf("links %q, want %q", b.Links, want)
	}
}

// Case 20: every save is seen, in each style in which editors save.
func TestSaveStyles(t *testing.T) {
	styles := map[string]func(r running, data string){
		"in place": func(r running, data string) { r.put("board.md", data) },
		"rename": func(r running, data string) {
			r.put(".board.md.tmp", data)
			must(r.t, os.Rename(r.abs(".board.md.tmp"), r.abs("board.md")))
		},
		"vim": func(r running, data string) {
			must(r.t, os.Rename(r.abs("board.md"), r.abs("board.md~")))
			r.put("board.md", data)
			must(r.t, os.Remove(r.abs("board.md~")))
		},
		"emacs": func(r running, data string) {
			must(r.t, os.Symlink("user@host.123:456", r.abs(".#board.md"))) // case 21
			r.put("#board.md#", data)
			must(r.t, os.Rename(r.abs("board.md"), r.abs("board.md~")))
			r.put("board.md", data)
			must(r.t, os.Remove(r.abs(".#board.md")))
			must(r.t, os.Remove(r.abs("#board.md#")))
		},
	}
	for name, save := range styles {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put(t, filepath.Join(root, "board.md"), "## Plan\n- [ ] a\n## In Progress\n")
			r, _ := start(t, root, Options{Debounce: 5 * time.Millisecond})
			for i := range 3 {
				save(r, fmt.Sprintf("## Plan\n- [ ] text %d\n", i))
				if got := r.until("board.md"); slices.ContainsFunc(got, func(p string) bool { return p != "board.md" }) {
					t.Errorf("also named: %q", got)
				}
			}
		})
	}
}

// Case 20: a file renamed away and made again within the debounce is one path
// in one batch.
func TestRenameAndCreateIsOneChange(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "board.md"), "old")
	r, _ := start(t, root, Options{Debounce: 200 * time.Millisecond, Ceiling: time.Minute})
	must(t, os.Rename(r.abs("board.md"), r.abs("board.md~")))
	r.put("board.md", "new")
	if b := r.next(); !slices.Equal(b.Paths, []string{"board.md"}) {
		t.Errorf("got %+v", b)
	}
}

// Case 22: what is left out is never registered.
func TestFilterBeforeRegistering(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		put(t, filepath.Join(root, fmt.Sprintf("node_modules/p%d/lib/a.md", i)), "x")
		put(t, filepath.Join(root, fmt.Sprintf(".git/objects/x%d/b", i)), "x")
	}
	put(t, filepath.Join(root, "board.md"), "## Plan\n")
	src := newSource(root)
	var added []string
	add := src.add
	src.add = func(dir string) error { added = append(added, dir); return add(dir) }
	skip := func(rel string, dir bool) bool { return strings.HasPrefix(rel, "node_modules") }
	r, b := startWith(t, with(root, Options{Skip: skip}, src))
	if !slices.Equal(b.Paths, []string{"board.md"}) || !slices.Equal(added, []string{root}) || r.Mode() != "events" {
		t.Errorf("files %q, watches %q, mode %q", b.Paths, added, r.Mode())
	}
}

// Case 22: a folder that cannot be watched is polled, and said so.
func TestWatchLimit(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "a/one.md"), "x")
	put(t, filepath.Join(root, "b/two.md"), "x")
	src := newSource(root)
	add := src.add
	src.add = func(dir string) error {
		if dir != root {
			return syscall.ENOSPC
		}
		return add(dir)
	}
	r, _ := startWith(t, with(root, Options{Poll: 10 * time.Millisecond}, src))
	if want := "polling 2 folders: raise fs.inotify.max_user_watches"; r.Mode() != want {
		t.Errorf("mode %q, want %q", r.Mode(), want)
	}
	r.put("b/two.md", "changed")
	r.put("a/three.md", "new")
	r.until("b/two.md", "a/three.md")
}

// Case 23: lost events lead to a look at everything.
func TestOverflow(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "sub/board.md"), "## Plan\n")
	put(t, filepath.Join(root, "sub/gone.md"), "x")
	errs := make(chan error)
	quiet := source{
		events: make(chan fsnotify.Event), errors: errs,
		add: func(string) error { return nil }, remove: func(string) {}, close: func() error { close(errs); return nil },
	}
	r, _ := startWith(t, with(root, Options{}, quiet))
	r.put("sub/board.md", "## Plan\n- [ ] changed\n")
	r.put("new/deep/board.md", "## Plan\n")
	must(t, os.Remove(r.abs("sub/gone.md")))
	errs <- fsnotify.ErrEventOverflow
	b := r.next()
	for _, want := range []string{"new/deep/board.md", "sub/board.md", "sub/gone.md"} {
		if !b.Rescan || !slices.Contains(b.Paths, want) {
			t.Errorf("%s is not in %+v", want, b)
		}
	}
	r.put("late.md", "x")
	r.Rescan()
	r.until("late.md")
}

// Case 24: files made right after their folder are found.
func TestFileInNewFolder(t *testing.T) {
	r, _ := start(t, t.TempDir(), Options{Debounce: time.Millisecond})
	var want []string
	for i := range 1000 {
		rel := fmt.Sprintf("n%d/a/b/board.md", i)
		r.put(rel, "## Plan\n")
		want = append(want, rel)
	}
	r.until(want...)
	r.put("n7/a/b/board.md", "again")
	r.until("n7/a/b/board.md")
}

// Case 25: without any event, the poll sees the change.
func TestPollOnly(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "board.md"), "## Plan\n- [ ] a\n")
	r, _ := startWith(t, with(root, Options{Poll: 10 * time.Millisecond}, blindSource(errNoEvents)))
	if want := "polling 1 folder: this file system tells nothing"; r.Mode() != want {
		t.Errorf("mode %q, want %q", r.Mode(), want)
	}
	r.put("board.md", "## Plan\n- [x] a\n")
	r.until("board.md")
	r.put("sub/new.md", "x")
	r.until("sub/new.md")
	must(t, os.RemoveAll(r.abs("sub")))
	r.until("sub/new.md")
}

// A file system that promises events and tells nothing is found out by the slow
// poll.
func TestSilentFileSystem(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "sub/board.md"), "## Plan\n- [ ] a\n")
	put(t, filepath.Join(root, "sub/gone.md"), "x")
	synctest.Test(t, func(t *testing.T) {
		errs := make(chan error)
		silent := source{
			events: make(chan fsnotify.Event), errors: errs,
			add: func(string) error { return nil }, remove: func(string) {}, close: func() error { close(errs); return nil },
		}
		r, _ := startWith(t, with(root, Options{}, silent))
		start := time.Now()
		r.put("sub/board.md", "## Plan\n- [ ] a\n- [ ] b\n")
		r.put("new/deep/board.md", "## Plan\n")
		must(t, os.Remove(r.abs("sub/gone.md")))
		b := <-r.Batches()
		want := []string{"new/deep/board.md", "sub/board.md", "sub/gone.md"}
		if took := time.Since(start); !slices.Equal(b.Paths, want) || took > 5*time.Minute+time.Second {
			t.Errorf("%q after %v, want %q at the next poll", b.Paths, took, want)
		}
	})
}

// A moved folder is told by its new path, though the kernel keeps one watch an
// inode.
func TestMovedFolder(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "z/a/deep/board.md"), "x")
	put(t, filepath.Join(root, "b/x.md"), "x")
	r, _ := start(t, root, Options{Debounce: time.Millisecond})
	must(t, os.Rename(r.abs("z/a"), r.abs("b/a")))
	r.until("z/a/deep/board.md", "b/a/deep/board.md")
	r.put("b/a/deep/board.md", "changed")
	r.until("b/a/deep/board.md")
	// away and back under the same name, and another one in its place
	must(t, os.Rename(r.abs("b/a"), r.abs("b/c")))
	must(t, os.Rename(r.abs("b/c"), r.abs("b/a")))
	r.put("b/a/new.md", "x")
	r.until("b/a/new.md")
	must(t, os.Rename(r.abs("b/a"), r.abs("c")))
	r.put("b/a/deep/board.md", "another")
	r.until("b/a/deep/board.md", "c/deep/board.md", "c/new.md", "b/a/new.md")
	r.put("c/deep/board.md", "y")
	r.put("b/a/deep/board.md", "z")
	r.until("c/deep/board.md", "b/a/deep/board.md")
}

func TestKindChanges(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "x/file.md"), "x")
	put(t, filepath.Join(root, "y"), "x")
	r, _ := start(t, root, Options{Debounce: time.Millisecond})
	must(t, os.RemoveAll(r.abs("x")))
	r.put("x", "now a file")
	r.until("x/file.md", "x")
	must(t, os.Remove(r.abs("y")))
	r.put("y/file.md", "now a folder")
	r.until("y", "y/file.md")
	r.put("y/file.md", "changed")
	r.until("y/file.md")
}

func TestFolderGone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "work")
	put(t, filepath.Join(root, "a.md"), "x")
	put(t, filepath.Join(root, "sub/deep.md"), "x")
	r, _ := start(t, root, Options{Debounce: time.Millisecond, Poll: time.Hour})
	must(t, os.Rename(root, root+".away"))
	b := r.next()
	for ; !b.Gone; b = r.next() {
	}
	if want := []string{"a.md", "sub/deep.md"}; b.Back || !slices.Equal(b.Paths, want) {
		t.Errorf("gone: %+v", b)
	}
	put(t, root+".away/new.md", "x")
	must(t, os.Remove(root+".away/a.md"))
	must(t, os.Rename(root+".away", root))
	for b = r.next(); !b.Back; b = r.next() {
	}
	if want := []string{"new.md", "sub/deep.md"}; b.Gone || !slices.Equal(b.Paths, want) {
		t.Errorf("back: %+v", b)
	}
	r.put("b.md", "x")
	r.put("sub/deep.md", "changed")
	r.until("b.md", "sub/deep.md")
}

// A folder that is gone is looked for every second, whatever the poll is, and
// one that stands in its place is not taken for it. A source that tells nothing
// stands in for the events that do not come.
func TestLooksForTheFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := filepath.Join(t.TempDir(), "work")
		put(t, filepath.Join(root, "a.md"), "x")
		errs := make(chan error)
		deaf := source{
			events: make(chan fsnotify.Event), errors: errs,
			add: func(string) error { return nil }, remove: func(string) {}, close: func() error { close(errs); return nil },
		}
		r, _ := startWith(t, with(root, Options{Poll: time.Hour}, deaf))
		must(t, os.Rename(root, root+".away"))
		r.Rescan()
		if b := r.next(); !b.Gone {
			t.Fatalf("got %+v", b)
		}
		put(t, filepath.Join(root, "other.md"), "x")
		gone := time.Now()
		if b := r.next(); !b.Other || b.Back || len(b.Paths) > 0 {
			t.Fatalf("another folder: %+v", b)
		}
		select {
		case b := <-r.Batches():
			t.Fatalf("another folder: %+v", b)
		case <-time.After(10*time.Second - time.Since(gone)):
		}
		must(t, os.RemoveAll(root))
		must(t, os.Rename(root+".away", root))
		if b := r.next(); !b.Back || !slices.Equal(b.Paths, []string{"a.md"}) {
			t.Fatalf("got %+v", b)
		}
		if d, most := time.Since(gone), 11*time.Second+50*time.Millisecond; d > most {
			t.Errorf("found after %v, not %v", d, most)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "x")
	if _, err := New(file, Options{}); err == nil {
		t.Error("a file was taken for a folder")
	}
	if _, err := New(file+"-not-there", Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// The work folder may be reached by a link; links in it are not followed.
func TestRootIsLink(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "real/sub/a.md"), "x")
	must(t, os.Symlink("real", filepath.Join(dir, "work")))
	r, b := start(t, filepath.Join(dir, "work"), Options{Debounce: time.Millisecond})
	if !slices.Equal(b.Paths, []string{"sub/a.md"}) {
		t.Errorf("got %q", b.Paths)
	}
	r.put("sub/a.md", "changed")
	r.until("sub/a.md")
}

// A receiver that is busy loses nothing: what comes meanwhile joins the batch.
func TestBusyReceiverOfManyFiles(t *testing.T) {
	r, _ := start(t, t.TempDir(), Options{Debounce: time.Millisecond})
	var want []string
	for i := range 5000 {
		rel := fmt.Sprintf("f%d.md", i)
		r.put(rel, "x")
		want = append(want, rel)
	}
	r.until(want...)
}

// A large folder comes in parts, each file once; what changes between its part
// and the end of the scan comes again.
func TestFirstScanInParts(t *testing.T) {
	root := t.TempDir()
	var want []string
	for i := range 3 * partSize {
		want = append(want, fmt.Sprintf("d%02d/f%03d.md", i/20, i))
		put(t, filepath.Join(root, want[i]), "x")
	}
	w, err := New(root, Options{Debounce: time.Millisecond})
	must(t, err)
	r := run(t, w)
	part := r.next()
	if part.First || len(part.Paths) < partSize || len(part.Paths) >= len(want) {
		t.Fatalf("the first part has %d paths, First: %t", len(part.Paths), part.First)
	}
	changed := part.Paths[0]
	r.put(changed, "changed")
	found := part.Paths
	for !part.First {
		part = r.next()
		found = append(found, part.Paths...)
	}
	slices.Sort(found)
	if !slices.Equal(found, want) {
		t.Errorf("found %d paths, want each of %d once", len(found), len(want))
	}
	r.until(changed)
}
