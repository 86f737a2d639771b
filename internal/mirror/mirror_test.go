package mirror

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"deckhand/change"
)

// place is a work folder with some notes, and where its copy goes.
type place struct {
	t    *testing.T
	spec Spec
}

func newPlace(t *testing.T, dir string) place {
	t.Helper()
	p := place{t: t, spec: Spec{From: filepath.Join(dir, "work"), To: filepath.Join(dir, "copy"), Skip: skip, Owner: "me"}}
	for rel, text := range map[string]string{
		"Plan.md": "one\r\ntwo\r\n", "Empty.md": "", "Sub/Deep/Note.md": "deep\n", "Photo.png": "\x89PNG\x00\x00",
		".obsidian/app.json": "{}", ".env": "KEY=secret", "deckhand/Needs me.md": "mine\n", "Templates/Daily.md": "tpl\n",
		"What: why?.md": "odd\n", "👨‍👩‍👧.md": "family\n",
	} {
		p.write(p.spec.From, rel, text)
	}
	p.must(os.Symlink("/etc/passwd", filepath.Join(p.spec.From, "Out.md")))
	p.must(os.Symlink("/etc", filepath.Join(p.spec.From, "Out")))
	return p
}

func skip(rel string, _ bool) bool {
	return rel == "deckhand" || strings.HasPrefix(rel, "deckhand/") || strings.HasPrefix(rel, "Templates/")
}

func (p place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p place) write(dir, rel, text string) {
	p.t.Helper()
	at := filepath.Join(dir, rel)
	p.must(os.MkdirAll(filepath.Dir(at), 0o755))
	p.must(os.WriteFile(at, []byte(text), 0o644))
}

// agent writes into the copy.
func (p place) agent(rel, text string) { p.write(Notes(p.spec.To), rel, text) }

func (p place) at(rel string) string { return filepath.Join(Notes(p.spec.To), rel) }

func (p place) make() {
	p.t.Helper()
	p.must(Make(context.Background(), p.spec))
}

func (p place) changes() ([]change.Change, []string) {
	p.t.Helper()
	c, left, err := Changes(context.Background(), p.spec.To, skip)
	p.must(err)
	return c, left
}

// tree is every file below a folder, with its text.
func (p place) tree(dir string) map[string]string {
	p.t.Helper()
	out := map[string]string{}
	p.must(filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		out[filepath.ToSlash(strings.TrimPrefix(name, dir+"/"))] = string(data)
		return err
	}))
	return out
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %#v\nwant %#v", what, got, want)
	}
}

func TestMake(t *testing.T) {
	p := newPlace(t, t.TempDir())
	before := p.tree(p.spec.From)
	p.make()
	same(t, "copied", p.tree(Notes(p.spec.To)), map[string]string{
		"Plan.md": "one\r\ntwo\r\n", "Empty.md": "", "Sub/Deep/Note.md": "deep\n", "Photo.png": "\x89PNG\x00\x00",
		"What: why?.md": "odd\n", "👨‍👩‍👧.md": "family\n",
	})
	same(t, "the notes", p.tree(p.spec.From), before)
	same(t, "made", Made(p.spec.To, "me"), true)
	same(t, "another's", Made(p.spec.To, "you"), false)
	changes, left := p.changes()
	same(t, "nothing changed", changes, nil)
	same(t, "nothing left", left, nil)
	info, err := os.Stat(p.at("Plan.md"))
	p.must(err)
	same(t, "for its user alone", info.Mode().Perm(), 0o600)
}

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(place)
		want []change.Change
		left []string
	}{
		{"edited", func(p place) { p.agent("Plan.md", "one\r\n2\r\n") }, []change.Change{
			{Kind: change.Edit, File: "Plan.md", Before: "one\r\ntwo\r\n", After: "one\r\n2\r\n"},
		}, nil},
		{"touched", func(p place) { p.agent("Plan.md", "one\r\ntwo\r\n") }, nil, nil},
		{"a name that only this system can have", func(p place) { p.agent("What: why?.md", "even\n") }, []change.Change{
			{Kind: change.Edit, File: "What: why?.md", Before: "odd\n", After: "even\n"},
		}, nil},
		{"made", func(p place) { p.agent("New/June.md", "june\n") }, []change.Change{
			{Kind: change.Create, File: "New/June.md", After: "june\n"},
		}, nil},
		{"deleted", func(p place) { p.must(os.RemoveAll(p.at("Sub"))) }, []change.Change{
			{Kind: change.Delete, File: "Sub/Deep/Note.md", Before: "deep\n"},
		}, nil},
		{"moved", func(p place) { p.must(os.Rename(p.at("Plan.md"), p.at("Sub/Plan.md"))) }, []change.Change{
			{Kind: change.Move, File: "Plan.md", To: "Sub/Plan.md", Before: "one\r\ntwo\r\n", After: "one\r\ntwo\r\n"},
		}, nil},
		{"moved to two places", func(p place) {
			p.must(os.Rename(p.at("Plan.md"), p.at("A.md")))
			p.agent("B.md", "one\r\ntwo\r\n")
		}, []change.Change{
			{Kind: change.Create, File: "A.md", After: "one\r\ntwo\r\n"},
			{Kind: change.Create, File: "B.md", After: "one\r\ntwo\r\n"},
			{Kind: change.Delete, File: "Plan.md", Before: "one\r\ntwo\r\n"},
		}, nil},
		{"an empty one is no move", func(p place) {
			p.must(os.Remove(p.at("Empty.md")))
			p.agent("New.md", "")
		}, []change.Change{
			{Kind: change.Delete, File: "Empty.md"},
			{Kind: change.Create, File: "New.md"},
		}, nil},
		{"no text", func(p place) {
			p.agent("Photo.png", "\x89PNG\x00\x00 and more")
			p.agent("Raw.md", "\xff\xfe\n")
			p.agent("Nul.md", "\x00")
			p.agent("Long.md", strings.Repeat("x", largest+1))
			p.agent("Plan.md", "\x00")
		}, nil, []string{
			"Long.md: it is too long", "Nul.md: it is no text", "Photo.png: it is no text, or too long",
			"Plan.md: it is no text", "Raw.md: it is no text",
		}},
		{"a photo deleted", func(p place) { p.must(os.Remove(p.at("Photo.png"))) }, nil, []string{"Photo.png: it was deleted there; it is no text, or too long"}},
		{"where nothing of it belongs", func(p place) {
			p.agent("deckhand/Machine.md", "machine: mine\n")
			p.agent(".obsidian/app.json", "{\"a\":1}")
			p.agent(".git/hooks/pre-commit", "#!/bin/sh\n")
			p.agent("Templates/Daily.md", "mine\n")
		}, nil, nil},
		{"names", func(p place) {
			p.agent("a\nb.md", "x")
			p.agent("\u202egpj.md", "x")
			p.agent("c:\\d.md", "x")
			p.agent("raw\xff.md", "x")
		}, nil, []string{
			"a\nb.md: its name cannot be written down", "c:\\d.md: its name cannot be written down",
			"raw\ufffd.md: its name cannot be written down", "\u202egpj.md: its name cannot be written down",
		}},
		{"links and pipes", func(p place) {
			p.must(os.Symlink("/etc/passwd", p.at("Link.md")))
			p.must(os.Remove(p.at("Plan.md")))
			p.must(os.Symlink("/etc/passwd", p.at("Plan.md")))
			p.must(os.RemoveAll(p.at("Sub/Deep")))
			p.must(os.Symlink("/etc", p.at("Sub/Deep")))
			p.must(syscall.Mkfifo(p.at("Pipe.md"), 0o600))
		}, []change.Change{{Kind: change.Delete, File: "Sub/Deep/Note.md", Before: "deep\n"}}, []string{
			"Link.md: it is no file", "Pipe.md: it is no file", "Plan.md: it is no file", "Sub/Deep: it is no file",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, t.TempDir())
			before := p.tree(p.spec.From)
			p.make()
			c.do(p)
			got, left := p.changes()
			same(t, "changes", got, c.want)
			same(t, "left", left, c.left)
			same(t, "the notes", p.tree(p.spec.From), before)
		})
	}
}

