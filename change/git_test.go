package change

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scribe writes notes as people do, and edits them.
type scribe struct{ *rand.Rand }

func newScribe(seed uint64) scribe { return scribe{rand.New(rand.NewPCG(seed, 1))} }

func (s scribe) word() string {
	words := strings.Fields("launch date moves june plan team ship mail invoice berlin note task call one two three")
	return words[s.IntN(len(words))]
}

func (s scribe) text() string {
	out := s.word()
	for range 1 + s.IntN(9) {
		out += " " + s.word()
	}
	return out
}

func (s scribe) note(sections int) []string {
	var lines []string
	for range sections {
		lines = append(lines, "## "+s.word(), "")
		for range 1 + s.IntN(3) {
			for range 1 + s.IntN(4) {
				if s.IntN(2) == 0 {
					lines = append(lines, s.text())
					break
				}
				lines = append(lines, "- [ ] "+s.text())
				if s.IntN(3) == 0 {
					lines = append(lines, "  - "+s.word())
				}
			}
			lines = append(lines, "")
		}
	}
	return lines
}

// edited is lines after some edits of the kinds that people make.
func (s scribe) edited(lines []string, edits int) []string {
	out := append([]string{"# Note"}, lines...)
	for range edits {
		at := s.IntN(len(out))
		n := min(1+s.IntN(6), len(out)-at)
		block := append([]string{}, out[at:at+n]...)
		switch s.IntN(5) {
		case 0:
			out[at] = strings.Replace(out[at], "e", "E", 1) + " " + s.word()
		case 1:
			out = append(out[:at:at], out[min(at+n, len(out)-1):]...)
		case 2:
			out = append(out[:at:at], append(s.note(1), out[at:]...)...)
		case 3:
			out = append(out[:at:at], out[at+n:]...)
			to := s.IntN(len(out) + 1)
			out = append(out[:to:to], append(block, out[to:]...)...)
		case 4:
			out = append(out[:at:at], append(block, out[at:]...)...)
		}
	}
	return out
}

// joined writes lines with ends as they are found.
func (s scribe) joined(lines []string) string {
	switch s.IntN(4) {
	case 0:
		return strings.Join(lines, "\r\n") + "\r\n"
	case 1:
		return strings.Join(lines, "\n")
	}
	return strings.Join(lines, "\n") + "\n"
}

// What git shows is what people are used to. No diff has more changed lines than
// git's, most are the same to the byte, and git takes them all as patches.
func TestAgainstGit(t *testing.T) {
	const cases = 400
	dir := t.TempDir()
	s := newScribe(7)
	for _, side := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, side), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	name := func(i int) string { return fmt.Sprintf("%04d.md", i) }
	var olds, news [cases]string
	var patch strings.Builder
	for i := range cases {
		lines := s.note(3 + s.IntN(8))
		olds[i], news[i] = s.joined(append([]string{"# Note"}, lines...)), s.joined(s.edited(lines, 1+s.IntN(5)))
		for side, text := range map[string]string{"a": olds[i], "b": news[i]} {
			if err := os.WriteFile(filepath.Join(dir, side, name(i)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Fprintf(&patch, "--- a/%s\n+++ b/%[1]s\n%s", name(i), Compare(olds[i], news[i]).Unified(3))
	}
	same := 0
	theirs := gitDiffs(t, dir)
	for i := range cases {
		ours, git := Compare(olds[i], news[i]).Unified(3), theirs[name(i)]
		if changedLines(ours) > changedLines(git) {
			t.Errorf("more lines than git shows:\n%s\ngit:\n%s", ours, git)
		}
		if ours == git {
			same++
		}
	}
	t.Logf("%d of %d are git's to the byte", same, cases)
	if same < cases*3/4 {
		t.Errorf("%d of %d only are git's", same, cases)
	}

	apply := exec.Command("git", "apply", "--whitespace=nowarn", "-")
	apply.Dir, apply.Stdin = filepath.Join(dir, "a"), strings.NewReader(patch.String())
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v: %s", err, out)
	}
	for i := range cases {
		if got, err := os.ReadFile(filepath.Join(dir, "a", name(i))); err != nil || string(got) != news[i] {
			t.Fatalf("%s: the patch gives something else (%v)", name(i), err)
		}
	}
}

// gitDiffs are the hunks between the files in a and b, as git shows them,
// without the names of sections.
func gitDiffs(t *testing.T, dir string) map[string]string {
	t.Helper()
	cmd := exec.Command("git", "diff", "--no-index", "--no-color", "--no-ext-diff", "--no-renames", "--no-prefix", "-U3", "--diff-algorithm=myers", "--indent-heuristic", "a", "b")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output()
	if len(out) == 0 {
		t.Fatalf("git diff: %v", err)
	}
	hunks := map[string]string{}
	file := ""
	for line := range strings.SplitAfterSeq(string(out), "\n") {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			file = ""
		case file == "" && strings.HasPrefix(line, "+++ "):
			file = strings.TrimSpace(strings.TrimPrefix(line, "+++ b/"))
		case file == "":
		case strings.HasPrefix(line, "@@ "):
			extents, _, _ := strings.Cut(line[3:], " @@")
			hunks[file] += "@@ " + extents + " @@\n"
		default:
			hunks[file] += line
		}
	}
	return hunks
}

func changedLines(unified string) int {
	return strings.Count(unified, "\n+") + strings.Count(unified, "\n-")
}
