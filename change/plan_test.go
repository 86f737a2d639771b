package change

import (
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
)

// memory is a folder that is not on any disk.
type memory map[string]string

func (m memory) read(file string) (string, error) {
	text, ok := m[file]
	if !ok {
		return "", fs.ErrNotExist
	}
	return text, nil
}

func (m memory) folder() Folder {
	return Folder{
		Read:   m.read,
		Closed: []string{"deckhand"},
		Files: func() []string {
			var names []string
			for name := range m {
				names = append(names, name)
			}
			return names
		},
	}
}

func TestBatches(t *testing.T) {
	start := memory{
		"Plan.md":    "# Plan\n\nLaunch: May\n\nShip it in May.\n",
		"Notes/A.md": "one\r\ntwo\r\nthree",
		"Old.md":     "gone soon\n",
	}
	for name, test := range map[string]struct {
		actions []Action
		want    []Change
	}{
		"an action sees the one before": {
			[]Action{
				{Do: EditText, File: "Plan.md", Old: "Launch: May", New: "Launch: July", Reason: "it slips"},
				{Do: EditText, File: "Plan.md", Old: "Launch: July", New: "Launch: June", Reason: "less"},
			},
			[]Change{{Edit, "Plan.md", "", start["Plan.md"], "# Plan\n\nLaunch: June\n\nShip it in May.\n", "it slips; less"}},
		},
		"created, then edited": {
			[]Action{
				{Do: CreateFile, File: "New.md", Text: "a\n"},
				{Do: EditText, File: "New.md", Old: "a", New: "b"},
			},
			[]Change{{Kind: Create, File: "New.md", After: "b\n"}},
		},
		"edited, then moved": {
			[]Action{
				{Do: EditText, File: "Old.md", Old: "soon", New: "now"},
				{Do: MoveFile, File: "Old.md", To: "Archive/Old.md"},
			},
			[]Change{{Kind: Move, File: "Old.md", To: "Archive/Old.md", Before: "gone soon\n", After: "gone now\n"}},
		},
		"edited, then deleted": {
			[]Action{
				{Do: EditText, File: "Old.md", Old: "soon", New: "now"},
				{Do: DeleteFile, File: "Old.md"},
			},
			[]Change{{Kind: Delete, File: "Old.md", Before: "gone soon\n"}},
		},
		"created, then moved": {
			[]Action{
				{Do: CreateFile, File: "New.md", Text: "a\n"},
				{Do: MoveFile, File: "New.md", To: "Newer.md"},
			},
			[]Change{{Kind: Create, File: "Newer.md", After: "a\n"}},
		},
		"in the order of the first touch; what is as it was is left out": {
			[]Action{
				{Do: ReplaceAll, File: "Plan.md", Old: "May", New: "June"},
				{Do: DeleteFile, File: "Old.md"},
				{Do: EditText, File: "Notes/A.md", Old: "one\ntwo", New: "one\n2\n2b"},
				{Do: ReplaceAll, File: "Plan.md", Old: "June", New: "May"},
			},
			[]Change{
				{Kind: Delete, File: "Old.md", Before: "gone soon\n"},
				{Kind: Edit, File: "Notes/A.md", Before: "one\r\ntwo\r\nthree", After: "one\r\n2\r\n2b\r\nthree"},
			},
		},
	} {
		got, err := Plan(start.folder(), test.actions)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", name, got, err, test.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	m := memory{
		"A.md": "one\ntwo\none\n", "B.md": "b\n", "Binary.md": "\xff\xfe", "Many.md": strings.Repeat("a", 1000), "Shop.md": "## Plan\n- [ ] a\n\n## Done\n",
	}
	for _, test := range []struct {
		want    string // a part of the error
		actions []Action
	}{
		{"no action", nil},
		{"at most 20", make([]Action, 21)},
		{`no action is called "burn"`, []Action{{Do: "burn", File: "A.md"}}},
		{"not there; read the file first", []Action{{Do: EditText, File: "A.md", Old: "three", New: "x"}}},
		{"2 times (lines 1, 3); add surrounding lines", []Action{{Do: EditText, File: "A.md", Old: "one", New: "x"}}},
		{"100 or more times (lines 1, 1, 1, 1, 1, …)", []Action{{Do: EditText, File: "Many.md", Old: "aa", New: "x"}}},
		{"action 2, edit: A.md is deleted in this batch", []Action{{Do: DeleteFile, File: "A.md"}, {Do: EditText, File: "A.md", Old: "two", New: "x"}}},
		{"A.md is deleted in this batch", []Action{{Do: DeleteFile, File: "A.md"}, {Do: CreateFile, File: "A.md", Text: "x"}}},
		{"C.md is moved in this batch", []Action{{Do: MoveFile, File: "A.md", To: "C.md"}, {Do: EditText, File: "C.md", Old: "two", New: "x"}}},
		{"A.md is moved in this batch", []Action{{Do: MoveFile, File: "A.md", To: "C.md"}, {Do: CreateFile, File: "A.md", Text: "x"}}},
		{"B.md already exists", []Action{{Do: MoveFile, File: "A.md", To: "B.md"}}},
		{"A.md already exists", []Action{{Do: MoveFile, File: "A.md", To: "A.md"}}},
		{"B.md already exists", []Action{{Do: CreateFile, File: "B.md", Text: "x"}}},
		{"None.md does not exist", []Action{{Do: DeleteFile, File: "None.md"}}},
		{"not UTF-8 text", []Action{{Do: DeleteFile, File: "Binary.md"}}},
		{"changes nothing", []Action{{Do: EditText, File: "B.md", Old: "b", New: "b"}}},
		{"nothing would change", []Action{{Do: EditText, File: "B.md", Old: "b", New: "c"}, {Do: EditText, File: "B.md", Old: "c", New: "b"}}},
		{"nothing would change", []Action{{Do: CreateFile, File: "C.md", Text: "c"}, {Do: DeleteFile, File: "C.md"}}},
		{"B.md: the line of a run below a card is not", []Action{{Do: EditText, File: "B.md", Old: "b", New: "## Plan\n- [ ] a\n  - 🔵 pi works ^r-01kb7x2m000000000000000000"}}},
		{"control character U+001B", []Action{{Do: CreateFile, File: "C.md", Text: "\x1b[31m"}}},
		{"change its cards", []Action{{Do: EditText, File: "Shop.md", Old: "a", New: "b"}}},
		{"change its cards", []Action{{Do: InsertText, File: "Shop.md", Line: 1, Text: "b"}}},
		{"there is no line 5: the file has 3", []Action{{Do: InsertText, File: "A.md", Line: 5, Text: "b"}}},
		{`no heading "Launch"`, []Action{{Do: InsertText, File: "A.md", Heading: "## Launch", Text: "b"}}},
		{"a line or a heading", []Action{{Do: InsertText, File: "A.md", Text: "b"}}},
	} {
		got, err := Plan(m.folder(), test.actions)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %+v, %v, want an error with %q", test.actions, got, err, test.want)
		}
	}
}

