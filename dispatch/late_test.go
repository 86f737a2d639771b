package dispatch

import (
	"strings"
	"testing"
	"time"
)

// What is said to an agent that has just ended its turn is not lost: the run
// goes on with it.
func TestSaidTooLate(t *testing.T) {
	for name, deliver := range map[string]func(*desk){
		"refused": func(d *desk) {
			d.entry(d.run().ID, Entry{Kind: Unread, Row: d.run().Owed[0].Row, Text: d.run().Owed[0].Text})
		},
		"never got": func(*desk) {},
	} {
		t.Run(name, func(t *testing.T) {
			d := atWork(t)
			d.entry(d.run().ID, Entry{Kind: Steered, How: "steer", Text: "Use the sandbox.", By: "cli"})
			d.entry(d.run().ID, Entry{Kind: Finished, Outcome: Review, Text: "done"})
			deliver(d)
			d.entry(d.run().ID, Entry{Kind: Ended})
			equal(t, "did", d.settle(), []Do{DoResume, DoShow, DoStart})
			same(t, "lines", strings.Join(d.run().Extra, "|"), "Use the sandbox.")
			d.finish(Review, "done")
			equal(t, "once", d.later(time.Hour), []Do{DoShow})
		})
	}
	t.Run("delivered in time", func(t *testing.T) {
		d := atWork(t)
		d.entry(d.run().ID, Entry{Kind: Steered, How: "follow_up", Text: "Use the sandbox.", By: "cli"})
		d.entry(d.run().ID, Entry{Kind: Delivered, Row: d.run().Owed[0].Row})
		d.finish(Review, "done")
		equal(t, "did", d.later(time.Hour), []Do{DoShow})
	})
	t.Run("stopped by a person", func(t *testing.T) {
		d := atWork(t)
		d.entry(d.run().ID, Entry{Kind: Steered, How: "steer", Text: "Use the sandbox.", By: "cli"})
		d.entry(d.run().ID, Entry{Kind: Stopping, By: "command", Reason: "by command"})
		d.entry(d.run().ID, Entry{Kind: Ended})
		equal(t, "did", d.later(time.Hour), []Do{DoShow})
		d.move("Shop.md", "Card", "Plan")
		equal(t, "and goes along when it goes on", d.later(3*time.Second), []Do{DoResume, DoShow, DoStart})
		same(t, "lines", strings.Join(d.run().Extra, "|"), "Use the sandbox.")
	})
}

// What came too late for a turn that ended in a question goes along with the
// answer, and is owed no more.
func TestSaidTooLateForAQuestion(t *testing.T) {
	d := atWork(t)
	d.entry(d.run().ID, Entry{Kind: Steered, How: "steer", Text: "Use the sandbox.", By: "cli"})
	row := d.run().Owed[0].Row
	d.ask(Ask{ID: "q7", Kind: "question", Title: "Which account?"})
	for range 2 { // told once while it asks, and again by the end of its life
		d.entry(d.run().ID, Entry{Kind: Unread, Row: row, Text: "Use the sandbox."})
	}
	text := "The first."
	d.entry(d.run().ID, Entry{Kind: Answered, Ask: &Ask{ID: "q7"}, Answer: &Answer{Value: &text}, By: "cli"})
	same(t, "owed", d.run().Owed[0].Kind+" "+d.run().Owed[0].Text, "prompt Use the sandbox.\n\nThe first.")
	d.entry(d.run().ID, Entry{Kind: Delivered, Row: d.run().Owed[0].Row})
	d.entry(d.run().ID, Entry{Kind: Unread, Row: row, Text: "Use the sandbox."})
	d.finish(Review, "done")
	equal(t, "did", d.later(time.Hour), []Do{DoShow})
}

// A run that goes on says what its agent had not read first, and its card shows
// who said it.
func TestGoesOnWithWhatWasNotRead(t *testing.T) {
	d := atWork(t)
	d.entry(d.run().ID, Entry{Kind: Steered, How: "steer", Text: "Use the sandbox.", By: "cli"})
	d.entry(d.run().ID, Entry{Kind: Interrupted, Reason: "its keeper was killed"})
	same(t, "unsaid", strings.Join(d.run().Unsaid(), "|"), "Use the sandbox.")
	d.entry(d.run().ID, Entry{Kind: Resumed, By: "cli", Lines: append(d.run().Unsaid(), "In blue.")})
	same(t, "unsaid", strings.Join(d.run().Unsaid(), "|"), "")
	same(t, "last", d.run().Last().What, "In blue.")
	d.entry(d.run().ID, Entry{Kind: Started, Life: 2})
	d.entry(d.run().ID, Entry{Kind: Steered, How: "steer", Text: "In red.", By: "pane"})
	d.entry(d.run().ID, Entry{Kind: Interrupted, Reason: "its keeper was killed"})
	d.entry(d.run().ID, Entry{Kind: Resumed, By: "on_interrupt: resume", Lines: d.run().Unsaid()})
	same(t, "last", d.run().Last().What+" "+d.run().Last().By, "In red. pane")
}

// A reply to a run whose folder is taken waits for it, however the run ended, and
// is said once.
func TestReplyThatWaits(t *testing.T) {
	for _, outcome := range []string{Review, Failed} {
		t.Run(outcome, func(t *testing.T) {
			d := oneBoard(t, lanes("Plan: Card @pi\nReview: Other @pi"))
			d.working()
			first := d.run().ID
			d.finish(outcome, "")
			d.settle()
			d.move("Shop.md", "Other", "Plan")
			equal(t, "other", d.later(10*time.Second), []Do{DoClaim, DoShow, DoStart})
			d.entry(first, Entry{Kind: Steered, How: HowReply, Text: "In blue.", By: "pane"})
			equal(t, "did", d.later(time.Minute), nil)
			same(t, "notes", d.notes(), `it goes on when there is room: "Other" is working in its folder`)
			d.finish(Review, "done")
			equal(t, "when it is free", d.settle(), []Do{DoResume, DoShow, DoShow, DoStart})
			r := d.runs[first]
			same(t, "lines", r.ID+" "+strings.Join(r.Extra, "|"), first+" In blue.")
			same(t, "said by", r.Last().What+" "+r.Last().By, "In blue. pane")
		})
	}
	t.Run("accepted meanwhile", func(t *testing.T) {
		d := atWork(t)
		d.entry(d.run().ID, Entry{Kind: Finished, Outcome: Review, Text: "done"})
		d.entry(d.run().ID, Entry{Kind: Steered, How: HowReply, Text: "In blue.", By: "cli"})
		d.entry(d.run().ID, Entry{Kind: Ended})
		d.entry(d.run().ID, Entry{Kind: Accepted, By: "cli"})
		equal(t, "did", d.later(time.Hour), []Do{DoShow})
	})
}

// A stop is something that a person said, and not what the card shows of a run
// that goes on.
func TestStopIsTold(t *testing.T) {
	for by, want := range map[string]int{"command": 1, ByTicked: 1, ByChat: 1, ByLimit: 0, byGone: 0} {
		d := atWork(t)
		d.entry(d.run().ID, Entry{Kind: Stopping, By: by, Reason: "why"})
		same(t, by, len(d.run().Told), want)
		same(t, "last", d.run().Last() == nil, true)
	}
}
