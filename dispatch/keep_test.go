package dispatch

import (
	"strings"
	"testing"
	"time"
)

// atWork is a desk whose only card is with an agent.
func atWork(t failer) *desk {
	d := oneBoard(t, lanes("Plan: Card @pi\\nWith a note."))
	d.working()
	return d
}

// Every ending, with its mark and lane.
func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*desk)
		want string
		item string
	}{
		{"done", func(d *desk) { d.finish(Review, "It works.") }, "Review review", "🟢 pi: review · "},
		{"failed", func(d *desk) { d.finish(Failed, "") }, "Review failed", "🔴 pi failed · exit 1 · "},
		{"process ended in the middle", func(d *desk) { d.entry(d.run().ID, Entry{Kind: Ended, Reason: "exit 3"}) }, "Review failed", "🔴 pi failed · exit 3 · "},
		{"longest run", func(d *desk) { d.later(time.Hour) }, "Review failed", "🔴 pi failed · it ran longer than 1h, the longest run allowed · "},
		{"stopped by command", func(d *desk) {
			d.entry(d.run().ID, Entry{Kind: Stopping, By: "command", Reason: "by command"})
			d.entry(d.run().ID, Entry{Kind: Ended})
		}, "Review stopped", "⚪ pi stopped · by command · "},
		{"stopped by moving", func(d *desk) { d.move("Shop.md", "Card", "Plan"); d.later(10 * time.Second) }, "Plan stopped", "⚪ pi stopped · the card was moved to Plan · "},
		{"stopped by ticking", func(d *desk) { d.edit("Shop.md", "[ ] Card", "[x] Card"); d.later(10 * time.Second) }, "In Progress stopped", "⚪ pi stopped · the card was ticked · "},
		{"interrupted", func(d *desk) { d.entry(d.run().ID, Entry{Kind: Interrupted, Reason: "its keeper was killed"}) }, "In Progress interrupted", "🟠 pi interrupted · its keeper was killed · "},
		{"finished after it was moved", func(d *desk) {
			d.move("Shop.md", "Card", "Next")
			d.later(time.Second)
			d.finish(Review, "It works.")
		}, "Next review", "🟢 pi: review · "},
		{"finished after an old copy", func(d *desk) {
			d.old("Shop.md", lanes("Plan: Card @pi\\nWith a note."))
			d.finish(Review, "It works.")
		}, "Review review", "🟢 pi: review · "},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := atWork(t)
			c.end(d)
			d.settle()
			same(t, "stands", d.stands("Shop.md", "Card"), c.want)
			contains(t, "item", d.card("Shop.md", "Card").Status.Head, c.item)
			contains(t, "the note stays", d.text("Shop.md"), "\n\tWith a note.\n")
			equal(t, "and stays so", d.later(time.Hour), nil)
			same(t, "stands", d.stands("Shop.md", "Card"), c.want)
		})
	}
}

