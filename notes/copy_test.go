package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var wide = Limits{Links: 10, PerNote: 20000, Total: 60000}

// folder is a work folder in memory.
type folder map[string]string

func (f folder) read(path string) ([]byte, error) {
	text, ok := f[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: "/home/me/notes/" + path, Err: fs.ErrPermission}
	}
	return []byte(text), nil
}

func (f folder) index() *Index {
	ix := NewIndex()
	for path := range f {
		ix.Put(path)
	}
	return ix
}

func (f folder) copy(card string, lim Limits) []Piece {
	return Copy([]byte(card), "Shop.md", f.index(), f.read, lim)
}

// casePaths lists the files of a fixture.
func casePaths(t *testing.T, name string) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(os.DirFS(filepath.Join("testdata", "cases", name)), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func caseFolder(t *testing.T, name string) folder {
	t.Helper()
	f := folder{}
	for _, path := range casePaths(t, name) {
		b, err := os.ReadFile(filepath.Join("testdata", "cases", name, filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		f[path] = string(b)
	}
	return f
}

func texts(pieces []Piece) string {
	var out []string
	for _, p := range pieces {
		out = append(out, fmt.Sprintf("%s#%s %q%s", p.Path, p.Section, p.Text, p.Problem))
	}
	return strings.Join(out, "; ")
}

// Case 28: link and file name differ in Unicode form.
func TestCase28Forms(t *testing.T) {
	f := caseFolder(t, "28")
	got := texts(f.copy(f["board.md"], wide))
	if want := "cafe\u0301 plan.md#menu \"# Menu\\n\""; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Case 30: in a table the pipe of an alias is written \|.
func TestCase30PipeInTable(t *testing.T) {
	f := caseFolder(t, "30")
	for _, l := range Links([]byte(f["plan.md"])) {
		if l.Target != "Spec" || l.Alias != "the spec" {
			t.Errorf("got %+v", l)
		}
	}
	got := texts(f.copy(f["plan.md"]+f["board.md"], wide))
	if want := fmt.Sprintf("Spec.md# %q; plan.md# %q", f["Spec.md"], f["plan.md"]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Case 31: a link written in code is followed.
func TestCase31Code(t *testing.T) {
	f := caseFolder(t, "31")
	if got, want := texts(f.copy(f["board.md"], wide)), fmt.Sprintf("Open.md# %q", f["Open.md"]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Case 32: a heading with punctuation is not found. The two links to the first
// section copy it once.
func TestCase32Punctuation(t *testing.T) {
	f := caseFolder(t, "32")
	got := texts(f.copy(f["board.md"], wide))
	want := `Spec.md#Costs, limits & dates? "## Costs, limits & dates?\n\nA\n\n"; ` +
		`Spec.md#What's (not) in v1 2 "## What's (not) in: v1.2\n\nB\n\n"`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestCopySaysWhatIsNotThere(t *testing.T) {
	f := folder{
		"Spec.md": "# Spec\n\n## Pay\nx", "Shop.md": "## Plan\n- [ ] a\n## Done\n", "shot.png": "PNG",
		"nul.md": "a\x00b", "data.csv": "a,b\n", "blob.dat": "\xff\xfe", "latin.md": "caf\xe9\n", "empty.md": "",
	}
	ix := f.index()
	ix.Put("locked.md")
	ix.Put("gone.md")
	read := func(path string) ([]byte, error) {
		if path == "gone.md" {
			return nil, fmt.Errorf("open /home/me/notes/gone.md: %w", fs.ErrNotExist)
		}
		return f.read(path)
	}
	tests := []struct{ card, want string }{
		{"[[Nope]]", `# ""` + NotFound},
		{"[[Spec#Ship]]", `Spec.md#Ship ""` + NoSection},
		{"[[Spec#^x]]", `Spec.md#^x ""` + NoSection},
		{"[[../../etc/passwd]]", `# ""` + Outside},
		{"[t](../x.md)", `# ""` + Outside},
		{"[[.obsidian/app.json]]", `# ""` + Hidden},
		{"![[shot.png]]", `shot.png# ""` + Binary},
		{"![alt](shot.png)", `shot.png# ""` + Binary},
		{"[[nul]]", `nul.md# ""` + Binary},
		{"[[blob.dat]]", `blob.dat# ""` + Binary},
		{"[[data.csv]]", `data.csv# "a,b\n"`},
		{"[[latin]]", `latin.md# "caf\xe9\n"`},
		{"[[empty]]", `empty.md# ""`},
		{"[[locked]]", `locked.md# ""not readable: permission denied`},
		{"[[gone]]", `gone.md# ""` + NotFound},
		{"[[#Plan]]", `Shop.md#Plan "## Plan\n- [ ] a\n"`},
		{"[[Shop]]", `Shop.md# "## Plan\n- [ ] a\n## Done\n"`},
		{"[[Spec]] ![[spec.md|x]] [y](Spec.md)", `Spec.md# "# Spec\n\n## Pay\nx"`},
		{"[[Nope]] [[nope]]", `# ""` + NotFound},
		{"no link", ""},
	}
	for _, tt := range tests {
		if got := texts(Copy([]byte(tt.card), "Shop.md", ix, read, wide)); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.card, got, tt.want)
		}
	}
}

func TestCopyNamesTheOthers(t *testing.T) {
	f := folder{"a/Spec.md": "A", "b/Spec.md": "B"}
	got := f.copy("[[Spec]] [[b/Spec]]", wide)
	if len(got) != 2 || got[0].Text != "A" || fmt.Sprint(got[0].Others) != "[b/Spec.md]" || got[1].Text != "B" || got[1].Others != nil {
		t.Errorf("got %+v", got)
	}
}

func TestCopyStopsAtTheNumberOfLinks(t *testing.T) {
	f := folder{}
	card := ""
	for i := range 12 {
		f[fmt.Sprintf("n%02d.md", i)] = fmt.Sprint(i)
		card += fmt.Sprintf("[[n%02d]] [[n00]] ", i)
	}
	got := f.copy(card, wide)
	if len(got) != 12 {
		t.Fatalf("%d pieces", len(got))
	}
	for i, p := range got {
		text, problem := fmt.Sprint(i), ""
		if i >= 10 {
			text, problem = "", "more than 10 links: not copied"
		}
		if p.Link != fmt.Sprintf("[[n%02d]]", i) || p.Text != text || p.Problem != problem {
			t.Errorf("%d: %+v", i, p)
		}
	}
}

func TestCopyCutsAtALine(t *testing.T) {
	f := folder{"a.md": strings.Repeat("äöü\n", 100), "line.md": strings.Repeat("é", 100), "small.md": "12345\n"}
	tests := []struct {
		card string
		lim  Limits
		want string
	}{
		{"[[a]]", Limits{10, 10, 100}, "äöü\näöü\n[… cut here: 14 of 700 bytes]\n"},
		{"[[a]]", Limits{10, 400, 400}, f["a.md"]},
		{"[[line]]", Limits{10, 3, 100}, "ééé\n[… cut here: 6 of 200 bytes]\n"},
		{"[[small]] [[a]]", Limits{10, 10, 11}, "12345\n/äöü\n[… cut here: 7 of 700 bytes]\n"},
		{"[[small]] [[a]] [[line]]", Limits{10, 10, 6}, "12345\n/!more than 6 characters of notes: not copied/!more than 6 characters of notes: not copied"},
		{"[[small]]", Limits{0, 10, 10}, "!more than 0 links: not copied"},
	}
	for _, tt := range tests {
		var out []string
		for _, p := range f.copy(tt.card, tt.lim) {
			text := p.Text
			if p.Problem != "" {
				text += "!" + p.Problem
			}
			if p.Cut != strings.Contains(p.Text, CutMark) {
				t.Errorf("%q: cut is %v: %q", tt.card, p.Cut, p.Text)
			}
			out = append(out, text)
		}
		if got := strings.Join(out, "/"); got != tt.want {
			t.Errorf("%q %v: got %q, want %q", tt.card, tt.lim, got, tt.want)
		}
	}
}

func TestCopyOfAHugeNote(t *testing.T) {
	line := strings.Repeat("word ", 19) + "[[x]]\n"
	big := strings.Repeat(line, 20<<20/len(line)) + "## Last\nend ^last\n"
	f := folder{"big.md": big}
	got := f.copy("[[big]] [[big#Last]] [[big#^last]] [[big#None]]", wide)
	if len(got) != 4 {
		t.Fatalf("%d pieces", len(got))
	}
	if p := got[0]; !p.Cut || p.Bytes != len(big) || utf8.RuneCountInString(p.Text) > wide.PerNote+60 {
		t.Errorf("whole: cut %v, %d of %d bytes", p.Cut, len(p.Text), p.Bytes)
	}
	if got[1].Text != "## Last\nend ^last\n" || got[2].Text != "end ^last\n" || got[3].Problem != NoSection {
		t.Errorf("parts: %+v", got[1:])
	}
}

// Case 36: a card with a pasted log. What reads like a link in it, on each of
// 20,000 lines, is named once; where its board is linked, no more of it is
// copied than the limit allows.
func TestCase36PastedLog(t *testing.T) {
	var b strings.Builder
	b.WriteString("## Plan\n- [ ] Log below [[Spec]]\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "  line %d of the log with some [text] and a[0](1)\n", i)
	}
	f := folder{"board.md": b.String(), "Spec.md": "s"}
	if got := texts(f.copy(f["board.md"], wide)); got != `Spec.md# "s"; # ""`+NotFound {
		t.Errorf("links of the log: %s", got)
	}
	got := f.copy("[[board#Plan]]", wide)
	if len(got) != 1 || !got[0].Cut || got[0].Bytes != b.Len() || utf8.RuneCountInString(got[0].Text) > wide.PerNote+60 {
		t.Errorf("%d pieces, cut %v", len(got), got[0].Cut)
	}
}

func TestReadErrorsHideTheFolder(t *testing.T) {
	for _, err := range []error{
		&fs.PathError{Op: "open", Path: "/home/me/notes/a.md", Err: errors.New("too large")},
		fmt.Errorf("reading: %w", &fs.PathError{Op: "open", Path: "/home/me/notes/a.md", Err: fs.ErrPermission}),
	} {
		if got := readProblem(err); strings.Contains(got, "/home") || !strings.HasPrefix(got, "not readable: ") {
			t.Errorf("%v becomes %q", err, got)
		}
	}
}

func FuzzCopy(f *testing.F) {
	f.Add("[[a]] [[a#B]] ![[a#^c]] [x](a.md)", "---\nt: 1\n---\n# A\n## B\nx ^c\n", 5, 12)
	f.Add("[[#B]] [[a#A#B]] `[[a]]`", "# B\n\xff\n", 0, 3)
	f.Fuzz(func(t *testing.T, card, note string, perNote, total int) {
		files := folder{"a.md": note, "Shop.md": card, "b/a.md": "other"}
		used := 0
		for _, p := range files.copy(card, Limits{Links: 3, PerNote: perNote, Total: total}) {
			if p.Problem != "" {
				if p.Text != "" || p.Cut {
					t.Fatalf("problem and text: %+v", p)
				}
				continue
			}
			text := p.Text
			if p.Cut {
				text = text[:strings.LastIndex(text, CutMark)]
			} else if len(text) != p.Bytes {
				t.Fatalf("%d of %d bytes, not cut", len(text), p.Bytes)
			}
			text = strings.TrimSuffix(text, "\n") // the mark stands on a line of its own
			if !strings.Contains(files[p.Path], text) {
				t.Fatalf("%q is not in %q", text, files[p.Path])
			}
			n := utf8.RuneCountInString(text)
			if used += n; n > max(0, perNote) || used > max(0, total) {
				t.Fatalf("%d characters, %d in all, limits %d and %d", n, used, perNote, total)
			}
		}
	})
}
