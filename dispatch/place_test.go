package dispatch

import (
	"strings"
	"testing"
	"time"
)

func TestOldCopyOverAMove(t *testing.T) {
	before := lanes("Plan: Card @pi")
	d := oneBoard(t, before)
	d.working()
	extra := strings.Replace(before, "Card @pi\n", "Card @pi\n- [ ] Extra\n", 1)
	for range 2 {
		d.save("Shop.md", extra)
		equal(t, "put back", d.later(time.Minute), []Do{DoShow})
		same(t, "stands", d.stands("Shop.md", "Card"), "In Progress works")
		contains(t, "board", d.text("Shop.md"), "- [ ] Extra\n")
	}
	d.save("Shop.md", extra)
	equal(t, "then it is only said", d.later(time.Minute), nil)
	contains(t, "notes", d.notes(), "after its card was put back twice")
	same(t, "one run", len(d.runs), 1)
	same(t, "no card asks", len(d.last.Cards), 0)
	d.finish(Review, "done")
	equal(t, "the end is a transition of its own", d.settle(), []Do{DoShow})
	same(t, "stands", d.stands("Shop.md", "Card"), "Review review")
	d.save("Shop.md", extra)
	equal(t, "an old copy after the end starts nothing", d.later(time.Hour), nil)
	contains(t, "why", strings.Join(d.reasons(), "\n"), "ran on 30 November, its line is gone: an old copy may have been saved")
}

func TestOldCopyOfAnEarlierItem(t *testing.T) {
	d := atWork(t)
	works := d.text("Shop.md")
	d.entry(d.run().ID, Entry{Kind: Asked, Ask: &Ask{ID: "1", Title: "Sure?"}})
	d.settle()
	d.save("Shop.md", works)
	equal(t, "did", d.settle(), []Do{DoShow})
	same(t, "stands", d.stands("Shop.md", "Card"), "In Progress asks")
}

func TestOldCopyWithALineAdded(t *testing.T) {
	d := atWork(t)
	works := d.text("Shop.md")
	d.finish(Review, "done")
	d.settle()
	d.save("Shop.md", strings.Replace(works, "\tWith a note.\n", "\tWith a note.\n\tAdded.\n", 1))
	equal(t, "put right", d.settle(), []Do{DoShow})
	d.move("Shop.md", "Card", "Plan")
	equal(t, "did", d.later(3*time.Second), goesOn())
	equal(t, "extra", d.run().Extra, []string{"Added."})
}

func TestCardOfAnotherRun(t *testing.T) {
	t.Run("an item of a run that is not known", func(t *testing.T) {
		d := atWork(t)
		d.edit("Shop.md", "^r-01run0001", "^r-01otherrun")
		equal(t, "did", d.later(time.Minute), nil)
		contains(t, "notes", d.notes(), "its card is on no board")
	})
	t.Run("a later run", func(t *testing.T) {
		d := atWork(t)
		first := d.run().ID
		d.old("Shop.md", lanes("Plan: Other"))
		d.finish(Review, "done")
		d.settle()
		d.busy[first] = true
		d.old("Shop.md", lanes("Plan: Card @pi"))
		d.set.Forced[CardID{"Shop.md", "Card @pi"}] = true
		d.act(d.look().Actions[0])
		d.busy = map[string]bool{}
		equal(t, "did", d.settle(), []Do{DoShow, DoStart})
		same(t, "run", runOf(d.card("Shop.md", "Card")), "01RUN0002")
	})
	t.Run("its board is away, and it is written anew elsewhere", func(t *testing.T) {
		d := atWork(t)
		item := d.cut("Shop.md", "Card")
		d.save("Else.md", strings.Replace(lanes("Plan: Other"), "## In Progress\n\n", "## In Progress\n\n"+item, 1))
		d.entry(d.run().ID, Entry{Kind: Asked, Ask: &Ask{ID: "1", Title: "Sure?"}})
		d.settle()
		d.boards["Else.md"].Gone = "the file is gone"
		d.edit("Shop.md", "## Plan\n\n", "## Plan\n\n- [ ] Card @pi\n")
		d.set.Forced[CardID{"Shop.md", "Card @pi"}] = true
		equal(t, "did", d.later(time.Minute), nil)
		contains(t, "why", strings.Join(d.reasons(), "\n"), "its run is not over")
	})
}

func TestOldCopyWithAnItem(t *testing.T) {
	d := atWork(t)
	works := d.text("Shop.md")
	d.move("Shop.md", "Card", "Plan")
	d.later(time.Second)
	plan := d.text("Shop.md") // at work, in a ready lane
	d.move("Shop.md", "Card", "In Progress")
	d.later(time.Minute)
	d.finish(Failed, "")
	d.settle()
	d.save("Shop.md", plan)
	equal(t, "put right", d.later(time.Hour), []Do{DoShow})
	same(t, "stands", d.stands("Shop.md", "Card"), "Plan failed")
	contains(t, "why", strings.Join(d.reasons(), "\n"), "its run was over when the card was here already")
	d.save("Shop.md", works)
	equal(t, "put right", d.later(time.Hour), []Do{DoShow})
	same(t, "where it belongs", d.stands("Shop.md", "Card"), "Review failed")
}

