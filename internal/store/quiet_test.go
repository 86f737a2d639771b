package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hook calls do once, when the store comes to a point.
func hook(s *Store, at string, do func()) {
	once := do
	s.disk.fault = func(point string) error {
		if point == at && once != nil {
			f := once
			once = nil
			f()
		}
		return nil
	}
}

// A file that changes while we wait is left alone until it is unchanged for
// settle; what is written then holds the change.
func TestWaitsUntilQuiet(t *testing.T) {
	s, root := openWith(t, Options{State: t.TempDir(), Settle: 150 * time.Millisecond, Grace: time.Hour}, "a.md", oldText)
	name := filepath.Join(root, "a.md")
	start := time.Now()
	go func() {
		for time.Since(start) < 50*time.Millisecond { // somebody types
			if err := os.WriteFile(name, []byte(theirText), 0o644); err != nil {
				t.Error(err)
			}
		}
	}()
	if _, err := s.Update(t.Context(), "a.md", tick); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < 190*time.Millisecond {
		t.Errorf("written after %v, want at least 50 ms + settle", d)
	}
	want(t, name, mergedText)
}

// A file that is changed all the time is written in a gap after ten times the
// wait; nothing of what is written to it meanwhile is lost.
func TestNeverQuiet(t *testing.T) {
	s, root := openWith(t, Options{State: t.TempDir(), Settle: 20 * time.Millisecond, Grace: time.Hour}, "a.md", oldText)
	name := filepath.Join(root, "a.md")
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				stopped <- n
				return
			default:
			}
			if err := appendLine(name, n); err != nil {
				t.Error(err)
			}
		}
	}()
	_, err := s.Update(t.Context(), "a.md", tick)
	close(stop)
	lines := <-stopped
	if err != nil && !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil || !bytes.HasPrefix(data, []byte("## Plan\n- [x] card\n")) {
		t.Errorf("%.40q, %v", data, err)
	}
	there := map[string]int{}
	for line := range strings.Lines(string(data)) {
		there[line]++
	}
	for n := range lines {
		if got := there[fmt.Sprintf("line %d\n", n)]; got != 1 {
			t.Fatalf("line %d of %d is there %d times", n, lines, got)
		}
	}
}

func appendLine(name string, n int) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "line %d\n", n)
	return errors.Join(err, f.Close())
}

// Our own write does not make the next one wait.
func TestOwnWriteIsQuiet(t *testing.T) {
	s, root := openWith(t, Options{State: t.TempDir(), Settle: time.Hour, Grace: time.Hour}, "a.md", oldText)
	if _, err := s.UpdateNow(t.Context(), "a.md", tick); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(t.Context(), "a.md", replace("[x] card", "[x] done")); err != nil {
		t.Fatal(err)
	}
	want(t, filepath.Join(root, "a.md"), "## Plan\n- [x] done\n")
}

// A file that never gets quiet, and one that never comes back, are waited for
// as long as the caller wants.
func TestWaitEndsWithContext(t *testing.T) {
	s, _ := openWith(t, Options{State: t.TempDir(), Settle: time.Hour, Grace: time.Hour}, "a.md", oldText)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, rel := range []string{"a.md", "missing.md"} {
		if _, err := s.Update(ctx, rel, tick); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", rel, err)
		}
	}
}

// vim renames the old file away before it creates the new one; an update that
// comes in between waits for the new one.
func TestVimGap(t *testing.T) {
	for _, at := range []string{pointOpen, pointExchange} {
		s, root := open(t, "a.md", oldText)
		name := filepath.Join(root, "a.md")
		gone := make(chan struct{})
		hook(s, at, func() {
			if err := os.Rename(name, name+"~"); err != nil {
				t.Error(err)
			}
			close(gone)
		})
		saved := make(chan error)
		go func() {
			<-gone
			saved <- os.WriteFile(name, []byte(theirText), 0o644)
		}()
		if _, err := s.UpdateNow(t.Context(), "a.md", tick); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		if err := <-saved; err != nil {
			t.Fatal(err)
		}
		if _, err := s.UpdateNow(t.Context(), "a.md", tick); err != nil { // after the event of the save
			t.Errorf("%s: %v", at, err)
		}
		want(t, name, mergedText)
		want(t, name+"~", oldText)
	}
}