func TestPaths(t *testing.T) {
	f := memory{}.folder()
	f.Closed = []string{"deckhand", "Arbeit/Café/"}
	for file, ok := range map[string]bool{
		"A.md": true, "a/b c/Ü.markdown": true, "deckhand.md": true, "deckhands/a.md": true, "Arbeit/x.md": true, "a..b.md": true,
		"": false, ".": false, "..": false, "/etc/passwd.md": false, "../A.md": false, "a/../B.md": false, "a//b.md": false,
		"./A.md": false, "a/": false, ".obsidian/x.md": false, "a/.b/x.md": false, ".md": false, "a/.md": false,
		"A.txt": false, "A": false, "deckhand.yaml": false, "a\nb.md": false, "a\x00.md": false, "\xff.md": false,
		"deckhand/x.md": false, "Deckhand/chats/x.md": false, "arbeit/cafe\u0301/x/y.md": false,
	} {
		if err := f.Check(file); (err == nil) != ok {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestInsert(t *testing.T) {
	for i, test := range []struct {
		src  string
		a    Action
		want string
	}{
		{"a\nb\n", Action{Line: 1, Text: "x"}, "x\na\nb\n"},
		{"a\nb\n", Action{Line: 2, Text: "x\n"}, "a\nx\nb\n"},
		{"a\nb\n", Action{Line: 3, Text: "x\ny"}, "a\nb\nx\ny\n"},
		{"a\r\nb", Action{Line: 3, Text: "x\ny\n"}, "a\r\nb\r\nx\r\ny"},
		{"a\r\nb\nc\n", Action{Line: 2, Text: "x"}, "a\r\nx\r\nb\nc\n"},
		{"\ufeffa\n", Action{Line: 1, Text: "x"}, "\ufeffx\na\n"},
		{"", Action{Line: 1, Text: "x"}, "x\n"},
		{"\ufeff", Action{Line: 1, Text: "x"}, "\ufeffx\n"},
		{"# H\n\ntext\n", Action{Heading: "H", Text: "x"}, "# H\n\nx\n\ntext\n"},
		{"# H\ntext\n", Action{Heading: "# H", Text: "x"}, "# H\nx\n\ntext\n"},
		{"# H\n\n- a\n", Action{Heading: "H", Text: "- x"}, "# H\n\n- x\n- a\n"},
		{"# H\r\n\r\n- a\r\n", Action{Heading: "H", Text: "- x\n- y"}, "# H\r\n\r\n- x\r\n- y\r\n- a\r\n"},
		{"# H\n\n# I\n", Action{Heading: "H", Text: "x"}, "# H\n\nx\n\n# I\n"},
		{"# H", Action{Heading: "H", Text: "x"}, "# H\nx"},
	} {
		if got, err := insert(test.src, test.a); err != nil || got != test.want {
			t.Errorf("%d: %q in %q: got %q, %v, want %q", i, test.a.Text, test.src, got, err, test.want)
		}
	}
}

// Only the bytes that were meant change, whatever lines end with on either side.
func TestLineEndsStay(t *testing.T) {
	for i, test := range []struct{ src, old, text, want string }{
		{"a\r\nb\r\nc\r\n", "a\nb", "x\nb", "x\r\nb\r\nc\r\n"},
		{"a\nb\nc\n", "a\r\nb\r\n", "a\r\ny\r\n", "a\ny\nc\n"},
		{"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nB\nc\nD", "a\r\nB\nc\r\nD\n"},
		{"a\r\nb\nc\r\n", "b\n", "b\nb2\n", "a\r\nb\nb2\nc\r\n"},
		{"a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		{"\ufeffa\r\n", "a", "b", "\ufeffb\r\n"},
		{"a\r\nb\r\n", "a\nb\n", "", ""},
		{"x\r\r\ny", "y", "z", "x\r\r\nz"},
	} {
		if got, err := editOnce(test.src, test.old, test.text, 1); err != nil || got != test.want {
			t.Errorf("%d: got %q, %v, want %q", i, got, err, test.want)
		}
	}
	if got, err := replaceAll("a\r\na\naa", "a\n", "b\n"); err != nil || got != "b\r\nb\naa" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := replaceAll("aaaa\n", "aa", "b"); err != nil || got != "bb\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestPreflight(t *testing.T) {
	m := memory{"A.md": "a", "B.md": "b", "C.md": "edited"}
	read := func(file string) (string, error) {
		if file == "Broken.md" {
			return "", fmt.Errorf("input/output error")
		}
		return m.read(file)
	}
	for _, test := range []struct {
		change Change
		want   string
	}{
		{Change{Kind: Create, File: "New.md"}, ""},
		{Change{Kind: Create, File: "A.md"}, "A.md already exists"},
		{Change{Kind: Create, File: "Broken.md"}, "Broken.md cannot be read: input/output error"},
		{Change{Kind: Edit, File: "A.md", Before: "a", After: "b"}, ""},
		{Change{Kind: Edit, File: "C.md", Before: "c", After: "b"}, "C.md changed since it was proposed; ask for a new proposal"},
		{Change{Kind: Edit, File: "None.md", Before: "c", After: "b"}, "None.md no longer exists"},
		{Change{Kind: Edit, File: "Broken.md"}, "Broken.md cannot be read: input/output error"},
		{Change{Kind: Delete, File: "C.md", Before: "c"}, "C.md changed since it was proposed; ask for a new proposal"},
		{Change{Kind: Move, File: "A.md", To: "B.md", Before: "a", After: "a"}, "B.md already exists"},
		{Change{Kind: Move, File: "A.md", To: "D.md", Before: "a", After: "a"}, ""},
		{Change{Kind: "burn", File: "A.md"}, `A.md: no change is called "burn"`},
	} {
		got := ""
		for _, p := range Preflight([]Change{test.change}, read) {
			got += p.Error()
		}
		if got != test.want {
			t.Errorf("%s %s: got %q, want %q", test.change.Kind, test.change.File, got, test.want)
		}
	}
	twice := []Change{{Kind: Move, File: "A.md", To: "D.md", Before: "a"}, {Kind: Create, File: "D.md"}, {Kind: Edit, File: "None.md"}}
	got := Preflight(twice, read)
	if len(got) != 2 || got[0] != (Problem{"D.md", "D.md is changed twice"}) || got[1].File != "None.md" {
		t.Errorf("got %+v", got)
	}
}

func TestSplit(t *testing.T) {
	all := []Change{{File: "A.md"}, {File: "B.md"}, {File: "C.md"}}
	chosen, rest, err := Split(all, []string{"C.md", "A.md"})
	if err != nil || !reflect.DeepEqual(chosen, []Change{{File: "A.md"}, {File: "C.md"}}) || !reflect.DeepEqual(rest, all[1:2]) {
		t.Errorf("got %v, %v, %v", chosen, rest, err)
	}
	if _, _, err := Split(all, []string{"D.md"}); err == nil {
		t.Error("a file of no change is taken")
	}
}