// When a person moves a running card.
func TestPersonMovesARunningCard(t *testing.T) {
	t.Run("out for less than 10 s", func(t *testing.T) {
		d := atWork(t)
		d.move("Shop.md", "Card", "Review")
		equal(t, "did", d.later(9*time.Second), nil)
		same(t, "wake", d.last.Wake, d.now.Add(time.Second))
		contains(t, "notes", d.notes(), "the card was moved to Review; its run is stopped at 09:00:10 unless that is undone")
		d.move("Shop.md", "Card", "In Progress")
		equal(t, "back", d.later(time.Minute), nil)
		d.move("Shop.md", "Card", "Review")
		equal(t, "again, counted anew", d.later(9*time.Second), nil)
		equal(t, "10 s", d.later(time.Second), []Do{DoStop, DoShow})
		same(t, "stands", d.stands("Shop.md", "Card"), "Review stopped")
		equal(t, "stays stopped", d.later(time.Hour), nil)
	})
	t.Run("out, with once", func(t *testing.T) {
		d := atWork(t)
		d.set.Once = true
		d.move("Shop.md", "Card", "Review")
		equal(t, "did", d.settle(), []Do{DoStop, DoShow})
	})
	t.Run("ticked", func(t *testing.T) {
		d := atWork(t)
		d.edit("Shop.md", "[ ] Card", "[x] Card")
		equal(t, "did", d.later(9*time.Second), nil)
		equal(t, "did", d.later(time.Second), []Do{DoStop, DoShow})
		same(t, "by", d.run().By, ByTicked)
		d.edit("Shop.md", "[x] Card", "[ ] Card")
		equal(t, "to take the tick away is no move", d.later(time.Hour), nil)
	})
	t.Run("stopped by moving, then back by hand", func(t *testing.T) {
		d := atWork(t)
		d.move("Shop.md", "Card", "Plan")
		d.later(10 * time.Second)
		equal(t, "it lies in a ready lane and stays stopped", d.later(time.Hour), nil)
		contains(t, "why", strings.Join(d.reasons(), "\n"), "its run was over when the card was here already")
		d.move("Shop.md", "Card", "In Progress")
		equal(t, "at once", d.settle(), nil)
		equal(t, "back", d.later(3*time.Second), []Do{DoResume, DoShow, DoStart})
		same(t, "one run", len(d.runs), 1)
		same(t, "stands", d.stands("Shop.md", "Card"), "In Progress works")
	})
	t.Run("stopped by moving, then a later move", func(t *testing.T) {
		d := atWork(t)
		d.move("Shop.md", "Card", "Plan")
		d.later(10 * time.Second)
		d.move("Shop.md", "Card", "Next")
		equal(t, "goes on", d.later(3*time.Second), []Do{DoResume, DoShow, DoStart})
	})
	t.Run("stopped by moving, away and back", func(t *testing.T) {
		d := atWork(t)
		d.move("Shop.md", "Card", "Plan")
		d.later(time.Minute)
		d.move("Shop.md", "Card", "Review")
		d.later(time.Minute)
		d.move("Shop.md", "Card", "Plan")
		equal(t, "goes on", d.later(3*time.Second), []Do{DoResume, DoShow, DoStart})
	})
	t.Run("back while it is being stopped", func(t *testing.T) {
		d := atWork(t)
		d.hooks[DoStop] = func(a Action) bool {
			d.entry(a.Run, Entry{Kind: Stopping, By: a.By, Reason: a.Reason})
			return true
		}
		d.move("Shop.md", "Card", "Plan")
		equal(t, "did", d.later(10*time.Second), []Do{DoStop})
		d.now = d.now.Add(time.Second)
		d.move("Shop.md", "Card", "In Progress")
		equal(t, "nothing is asked of it", d.settle(), nil)
		d.now = d.now.Add(time.Second)
		d.entry(d.run().ID, Entry{Kind: Ended})
		equal(t, "goes on", d.later(3*time.Second), []Do{DoShow, DoResume, DoShow, DoStart})
	})
	t.Run("to another board", func(t *testing.T) {
		d := atWork(t)
		item := d.cut("Shop.md", "Card")
		d.save("Else.md", strings.Replace(lanes("Plan: Other"), "## In Progress\n\n", "## In Progress\n\n"+item, 1))
		equal(t, "still the same run", d.later(time.Hour-time.Second), nil)
		d.finish(Review, "done")
		d.settle()
		same(t, "stands", d.stands("Else.md", "Card"), "Review review")
	})
	t.Run("to a board without lanes for it", func(t *testing.T) {
		d := atWork(t)
		item := d.cut("Shop.md", "Card")
		d.save("Else.md", "---\nboard: true\n---\n\n## Someday\n\n"+item)
		equal(t, "stopped", d.later(10*time.Second), []Do{DoStop, DoShow})
		same(t, "stands", d.stands("Else.md", "Card"), "Someday stopped")
	})
	t.Run("to a board with a working lane alone", func(t *testing.T) {
		d := atWork(t)
		item := d.cut("Shop.md", "Card")
		d.save("Else.md", "---\nboard: true\n---\n\n## In Progress\n\n"+item)
		d.settle()
		d.finish(Review, "done")
		equal(t, "did", d.settle(), []Do{DoShow})
		same(t, "stands", d.stands("Else.md", "Card"), "In Progress review")
	})
	t.Run("to the archive, while it ends", func(t *testing.T) {
		d := oneBoard(t, "---\nkanban-plugin: board\nproject: shop\n---\n\n## Plan\n\n- [ ] Card @pi\n\n## In Progress\n\n## Review\n\n***\n\n## Archive\n\n- [x] Old\n")
		d.working()
		item := d.cut("Shop.md", "Card")
		d.save("Shop.md", d.text("Shop.md")+item)
		d.finish(Failed, "")
		dec := d.look()
		if len(dec.Actions) != 1 || dec.Actions[0].Do != DoShow || dec.Actions[0].Shows.To != "" {
			t.Errorf("actions %+v, want it to be shown where it is", dec.Actions)
		}
	})
	t.Run("to the archive", func(t *testing.T) {
		d := oneBoard(t, "---\nkanban-plugin: board\nproject: shop\n---\n\n## Plan\n\n- [ ] Card @pi\n\n## In Progress\n\n## Review\n\n***\n\n## Archive\n\n- [x] Old\n")
		d.working()
		item := d.cut("Shop.md", "Card")
		d.save("Shop.md", d.text("Shop.md")+item)
		equal(t, "at once", d.settle(), []Do{DoStop, DoShow})
		same(t, "by", d.run().By, ByArchived)
		contains(t, "archive", d.text("Shop.md"), "- [x] Old\n- [ ] Card @pi\n\t- ⚪ pi stopped")
		d.cut("Shop.md", "- [ ] Card")
		equal(t, "nothing follows", d.later(time.Hour), nil)
	})
	t.Run("its heading is renamed", func(t *testing.T) {
		d := atWork(t)
		d.edit("Shop.md", "## In Progress", "## At the bench")
		equal(t, "goes on", d.later(30*time.Minute), nil)
		contains(t, "notes", d.notes(), "its board has no working lane now")
	})
	t.Run("its line taken away by hand", func(t *testing.T) {
		d := atWork(t)
		c := d.card("Shop.md", "Card")
		d.edit("Shop.md", string(c.Status.Span.Of(c.Span.Of(d.boards["Shop.md"].Board.Src))), "")
		equal(t, "put back", d.settle(), []Do{DoShow})
		same(t, "stands", d.stands("Shop.md", "Card"), "In Progress works")
	})
	t.Run("its first line changed", func(t *testing.T) {
		d := atWork(t)
		d.edit("Shop.md", "Card @pi", "Another card @pi")
		equal(t, "the same run", d.later(time.Minute), nil)
		d.finish(Review, "done")
		d.settle()
		same(t, "stands", d.stands("Shop.md", "Another"), "Review review")
	})
}

