package review

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"deckhand/internal/control"
)

// trace is a run's log as far as it is known. What has settled only grows at
// its end, so that its rows are made once; what goes on stands below it: tools
// that run, and what is being said.
type trace struct {
	next    int64 // ask for what came after
	open    bool
	events  []control.LogEvent // settled
	running []control.LogEvent // tools
	live    []segment          // what is being said and is no event yet
	plan    []step
	last    time.Time // of the newest event

	rows    []line // of events[:made]
	made    int
	width   int
	details bool
}

// segment is text that streams. The trace has it as an event when it ends; then
// it goes from here.
type segment struct {
	kind   string
	text   string
	closed bool
}

// segmentMost is how much of a segment is kept for showing.
const segmentMost = 16 << 10

// step is one step of an agent's plan, with when it was first seen to be
// current and to be done.
type step struct {
	text, state  string
	began, ended time.Time
}

// add takes what the trace has for us, in order.
func (t *trace) add(l control.Log) {
	if l.Next < t.next {
		*t = trace{} // it is another trace
	}
	for _, e := range l.Events {
		if e.N <= t.next {
			continue
		}
		t.one(e)
		t.last = later(t.last, e.Time)
	}
	t.next, t.open = max(t.next, l.Next), l.Open
	if !l.Open {
		t.live = nil
	}
}

func (t *trace) one(e control.LogEvent) {
	switch {
	case len(e.Steps) > 0:
		t.planned(e)
	case e.Kind == "tool" && e.State == "running":
		t.running = append(t.running, e)
	case e.Kind == "tool":
		title, _, _ := strings.Cut(e.Text, "\n")
		if i := slices.IndexFunc(t.running, func(r control.LogEvent) bool { return r.Text == title }); i >= 0 {
			t.running = slices.Delete(t.running, i, i+1)
		}
		t.events = append(t.events, e)
	default:
		if len(t.live) > 0 && (e.Kind == "text" || e.Kind == "thought") {
			t.live = t.live[1:]
		}
		if e.Kind == "done" || e.Kind == "ended" {
			t.live = nil
		}
		t.events = append(t.events, e)
	}
}

// planned takes a new plan, and keeps when its steps changed.
func (t *trace) planned(e control.LogEvent) {
	old := t.plan
	t.plan = nil
	for i, s := range e.Steps {
		n := step{text: s.Text, state: s.State}
		if i < len(old) && old[i].text == n.text {
			n.began, n.ended = old[i].began, old[i].ended
		}
		if n.began.IsZero() && n.state != "pending" {
			n.began = e.Time
		}
		if n.ended.IsZero() && n.state == "completed" {
			n.ended = e.Time
		}
		t.plan = append(t.plan, n)
	}
}

// hear takes what an agent says while it says it.
func (t *trace) hear(e control.LogEvent) {
	t.last = later(t.last, e.Time)
	n := len(t.live)
	if e.Kind != "text" && e.Kind != "thought" {
		if n > 0 {
			t.live[n-1].closed = true
		}
		return
	}
	if n == 0 || t.live[n-1].closed || t.live[n-1].kind != e.Kind {
		if n > 0 {
			t.live[n-1].closed = true
		}
		t.live = append(t.live, segment{kind: e.Kind})
		n++
	}
	s := &t.live[n-1]
	s.text += e.Text
	if over := len(s.text) - segmentMost; over > 0 {
		s.text = strings.ToValidUTF8(s.text[over:], "")
	}
}

// lines are the rows of the log: the settled ones are made once for each width.
func (t *trace) lines(n int, details bool) []line {
	if t.width != n || t.details != details {
		t.rows, t.made, t.width, t.details = nil, 0, n, details
	}
	for ; t.made < len(t.events); t.made++ {
		t.rows = apart(t.rows, eventRows(t.events[t.made], n, details))
	}
	return t.rows
}

