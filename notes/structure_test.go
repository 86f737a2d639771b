package notes

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestStructure(t *testing.T) {
	for name, test := range map[string]struct{ src, want string }{
		"nothing":              {"# A\n\ntext [[Spec]]\n\n## B\n", ""},
		"header is not read":   {"---\na: |\n---\n# A\n", ""},
		"table":                {"| a | b |\n|---|:-:|\n| 1 | 2 |\n| 1 | 2\n| 1 \\| 2 | 3 |\n", ""},
		"row is short":         {"# T\n\n| a | b |\n|---|---|\n| 1 |\n| 1 | 2 |\n", "5: a table row has 1 instead of 2 cells"},
		"row is long":          {"a | b\n--|--\n1 | 2 | 3\n\nx | y | z\n", "3: a table row has 3 instead of 2 cells"},
		"text goes on":         {"a | b\n--|--\n1 | 2\ntext\n", "4: a table row has 1 instead of 2 cells"},
		"divider is short":     {"| a | b |\n|---|\n| 1 | 2 |\n", "2: the line below a table's header has 1 instead of 2 cells"},
		"no table":             {"a | b\nc | d | e\n", ""},
		"table after text":     {"text\na | b\n--|--\n1\n", "4: a table row has 1 instead of 2 cells"},
		"table in a quote":     {"> | a | b |\n> |---|---|\n> | 1 |\n", "3: a table row has 1 instead of 2 cells"},
		"table in code":        {"```\n| a | b |\n|---|---|\n| 1 |\n```\n", ""},
		"open fence":           {"a\n\n```go\ncode\n", `3: the code block "` + "```go" + `" is not closed`},
		"closed fences":        {"```\n~~~\n```\n\n~~~~\n~~~\n```\n~~~~~\n- a\n  ```\n  b\n  ```\n", ""},
		"fence of one line":    {"```", `1: the code block "` + "```" + `" is not closed`},
		"fence ends with item": {"- ```\n  code\n\ntext\n", `1: the code block "` + "```" + `" is not closed`},
		"two fences":           {"- ```\n- ```\n  ```\n", `1: the code block "` + "```" + `" is not closed`},
		"empty headings":       {"#\n\n## \n\n### ###\n", "1: a heading has no text; 3: a heading has no text; 5: a heading has no text"},
		"level":                {"## A\n#### B\n## C\n### D\n# E\n", `2: the heading "B" skips a level: 4 after 2`},
		"first level is free":  {"### A\n#### B\n", ""},
		"heading in an item":   {"# A\n- #### B\n", ""},
		"links":                {"[[Spec#x]] [[None]] [a](None.md) [b](Spec.md)\n\n- [[Spec]]\n- ![[v1.2]]\n", `1: there is no note "None"; 1: there is no note "None.md"; 4: there is no note "v1.2"`},
		"links to others":      {"[[shot.png]] [a](other.pdf) [b](folder/) [c](https://x.y/z.md) [[#A]] [d](../up.md) [[.hidden/x]]\n", ""},
	} {
		ix := NewIndex()
		ix.Put("Spec.md")
		var got []string
		for _, f := range Structure([]byte(test.src), func(l Link) bool { return ix.Missing("A.md", l) }) {
			got = append(got, fmt.Sprintf("%d: %s", f.Line, f.Text))
		}
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, strings.Join(got, "; "), test.want)
		}
	}
}

// A flaw that only moved is the same flaw.
func TestFlawsAreKnownByTheirWords(t *testing.T) {
	src := "#\n\n## A\n#### B\n\n[[None]]\n\n| a | b |\n|---|---|\n| 1 |\n\n```\n"
	keys := func(src string) (keys []string) {
		for _, f := range Structure([]byte(src), func(Link) bool { return true }) {
			keys = append(keys, f.Key)
		}
		return keys
	}
	before, after := keys(src), keys("text\n\ntext\n"+src)
	if len(before) != 5 || strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Errorf("got %q and then %q", before, after)
	}
}

// FuzzStructure: every flaw is on a line of the note, and is the same flaw when
// the note moves down by two lines.
func FuzzStructure(f *testing.F) {
	for _, src := range []string{
		"| a | b |\n|---|---|\n| 1 |\n", "```\n", "- ```\n- a | b\n  --|--\n  1\n", "#\n\n### A\n", "> ~~~\n\n[[None]] [a](b.md)\n", "a\n---\n|\\|\n|-|\n|\n",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		all := func(Link) bool { return true }
		flaws := Structure(src, all)
		for _, flaw := range flaws {
			if flaw.Line < 1 || flaw.Line > 1+bytes.Count(src, []byte("\n")) {
				t.Fatalf("%+v in %q", flaw, src)
			}
		}
		if bytes.HasPrefix(src, []byte("---")) || bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
			return // what is a header in the first line only is none
		}
		moved := Structure(append([]byte("\n\n"), src...), all)
		if len(moved) != len(flaws) {
			t.Fatalf("%q: %+v, moved down %+v", src, flaws, moved)
		}
		for i := range flaws {
			if moved[i].Key != flaws[i].Key || moved[i].Line != flaws[i].Line+2 {
				t.Fatalf("%q: %+v, moved down %+v", src, flaws[i], moved[i])
			}
		}
	})
}