// cut is a person who takes a card away, and what they hold then.
func (d *desk) cut(path, title string) string {
	d.t.Helper()
	b := d.boards[path].Board
	if strings.HasPrefix(title, "- ") { // of the archive
		at := strings.Index(d.text(path), title)
		d.save(path, d.text(path)[:at])
		return ""
	}
	text := string(d.card(path, title).Span.Of(b.Src))
	d.edit(path, text, "")
	return text
}

// Case 17: an editor saves its old copy over our move. The card is put back
// twice, what else the person wrote stays, and no second run starts.
// An old copy of a moment ago, in the right lane, is put right too.
// What a person has added is not lost when an old copy is put right.
// A run does not write on a card that has another run's item, nor on one that
// was given to a later run.
// An old copy that holds the item of an earlier moment is put right, and
// nothing goes on because of it.
// Case 26: a conflict copy holds the running card too, before or after the
// claim. It is no second place.
// Case 14: the copies become identical only after the claim.
// A recurring card that is ticked with the Tasks plugin on an Obsidian Kanban
// board: the copy has the item too. It is a new card only as these make it.
func TestAccepted(t *testing.T) {
	for _, c := range []struct {
		name string
		act  func(*desk)
		want string
	}{
		{"ticked", func(d *desk) { d.edit("Shop.md", "[ ] Card", "[x] Card") }, "Review accepted"},
		{"moved to Done", func(d *desk) { d.move("Shop.md", "Card", "Done") }, "Done accepted"},
		{"both", func(d *desk) { d.move("Shop.md", "Card", "Done"); d.edit("Shop.md", "[ ] Card", "[x] Card") }, "Done accepted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := atWork(t)
			d.finish(Review, "It works.\nReally.")
			d.settle()
			d.now = d.now.Add(time.Hour)
			c.act(d)
			equal(t, "did", d.settle(), []Do{DoAccept, DoShow})
			same(t, "stands", d.stands("Shop.md", "Card"), c.want)
			same(t, "one line", len(d.card("Shop.md", "Card").Status.Lines), 0)
			contains(t, "item", d.card("Shop.md", "Card").Status.Head, "🟢 pi: accepted 30 Nov · $0.03 · [[Card|chat]] ^r-01run0001")
			equal(t, "and stays so", d.later(time.Hour), nil)
		})
	}
	t.Run("what failed is not accepted", func(t *testing.T) {
		d := atWork(t)
		d.finish(Failed, "")
		d.settle()
		d.move("Shop.md", "Card", "Done")
		equal(t, "did", d.later(time.Hour), nil)
		same(t, "stands", d.stands("Shop.md", "Card"), "Done failed")
	})
	t.Run("ticked while it was being finished", func(t *testing.T) {
		d := atWork(t)
		d.edit("Shop.md", "[ ] Card", "[x] Card")
		d.later(time.Second)
		d.finish(Review, "done")
		equal(t, "did", d.settle(), []Do{DoShow, DoAccept, DoShow})
	})
}

