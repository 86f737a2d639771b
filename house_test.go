package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// picture is who may import whom; ARCHITECTURE.md shows the same. A change here
// needs its reason there.
const picture = `
main → cli → internal/config, internal/daemon, internal/control, internal/shell, review, and the hidden children: harness (keep), assistant, internal/standin
internal/daemon → everything but cli, review, assistant, internal/standin
review → internal/control, change         assistant → change, notes
dispatch → board, change, internal/markdown, internal/shell
change → board, notes, internal/span      journal, internal/mirror → change
board, notes, chats, journal, inbox → internal/span, internal/markdown
internal/markdown → internal/span         harness/* → harness
assistant, internal/standin → harness/pi (wire types)     tests only: internal/testkit, internal/robust, internal/bench
watcher, harness, internal/store, internal/config, internal/control, internal/shell, internal/span → nothing of ours
`

// suites are what tests import beyond the picture: the demands on a driver, and
// the agent that needs no account.
const suites = `
harness/*, internal/standin, assistant → harness, harness/conformance
internal/daemon → internal/standin
`

const module = "deckhand"

// core are the packages that are a function of their arguments.
func core(dir string) bool {
	return slices.Contains([]string{"board", "notes", "chats", "journal", "change", "dispatch", "inbox", "internal/shell", "internal/span", "internal/markdown"}, dir)
}

// arrows is a picture as read.
type arrows struct {
	to        map[string][]string // "everything" among them stands for all
	but       map[string][]string // what everything leaves out
	testsOnly []string
}

var (
	remark   = regexp.MustCompile(` *\([^)]*\)|and the hidden children: `)
	gap      = regexp.MustCompile(`\s{2,}|\n`)
	nameForm = regexp.MustCompile(`^[a-z]+(/[a-z*]+)*$`)
)

// readPicture reads a picture: statements parted by lines or wide gaps.
func readPicture(text string) (arrows, error) {
	a := arrows{to: map[string][]string{}, but: map[string][]string{}}
	for _, statement := range gap.Split(text, -1) {
		statement = strings.TrimSpace(remark.ReplaceAllString(statement, ""))
		if list, ok := strings.CutPrefix(statement, "tests only: "); ok {
			a.testsOnly = append(a.testsOnly, strings.Split(list, ", ")...)
			continue
		}
		sides := strings.Split(statement, " → ")
		if statement != "" && len(sides) < 2 {
			return a, fmt.Errorf("no arrow in %q", statement)
		}
		for i := 0; i+1 < len(sides); i++ {
			if err := a.add(sides[i], sides[i+1]); err != nil {
				return a, err
			}
		}
	}
	for _, to := range a.to {
		slices.Sort(to)
	}
	return a, nil
}

func (a arrows) add(from, to string) error {
	targets := strings.Split(to, ", ")
	rest, all := strings.CutPrefix(to, "everything but ")
	if all {
		targets = strings.Split(rest, ", ")
	} else if to == "nothing of ours" {
		targets = nil
	}
	for _, name := range append(strings.Split(from, ", "), targets...) {
		if !nameForm.MatchString(name) {
			return fmt.Errorf("%q in the picture is no package", name)
		}
	}
	for name := range strings.SplitSeq(from, ", ") {
		if all {
			a.to[name], a.but[name] = append(a.to[name], "everything"), targets
			continue
		}
		a.to[name] = append(a.to[name], targets...)
	}
	return nil
}

// rows are the names under which a package stands in the picture.
func (a arrows) rows(name string) []string {
	var found []string
	for _, row := range []string{name, path.Dir(name) + "/*"} {
		if _, ok := a.to[row]; ok {
			found = append(found, row)
		}
	}
	return found
}

// isTests reports whether a package is for tests only, itself or as a part of one.
func (a arrows) isTests(name string) bool {
	return slices.ContainsFunc(a.testsOnly, func(of string) bool {
		return name == of || strings.HasPrefix(name, of+"/")
	})
}

func (a arrows) allows(from, to string) bool {
	for _, row := range a.rows(from) {
		if slices.Contains(a.to[row], to) {
			return true
		}
		if slices.Contains(a.to[row], "everything") && to != "main" && !slices.Contains(a.but[row], to) {
			return !a.isTests(to)
		}
	}
	return false
}

