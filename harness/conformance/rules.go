// Package conformance holds the rules that every agent driver keeps, and runs
// them against recorded lives, scripted ones, and the real program.
//
// A Life is what all three lead to: the lines of a capture, and the events and
// rows a session made of them. Replay makes one from a Recording, a scene of the
// Suite from a Script, Start from a program. Check says which rules a Life
// breaks.
//
// Rules have numbers that other places may cite. Those that need a real program
// are tests with one, per driver: an answer decides whether a tool runs (4, 5),
// what is asked before (8), an interrupt in a retry (11), a missing login (18).
// Those about processes are the keeper's: no tool is left over (10), a slow
// reader (21), a child that keeps the output open (22). That each rule can fail
// (24) is this package's own test.
package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"deckhand/harness"
)

// A Fault is a rule that was broken.
type Fault struct {
	Rule int
	What string
}

func (f Fault) String() string { return fmt.Sprintf("rule %d: %s", f.Rule, f.What) }

// Numbers of the rules that any life can be checked for.
const (
	SessionFirst  = 1  // the session is known before anything happens, and only once
	TextOnce      = 2  // the deltas are the final text, once; one Done a turn, nothing after it
	ToolsPaired   = 3  // a tool has one begin and one end, and none is open after Done
	AsksWithdrawn = 6  // an ask that is open is gone before Done
	NoLateAnswer  = 7  // AskGone only for an ask that is open
	OurInterrupt  = 9  // a turn we aborted is interrupted, whatever the agent says
	EndHasReason  = 13 // what is not completed says why
	SameAgain     = 14 // a daemon that attaches later sees the same
	NoHalfAnswer  = 16 // completed only with an answer
	UsageKnown    = 23 // usage is never negative, and counted once a message
)

// Check returns the faults of a life. fresh opens a session like the one that
// led to it.
func Check(l Life, fresh func() harness.Session) []Fault {
	c := &checker{lines: l.Lines, tools: map[string]string{}, asks: map[string]bool{}, usage: map[string]bool{}}
	for i := range l.Events {
		c.event(&l.Events[i])
	}
	if c.dones == 0 {
		c.fault(TextOnce, "no Done in the whole life")
	}
	c.again(l, fresh)
	return c.faults
}

type checker struct {
	faults []Fault
	lines  []harness.Line
	bound  bool
	text   strings.Builder // deltas of this turn
	dones  int
	over   int64             // line of the Done, until something happens again
	tools  map[string]string // id → begun or ended
	asks   map[string]bool   // open
	usage  map[string]bool
}

func (c *checker) fault(rule int, format string, args ...any) {
	c.faults = append(c.faults, Fault{rule, fmt.Sprintf(format, args...)})
}

func (c *checker) event(e *harness.Event) {
	switch e.Kind {
	case harness.Bound:
		c.session(e)
	case harness.Text:
		c.text.WriteString(e.Text)
		c.happened(e)
	case harness.ToolBegin, harness.ToolUpdate, harness.ToolEnd:
		c.happened(e)
		c.tool(e)
	case harness.AskOpen:
		c.happened(e)
		c.asks[e.Ask.ID] = true
	case harness.AskGone:
		if !c.asks[e.AskID] {
			c.fault(NoLateAnswer, "ask %q is gone and was not open", e.AskID)
		}
		delete(c.asks, e.AskID)
	case harness.UsageSeen:
		c.cost(e.Usage)
	case harness.Thought, harness.Plan:
		c.happened(e)
	case harness.Done:
		c.done(e)
	}
}

// happened is an event that only a turn has. After a Done, the next turn begins
// with something that we sent.
func (c *checker) happened(e *harness.Event) {
	if c.over == 0 {
		return
	}
	sent := slices.ContainsFunc(c.lines, func(l harness.Line) bool {
		return l.Stream == harness.In && l.Seq > c.over && l.Seq <= e.Seq
	})
	if !sent {
		c.fault(TextOnce, "%s after the turn was done", e.Kind)
	}
	c.over = 0
}

func (c *checker) session(e *harness.Event) {
	switch {
	case c.bound:
		c.fault(SessionFirst, "bound a second time, to %q", e.Session)
	case e.Session == "":
		c.fault(SessionFirst, "bound to nothing")
	}
	c.bound = true
}

func (c *checker) tool(e *harness.Event) {
	id, state := e.Tool.ID, c.tools[e.Tool.ID]
	switch {
	case e.Kind == harness.ToolBegin && state == "begun":
		c.fault(ToolsPaired, "tool %q begins twice", id)
	case e.Kind != harness.ToolBegin && state != "begun":
		c.fault(ToolsPaired, "%s of tool %q, which is not open", e.Kind, id)
	}
	c.tools[id] = "begun"
	if e.Kind == harness.ToolEnd {
		c.tools[id] = "ended"
	}
	if e.Tool.Millis < 0 {
		c.fault(ToolsPaired, "tool %q took less than no time", id)
	}
	if strings.ContainsAny(e.Tool.Title, "\n\r\x1b") {
		c.fault(ToolsPaired, "the title of tool %q is not one line", id)
	}
}

