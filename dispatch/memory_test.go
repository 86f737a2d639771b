package dispatch

import (
	"strings"
	"testing"
	"time"
)

// settled waits until the card starts and says after how long.
func (d *desk) startsAfter() time.Duration {
	d.t.Helper()
	from := d.now
	for range 20 {
		dec := d.look()
		for _, a := range dec.Actions {
			if a.Do == DoClaim {
				return d.now.Sub(from)
			}
		}
		if dec.Wake.IsZero() {
			break
		}
		if !dec.Wake.After(d.now) {
			d.t.Fatalf("woken at %v and it is %v: %v", dec.Wake, d.now, d.reasons())
		}
		d.now = dec.Wake
	}
	d.t.Fatalf("it never starts: %v", d.reasons())
	return 0
}

// How long a card waits, and that the decision says when to look again.
func TestSettle(t *testing.T) {
	long := lanes("Plan: Other\nReview: Card @pi")
	for _, c := range []struct {
		name  string
		board string
		act   func(*desk)
		want  time.Duration
	}{
		{"typed", lanes("Plan: Other"), func(d *desk) { d.edit("Shop.md", "- [ ] Other", "- [ ] Card @pi\n- [ ] Other") }, 10 * time.Second},
		{"moved", long, func(d *desk) { d.move("Shop.md", "Card", "Plan") }, 3 * time.Second},
		{"moved between ready lanes", lanes("Next: Card @pi\nPlan: Other"), func(d *desk) {
			d.set.Before[CardID{"Shop.md", "Card @pi"}] = Was{"Next", Hash(d.card("Shop.md", "Card"))}
			d.move("Shop.md", "Card", "Plan")
		}, 3 * time.Second},
		{"moved, and seen a little later", long, func(d *desk) {
			d.move("Shop.md", "Card", "Plan")
			d.now = d.now.Add(7 * time.Millisecond)
		}, 3*time.Second - 7*time.Millisecond},
		{"typed, and seen a little later", lanes("Plan: Card @pi"), func(d *desk) {
			d.edit("Shop.md", "Card @pi", "Card @pi\n\tmore")
			d.now = d.now.Add(7 * time.Millisecond)
		}, 10*time.Second - 7*time.Millisecond},
		{"moved, and seen late", long, func(d *desk) {
			d.move("Shop.md", "Card", "Plan")
			d.now = d.now.Add(late)
		}, 3 * time.Second},
		{"moved, by a clock that is ahead", long, func(d *desk) {
			d.move("Shop.md", "Card", "Plan")
			d.boards["Shop.md"].Changed = d.now.Add(time.Millisecond)
		}, 3 * time.Second},
		{"moved, in a save that a write of ours met", long, func(d *desk) {
			d.edit("Shop.md", "Plan", "Plan ") // seen just now
			d.look()
			before := d.boards["Shop.md"].Changed
			d.now = d.now.Add(late / 2)
			d.move("Shop.md", "Card", "Plan ")
			d.boards["Shop.md"].Changed = before
		}, 3 * time.Second},
		{"moved and changed", long, func(d *desk) {
			d.move("Shop.md", "Card", "Plan")
			d.edit("Shop.md", "Card @pi", "Card @pi\n\tmore")
		}, 10 * time.Second},
		{"typed, then moved", long, func(d *desk) {
			d.edit("Shop.md", "Card @pi", "Card @pi\n\tmore")
			d.look()
			d.now = d.now.Add(time.Second)
			d.move("Shop.md", "Card", "Plan")
		}, 3 * time.Second},
		{"moved, then typed", long, func(d *desk) {
			d.move("Shop.md", "Card", "Plan")
			d.look()
			d.now = d.now.Add(time.Second)
			d.edit("Shop.md", "Card @pi", "Card @pi\n\tmore")
		}, 10 * time.Second},
		{"another card changes", lanes("Plan: Card @pi | Other"), func(d *desk) {
			d.now = d.now.Add(-time.Hour)
			d.edit("Shop.md", "Other", "Other two")
			d.look()
			d.now = d.now.Add(time.Hour)
			d.edit("Shop.md", "Other", "Other three")
		}, 0},
		{"first line ticked and not", lanes("Plan: [x] Card @pi"), func(d *desk) { d.edit("Shop.md", "[x]", "[ ]") }, 10 * time.Second},
		{"first seen in an old file", lanes("Plan: Other"), func(d *desk) { d.old("New.md", lanes("Plan: Card @pi")) }, 0},
		{"first seen in a new file", lanes("Plan: Other"), func(d *desk) {
			d.save("New.md", lanes("Plan: Card @pi"))
			d.now = d.now.Add(4 * time.Second)
		}, 6 * time.Second},
		{"in a file from the future", lanes("Plan: Other"), func(d *desk) {
			d.save("New.md", lanes("Plan: Card @pi"))
			d.boards["New.md"].Changed = d.now.Add(time.Hour)
		}, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := oneBoard(t, c.board)
			d.look()
			d.now = d.now.Add(time.Minute)
			d.look()
			c.act(d)
			same(t, "starts after", d.startsAfter(), c.want)
		})
	}
}

