package dispatch

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// proposing is a desk whose agent proposes changes of two notes.
func proposing(t *testing.T) (*desk, *Proposal) {
	t.Helper()
	d := atWork(t)
	d.entry(d.run().ID, Entry{Kind: Proposed, Life: 1, Proposal: &Batch{ID: "p1", Reason: "it moved", Path: "deckhand/proposals/P.md", Changes: []Change{
		{Kind: "edit", File: "a.md", Before: "x", After: "y"}, {Kind: "move", File: "b.md", To: "c.md", Before: "x", After: "x"},
	}}})
	d.settle()
	p := d.run().Undecided()
	if len(p) != 1 || d.run().Phase != PhaseWaiting {
		t.Fatalf("%s %+v", d.run().Phase, p)
	}
	return d, &p[0]
}

// What a proposal's card shows, and what follows from each decision.
func TestProposalDecided(t *testing.T) {
	d, p := proposing(t)
	if text := d.text("Shop.md"); !strings.Contains(text, "pi asks") || !strings.Contains(text, "May it change 2 notes: a.md, b.md?") || !strings.Contains(text, "`deckhand apply "+p.Offer+"`") {
		t.Errorf("the card:\n%s", text)
	}
	for _, c := range []struct {
		name    string
		entries []Entry
		fate    Fate
		ruling  Ruling
	}{
		{"all", []Entry{{Kind: Decided, Files: []string{"a.md", "b.md"}}, {Kind: Applied, Files: []string{"a.md", "b.md"}}}, FateApplied, Ruling{Applied: []string{"a.md", "b.md"}}},
		{
			"one",
			[]Entry{{Kind: Decided, Files: []string{"b.md"}, Text: "why"}, {Kind: Applied, Files: []string{"b.md"}}},
			FateApplied,
			Ruling{Applied: []string{"b.md"}, Rejected: []string{"a.md"}, Note: "why"},
		},
		{"none", []Entry{{Kind: Decided}}, FateRejected, Ruling{Rejected: []string{"a.md", "b.md"}}},
		{
			"not written",
			[]Entry{{Kind: Decided, Files: []string{"a.md"}}, {Kind: RollingBack, Reason: "full"}, {Kind: NotApplied, Reason: "full"}},
			FateFailed,
			Ruling{Rejected: []string{"b.md"}, Failed: "full"},
		},
	} {
		d, p := proposing(t)
		for i, e := range c.entries {
			if e.Offer = p.Offer; i > 0 && d.run().Phase != PhaseWaiting {
				t.Errorf("%s: the agent goes on before it is told: %s", c.name, d.run().Phase)
			}
			d.entry(d.run().ID, e)
		}
		got := d.run().ProposalByID(p.Offer)
		want := []Owed{{Row: "decide-" + p.Offer, Kind: "decide", Ask: "p1", Ruling: c.ruling}}
		if got.Fate != c.fate || d.run().Phase != PhaseWorking || !reflect.DeepEqual(d.run().Owed, want) {
			t.Errorf("%s: %s %s %+v", c.name, got.Fate, d.run().Phase, d.run().Owed)
		}
		d.entry(d.run().ID, Entry{Kind: Decided, Offer: p.Offer, Files: []string{"a.md"}})
		if again := d.run().ProposalByID(p.Offer); again.Fate != c.fate || len(d.run().Owed) != 1 {
			t.Errorf("%s: decided twice: %s", c.name, again.Fate)
		}
	}
}

// Taken back, or not.
func TestProposalTakenBack(t *testing.T) {
	for _, c := range []struct {
		entries []Entry
		fate    Fate
		why     string
	}{
		{[]Entry{{Kind: Undo}}, FateUndoing, ""},
		{[]Entry{{Kind: Undo}, {Kind: Reverted}}, FateReverted, ""},
		{[]Entry{{Kind: Undo}, {Kind: RollingBack, Reason: "full"}}, FateRedoing, "full"},
		{[]Entry{{Kind: Undo}, {Kind: RollingBack, Reason: "full"}, {Kind: NotReverted, Reason: "full"}}, FateApplied, "full"},
	} {
		d, p := proposing(t)
		for _, e := range slices.Concat([]Entry{{Kind: Decided, Files: []string{"a.md"}}, {Kind: Applied, Files: []string{"a.md"}}}, c.entries) {
			e.Offer = p.Offer
			d.entry(d.run().ID, e)
		}
		if got := d.run().ProposalByID(p.Offer); got.Fate != c.fate || got.Why != c.why || len(d.run().Owed) != 1 {
			t.Errorf("%+v", got)
		}
	}
}

// One that nobody has decided when its agent's turn is over is nobody's any more.
func TestProposalLost(t *testing.T) {
	for _, e := range []Entry{{Kind: Finished, Outcome: Review}, {Kind: Ended}, {Kind: Interrupted}} {
		d, p := proposing(t)
		d.entry(d.run().ID, e)
		if got := d.run().ProposalByID(p.Offer); got.Fate != FateLost || d.run().Phase == PhaseWaiting {
			t.Errorf("%s: %s %s", e.Kind, got.Fate, d.run().Phase)
		}
	}
}

// What is ticked on its page, settled, decides it, once.
func TestProposalPage(t *testing.T) {
	for _, c := range []struct {
		name   string
		ticked []int
		made   Made
		files  []string // to be applied
		note   string   // said instead
		none   bool
	}{
		{name: "as it was written", ticked: []int{0, 1}, none: true},
		{name: "both", ticked: []int{0, 1, 2}, files: []string{"a.md", "b.md"}},
		{name: "one", ticked: []int{1, 2}, files: []string{"b.md"}},
		{name: "rejected", ticked: []int{0, 1, 3}},
		{name: "nothing chosen", ticked: []int{2}, note: "no file is ticked", none: true},
		{name: "apply and reject", ticked: []int{0, 2, 3}, note: "both apply and reject", none: true},
		{name: "changed", ticked: []int{0, 2}, made: Made{Changed: true}, note: "was changed", none: true},
		{name: "another's", ticked: []int{0, 2}, made: Made{Offer: "zzzzz"}, none: true},
	} {
		d, p := proposing(t)
		made := c.made
		if made.Ticked, made.By, made.Since = c.ticked, ByPage, d.now; made.Offer == "" {
			made.Offer = p.Offer
		}
		d.made = []Made{made}
		if acts := decideActions(d.look()); len(acts) > 0 {
			t.Errorf("%s: not settled, and decided", c.name)
		}
		d.now = d.now.Add(time.Minute)
		dec := d.look()
		acts := decideActions(dec)
		switch {
		case c.none != (len(acts) == 0), len(acts) == 1 && (!slices.Equal(acts[0].Files, c.files) || acts[0].By != ByPage):
			t.Errorf("%s: %+v", c.name, acts)
		case c.note != "" && !slices.ContainsFunc(dec.Notes, func(n Note) bool { return n.Along && strings.Contains(n.Text, c.note) }):
			t.Errorf("%s: %+v", c.name, dec.Notes)
		}
	}
}

func decideActions(d Decision) (out []Action) {
	for _, a := range d.Actions {
		if a.Do == DoDecide {
			out = append(out, a)
		}
	}
	return out
}