func (c *checker) cost(u *harness.Usage) {
	switch {
	case u.Tokens < 0 || u.Cost != nil && *u.Cost < 0:
		c.fault(UsageKnown, "negative usage")
	case u.Tokens == 0 && u.Cost != nil && *u.Cost == 0:
		c.fault(UsageKnown, "unknown usage said to be nothing")
	case c.usage[u.Message]:
		c.fault(UsageKnown, "usage of message %q counted twice", u.Message)
	}
	c.usage[u.Message] = true
}

func (c *checker) done(e *harness.Event) {
	if c.dones++; c.over > 0 {
		c.happened(e) // a turn of which nothing was seen but its end
	}
	for id, state := range c.tools {
		if state == "begun" {
			c.fault(ToolsPaired, "tool %q is open after the turn", id)
		}
	}
	for id := range c.asks {
		c.fault(AsksWithdrawn, "ask %q is open after the turn", id)
	}
	if text := c.text.String(); !strings.HasSuffix(text, e.Text) {
		c.fault(TextOnce, "the deltas %.80q do not end in the answer %.80q", text, e.Text)
	}
	switch e.Outcome {
	case harness.Completed:
		if strings.TrimSpace(e.Text) == "" {
			c.fault(NoHalfAnswer, "completed without an answer")
		}
	case harness.Interrupted:
	case harness.Failed, harness.Refused, harness.Limit:
		if e.Reason == "" {
			c.fault(EndHasReason, "%s without a reason", e.Outcome)
		}
	default:
		c.fault(EndHasReason, "unknown outcome %q", e.Outcome)
	}
	if e.Question && e.Outcome != harness.Completed {
		c.fault(NoHalfAnswer, "%s, and yet a question", e.Outcome)
	}
	clear(c.tools)
	clear(c.asks)
	c.text.Reset()
	c.over = e.Seq
}

// again decodes the life from its first line with a new session: a daemon that
// attaches must see what the one before saw.
func (c *checker) again(l Life, fresh func() harness.Session) {
	events := l.Again(fresh(), 0)
	if !reflect.DeepEqual(events, l.Events) {
		c.fault(SameAgain, "decoded again: %s", difference(l.Events, events))
	}
}

func difference(a, b []harness.Event) string {
	for i := range a {
		if i >= len(b) || !reflect.DeepEqual(a[i], b[i]) {
			other := "nothing"
			if i < len(b) {
				other = Summary(b[i])
			}
			return fmt.Sprintf("event %d was %s and is %s", i, Summary(a[i]), other)
		}
	}
	return fmt.Sprintf("%d more events", len(b)-len(a))
}

// Summary is an event in one line, for golden files and messages.
func Summary(e harness.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", e.Seq, e.Kind)
	add := func(name, v string) {
		if v != "" {
			q, err := json.Marshal(v)
			if err != nil {
				q = []byte(`"?"`)
			}
			if len(q) > 160 {
				q = append(q[:150:150], fmt.Sprintf(`…" (%d bytes)`, len(v))...)
			}
			fmt.Fprintf(&b, " %s=%s", name, q)
		}
	}
	add("session", e.Session)
	add("text", e.Text)
	if t := e.Tool; t != nil {
		add("tool", t.ID)
		add("name", t.Name)
		add("title", t.Title)
		add("output", t.Output)
		if e.Kind == harness.ToolEnd {
			fmt.Fprintf(&b, " ok=%v ms=%d", t.OK, t.Millis)
		}
	}
	if a := e.Ask; a != nil {
		add("ask", a.ID)
		add("kind", a.Kind)
		add("title", a.Title)
		add("message", a.Message)
		add("options", strings.Join(a.Options, "|"))
		add("prefill", a.Prefill)
		add("placeholder", a.Placeholder)
		if a.Timeout > 0 {
			fmt.Fprintf(&b, " timeout=%v", a.Timeout)
		}
	}
	add("ask", e.AskID)
	if u := e.Usage; u != nil {
		fmt.Fprintf(&b, " tokens=%d", u.Tokens)
		if u.Cost != nil {
			fmt.Fprintf(&b, " cost=%.6f", *u.Cost)
		}
		add("model", u.Model)
	}
	add("outcome", e.Outcome)
	add("reason", e.Reason)
	if e.Question {
		b.WriteString(" question")
	}
	return b.String()
}
