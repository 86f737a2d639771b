package robust

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// row is a line of a table of the page that begins with a test.
var row = regexp.MustCompile("(?m)^\\| `((?:Test|Fuzz)\\w+)` \\|(.*)\\|(.*)\\|$")

// testsIn are the tests of the packages below this one.
func testsIn(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*/*_test.go")
	must(t, err)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	var names []string
	for _, name := range files {
		src, err := os.ReadFile(name)
		must(t, err)
		for _, m := range declared.FindAllSubmatch(src, -1) {
			if name := string(m[1]); name != "TestMain" {
				names = append(names, name)
			}
		}
	}
	return names
}

// TestPageNamesEveryProof: each proof has its line on the page with what it
// shows and how it was seen to fail, and the page names none that is not there.
func TestPageNamesEveryProof(t *testing.T) {
	path, err := findUp(pageName)
	must(t, err)
	page, err := os.ReadFile(path)
	must(t, err)
	var named []string
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		named = append(named, m[1])
		if strings.TrimSpace(m[2]) == "" || strings.TrimSpace(m[3]) == "" {
			t.Errorf("%s: the page does not say what it shows, or how it was seen to fail", m[1])
		}
	}
	tests := testsIn(t)
	if len(tests) == 0 {
		t.Fatal("no proofs found")
	}
	for _, name := range tests {
		if !slices.Contains(named, name) {
			t.Errorf("%s is not on the page", name)
		}
	}
	for _, name := range named {
		if !slices.Contains(tests, name) {
			t.Errorf("the page names %s, which is not there", name)
		}
	}
}

func TestFiguresGoBetweenTheirMarks(t *testing.T) {
	const page = "a\n<!-- figures: x -->\nold\n<!-- end -->\nb\n<!-- figures: y -->\nkeep\n<!-- end -->\n"
	const want = "a\n<!-- figures: x -->\nnew\n<!-- end -->\nb\n<!-- figures: y -->\nkeep\n<!-- end -->\n"
	got, err := insert([]byte(page), "x", []byte("new"))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	for _, section := range []string{"z", "fig"} {
		if _, err := insert([]byte(page), section, nil); err == nil {
			t.Errorf("figures of %s were put somewhere", section)
		}
	}
	if _, err := insert([]byte("<!-- figures: x -->\nno end\n"), "x", nil); err == nil {
		t.Error("a section without an end was replaced")
	}
}

func TestRoundsAreAShare(t *testing.T) {
	s := Suite{rounds: 10}
	if got := []int{s.Rounds(full), s.Rounds(10_000), s.Rounds(20)}; !slices.Equal(got, []int{10, 200, 1}) {
		t.Errorf("got %v", got)
	}
	s.rounds = full
	if got := s.Rounds(20); got != 20 {
		t.Errorf("the full form does %d of 20", got)
	}
}
