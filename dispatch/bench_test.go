package dispatch

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// crowd is a desk of boards with so many cards each; every nth asks for an
// agent, and so many runs are over in Review.
func crowd(b *testing.B, boards, cards, nth, runs int) *desk {
	d := newDesk(b)
	for i := range boards {
		var out strings.Builder
		out.WriteString(header + "## Plan\n\n")
		for c := range cards {
			fmt.Fprintf(&out, "- [ ] Card %d of board %d with a title of some length", c, i)
			if c%nth == 0 {
				out.WriteString(" @pi")
			}
			out.WriteString("\n\tand a note below it\n")
		}
		out.WriteString("\n## In Progress\n\n## Review\n\n")
		for r := range runs / boards {
			id := fmt.Sprintf("01RUN%03d%05d", i, r)
			fmt.Fprintf(&out, "- [ ] Done %d of board %d @pi\n\t- 🟢 pi: review · 4m ^r-%s\n", r, i, strings.ToLower(id))
			d.runs[id] = &Run{
				ID: id, Agent: "pi", Project: "shop", Folder: "/p/shop", Phase: PhaseOver, Outcome: Review, InSync: true,
				Want: Shows{Word: Review}, Board: fmt.Sprintf("%03d.md", i), Lane: "Review", Ended: morning,
			}
		}
		d.old(fmt.Sprintf("%03d.md", i), out.String())
	}
	return d
}

// BenchmarkReconcile is one look at boards of which none, or one, has changed.
func BenchmarkReconcile(b *testing.B) {
	for _, c := range []struct {
		name                     string
		boards, cards, nth, runs int
	}{
		{"20 boards of 500 cards", 20, 500, 50, 500},
		{"one board of 5000 cards", 1, 5000, 50, 500},
		{"one board of 5000 cards that all ask", 1, 5000, 1, 500},
	} {
		d := crowd(b, c.boards, c.cards, c.nth, c.runs)
		d.edit("000.md", "## In Progress\n\n", "## In Progress\n\n- [ ] At work @pi\n\t- 🔵 pi works ^r-01run0\n")
		d.boards["000.md"].Changed = d.now.Add(-time.Hour)
		d.runs["01RUN0"] = &Run{
			ID: "01RUN0", Agent: "pi", Project: "shop", Folder: "/p/shop", Phase: PhaseWorking, Life: 1, InSync: true, Turn: d.now,
			Want: Shows{Word: "works", Lines: []string{"- 🔵 pi works ^r-01run0"}}, Board: "000.md", Card: Card{Title: "At work"},
		}
		if dec := d.look(); len(dec.Actions) > 0 || len(dec.Cards) < c.boards*c.cards/c.nth {
			b.Fatalf("%d cards wait, %v", len(dec.Cards), dec.Actions)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Reconcile(d.world())
			}
		})
		b.Run(c.name+", one changed", func(b *testing.B) {
			b.ReportAllocs()
			w := d.world()
			seen := *d.boards["000.md"]
			for b.Loop() {
				other := *seen.Board
				w.Boards[0].Board = &other
				Reconcile(w)
			}
		})
	}
}
