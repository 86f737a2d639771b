package review

import (
	"slices"
	"strings"
	"time"

	"deckhand/internal/control"
)

// trace is a run's log as far as it is known. What has settled only grows at
// its end; what goes on stands below it: tools that run, and what is being said.
type trace struct {
	next    int64 // ask for what came after
	open    bool
	ended   bool               // its last word is here
	paras   []para             // of what has settled
	running []control.LogEvent // tools
	live    []segment          // what is being said and is no event yet
	plan    []step
	last    time.Time // of the newest event
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

// add takes what the trace has for us, in order, and reports whether it is new.
func (t *trace) add(l control.Log) (more bool) {
	if l.Next < t.next {
		*t = trace{} // it is another trace
	}
	for _, e := range l.Events {
		if e.N <= t.next {
			continue
		}
		t.one(e)
		t.ended = e.Kind == "ended"
		t.last = later(t.last, e.Time)
		more = true
	}
	t.next, t.open = max(t.next, l.Next), l.Open
	if !l.Open {
		t.live = nil
	}
	return more
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
		t.paras = append(t.paras, eventParas(e, true)...)
	default:
		if len(t.live) > 0 && (e.Kind == "text" || e.Kind == "thought") {
			t.live = t.live[1:]
		}
		if e.Kind == "done" || e.Kind == "ended" {
			t.live = nil
		}
		t.paras = append(t.paras, eventParas(e, true)...)
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

// tail is what goes on; alive says whether a turn does, too.
func (t *trace) tail(alive bool) []para {
	var out []para
	for _, e := range t.running {
		out = append(out, eventParas(e, alive)...)
	}
	for _, s := range t.live {
		out = append(out, eventParas(control.LogEvent{Kind: s.kind, Text: s.text}, alive)...)
	}
	return out
}

// eventParas are an event. What is said has air around it.
func eventParas(e control.LogEvent, alive bool) []para {
	text := strings.TrimSpace(e.Text)
	switch e.Kind {
	case "text":
		if text == "" {
			return nil
		}
		return airy(markdown(e.Text), always)
	case "thought":
		return thoughtParas(text)
	case "tool":
		return toolParas(e, alive)
	case "usage", "bound", "show":
		if text == "" {
			return nil
		}
		return paras(span{"  ", dim}, e.Kind+" "+text, dim, unfolded)
	case "ask":
		return airy(paras(span{"◆ asks  ", needs}, text, plain, always), always)
	case "note":
		return paras(span{"· ", dim}, text, dim, always)
	}
	return factParas(e, text)
}

// airy are paras with a blank row before and after them.
func airy(inner []para, when fold) []para {
	return append(append([]para{{when: when}}, inner...), para{when: when})
}

// factParas are an entry of the run's log: when, what, and why.
func factParas(e control.LogEvent, text string) []para {
	r := dim
	switch e.Kind {
	case "failed", "interrupted":
		r = bad
	case "finished", "accepted":
		r = good
	}
	return paras(span{clock(e.Time) + " " + strings.ReplaceAll(clean(e.Kind), "_", " ") + "  ", r}, text, dim, always)
}

func thoughtParas(text string) []para {
	if text == "" {
		return nil
	}
	head := line{{"… thinking", dim}, {"  " + counted(len(strings.Fields(text)), "word", "words"), dim}}
	more := append(head[:len(head):len(head)], span{"  t unfolds", dim})
	inner := append([]para{{head: head, when: unfolded}}, paras(span{"  ", dim}, text, dim, unfolded)...)
	return append([]para{{head: more, when: folded}}, airy(inner, unfolded)...)
}

// failedLines is how much of a result is shown while results are folded, when
// it is that of a failure.
const failedLines = 4

func toolParas(e control.LogEvent, alive bool) []para {
	title, result, _ := strings.Cut(e.Text, "\n")
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
	out := []para{{head: line{{mark, r}, {name + " ", strong}, {rest, code}}, right: right}}
	if result == "" {
		return out
	}
	all := paras(span{"  │ ", dim}, result, dim, unfolded)
	for k := range all {
		all[k].lead.text, all[k].lead.role, all[k].each = "  │ ", dim, true
		if e.State == "failed" && k >= len(all)-failedLines {
			all[k].when = always
		}
	}
	return append(out, all...)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
