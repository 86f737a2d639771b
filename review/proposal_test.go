package review

import (
	"slices"
	"testing"
	"time"

	"deckhand/internal/control"
)

func proposed(s *story) control.Status {
	st := status()
	st.Proposals = []control.Proposal{{
		ID: "P1", Run: "R1", Card: "Tidy the notes", Agent: "assistant", Reason: "Two pages say the same.", Created: s.now, Path: "deckhand/proposals/Tidy.md", Status: "waiting",
		Changes: []control.ProposalChange{
			{Kind: "edit", File: "Shop.md", Reason: "names the tax", Added: 3, Removed: 1},
			{Kind: "move", File: "Old.md", To: "Archive/Old.md"},
			{Kind: "create", File: "Tax.md", Added: 12},
		},
	}}
	return st
}

func diffed(s *story) {
	s.t.Helper()
	for _, e := range s.effects() {
		if d, ok := e.(askDiff); ok && d.of == "P1" {
			s.happens(gotDiff{s.at(), d.key, control.Diff{Text: "--- Shop.md\n+++ Shop.md\n@@ -1,2 +1,4 @@\n # Shop\n-no tax\n+with tax\n\x1b[2J\n"}, nil})
			return
		}
	}
	s.t.Fatal("no diff is asked for")
}

// What an agent proposes is looked at and decided file by file.
func TestAProposalIsDecided(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(proposed(s))
	diffed(s)
	s.press("a")
	s.later(-time.Second)
	s.sees("@assistant proposes", "Two pages say the same.", "1 [x] edit Shop.md", "+3 −1", "Old.md → Archive/Old.md", "a apply 3 of 3 files", "+with tax", `\x1b[2J`)
	if c := s.command(); c.Name != "apply" || c.Proposal != "P1" || !slices.Equal(c.Files, []string{"Shop.md", "Old.md", "Tax.md"}) {
		t.Fatalf("got %+v", c)
	}
	s.press("2", "a")
	s.sees("2 [ ] move Old.md", "apply 2 of 3 files")
	if c := s.command(); !slices.Equal(c.Files, []string{"Shop.md", "Tax.md"}) {
		t.Fatalf("got %+v", c)
	}
	s.press("1", "3", "a")
	s.sees("no file is ticked")
	if all := s.commands(); len(all) != 0 {
		t.Fatalf("without a file that means all of them: %+v", all)
	}
	s.press("D")
	s.types("not now")
	s.press("enter")
	if c := s.command(); c.Name != "reject" || c.Proposal != "P1" || c.Note != "not now" {
		t.Fatalf("got %+v", c)
	}
}

// A key that was meant for what stood there before decides nothing.
func TestAProposalThatHasOnlyJustCome(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(over("R1", "Checkout", "done")))
	s.later(time.Minute)
	s.says("status", "", proposed(s))
	s.effects()
	s.happens(keyed{s.at(), "a"})
	s.sees("only just come")
	if all := s.commands(); len(all) != 0 {
		t.Fatalf("got %+v", all)
	}
	s.press("a")
	if c := s.command(); c.Name != "apply" {
		t.Fatalf("got %+v", c)
	}
}