// Case 16: what an editor has written half is not read; the rest is waited for.
func TestHalfWritten(t *testing.T) {
	if caps, err := Capabilities(t.TempDir()); err != nil || !caps.Leases {
		t.Skip("needs a file system with leases")
	}
	s, root := open(t, "a.md", oldText)
	name := filepath.Join(root, "a.md")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan struct{})
	opened := 0
	s.disk.fault = func(point string) error { // its third look comes after two refused leases
		if point == pointOpen {
			if opened++; opened == 4 {
				close(refused)
			}
		}
		return nil
	}
	go func() {
		<-refused
		_, werr := f.WriteString(theirText)
		if err := errors.Join(werr, f.Close()); err != nil {
			t.Error(err)
		}
	}()
	data, _, err := s.Read("a.md")
	if err != nil || string(data) != theirText {
		t.Errorf("read %q, %v", data, err)
	}
}

// A program that keeps a note open for writing must not keep it from being
// read.
func TestHeldOpen(t *testing.T) {
	s, root := open(t, "a.md", oldText)
	f, err := os.OpenFile(filepath.Join(root, "a.md"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, _, err := s.Read("a.md")
	if err != nil || string(data) != oldText {
		t.Errorf("read %q, %v", data, err)
	}
}

func TestReadBounds(t *testing.T) {
	s, root := open(t, "big.md", "")
	if err := os.Truncate(filepath.Join(root, "big.md"), maxSize+1); err != nil {
		t.Fatal(err)
	}
	for rel, target := range map[string]error{"big.md": ErrTooLarge, "no.md": os.ErrNotExist, "../x": ErrOutside} {
		if _, _, err := s.Read(rel); !errors.Is(err, target) {
			t.Errorf("%s: got %v, want %v", rel, err, target)
		}
	}
}

// saveIn is where a person's save falls: without leases, too, nothing of it is
// lost.
func TestSaveInTheWindow(t *testing.T) {
	saves := map[string]func(name string) error{
		"in place": func(name string) error { return os.WriteFile(name, []byte(theirText), 0o644) },
		"rename": func(name string) error {
			return errors.Join(os.WriteFile(name+".new", []byte(theirText), 0o644), os.Rename(name+".new", name))
		},
	}
	for style, save := range saves {
		for _, at := range []string{pointCreate, pointSync, pointExchange, pointSyncDir, pointCompare} {
			for _, lease := range []bool{true, false} {
				s, root := open(t, "a.md", oldText)
				s.disk.noLease = !lease
				name := filepath.Join(root, "a.md")
				hook(s, at, func() {
					if err := save(name); err != nil {
						t.Error(err)
					}
				})
				if _, err := s.UpdateNow(t.Context(), "a.md", tick); err != nil {
					t.Errorf("%s at %s: %v", style, at, err)
				}
				if _, err := s.UpdateNow(t.Context(), "a.md", tick); err != nil { // after the event of the save
					t.Errorf("%s at %s: %v", style, at, err)
				}
				want(t, name, mergedText)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				noTemp(t, root)
			}
		}
	}
}

// An operation that does not apply to what a person saved meanwhile gives them
// their file back: the same file, not a copy.
func TestPutBack(t *testing.T) {
	s, root := open(t, "a.md", oldText)
	name := filepath.Join(root, "a.md")
	var theirs os.FileInfo
	hook(s, pointExchange, func() {
		put(t, name, "## Plan\nnothing left\n")
		theirs, _ = os.Stat(name)
	})
	if res, err := s.UpdateNow(t.Context(), "a.md", tick); !errors.Is(err, errNotThere) || res.Changed {
		t.Errorf("got %+v, %v", res, err)
	}
	want(t, name, "## Plan\nnothing left\n")
	if st, _ := os.Stat(name); !os.SameFile(st, theirs) {
		t.Error("another file")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	noTemp(t, root)
}

// A program that had the file open since before the swap writes after it: the
// late look brings that to the path, with all that was done to the file since.
func TestLateSave(t *testing.T) {
	for late, merged := range map[string]string{
		theirText:                       "## Planned\n- [x] card\n- [ ] a line typed just now\n",
		"## Plan, edited\n- [ ] card\n": "## Planned, edited\n- [x] card\n",
	} {
		var told []Recovered
		s, root := openWith(t, Options{State: t.TempDir(), Grace: time.Hour, Late: func(r Recovered) { told = append(told, r) }}, "a.md", oldText)
		name := filepath.Join(root, "a.md")
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.disk.noLease = true // a lease would have waited for f
		for _, op := range []Op{tick, replace("## Plan", "## Planned")} {
			if _, err := s.UpdateNow(t.Context(), "a.md", op); err != nil {
				t.Fatal(err)
			}
		}
		_, err = f.WriteAt([]byte(late), 0)
		if err := errors.Join(err, f.Close(), s.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		want(t, name, merged)
		if len(told) != 1 || told[0] != (Recovered{Path: "a.md", What: Reapplied}) {
			t.Errorf("told %+v", told)
		}
		noTemp(t, root)
	}
}

// A late save into a displaced copy, when the person has saved at the path
// since: the newer one stays, the late one is kept.
func TestLateSaveIsOlder(t *testing.T) {
	var told []Recovered
	s, root := openWith(t, Options{State: t.TempDir(), Grace: time.Hour, Late: func(r Recovered) { told = append(told, r) }}, "a.md", oldText)
	name := filepath.Join(root, "a.md")
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.disk.noLease = true
	if _, err := s.UpdateNow(t.Context(), "a.md", tick); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("late"), 3); err != nil {
		t.Fatal(err)
	}
	put(t, name, "newest\n")
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, name, "newest\n")
	if len(told) != 1 || told[0].What != Kept {
		t.Fatalf("told %+v", told)
	}
	want(t, told[0].Kept, "## late\n- [ ] card\n")
	noTemp(t, root)
}

// The grace timer does the late look by itself.
func TestGraceEnds(t *testing.T) {
	s, root := openWith(t, Options{State: t.TempDir(), Grace: time.Millisecond}, "a.md", oldText)
	removed := make(chan struct{})
	hook(s, pointRemove, func() { close(removed) })
	if _, err := s.UpdateNow(t.Context(), "a.md", tick); err != nil {
		t.Fatal(err)
	}
	<-removed
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	noTemp(t, root)
}

func TestRecoverSaysWhat(t *testing.T) {
	state, root := t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, "sub/a.md"), "newest\n")
	put(t, filepath.Join(root, "sub/.deckhand-1.tmp"), theirText)
	put(t, filepath.Join(state, "swaps.jsonl"), `{"do":"begin","temp":".deckhand-1.tmp","dir":"sub","file":"a.md"}
{"do":"ready","temp":".deckhand-1.tmp","inode":1,"read":"x","ours":"y"}
{"do":"begin","temp":".deckhand-2.tmp","dir":"gone","file":"b.md"}
{"do":"beg`)
	s, err := Open(root, Options{State: state})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Recover(t.Context())
	kept := filepath.Join(state, "kept", "deckhand-1-a.md")
	if want := []Recovered{{Path: "sub/a.md", What: Kept, Kept: kept}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	want(t, kept, theirText)
	want(t, filepath.Join(root, "sub/a.md"), "newest\n")
	if again, err := s.Recover(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	noTemp(t, root)
}

// Writes of one file wait for each other, writes of many do not get lost.
func TestManyWriters(t *testing.T) {
	s, root := open(t, "a.md", "")
	errs := make(chan error)
	for i := range 20 {
		go func() {
			line := []byte{'a' + byte(i), '\n'}
			_, err := s.UpdateNow(t.Context(), "a.md", func(cur []byte) ([]byte, error) {
				if bytes.Contains(cur, line) {
					return cur, nil
				}
				return slices.Concat(cur, line), nil
			})
			errs <- err
		}()
	}
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(root, "a.md"))
	if err != nil || len(data) != 40 {
		t.Errorf("%q, %v", data, err)
	}
}

func TestFileReplacedByLink(t *testing.T) {
	s, root := open(t, "a.md", oldText)
	name := filepath.Join(root, "a.md")
	hook(s, pointExchange, func() {
		if err := errors.Join(os.Remove(name), os.Symlink("elsewhere.md", name)); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.UpdateNow(t.Context(), "a.md", tick); !errors.Is(err, ErrNotFile) {
		t.Errorf("got %v", err)
	}
	if to, err := os.Readlink(name); err != nil || to != "elsewhere.md" {
		t.Errorf("link to %q, %v", to, err)
	}
}

// A full disk, for real: a file that may not grow beyond a limit.
func TestAppendFailsWhole(t *testing.T) {
	s, root := open(t, "journal.md", "one\n")
	s.disk.fault = func(point string) error {
		if point == pointAppend {
			return unix.ENOSPC
		}
		return nil
	}
	if err := s.Append(t.Context(), "journal.md", []byte("two\n")); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("got %v", err)
	}
	want(t, filepath.Join(root, "journal.md"), "one\n")
}

// How long a file is left alone can be changed; the next write goes by it.
func TestSettleCanBeChanged(t *testing.T) {
	s, root := openWith(t, Options{State: t.TempDir(), Settle: time.Hour, Grace: time.Hour}, "a.md", oldText)
	s.Settle(0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := s.Update(ctx, "a.md", tick); err != nil {
		t.Fatal(err)
	}
	want(t, filepath.Join(root, "a.md"), newText)
}
