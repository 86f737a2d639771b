package store

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestReplace(t *testing.T) {
	s, root := open(t, "a.md", "one\n", "b.md", "two\n")
	if err := s.Replace(t.Context(), "a.md", []byte("one\n"), []byte("1\n")); err != nil {
		t.Fatal(err)
	}
	want(t, filepath.Join(root, "a.md"), "1\n")
	if err := s.Replace(t.Context(), "a.md", []byte("one\n"), []byte("1\n")); err != nil {
		t.Errorf("done already: %v", err)
	}
	if err := s.Replace(t.Context(), "b.md", []byte("one\n"), []byte("1\n")); !errors.Is(err, ErrChanged) {
		t.Errorf("another text: %v", err)
	}
	want(t, filepath.Join(root, "b.md"), "two\n")
	if err := s.Replace(t.Context(), "c.md", nil, []byte("1\n")); !errors.Is(err, ErrChanged) {
		t.Errorf("no file: %v", err)
	}
}

func TestRemove(t *testing.T) {
	s, root := open(t, "a.md", "one\n", "b.md", "two\n")
	if err := s.Remove(t.Context(), "b.md", []byte("one\n")); !errors.Is(err, ErrChanged) {
		t.Errorf("another text: %v", err)
	}
	want(t, filepath.Join(root, "b.md"), "two\n")
	if err := s.Remove(t.Context(), "c.md", nil); !errors.Is(err, ErrChanged) {
		t.Errorf("no file: %v", err)
	}
	if err := s.Remove(t.Context(), "a.md", []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(root, "a.md")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a.md is there: %v", err)
	}
	if err := s.Create(t.Context(), "a.md", []byte("again\n")); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
}

// TestRemoveSaved: a save that falls between the look and the rename goes back.
func TestRemoveSaved(t *testing.T) {
	s, root := open(t, "a.md", "one\n")
	name := filepath.Join(root, "a.md")
	f := &nth{name: name, at: pointRename, n: -1}
	s.disk.fault = f.fault
	if err := s.Remove(t.Context(), "a.md", []byte("one\n")); !errors.Is(err, ErrChanged) {
		t.Errorf("remove: %v", err)
	}
	want(t, name, theirText)
}

func TestMove(t *testing.T) {
	s, root := open(t, "a.md", "one\n", "b.md", "two\n")
	if err := s.Move(t.Context(), "a.md", "b.md", []byte("one\n")); !errors.Is(err, ErrExists) {
		t.Errorf("onto a file: %v", err)
	}
	if err := s.Move(t.Context(), "a.md", "in/c.md", []byte("two\n")); !errors.Is(err, ErrChanged) {
		t.Errorf("another text: %v", err)
	}
	if err := s.Move(t.Context(), "a.md", "in/c.md", []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	want(t, filepath.Join(root, "in/c.md"), "one\n")
	if _, err := os.Lstat(filepath.Join(root, "a.md")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a.md is there: %v", err)
	}
	if err := s.Move(t.Context(), "a.md", "d.md", []byte("one\n")); !errors.Is(err, ErrChanged) {
		t.Errorf("no file: %v", err)
	}
}

// TestMoveSaved: a save that falls between the look and the rename keeps its name.
func TestMoveSaved(t *testing.T) {
	s, root := open(t, "a.md", "one\n")
	name := filepath.Join(root, "a.md")
	s.disk.fault = (&nth{name: name, at: pointRename, n: -1}).fault
	if err := s.Move(t.Context(), "a.md", "b.md", []byte("one\n")); !errors.Is(err, ErrChanged) {
		t.Errorf("move: %v", err)
	}
	want(t, name, theirText)
}

func TestPlain(t *testing.T) {
	s, root := open(t, "in/a.md", "one\n")
	for _, link := range []string{"to.md", "dir"} {
		target := map[string]string{"to.md": "in/a.md", "dir": "in"}[link]
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, rel := range []string{"in/a.md", "in/b.md", "new/b.md"} {
		if err := s.Plain(rel); err != nil {
			t.Errorf("%s: %v", rel, err)
		}
	}
	for _, rel := range []string{"to.md", "dir/a.md", "dir/b.md", "../a.md", "/a.md", ".", "in/../in/a.md", ""} {
		if s.Plain(rel) == nil {
			t.Errorf("%q is let through", rel)
		}
	}
}

// TestKilledWhileRemoving ends the process at each step of a removal and of a
// move, alone and with a person who saves in the middle: afterwards what there
// was is there, under one name, or was removed; a save is there in any case.
func TestKilledWhileRemoving(t *testing.T) {
	for _, do := range []string{"remove", "move"} {
		for _, at := range []string{"", pointRename} {
			t.Run(do+" "+at, func(t *testing.T) {
				n := 1
				for goneAt(t, do, at, n) {
					n++
				}
				if n < 5 {
					t.Errorf("only %d steps", n)
				}
			})
		}
	}
}

// goneAt reports whether there was an nth step.
func goneAt(t *testing.T, do, at string, n int) bool {
	t.Helper()
	root, state := t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, "Shop.md"), oldText)
	saved := filepath.Join(t.TempDir(), "saved")
	err := child("killed", "DO="+do, "ROOT="+root, "STATE="+state, "N="+strconv.Itoa(n), "AT="+at, "SAVED="+saved).Run()
	s, fault := Open(root, Options{State: state})
	if fault != nil {
		t.Fatal(fault)
	}
	if _, err := s.Recover(t.Context()); err != nil {
		t.Errorf("recover: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	noTemp(t, root)
	text := oldText
	if _, err := os.Stat(saved); err == nil {
		text = theirText
	}
	var found []string
	for _, name := range []string{"Shop.md", "Moved.md"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			found = append(found, string(data))
		}
	}
	switch {
	case len(found) == 1 && found[0] == text:
	case len(found) == 0 && do == "remove" && text == oldText:
	default:
		t.Fatalf("killed at step %d (%v): %q", n, err, found)
	}
	return err != nil
}