// unit is a package as go list tells it.
type unit struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// short is a package's name in the picture, empty when it is not ours.
func short(importPath string) string {
	if importPath == module {
		return "main"
	}
	name, ok := strings.CutPrefix(importPath, module+"/")
	if !ok {
		return ""
	}
	return name
}

// checkArrows lists the imports that the picture does not show.
func checkArrows(a, tests arrows, units []unit) []string {
	var problems []string
	for _, u := range units {
		from := short(u.ImportPath)
		if a.isTests(from) {
			continue
		}
		if len(a.rows(from)) == 0 {
			problems = append(problems, from+" is not in the picture")
			continue
		}
		for _, to := range u.Imports {
			if name := short(to); name != "" && !a.allows(from, name) {
				problems = append(problems, from+" → "+name)
			}
			if core(from) && slices.Contains([]string{"os", "os/exec", "net", "github.com/fsnotify/fsnotify", "github.com/gdamore/tcell/v2"}, to) {
				problems = append(problems, from+" is core and imports "+to)
			}
		}
		for _, to := range slices.Concat(u.TestImports, u.XTestImports) {
			name := short(to)
			if name != "" && name != from && !a.allows(from, name) && !tests.allows(from, name) && !a.isTests(name) {
				problems = append(problems, from+" → "+name+" in tests")
			}
		}
	}
	return problems
}

// listUnits asks go list, for one system.
func listUnits(t *testing.T, goos string) []unit {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v: %s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var units []unit
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var u unit
		if err := dec.Decode(&u); errors.Is(err, io.EOF) {
			return units
		} else if err != nil {
			t.Fatal(err)
		}
		units = append(units, u)
	}
}