func TestAsks(t *testing.T) {
	d := atWork(t)
	run := d.run().ID
	d.entry(run, Entry{Kind: Asked, Ask: &Ask{ID: "1", Kind: "select", Title: "Which key?", Options: []string{"test", "live"}, Timeout: time.Minute}})
	equal(t, "shown", d.settle(), []Do{DoShow})
	same(t, "stands", d.stands("Shop.md", "Card"), "In Progress asks")
	contains(t, "item", d.text("Shop.md"), "- 🟡 pi asks · 09:00 · [[Card|chat]] ^r-01run0001\n\t\t- Which key?\n\t\t- [ ] test ^a0005-1\n\t\t- [ ] live ^a0005-2\n")
	same(t, "wake", d.last.Wake, d.now.Add(time.Minute))
	d.now = d.now.Add(10 * time.Second)
	d.entry(run, Entry{Kind: Asked, Ask: &Ask{ID: "2", Kind: "confirm", Title: "Delete it?"}})
	d.entry(run, Entry{Kind: Asked, Ask: &Ask{ID: "2", Kind: "confirm", Title: "Delete it?"}})
	same(t, "asks", len(d.run().Asks), 2)
	equal(t, "the first one is shown, and their number", d.settle(), []Do{DoShow})
	contains(t, "item", d.text("Shop.md"), "- 🟡 pi asks · 09:00 · 2 questions · [[Card|chat]] ^r-01run0001\n\t\t- Which key?\n")
	equal(t, "a timeout", d.later(50*time.Second), []Do{DoTimeout, DoShow})
	contains(t, "item", d.text("Shop.md"), "- 🟡 pi asks · 09:00 · [[Card|chat]] ^r-01run0001\n\t\t- Delete it?\n")
	same(t, "status", d.run().Status(), "waiting")
	d.entry(run, Entry{Kind: AskGone, Ask: &Ask{ID: "2"}})
	equal(t, "answered", d.settle(), []Do{DoShow})
	same(t, "stands", d.stands("Shop.md", "Card"), "In Progress works")
	d.entry(run, Entry{Kind: Asked, Ask: &Ask{ID: "3", Kind: "question", Title: "Go on?"}})
	d.settle()
	equal(t, "waiting for a person is no work", d.later(100*time.Hour), nil)
	same(t, "stands", d.stands("Shop.md", "Card"), "In Progress asks")
}