// What the notes become while an agent works in its copy is no change of the agent's.
func TestNotesChangeMeanwhile(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.make()
	p.write(p.spec.From, "Plan.md", "mine\n")
	p.must(os.Remove(filepath.Join(p.spec.From, "Sub/Deep/Note.md")))
	p.agent("Plan.md", "its\r\n")
	got, left := p.changes()
	same(t, "changes", got, []change.Change{{Kind: change.Edit, File: "Plan.md", Before: "one\r\ntwo\r\n", After: "its\r\n"}})
	same(t, "left", left, nil)
}

// What was begun and not ended is made anew.
func TestPartIsMadeAnew(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.agent("Half.md", "half\n")
	same(t, "a part", Made(p.spec.To, "me"), false)
	p.make()
	if _, err := os.Stat(p.at("Half.md")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the part is still there")
	}
	p.must(os.RemoveAll(p.spec.To))
	same(t, "removed", Made(p.spec.To, "me"), false)
}

func TestTooLarge(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.spec.Max = 10
	var large *TooLargeError
	if err := Make(context.Background(), p.spec); !errors.As(err, &large) {
		t.Fatalf("made: %v", err)
	}
	same(t, "bytes", *large, TooLargeError{Size: 32, Max: 10})
	if _, err := os.Stat(p.spec.To); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something is left of it")
	}
}

func TestTooMuchChanged(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.make()
	for i := range most/largest + 1 {
		p.agent("Big "+string(rune('A'+i%26))+string(rune('A'+i/26))+".md", strings.Repeat("x", largest))
	}
	if _, _, err := Changes(context.Background(), p.spec.To, skip); !errors.Is(err, ErrTooMuch) {
		t.Errorf("got %v", err)
	}
}

func TestStopped(t *testing.T) {
	p := newPlace(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Make(ctx, p.spec); !errors.Is(err, context.Canceled) {
		t.Errorf("made: %v", err)
	}
	same(t, "made", Made(p.spec.To, "me"), false)
}

// A file system that shares bytes is one where the copy costs nothing, whatever
// there is.
func TestShared(t *testing.T) {
	p := newPlace(t, shares(t))
	p.spec.Max = 1
	p.make()
	p.agent("Plan.md", "its\n")
	got, _ := p.changes()
	same(t, "changes", got, []change.Change{{Kind: change.Edit, File: "Plan.md", Before: "one\r\ntwo\r\n", After: "its\n"}})
	if data, err := os.ReadFile(filepath.Join(p.spec.From, "Plan.md")); err != nil || string(data) != "one\r\ntwo\r\n" {
		t.Errorf("the note: %q, %v", data, err)
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range p.tree(filepath.Join(p.spec.To, baseDir)) {
			if !yield(name) {
				return
			}
		}
	})
	same(t, "base", names, []string{"Empty.md", "Plan.md", "Sub/Deep/Note.md", "What: why?.md", "👨‍👩‍👧.md"})
}