func mustPicture(t *testing.T, text string) arrows {
	t.Helper()
	a, err := readPicture(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestArrows(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		units := listUnits(t, goos)
		if len(units) < 10 {
			t.Fatalf("go list tells of %d packages only", len(units))
		}
		for _, p := range checkArrows(mustPicture(t, picture), mustPicture(t, suites), units) {
			t.Errorf("%s: %s", goos, p)
		}
	}
}

func TestArrowsCanFail(t *testing.T) {
	a := mustPicture(t, picture)
	ours := func(names ...string) []string {
		for i := range names {
			names[i] = module + "/" + names[i]
		}
		return names
	}
	for name, test := range map[string]struct {
		unit unit
		want string
	}{
		"allowed":               {unit{ImportPath: "deckhand/board", Imports: ours("internal/span", "internal/markdown")}, ""},
		"not in the picture":    {unit{ImportPath: "deckhand/board", Imports: ours("notes")}, "board → notes"},
		"backwards":             {unit{ImportPath: "deckhand/internal/span", Imports: ours("board")}, "internal/span → board"},
		"everything":            {unit{ImportPath: "deckhand/internal/daemon", Imports: ours("harness/pi", "inbox")}, ""},
		"but":                   {unit{ImportPath: "deckhand/internal/daemon", Imports: ours("cli")}, "internal/daemon → cli"},
		"a part of the tests":   {unit{ImportPath: "deckhand/internal/robust/crash", TestImports: ours("cli")}, ""},
		"imports a part":        {unit{ImportPath: "deckhand/internal/daemon", Imports: ours("internal/robust/crash")}, "internal/daemon → internal/robust/crash"},
		"tests only":            {unit{ImportPath: "deckhand/internal/daemon", Imports: ours("internal/testkit")}, "internal/daemon → internal/testkit"},
		"main knows cli":        {unit{ImportPath: "deckhand", Imports: ours("cli")}, ""},
		"main knows no more":    {unit{ImportPath: "deckhand", Imports: ours("board")}, "main → board"},
		"cli and notes":         {unit{ImportPath: "deckhand/cli", Imports: ours("notes")}, "cli → notes"},
		"a driver":              {unit{ImportPath: "deckhand/harness/pi", Imports: ours("harness")}, ""},
		"a driver of another":   {unit{ImportPath: "deckhand/harness/pi", Imports: ours("harness/acp")}, "harness/pi → harness/acp"},
		"harness knows none":    {unit{ImportPath: "deckhand/harness", Imports: ours("harness/pi")}, "harness → harness/pi"},
		"a stranger":            {unit{ImportPath: "deckhand/utils"}, "utils is not in the picture"},
		"core and os":           {unit{ImportPath: "deckhand/chats", Imports: []string{"os"}}, "chats is core and imports os"},
		"tests, allowed":        {unit{ImportPath: "deckhand/board", TestImports: ours("internal/testkit", "board")}, ""},
		"tests, a suite":        {unit{ImportPath: "deckhand/harness/pi", XTestImports: ours("harness/conformance")}, ""},
		"tests, not allowed":    {unit{ImportPath: "deckhand/board", XTestImports: ours("notes")}, "board → notes in tests"},
		"tests of another kind": {unit{ImportPath: "deckhand/board", TestImports: ours("harness/conformance")}, "board → harness/conformance in tests"},
	} {
		if got := strings.Join(checkArrows(a, mustPicture(t, suites), []unit{test.unit}), "; "); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestPicturesCanDiffer(t *testing.T) {
	doc := "# x\n\n```\nnot this\n```\n```text\nmain → cli      tests only: b, a\nc → everything but main\nd → nothing of ours\n```\n"
	text, ok := pictureIn(doc)
	if !ok {
		t.Fatal("no picture found")
	}
	shown := mustPicture(t, text)
	for other, same := range map[string]bool{
		"tests only: a, b\nmain → cli\nd → nothing of ours\nc → everything but main":    true,
		"tests only: a, b\nmain → cli, d\nd → nothing of ours\nc → everything but main": false,
		"tests only: a\nmain → cli\nd → nothing of ours\nc → everything but main":       false,
		"tests only: a, b\nmain → cli\nd → nothing of ours\nc → everything but d":       false,
		"tests only: a, b\nmain → cli\nc → everything but main":                         false,
	} {
		if diff := samePicture(shown, mustPicture(t, other)); (len(diff) == 0) != same {
			t.Errorf("%q: %q", other, diff)
		}
	}
	for _, text := range []string{"main, cli", "main → the rest", "main →  cli"} {
		if _, err := readPicture(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	if _, ok := pictureIn("```\nmain → cli\n```"); ok {
		t.Error("a block that is no picture is taken for one")
	}
}

// pictureIn is the picture of a document: the fenced block that holds its last words.
func pictureIn(doc string) (string, bool) {
	for i, block := range strings.Split(doc, "```") {
		if i%2 == 1 && strings.Contains(block, "→ nothing of ours") {
			_, text, _ := strings.Cut(block, "\n")
			return text, true
		}
	}
	return "", false
}

// samePicture says where two pictures differ.
func samePicture(a, b arrows) []string {
	lines := func(a arrows) []string {
		out := []string{"tests only: " + strings.Join(slices.Sorted(slices.Values(a.testsOnly)), ", ")}
		for from, to := range a.to {
			out = append(out, from+" → "+strings.Join(to, ", ")+" but "+strings.Join(slices.Sorted(slices.Values(a.but[from])), ", "))
		}
		slices.Sort(out)
		return out
	}
	la, lb := lines(a), lines(b)
	var diff []string
	for _, l := range append(slices.Clone(la), lb...) {
		if slices.Contains(la, l) != slices.Contains(lb, l) {
			diff = append(diff, l)
		}
	}
	return diff
}

func TestArchitectureShowsThePicture(t *testing.T) {
	doc, err := os.ReadFile("ARCHITECTURE.md")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no ARCHITECTURE.md")
	}
	text, ok := pictureIn(string(doc))
	if err != nil || !ok {
		t.Fatalf("no picture in ARCHITECTURE.md: %v", err)
	}
	for _, d := range samePicture(mustPicture(t, picture), mustPicture(t, text)) {
		t.Errorf("only in one of the two: %s", d)
	}
}

func TestSources(t *testing.T) {
	dirs := map[string]map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := os.ReadFile(name)
		dir := filepath.ToSlash(filepath.Dir(name))
		if dirs[dir] == nil {
			dirs[dir] = map[string]string{}
		}
		dirs[dir][filepath.ToSlash(name)] = string(src)
		return err
	})
	if err != nil || len(dirs) < 10 {
		t.Fatalf("%d folders: %v", len(dirs), err)
	}
	for dir, sources := range dirs {
		for _, p := range checkDir(dir, sources) {
			t.Error(p)
		}
	}
}
