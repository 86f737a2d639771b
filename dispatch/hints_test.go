package dispatch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// hintsOf are the hints of the first card of a board.
func hintsOf(d *desk) []string {
	d.look()
	var out []string
	for _, v := range d.last.Cards {
		for _, r := range v.Held() {
			out = append(out, r.Hint)
		}
	}
	return out
}

// What a card, a board or a project is called is pasted into shells.
func TestHintsAreQuoted(t *testing.T) {
	const rest = "## In Progress\n\n## Review\n"
	card := func(title string) string { return "## Plan\n\n- [ ] " + title + " @pi\n\n" }
	before := func(d *desk) {
		for path, s := range d.boards {
			for lane, c := range s.Board.All() {
				d.set.Before[CardID{path, c.Key}] = Was{lane.Title, Hash(c)}
			}
		}
	}
	long := strings.Repeat("x", longTitle+1)
	for _, c := range []struct {
		path, text string
		change     func(*desk)
		want       string
	}{
		{"Shop.md", header + card("x $(touch pwned)") + rest, before, "deckhand run 'x $(touch pwned)'"},
		{"Shop.md", header + card("it's; id") + rest, before, `deckhand run 'it'\''s; id'`},
		{"Shop.md", header + card("--all") + rest, before, "deckhand run -- --all"},
		{"Shop.md", header + card("a\x1b[31m") + rest, before, "deckhand run Shop.md:7"},
		{"Shop.md", header + card("a \u202egnp") + rest, before, "deckhand run Shop.md:7"},
		{"Shop.md", header + card(long) + rest, before, "deckhand run Shop.md:7"},
		{"$(id).md", header + card(long) + rest, before, "deckhand run '$(id).md:7'"},
		{"a\nb.md", header + card(long) + rest, before, "deckhand run CARD"},
		{"$(id).md", header + card("Card"), nil, "deckhand lanes add '$(id).md'"},
		{"-x.md", header + card("Card"), nil, "deckhand lanes add -- -x.md"},
		{"a\x1b.md", header + card("Card"), nil, "deckhand lanes add BOARD"},
		{"`id`.md", card("Card") + rest, nil, "deckhand project add NAME FOLDER --board '`id`.md'"},
		{"a\x07.md", card("Card") + rest, nil, "deckhand project add NAME FOLDER --board BOARD"},
		{"Shop.md", "---\nproject: $(touch pwned)\n---\n" + card("Card") + rest, nil, "deckhand project add '$(touch pwned)' FOLDER"},
		{"Shop.md", "---\nproject: \"a\\e[31m\"\n---\n" + card("Card") + rest, nil, "deckhand project add NAME FOLDER"},
	} {
		d := newDesk(t)
		d.old(c.path, c.text)
		if c.change != nil {
			c.change(d)
		}
		equal(t, c.want, hintsOf(d), []string{c.want})
	}
}

// A board with a fault is one thing to see to, whatever stands on it.
func TestFaultOfABoardIsOneReason(t *testing.T) {
	var cards strings.Builder
	for i := range 50 {
		fmt.Fprintf(&cards, "- [ ] Card %d @pi @who #project/none\n- [ ] Twin @pi\n", i)
	}
	board := header + "## Plan\n\n" + cards.String() + "\n## In Progress\n\n## Review\n"
	for name, c := range map[string]struct {
		path, text, gone string
	}{
		"case 26: conflict copy": {"Shop.sync-conflict-20260102-101500-ABC1234.md", board, ""},
		"case 27: merge markers": {"Shop.md", strings.Replace(board, "## Plan", "<<<<<<< HEAD\n=======\n>>>>>>> phone\n\n## Plan", 1), ""},
		"NUL bytes":              {"Shop.md", board + "\x00", ""},
		"broken header":          {"Shop.md", strings.Replace(board, "shop", "[shop", 1), ""},
		"read-only":              {"Shop.md", board, "read-only"},
		"hard link":              {"Shop.md", board, "a file with several names (hard links)"},
		"away":                   {"Shop.md", board, "the file is gone"},
	} {
		d := newDesk(t)
		d.old(c.path, c.text)
		d.boards[c.path].Gone = c.gone
		d.look()
		if len(d.last.Cards) != 1 || len(d.last.Cards[0].Held()) != 1 || d.last.Cards[0].Held()[0].Hint == "" {
			t.Errorf("%s: %d cards are judged, %q", name, len(d.last.Cards), d.reasons())
		}
		// Asked for one of them, it says the same.
		why := failing(t, d, "Twin")
		same(t, name, len(why), 1)
	}
}

// Thousands of cards that read the same are not all named to each of them.
func TestReasonsNameTheFirst(t *testing.T) {
	d := oneBoard(t, lanes("Plan: "+strings.Repeat("Card @pi | ", 5000)+"Card @pi"))
	equal(t, "fails", failing(t, d, "Card"), []string{`5001 cards read "Card": lines 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 and 4991 more (make the titles differ)`})
}

// Nothing is granted: that some of it is missing too is no second reason,
// unless every rule is asked for.
func TestNothingGrantedIsOneReason(t *testing.T) {
	d := oneBoard(t, lanes("Plan: Card @pi #project/none"))
	d.set.Held = Reason{"config.yaml has errors", "deckhand doctor"}
	d.set.Agents["pi"] = Agent{Why: Reason{"pi was not found", "install it"}}
	equal(t, "hints", hintsOf(d), []string{"deckhand doctor"})
	why := failing(t, d, "Card")
	same(t, "first", why[0], "config.yaml has errors (deckhand doctor)")
	if !slices.Contains(why, "pi was not found (install it)") || !slices.Contains(why, `project "none" is not registered (deckhand project add none FOLDER)`) {
		t.Errorf("rules %q", why)
	}
}