// tail are the rows of what goes on.
func (t *trace) tail(n int, details, alive bool) []line {
	var out []line
	for _, e := range t.running {
		out = append(out, toolRows(e, n, details, alive)...)
	}
	for _, s := range t.live {
		out = apart(out, eventRows(control.LogEvent{Kind: s.kind, Text: s.text}, n, details))
	}
	return out
}

// apart adds rows; what ends in a blank row has one before it, too.
func apart(rows, more []line) []line {
	if n := len(more); n > 0 && len(more[n-1]) == 0 && len(rows) > 0 && len(rows[len(rows)-1]) > 0 {
		rows = append(rows, line{})
	}
	return append(rows, more...)
}

// eventRows are the rows of one event.
func eventRows(e control.LogEvent, n int, details bool) []line {
	switch e.Kind {
	case "text":
		if strings.TrimSpace(e.Text) == "" {
			return nil
		}
		return append(markdown(e.Text, n), line{})
	case "thought":
		return thoughtRows(e, n, details)
	case "tool":
		return toolRows(e, n, details, true)
	case "usage", "bound", "show":
		if !details || strings.TrimSpace(e.Text) == "" {
			return nil
		}
		return indented(span{"  ", dim}, paragraph(e.Kind+" "+e.Text, n-2, dim))
	case "ask":
		return append(indented(span{"◆ asks  ", needs}, paragraph(strings.TrimSpace(e.Text), n-8, plain)), line{})
	case "note":
		return indented(span{"· ", dim}, paragraph(e.Text, n-2, dim))
	}
	return factRows(e, n)
}

// factRows are those of an entry of the run's log: when, what, and why.
func factRows(e control.LogEvent, n int) []line {
	r := dim
	switch e.Kind {
	case "failed", "interrupted":
		r = bad
	case "finished", "accepted":
		r = good
	}
	head := span{clock(e.Time) + " " + strings.ReplaceAll(clean(e.Kind), "_", " ") + "  ", r}
	if strings.TrimSpace(e.Text) == "" {
		return []line{fitLine(line{head}, n)}
	}
	return indented(head, paragraph(strings.TrimSpace(e.Text), n-width(head.text), dim))
}

func thoughtRows(e control.LogEvent, n int, details bool) []line {
	if strings.TrimSpace(e.Text) == "" {
		return nil
	}
	words := len(strings.Fields(e.Text))
	head := line{{"… thinking", dim}, {"  " + strconv.Itoa(words) + " words", dim}}
	if !details {
		return []line{fitLine(append(head, span{"  t unfolds", dim}), n)}
	}
	return append(append([]line{fitLine(head, n)}, indented(span{"  ", dim}, paragraph(strings.TrimSpace(e.Text), n-2, dim))...), line{})
}

// failedRows is how much of a result is shown while results are folded, when it
// is that of a failure.
const failedRows = 4

func toolRows(e control.LogEvent, n int, details, alive bool) []line {
	title, out, _ := strings.Cut(e.Text, "\n")
	mark, r := "✓ ", good
	var right line
	switch {
	case e.State == "running" && alive:
		mark, r, right = "▸ ", works, line{{"running", works}}
	case e.State == "running":
		mark, r, right = "– ", quiet, line{{"no end seen", dim}}
	case e.State == "failed":
		mark, r, right = "× ", bad, line{{"failed ", bad}}
	default:
		right = line{{"ok ", dim}}
	}
	if e.Millis > 0 {
		right = append(right, span{lasted(time.Duration(e.Millis) * time.Millisecond), dim})
	}
	name, rest, _ := strings.Cut(oneLine(title), " ")
	rows := []line{spread(line{{mark, r}, {name + " ", strong}, {rest, code}}, right, n)}
	if out == "" {
		return rows
	}
	result := wrap(out, n-4)
	switch {
	case details:
	case e.State == "failed":
		result = result[max(0, len(result)-failedRows):]
	default:
		return rows
	}
	for _, row := range result {
		rows = append(rows, line{{"  │ ", dim}, {row, dim}})
	}
	return rows
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