func TestItemTakenAwayInReview(t *testing.T) {
	d := atWork(t)
	d.finish(Review, "done")
	d.settle()
	c := d.card("Shop.md", "Card")
	d.edit("Shop.md", string(c.Status.Span.Of(c.Span.Of(d.boards["Shop.md"].Board.Src))), "")
	equal(t, "left alone", d.later(time.Hour), nil)
	d.move("Shop.md", "Card", "In Progress")
	equal(t, "the person works on it", d.later(time.Hour), nil)
	d.move("Shop.md", "Card", "Plan")
	equal(t, "starts nothing", d.later(time.Hour), nil)
	d.set.Forced[CardID{"Shop.md", "Card @pi"}] = true
	equal(t, "but by command", d.settle(), []Do{DoClaim, DoShow, DoStart})
	same(t, "a new run", len(d.runs), 2)
	d.finish(Review, "again")
	equal(t, "only the new run has the card", d.later(time.Hour), []Do{DoShow})
}

func TestRunningCardIsGone(t *testing.T) {
	two := func(t *testing.T) *desk {
		d := oneBoard(t, lanes("Plan: Card @pi | Second @pi #project/web"))
		d.settle()
		same(t, "live", live(d), 2)
		return d
	}
	t.Run("alone", func(t *testing.T) {
		d := two(t)
		d.cut("Shop.md", "Card")
		equal(t, "goes on", d.later(time.Minute), nil)
		contains(t, "notes", d.notes(), "its card is on no board; its run is stopped at 09:02:00 unless it comes back")
		equal(t, "stopped", d.later(time.Minute), []Do{DoStop})
		same(t, "live", live(d), 1)
		equal(t, "nothing more", d.later(time.Minute), nil)
	})
	t.Run("and comes back", func(t *testing.T) {
		d := two(t)
		text := d.text("Shop.md")
		d.cut("Shop.md", "Card")
		d.later(119 * time.Second)
		d.save("Shop.md", text)
		equal(t, "goes on", d.later(10*time.Minute), nil)
		d.cut("Shop.md", "Card")
		equal(t, "counted anew", d.later(119*time.Second), nil)
	})
	t.Run("several at once", func(t *testing.T) {
		d := two(t)
		d.save("Shop.md", lanes("Plan: Yesterday"))
		equal(t, "nothing", d.later(30*time.Minute), nil)
		contains(t, "notes", d.notes(), "others went at the same time")
		d.finish(Review, "done")
		equal(t, "and not when the others are over", d.later(10*time.Minute), nil)
	})
	t.Run("one after the other", func(t *testing.T) {
		d := two(t)
		d.cut("Shop.md", "Card")
		d.later(time.Minute)
		d.cut("Shop.md", "Second")
		equal(t, "the first", d.later(time.Minute), []Do{DoStop})
		equal(t, "the second", d.later(time.Minute), []Do{DoStop})
	})
	t.Run("its board is away", func(t *testing.T) {
		d := atWork(t)
		d.boards["Shop.md"].Gone = "the file is gone"
		equal(t, "nothing", d.later(30*time.Minute), nil)
		contains(t, "notes", d.notes(), "its board is left alone at the moment (the file is gone)")
		delete(d.boards, "Shop.md")
		equal(t, "nothing", d.later(20*time.Minute), nil)
		contains(t, "notes", d.notes(), "its board is not there")
		d.save("Shop.md", lanes("Plan: Other"))
		equal(t, "counted from when the board is there", d.later(119*time.Second), nil)
		equal(t, "then stopped", d.later(time.Second), []Do{DoStop})
	})
	t.Run("case 27: its board is in conflict", func(t *testing.T) {
		d := atWork(t)
		good := d.text("Shop.md")
		d.edit("Shop.md", "## Plan\n", "<<<<<<< HEAD\n## Plan\n")
		d.edit("Shop.md", "## Review\n", "=======\n## Review\n>>>>>>> phone\n")
		equal(t, "nothing", d.later(30*time.Minute), nil)
		contains(t, "notes", d.notes(), "merge markers, line 5")
		d.finish(Review, "done")
		equal(t, "its end waits", d.later(time.Minute), nil)
		d.save("Shop.md", good)
		equal(t, "written when the markers are gone", d.settle(), []Do{DoShow})
		same(t, "stands", d.stands("Shop.md", "Card"), "Review review")
	})
}

