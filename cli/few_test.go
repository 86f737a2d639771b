package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"deckhand/internal/control"
)

// Thousands of cards are held for one reason: the first of them are shown, on
// each board.
func TestStatusShowsTheFirst(t *testing.T) {
	var s control.Status
	for _, b := range []string{"A.md", "B.md"} {
		for i := range 5000 {
			s.Held = append(s.Held, control.Held{
				Card: fmt.Sprint("Card ", i), Board: b, Line: i + 7,
				Reasons: []string{fmt.Sprintf("the same card stands at A.md:%d and B.md:%d", i+7, i+7)}, Hints: []string{"make the titles differ"},
			})
			s.Queued = append(s.Queued, control.Queued{Card: "Next", Board: b, Line: i + 7, Reason: fmt.Sprintf("starts in %ds", i)})
			s.Problems = append(s.Problems, control.Problem{Where: fmt.Sprintf("%s:%d", b, i), Text: "looks like a card"})
		}
	}
	s.Held = append(s.Held, control.Held{Card: "Alone", Board: "B.md", Line: 6000, Reasons: []string{"it names no project"}, Hints: []string{"name one"}})
	var out, errs strings.Builder
	(&app{out: &output{w: &out}, errs: &errs}).printStatus(s)
	// Two boards: 10 queued, 10 held with their hints, 10 problems, a line about
	// the others of each; and the one card that is held for a reason of its own.
	if got, want := strings.Count(out.String(), "\n"), 2*(11+21+11)+2; got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
	for _, want := range []string{
		"A.md:7:     held    Card 0         the same card stands at A.md:7 and B.md:7\n",
		"A.md:       held    and 4990 more  the same card stands at A.md:7 and B.md:7\n",
		"B.md:       queued  and 4990 more  starts in 0s\n",
		"B.md: and 4990 more: looks like a card\n",
		"B.md:6000:  held    Alone          it names no project\n",
		"B.md:6000:  hint    Alone          name one\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
}

func TestMatchesAreFew(t *testing.T) {
	var errs strings.Builder
	e := &control.Error{Text: "many", Code: 1}
	for i := range 5000 {
		e.Matches = append(e.Matches, fmt.Sprint("Shop.md:", i))
	}
	(&app{out: &output{w: &errs}, errs: &errs}).end(e, false)
	if got := errs.String(); strings.Count(got, "\n") != 12 || !strings.HasSuffix(got, "\n  Shop.md:9\n  and 4990 more\n") {
		t.Errorf("got %q", got)
	}
}

func TestTitlesAreCut(t *testing.T) {
	for in, want := range map[string]string{
		"short": "short", strings.Repeat("x", titleWidth): strings.Repeat("x", titleWidth), strings.Repeat("x", 3000): strings.Repeat("x", titleWidth-1) + "…",
		strings.Repeat("漢", 3000): strings.Repeat("漢", 39) + "…", strings.Repeat("\x1b", 3000): strings.Repeat(`\x1b`, 20)[:79] + "…",
	} {
		if got := title(in); got != want || uniseg.StringWidth(got) > titleWidth {
			t.Errorf("%.20q: got %s", in, got)
		}
	}
	var out, errs strings.Builder
	s := control.Status{Held: []control.Held{
		{Card: strings.Repeat("x", 3000), Board: "A.md", Line: 7, Reasons: []string{"first"}},
		{Card: "b", Board: "A.md", Line: 8, Reasons: []string{"second"}},
	}}
	(&app{out: &output{w: &out}, errs: &errs}).printStatus(s)
	for line := range strings.Lines(out.String()) {
		if len(line) > 200 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}
