package review

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"deckhand/internal/control"
)

// logAsked are the traces that were asked for.
func (s *story) logAsked() []askLog {
	var out []askLog
	for _, e := range s.effects() {
		if l, ok := e.(askLog); ok {
			out = append(out, l)
		}
	}
	return out
}

func (s *story) logs(next int64, open bool, events ...control.LogEvent) {
	s.t.Helper()
	s.happens(gotLog{s.at(), "run R1", control.Log{Run: "R1", Events: events, Next: next, Open: open}, nil})
}

func logged(n int64, kind, text string) control.LogEvent {
	return control.LogEvent{N: n, Time: noon(), Kind: kind, Text: text}
}

// What an agent says is seen while it says it, and once: when the trace has it,
// the stream gives way.
func TestTextStreamsAndIsThereOnce(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working")))
	s.logs(1, true, logged(1, "started", "life 1"))
	for _, piece := range []string{"I look ", "at the ", "project."} {
		s.says("run", "R1", control.LogEvent{N: 7, Kind: "text", Text: piece})
	}
	s.sees("I look at the project.")
	s.effects()
	s.says("run", "R1", control.LogEvent{N: 8, Kind: "tool_begin"})
	if all := s.logAsked(); len(all) != 1 || all[0].since != 1 {
		t.Fatalf("got %+v", all)
	}
	s.says("run", "R1", control.LogEvent{N: 9, Kind: "text", Text: "Then I write."})
	s.logs(3, true, logged(2, "text", "I look at the project."), control.LogEvent{N: 3, Time: noon(), Kind: "tool", Text: "bash ls", State: "running"})
	if got := strings.Count(s.shown(), "I look at the project."); got != 1 {
		t.Fatalf("%d times:\n%s", got, s.shown())
	}
	s.sees("▸ bash ls", "running", "Then I write.")
	s.logs(4, true, control.LogEvent{N: 4, Time: noon(), Kind: "tool", Text: "bash ls\nREADME.md", State: "ok", Millis: 1200})
	s.sees("✓ bash ls", "ok 1.2s")
	s.seesNot("running", "README.md")
	s.press("t")
	s.sees("│ README.md")
}

// A lost connection loses no line: the trace is asked for from where it was, and
// what comes twice counts once.
func TestAReconnectLosesNothing(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working")))
	s.logs(2, true, logged(1, "started", "life 1"), logged(2, "text", "first"))
	s.says("run", "R1", control.LogEvent{Kind: "text", Text: "cut in the mid"})
	s.effects()
	s.happens(linked{s.at(), false, "the daemon has ended"})
	s.later(90 * time.Second)
	s.happens(ticked{s.at()})
	s.sees("× not connected for 1m", "the daemon has ended", "first", "W start deckhand watch")
	s.press("x")
	if all := s.commands(); len(all) != 0 {
		t.Fatalf("sent into nothing: %+v", all)
	}
	s.sees("stop: not connected")
	s.connected(status(aRun("R1", "Checkout", "working")))
	if all := s.logAsked(); len(all) != 1 || all[0].since != 2 {
		t.Fatalf("got %+v", all)
	}
	s.logs(3, true, logged(2, "text", "first"), logged(3, "text", "cut in the middle no more"))
	s.sees("● connected", "cut in the middle no more")
	if got := strings.Count(s.shown(), "first"); got != 1 {
		t.Fatalf("%d times first:\n%s", got, s.shown())
	}
}

// An answer that was under way when the connection was lost is asked for again.
func TestAnAnswerThatWasLostIsAskedForAgain(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working")))
	s.press("c")
	s.effects()
	s.happens(gotChat{s.at(), "run R1", control.Chat{}, &control.Error{Text: "no daemon answers", Code: control.CodeNoDaemon}})
	s.happens(linked{s.at(), false, "gone"})
	s.connected(status(aRun("R1", "Checkout", "working")))
	asked := false
	for _, e := range s.effects() {
		_, ok := e.(askChat)
		asked = asked || ok
	}
	if !asked {
		t.Fatal("the chat was not asked for again")
	}
}

// What is selected stays selected wherever it goes; when it is gone, its
// neighbour is.
func TestTheSelectionStays(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working"), aRun("R2", "Footer", "working")))
	s.press("j")
	s.says("status", "", status(aRun("R1", "Checkout", "working"), asking("R2", "Footer", confirm("A1"))))
	s.sees("▌◆ Footer")
	s.says("status", "", status(aRun("R1", "Checkout", "working")))
	s.sees("▌● Checkout")
	s.says("status", "", status())
	s.sees("Nothing runs and nothing waits.")
}

