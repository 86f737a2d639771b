package change

import (
	"strings"
	"testing"
)

func TestAccept(t *testing.T) {
	const asks = "## Plan\n\n## In Progress\n- [ ] Launch @pi\n\t- 🟡 pi asks ^r-01kb7x2m000000000000000000\n\t\t- Run `rm -rf build`?\n\t\t- [ ] Allow once ^a7k2m-1\n\t\t- [ ] Deny ^a7k2m-2\n"
	const other = "## Plan\n- [ ] else\n"
	edit := func(before, after string) Change {
		return Change{Kind: Edit, File: "Shop.md", Before: before, After: after}
	}
	for name, test := range map[string]struct {
		changes []Change
		want    string // part of the error; empty: accepted
	}{
		"one of each": {[]Change{
			{Kind: Create, File: "A.md", After: "a"}, edit("a", "b"), {Kind: Delete, File: "C.md", Before: "c"}, {Kind: Move, File: "D.md", To: "E.md"},
		}, ""},
		"nothing":              {nil, "changes nothing"},
		"a kind there is not":  {[]Change{{Kind: "exec", File: "A.md"}}, `no change is called "exec"`},
		"a path outside":       {[]Change{{Kind: Create, File: "../A.md"}}, "relative to the work folder"},
		"moved outside":        {[]Change{{Kind: Move, File: "A.md", To: "/tmp/A.md"}}, "relative to the work folder"},
		"into deckhand's own":  {[]Change{{Kind: Move, File: "A.md", To: "deckhand/A.md"}}, "deckhand writes in this folder"},
		"settings":             {[]Change{{Kind: Edit, File: "deckhand.yaml", After: "x"}}, "only notes are changed"},
		"to of an edit":        {[]Change{{Kind: Edit, File: "A.md", To: "B.md", After: "x"}}, "only a file that is moved"},
		"twice":                {[]Change{{Kind: Create, File: "A.md"}, {Kind: Move, File: "B.md", To: "A.md"}}, "B.md is changed twice"},
		"twice on some disks":  {[]Change{{Kind: Create, File: "A.md"}, {Kind: Create, File: "a.md"}}, "a.md is changed twice"},
		"created of something": {[]Change{{Kind: Create, File: "A.md", Before: "x"}}, "has no contents"},
		"no change":            {[]Change{edit("a", "a")}, "this changes nothing"},
		"moved nowhere":        {[]Change{{Kind: Move, File: "A.md", To: "A.md"}}, "this changes nothing"},
		"no text":              {[]Change{edit("a", "\xff")}, "not UTF-8"},
		"an escape":            {[]Change{edit("a", "a\x1b]0;x\a")}, "control character U+001B"},
		"an escape that was":   {[]Change{edit("a\x1b", "b\x1b")}, ""},
		"a card beside":        {[]Change{edit(asks, strings.Replace(asks, "Plan\n", "Plan\n- [ ] more\n", 1))}, ""},
		"the card's own words": {[]Change{edit(asks, strings.Replace(asks, "Launch", "Launch in June", 1))}, ""},
		"a card that is taken": {[]Change{edit(asks, "## Plan\n")}, ""},
		"an answer ticked":     {[]Change{edit(asks, strings.Replace(asks, "[ ] Allow", "[x] Allow", 1))}, "Shop.md: the line of a run"},
		"a question reworded":  {[]Change{edit(asks, strings.Replace(asks, "rm -rf build", "ls", 1))}, "Shop.md: the line of a run"},
		"a run said to be over": {
			[]Change{edit(asks, strings.Replace(asks, "🟡 pi asks", "🟢 pi: review", 1))}, "Shop.md: the line of a run",
		},
		"a run made up": {[]Change{{Kind: Create, File: "New.md", After: asks}}, "New.md: the line of a run"},
		"a card on another board": {
			[]Change{edit(asks, "## Plan\n"), {Kind: Edit, File: "Other.md", Before: other, After: strings.Replace(asks, "## Plan\n", other, 1)}}, "",
		},
		"a board moved": {[]Change{{Kind: Move, File: "Shop.md", To: "Old/Shop.md", Before: asks, After: asks}}, ""},
	} {
		err := memory{}.folder().Accept(test.changes)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