// Case 16: a file that is half written for a moment makes no card new, and no
// running card gone.
func TestHalfWrittenFile(t *testing.T) {
	text := lanes("Plan: Card @pi\\nWith a note.\nIn Progress: Other")
	for _, cut := range []int{0, 1, 30, strings.Index(text, "Card"), strings.Index(text, "With"), len(text) - 1} {
		d := oneBoard(t, text)
		d.set.Before[CardID{"Shop.md", "Card @pi"}] = Was{"Plan", Hash(d.card("Shop.md", "Card"))}
		d.settle()
		d.save("Shop.md", text[:cut])
		equal(t, "half", d.later(time.Second), nil)
		d.save("Shop.md", text)
		d.set.Before = nil
		d.later(time.Second)
		want := []Do{DoClaim, DoShow, DoStart}
		if cut == strings.Index(text, "With") { // the card itself was seen with another text
			equal(t, "whole again", d.did, nil)
			d.later(10 * time.Second)
		}
		equal(t, "whole again", d.did, want)
	}
}

func TestCardsAreForgotten(t *testing.T) {
	d := oneBoard(t, lanes("Plan: Card @pi"))
	d.set.Held = Reason{Text: "not yet"}
	d.look()
	for _, path := range []string{"Shop.md", "Else.md"} { // emptied, and taken away
		d.edit("Shop.md", "- [ ] Card @pi\n", "")
		if path == "Else.md" {
			delete(d.boards, "Shop.md")
		}
		d.look()
		d.now = d.now.Add(forget - time.Second)
		d.look()
		d.now = d.now.Add(2 * time.Second)
		d.save("Shop.md", d.textOr(lanes("Plan: Other")))
		d.look()
		if n := len(d.mem.boards["Shop.md"].cards); n > 1 {
			t.Errorf("%s: %d cards are remembered", path, n)
		}
		d.save("Shop.md", lanes("Plan: Card @pi"))
		d.look()
		same(t, "since", d.mem.boards["Shop.md"].cards["Card @pi"].Text, d.now)
	}
}

func (d *desk) textOr(text string) string {
	if d.boards["Shop.md"] == nil {
		return text
	}
	return d.text("Shop.md")
}

// Of two cards that read the same neither is known, whichever of them goes.
func TestTwoOfAKind(t *testing.T) {
	d := oneBoard(t, lanes("Plan: Card @pi | Card @pi"))
	d.settle()
	equal(t, "two", d.later(time.Hour), nil)
	d.edit("Shop.md", "- [ ] Card @pi\n", "")
	equal(t, "one", d.settle(), nil)
	same(t, "starts after", d.startsAfter(), 10*time.Second)
}

// A finished card of the same name does not speak for a new one.
func TestDoneCardOfTheSameName(t *testing.T) {
	d := oneBoard(t, lanes("Done: [x] Card @pi"))
	d.later(time.Hour)
	d.edit("Shop.md", "## Plan\n\n", "## Plan\n\n- [ ] Card @pi\n")
	same(t, "starts after", d.startsAfter(), 10*time.Second)
}

// After a start nothing is dispatched until every board was quiet for settle.
func TestPauseAfterAStart(t *testing.T) {
	d := oneBoard(t, lanes("Plan: Card @pi"))
	d.mem = Memory{}
	d.old("Else.md", lanes("Plan: Other"))
	d.boards["Else.md"].Changed = d.now.Add(-time.Second)
	equal(t, "at once", d.settle(), nil)
	same(t, "wake", d.last.Wake, d.now.Add(2*time.Second))
	d.now = d.now.Add(time.Second)
	d.save("Else.md", lanes("Plan: Other | More")) // sync goes on
	equal(t, "meanwhile", d.later(time.Second), nil)
	equal(t, "quiet", d.later(2*time.Second), []Do{DoClaim, DoShow, DoStart})

	d = oneBoard(t, lanes("Plan: Card @pi"))
	d.mem = Memory{}
	d.boards["Shop.md"].Changed = d.now.Add(24 * time.Hour) // its clock was ahead
	d.settle()
	equal(t, "typing counts from now", d.later(4*time.Second), nil)
	same(t, "open", d.mem.Open, true)

	d = oneBoard(t, lanes("Plan: Card @pi"))
	d.mem = Memory{}
	d.set.Once = true
	d.save("Shop.md", d.text("Shop.md"))
	equal(t, "once", d.settle(), []Do{DoClaim, DoShow, DoStart})
}

// What we write ourselves does not make anything new.
func TestOwnWritesAreNoChanges(t *testing.T) {
	d := oneBoard(t, lanes("Plan: Card @pi | Second @pi"))
	d.working()
	d.now = d.now.Add(time.Minute)
	d.finish(Review, "done")
	equal(t, "the next starts at once", d.settle(), []Do{DoShow, DoClaim, DoShow, DoStart})
}