// A dead line is not a quiet run.
func TestTheAgeOfTheLastEvent(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working")))
	s.logs(1, true, logged(1, "started", "life 1"))
	s.later(42 * time.Second)
	s.happens(ticked{s.at()})
	s.sees("heard 42s ago")
}

// Nothing moves without need: an idle pane wakes once a minute.
func TestAnIdlePaneSleeps(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(over("R1", "Checkout", "done")))
	for _, e := range s.effects() {
		if l, ok := e.(askLog); ok {
			s.happens(gotLog{s.at(), l.key, control.Log{Run: "R1", Events: []control.LogEvent{logged(1, "ended", "exit 0")}, Next: 1}, nil})
		}
	}
	if at, ok := s.m.next(); !ok || at.Sub(s.now) < 30*time.Second {
		t.Fatalf("wakes in %v", at.Sub(s.now))
	}
	s.says("status", "", status(aRun("R1", "Checkout", "working")))
	if at, ok := s.m.next(); !ok || at.Sub(s.now) > spin {
		t.Fatalf("the spinner turns in %v", at.Sub(s.now))
	}
	s.m.look.Motion = false
	if at, ok := s.m.next(); !ok || at.Sub(s.now) != time.Second {
		t.Fatalf("moves in %v without motion", at.Sub(s.now))
	}
}

// Text of others is data: what a terminal would obey is shown.
func TestNothingHostileIsSent(t *testing.T) {
	hostile := "\x1b]52;c;cm0=\x07\x1b[2J \u202egnp.exe \u200bx \x9b31m\r over"
	r := asking("R1", hostile, control.Ask{ID: "A1", Kind: "select", Title: hostile, Message: hostile, Options: []string{hostile}, Since: noon()})
	r.Agent, r.Project, r.Board, r.Reason = hostile, hostile, hostile, hostile
	st := status(r)
	st.Held = []control.Held{{Card: hostile, Board: hostile, Reasons: []string{hostile}, Hints: []string{hostile}}}
	st.Problems = []control.Problem{{Where: hostile, Text: hostile, Hint: hostile}}
	s := tell(t, 120, 60)
	s.connected(st)
	s.logs(9, true, logged(1, "text", hostile), logged(2, "note", hostile), logged(3, hostile, hostile),
		control.LogEvent{N: 4, Kind: "tool", Text: hostile + "\n" + hostile, State: "failed"}, logged(5, "thought", hostile),
		control.LogEvent{N: 6, Kind: "plan", Steps: []control.Step{{Text: hostile, State: hostile}}})
	key := "run R1"
	s.happens(gotChat{s.at(), key, control.Chat{Path: hostile, Text: hostile}, nil})
	s.happens(gotPrompt{s.at(), key, control.Prompt{Agent: hostile, Text: hostile, Hash: hostile, Notes: []control.Piece{{Path: hostile, Section: hostile, Problem: hostile}}}, nil})
	s.happens(gotWhy{s.at(), key, control.Why{Board: hostile, Rules: []control.Rule{{Rule: hostile, Reason: hostile, Hint: hostile}}}, nil})
	s.happens(gotBoards{s.at(), []control.Board{{Path: hostile, Project: hostile, Inactive: hostile, Lanes: []control.Lane{{Title: hostile, Items: []control.Card{{Title: hostile, Agent: hostile}}}}}}, nil})
	for _, keys := range [][]string{{"l"}, {"t"}, {"c"}, {"p"}, {"w"}, {"b"}, {"?"}, {"?", "j"}, {"j"}, {"l", "w"}} {
		s.press(keys...)
		got := s.shown()
		if i := strings.IndexFunc(got, func(c rune) bool { return c != '\n' && dangerous(c) }); i >= 0 {
			t.Fatalf("after %q: %q", keys, got[max(0, i-40):i+10])
		}
	}
	s.happens(did{s.at(), "x", control.Result{}, errors.New(hostile)})
}

// A plan: what is done, what it is at while a turn runs, what is to come; and it
// is no line of the log.
func TestThePlanIsAChecklist(t *testing.T) {
	plan := func(n int64, at time.Time, states ...string) control.LogEvent {
		e := control.LogEvent{N: n, Time: at, Kind: "plan", Text: "a plan"}
		for i, name := range []string{"Read the spec", "Write the route", "Run the tests"} {
			e.Steps = append(e.Steps, control.Step{Text: name, State: states[i]})
		}
		return e
	}
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working")))
	s.logs(1, true, plan(1, noon(), "in_progress", "pending", "pending"))
	s.logs(2, true, plan(2, noon().Add(75*time.Second), "completed", "in_progress", "pending"))
	s.later(80 * time.Second)
	s.happens(ticked{s.at()})
	s.sees("Plan  1 of 3", "✓ Read the spec", "done 1m15s", "▸ Write the route", "now 5s", "· Run the tests", "to do")
	s.seesNot("a plan")
	s.says("status", "", status(over("R1", "Checkout", "stopped")))
	s.sees("· Write the route")
	s.seesNot("▸", "now 5s")
	s.logs(3, false, plan(3, noon().Add(90*time.Second), "completed", "refused", "pending"))
	s.sees("× Write the route", "refused")
}

