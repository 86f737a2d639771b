package dispatch

import (
	"strings"
	"testing"
	"time"
)

// started lets everything start and finish, one after the other, and lists the
// titles in order.
func (d *desk) order() []string {
	d.t.Helper()
	var titles []string
	for range 20 {
		d.settle()
		live := ""
		for id, r := range d.runs {
			if r.Live() && (live == "" || id < live) {
				live = id
			}
		}
		if live == "" {
			break
		}
		titles = append(titles, d.runs[live].Card.Title)
		d.entry(live, Entry{Kind: Finished, Outcome: Review, Text: "done"})
		d.entry(live, Entry{Kind: Ended})
		d.now = d.now.Add(time.Minute)
	}
	return titles
}

func TestPullOrder(t *testing.T) {
	d := oneBoard(t, lanes("Plan: p1 @pi | p2 @pi\nNext: n1 @pi | n2 @pi"))
	equal(t, "the nearest lane first, from its top", d.order(), []string{"n1", "n2", "p1", "p2"})

	d = newDesk(t)
	d.old("B.md", lanes("Next: b-next @pi"))
	d.old("A.md", lanes("Plan: a-plan @pi\nNext: a-next @pi"))
	equal(t, "then by board", d.order(), []string{"a-next", "b-next", "a-plan"})

	d = oneBoard(t, header+"## In Progress\n\n## Plan\n\n- [ ] behind @pi\n\n## Review\n")
	d.old("Z.md", lanes("Plan: before @pi"))
	equal(t, "lanes behind the working lane last", d.order(), []string{"before", "behind"})
}

// The order is judged when the folder gets free, not when a card came.
func TestOrderIsTheBoardsWhenTheFolderIsFree(t *testing.T) {
	d := oneBoard(t, lanes("Plan: a @pi | b @pi | c @pi"))
	d.working()
	d.move("Shop.md", "c", "Next")
	d.edit("Shop.md", "- [ ] b", "- [x] b")
	d.later(time.Minute)
	d.finish(Review, "done")
	d.settle()
	same(t, "next", d.run().Card.Title, "c")
	d.finish(Review, "done")
	equal(t, "the ticked one left the queue", d.settle(), []Do{DoShow})
}

func live(d *desk) int {
	n := 0
	for _, r := range d.runs {
		if r.Live() {
			n++
		}
	}
	return n
}

func TestLimits(t *testing.T) {
	t.Run("a folder and one inside it are one queue", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: a @pi #project/web | b @pi #project/api | c @pi #project/shop"))
		d.settle()
		same(t, "live", live(d), 2)
		equal(t, "b", failing(t, d, "b"), []string{`~waits for the folder: "a" is working there`})
	})
	t.Run("two names of one folder", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: a @pi | b @pi #project/other"))
		d.set.Projects["other"] = Project{Folder: "/p/shop"}
		d.settle()
		same(t, "live", live(d), 1)
	})
	t.Run("a folder that begins like another", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: a @pi | b @pi #project/other"))
		d.set.Projects["other"] = Project{Folder: "/p/shop-admin"}
		d.settle()
		same(t, "live", live(d), 2)
	})
	t.Run("max_running", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: a @pi | b @pi #project/web"))
		d.set.MaxRunning = 1
		d.settle()
		same(t, "live", live(d), 1)
		equal(t, "b", failing(t, d, "b"), []string{"~waits for room on this machine: max_running is 1"})
		d.finish(Review, "done")
		d.settle()
		same(t, "then", d.run().Card.Title, "b")
	})
	t.Run("the lane's limit counts agents at work", func(t *testing.T) {
		text := lanes("Plan: a @pi | b @pi #project/web\nIn Progress: mine | my other")
		d := newDesk(t)
		d.old("Shop.md", strings.Replace(text, "## In Progress", "## In Progress (1)", 1))
		d.old("Other.md", lanes("Plan: z @pi #project/api"))
		d.settle()
		equal(t, "b", failing(t, d, "b"), []string{`~lane "In Progress" has room for 1 at work`, `~waits for the folder: "z" is working there`})
		same(t, "live", live(d), 2)
	})
	t.Run("the lane's limit, two at once", func(t *testing.T) {
		d := newDesk(t)
		d.old("Shop.md", strings.Replace(lanes("Plan: a @pi | b @pi #project/web"), "## In Progress", "## In Progress (1)", 1))
		d.settle()
		same(t, "live", live(d), 1)
	})
	t.Run("a waiting run takes its place", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: a @pi | b @pi"))
		d.working()
		d.entry(d.run().ID, Entry{Kind: Asked, Ask: &Ask{ID: "1", Kind: "confirm", Title: "Sure?"}})
		equal(t, "did", d.settle(), []Do{DoShow})
		equal(t, "b", failing(t, d, "b"), []string{`~waits for the folder: "a" is waiting there`})
	})
	t.Run("the day's budget", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: a @pi | b @pi"))
		d.set.Day = 0.03
		d.working()
		d.finish(Review, "done")
		equal(t, "did", d.settle(), []Do{DoShow})
		same(t, "wake", d.last.Wake, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
		equal(t, "tomorrow", d.later(15*time.Hour), []Do{DoClaim, DoShow, DoStart})
	})
}

// Limits hold for a run that goes on like for a card that starts.
func TestLimitsForARunThatGoesOn(t *testing.T) {
	d := oneBoard(t, lanes("Plan: a @pi | b @pi #project/web"))
	d.set.MaxRunning = 1
	d.working()
	d.finish(Failed, "")
	d.settle()
	same(t, "b runs", d.run().Card.Title, "b")
	d.move("Shop.md", "a", "Plan")
	equal(t, "a waits", d.later(time.Minute), nil)
	equal(t, "a", failing(t, d, "a"), []string{"~waits for room on this machine: max_running is 1"})
	d.finish(Review, "done")
	equal(t, "a goes on", d.settle(), []Do{DoShow, DoResume, DoShow, DoStart})
}