func TestConflictCopyOfARunningBoard(t *testing.T) {
	for _, text := range []func(*desk) string{
		func(d *desk) string { return d.text("Shop.md") },
		func(*desk) string { return lanes("Plan: Card @pi\\nWith a note.") },
	} {
		d := atWork(t)
		const copied = "Shop.sync-conflict-20260102-101500-ABC1234.md"
		d.save(copied, text(d))
		was := d.text(copied)
		equal(t, "did", d.later(time.Minute), nil)
		d.finish(Review, "done")
		equal(t, "did", d.settle(), []Do{DoShow})
		same(t, "stands", d.stands("Shop.md", "Card"), "Review review")
		same(t, "copy", d.text(copied), was)
	}
}

func TestCardIsDoubledWhileItRuns(t *testing.T) {
	t.Run("with its item: nothing is written", func(t *testing.T) {
		d := atWork(t)
		c := d.card("Shop.md", "Card")
		text := string(c.Span.Of(d.boards["Shop.md"].Board.Src))
		d.edit("Shop.md", "## Review\n\n", "## Review\n\n"+text)
		was := d.text("Shop.md")
		d.finish(Review, "done")
		equal(t, "did", d.later(time.Minute), nil)
		contains(t, "notes", d.notes(), "its card stands more than once (Shop.md:12, Shop.md:18): nothing is written on either")
		same(t, "board", d.text("Shop.md"), was)
		d.edit("Shop.md", "## Review\n\n"+text, "## Review\n\n")
		equal(t, "did", d.settle(), []Do{DoShow})
	})
	t.Run("without: the item tells them apart", func(t *testing.T) {
		d := atWork(t)
		d.edit("Shop.md", "## Plan\n\n", "## Plan\n\n- [ ] Card @pi\n")
		equal(t, "did", d.later(time.Minute), nil)
		contains(t, "why", strings.Join(d.reasons(), "\n"), `2 cards read "Card": lines 7, 13`)
		d.finish(Review, "done")
		d.settle()
		contains(t, "board", d.text("Shop.md"), "## Plan\n\n- [ ] Card @pi\n## Next")
	})
	t.Run("before anything was written: the claim is void", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: Card @pi"))
		d.act(d.look().Actions[0])
		d.edit("Shop.md", "## Next\n\n", "## Next\n\n- [ ] Card @pi\n")
		equal(t, "did", d.settle(), []Do{DoTakeBack})
		same(t, "phase", d.run().Phase, PhaseReleased)
	})
}

func TestRecurringCardIsTicked(t *testing.T) {
	begin := func(t *testing.T) (d *desk, text string) {
		d = oneBoard(t, lanes("Plan: Backup 🔁 every day @pi"))
		d.working()
		d.finish(Review, "done")
		d.settle()
		return d, string(d.card("Shop.md", "Backup").Span.Of(d.boards["Shop.md"].Board.Src))
	}
	t.Run("in one save", func(t *testing.T) {
		d, text := begin(t)
		d.edit("Shop.md", text, text+strings.Replace(text, "[ ]", "[x]", 1))
		equal(t, "did", d.settle(), []Do{DoClear, DoAccept, DoShow})
		var words []string
		for _, c := range d.boards["Shop.md"].Board.Lanes[3].Cards {
			words = append(words, c.Box+runOf(&c))
		}
		equal(t, "review", words, []string{" ", "x01RUN0001"})
		d.move("Shop.md", "Backup", "Plan")
		equal(t, "a new card", d.later(10*time.Second), []Do{DoClaim, DoShow, DoStart})
		same(t, "runs", len(d.runs), 2)
	})
	for name, change := range map[string]func(d *desk, text string){
		"not recurring": func(d *desk, text string) {
			d.edit("Shop.md", text, strings.ReplaceAll(text+strings.Replace(text, "[ ]", "[x]", 1), "🔁", ""))
		},
		"not beside it": func(d *desk, text string) {
			d.edit("Shop.md", text, text+"- [ ] Between\n"+strings.Replace(text, "[ ]", "[x]", 1))
		},
		"not ticked": func(d *desk, text string) { d.edit("Shop.md", text, text+text) },
		"ticked later": func(d *desk, text string) {
			d.edit("Shop.md", text, text+text)
			d.settle()
			d.edit("Shop.md", text+text, text+strings.Replace(text, "[ ]", "[x]", 1))
		},
		"in the done lane": func(d *desk, text string) {
			d.edit("Shop.md", text, "")
			d.edit("Shop.md", "## Done\n\n", "## Done\n\n"+text+strings.Replace(text, "[ ]", "[x]", 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, text := begin(t)
			change(d, text)
			equal(t, "did", d.later(time.Minute), nil)
			contains(t, "notes", d.notes(), "its card stands more than once")
		})
	}
}

func TestOldCopyWhileItAsks(t *testing.T) {
	before := lanes("Plan: Card @pi")
	d := oneBoard(t, before)
	d.working()
	d.save("Shop.md", before)
	d.entry(d.run().ID, Entry{Kind: Asked, Ask: &Ask{ID: "1", Kind: "confirm", Title: "Sure?"}})
	equal(t, "did", d.later(time.Minute), []Do{DoShow})
	same(t, "stands", d.stands("Shop.md", "Card"), "In Progress asks")
}