// The mouse does what the keys do.
func TestTheMouse(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(asking("R1", "Checkout", confirm("A1")), aRun("R2", "Footer", "working")))
	s.later(time.Minute)
	at := func(what string) (x, y int) {
		t.Helper()
		for y, row := range strings.Split(s.shown(), "\n") {
			if head, _, ok := strings.Cut(row, what); ok {
				return width(head), y
			}
		}
		t.Fatalf("%q is not shown:\n%s", what, s.shown())
		return 0, 0
	}
	x, y := at("d deny ")
	s.happens(moused{s.at(), x, y, 0})
	if c := s.command(); *c.Value != "deny" {
		t.Fatalf("got %+v", c)
	}
	x, y = at("Footer")
	s.happens(moused{s.at(), x, y, 0})
	s.sees("▌● Footer")
	x, y = at("Chat")
	s.happens(moused{s.at(), x, y, 0})
	if s.m.view != chatView {
		t.Fatalf("view %v", s.m.view)
	}
	x, y = at("q quit")
	s.effects()
	s.happens(moused{s.at(), x, y, 0})
	if all := s.effects(); len(all) != 1 || all[0] != (quit{}) {
		t.Fatalf("got %+v", all)
	}
}

// A log that is scrolled back stays where it is while it grows; at its end it
// follows again. Each run has its own place.
func TestScrollingIsKept(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working"), aRun("R2", "Footer", "working")))
	var events []control.LogEvent
	for n := range int64(100) {
		events = append(events, logged(n+1, "note", fmt.Sprintf("row %03d", n)))
	}
	s.logs(100, true, events...)
	s.sees("row 099")
	s.press("home")
	s.sees("row 000", "more rows")
	s.logs(101, true, logged(101, "note", "row 100"))
	s.sees("row 000")
	s.press("j", "k")
	s.sees("row 000")
	s.press("end")
	s.logs(102, true, logged(102, "note", "row 101"))
	s.sees("row 101")
}

// A row more below what is seen changes nothing there, and the picture of a log
// of 10,000 rows is made of no more than that of one of 200.
func TestARowMoreMakesOneRow(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working")))
	grow := func(from, to int64) {
		var events []control.LogEvent
		for n := from; n < to; n++ {
			events = append(events, logged(n+1, "note", fmt.Sprintf("row %05d", n)))
		}
		s.logs(to, true, events...)
	}
	made := func() float64 { return testing.AllocsPerRun(10, func() { s.m.frame() }) }
	grow(0, 200)
	s.press("home")
	before, few := s.shown(), made()
	grow(200, 10_000)
	if after := s.shown(); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
	if many := made(); many > few*1.1 {
		t.Errorf("%v allocations with 10,000 rows, %v with 200", many, few)
	}
	s.press("end", "pgup")
	if many := made(); many > few*2 {
		t.Errorf("%v allocations near the end, %v at the begin of a short one", many, few)
	}
}

// What is kept of a process's end comes without an event: it is looked for some
// times, and not for ever.
func TestTheEndOfALogIsLookedFor(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working")))
	s.logs(1, true, logged(1, "finished", "review")) // the log is faster than the status
	s.says("status", "", status(over("R1", "Checkout", "done")))
	asked := func() (n int) {
		for range 20 {
			s.later(time.Second)
			s.happens(ticked{s.at()})
			for _, e := range s.effects() {
				if _, ok := e.(askLog); ok {
					n++
					s.happens(gotLog{s.at(), "run R1", control.Log{Next: 1, Open: true}, nil})
				}
			}
		}
		return n
	}
	s.logs(1, true)
	if n := asked(); n < 1 || n > 10 {
		t.Errorf("asked %d times", n)
	}
	s.happens(told{s.at(), control.Event{Kind: "status", Data: status(over("R1", "Checkout", "done"))}})
	s.logs(2, false, logged(2, "ended", "exit 0"))
	s.sees("ended", "exit 0")
	s.effects()
	if n := asked(); n != 0 {
		t.Errorf("asked %d times for a log that has ended", n)
	}
}