// An old copy while a run asks: the card comes back to the working lane, and
// the run is not stopped for having been moved.
// What allowed a claim is gone before the agent starts.
func TestClaimIsTakenBack(t *testing.T) {
	for name, change := range map[string]func(*desk){
		"trust":         func(d *desk) { d.set.Held = Reason{Text: "not trusted"} },
		"agent":         func(d *desk) { d.set.Agents["pi"] = Agent{Why: Reason{Text: "missing"}} },
		"project":       func(d *desk) { delete(d.set.Projects, "shop") },
		"its folder":    func(d *desk) { d.set.Projects["shop"] = Project{Folder: "/elsewhere"} },
		"mention":       func(d *desk) { d.edit("Shop.md", "Card @pi", "Card") },
		"other agent":   func(d *desk) { d.edit("Shop.md", "Card @pi", "Card @claude") },
		"other project": func(d *desk) { d.edit("Shop.md", "project: shop", "project: web") },
		"after":         func(d *desk) { d.edit("Shop.md", "Card @pi\n", "Card @pi\n\tafter: Other\n") },
		"budget": func(d *desk) {
			d.set.Day = 1
			d.runs["X"] = &Run{ID: "X", Phase: PhaseOver, Spends: []Spend{{d.now, 1}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := oneBoard(t, lanes("Plan: Card @pi\nReview: Other"))
			d.hooks[DoStart] = func(Action) bool { d.hooks[DoClaim] = func(Action) bool { return true }; return true }
			for range 2 { // claimed and shown
				d.act(d.look().Actions[0])
			}
			same(t, "stands", d.stands("Shop.md", "Card"), "In Progress works")
			change(d)
			dec := d.look()
			if len(dec.Actions) == 0 || dec.Actions[0].Do != DoTakeBack {
				t.Fatalf("actions %v, want it to be taken back", dec.Actions)
			}
			d.act(dec.Actions[0])
			same(t, "stands", d.stands("Shop.md", "Card"), "Plan –")
			for _, r := range d.runs {
				same(t, "started", r.Life, 0)
			}
		})
	}
	t.Run("an agent that is looked at is waited for", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: Card @pi"))
		for range 2 {
			d.act(d.look().Actions[0])
		}
		d.set.Agents["pi"] = Agent{Pending: true}
		equal(t, "did", d.later(time.Hour), nil)
		d.set.Agents["pi"] = Agent{Ready: true}
		equal(t, "did", d.settle(), []Do{DoStart})
	})
	t.Run("ticked or moved before its turn", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: Card @pi"))
		for range 2 {
			d.act(d.look().Actions[0])
		}
		d.move("Shop.md", "Card", "Plan")
		equal(t, "no start", d.later(9*time.Second), nil)
		equal(t, "stopped", d.later(time.Second), []Do{DoStop, DoShow})
		same(t, "life", d.run().Life, 0)
	})
	t.Run("a board brings back what was taken back", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: Card @pi"))
		for range 2 {
			d.act(d.look().Actions[0])
		}
		away := d.text("Shop.md")
		d.old("Shop.md", lanes("Plan: Other"))
		d.entry(d.run().ID, Entry{Kind: Released})
		d.settle()
		d.old("Shop.md", away)
		equal(t, "did", d.later(3*time.Second), []Do{DoTakeBack, DoClaim, DoShow, DoStart})
	})
}

// Nothing is asked of a run while something is done for it.
func TestBusy(t *testing.T) {
	d := atWork(t)
	d.busy[d.run().ID] = true
	d.old("Shop.md", lanes("Plan: Card @pi\\nWith a note."))
	equal(t, "did", d.later(2*time.Hour), nil)
	d.busy = map[string]bool{}
	d.run().Turn = d.now
	equal(t, "did", d.settle(), []Do{DoShow})
	d.finish(Failed, "")
	d.settle()
	d.move("Shop.md", "Card", "Plan")
	d.settle()
	d.busy[d.run().ID] = true
	equal(t, "did", d.later(time.Minute), nil)
}

// A write that fails is tried again and is no old copy.
func TestFailingWrites(t *testing.T) {
	d := atWork(t)
	d.hooks[DoShow] = func(a Action) bool {
		d.entry(a.Run, Entry{Kind: Show, Word: a.Shows.Word, To: a.Shows.To, Lines: a.Shows.Lines})
		d.busy[a.Run] = true
		return true
	}
	d.finish(Review, "done")
	for range 10 {
		equal(t, "did", d.settle(), []Do{DoShow})
		d.busy = map[string]bool{}
	}
	delete(d.hooks, DoShow)
	equal(t, "did", d.settle(), []Do{DoShow})
	same(t, "stands", d.stands("Shop.md", "Card"), "Review review")
}
