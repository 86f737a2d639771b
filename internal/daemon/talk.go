package daemon

import (
	"strings"

	"deckhand/chats"
	"deckhand/dispatch"
	"deckhand/harness"
)

// talkMax is how much text of an agent may wait to be written (bytes); more is
// written before its time.
const talkMax = 24000

// talk turns the events of one life into items of a chat. Items are cut only
// at tools, asks and ends of turns, so the same capture gives the same items.
type talk struct {
	role  string
	life  int
	began bool // its agent was started: it has, or perhaps has, its prompt
	items []piece
	text  strings.Builder
	seq   int64 // of the last delta in text
	seen  int64 // of the last event
	size  int   // bytes of text in items

	plan, planned string // the agent's plan as a list, and as the chat has it
}

// piece is an item and the capture position it reaches to.
type piece struct {
	chats.Item
	seq int64
}

// hear adds one event and reports whether what is there should be written: at
// once, or when the next one is due. Of an ask it is what the log says.
func (t *talk) hear(e harness.Event, ask chats.Item) (now, soon bool) {
	t.seen = max(t.seen, e.Seq)
	switch e.Kind {
	case harness.Text:
		t.text.WriteString(e.Text)
		t.seq = e.Seq
		if t.text.Len() > talkMax {
			t.cut()
			return false, true
		}
	case harness.ToolBegin:
		t.cut()
	case harness.ToolEnd:
		t.cut()
		state := "ok"
		if !e.Tool.OK {
			state = "failed"
		}
		t.add(chats.Item{Role: t.role, Kind: chats.ToolUse, Tool: &chats.Tool{
			Name: e.Tool.Name, Title: e.Tool.Title, State: state, Millis: e.Tool.Millis, Output: tail(e.Tool.Output),
		}}, e.Seq)
		return false, true
	case harness.AskOpen:
		t.cut()
		t.add(ask, e.Seq)
		return true, true
	case harness.Plan:
		if t.plan = checklist(e); t.planned == "" {
			t.cut()
			t.checked(e.Seq)
			return false, true
		}
	case harness.Propose:
		t.cut()
		t.checked(e.Seq)
		t.add(chats.Item{Role: t.role, Kind: chats.Text, Text: asProposal(e.Proposal)}, e.Seq)
		return true, true
	case harness.Done:
		t.cut()
		t.checked(e.Seq)
		return true, true
	}
	return false, false
}

// checked adds the agent's plan where it is another than was told last: when it is
// made, before a decision, and at the end. What is between is in the log.
func (t *talk) checked(seq int64) {
	if t.plan != t.planned {
		t.planned = t.plan
		t.add(chats.Item{Role: t.role, Kind: chats.Text, Text: t.plan}, seq)
	}
}

// checklist is a plan as a chat has it: no boxes, because nobody ticks them.
func checklist(e harness.Event) string {
	if len(e.Plan) == 0 {
		return ""
	}
	text := strings.TrimSuffix("Plan: "+e.Text, ": ")
	for _, s := range e.Plan {
		mark := ""
		switch s.State {
		case "completed":
			mark = "✓ "
		case "blocked":
			mark = "✗ "
		}
		text += "\n* " + mark + s.Text
	}
	return text
}

// cut makes what was said so far an item.
func (t *talk) cut() {
	if t.text.Len() == 0 {
		return
	}
	t.add(chats.Item{Role: t.role, Kind: chats.Text, Text: t.text.String()}, t.seq)
	t.text.Reset()
}

func (t *talk) add(i chats.Item, seq int64) {
	t.items = append(t.items, piece{i, seq})
	t.size += len(i.Text)
}

// much reports whether more waits to be written than should.
func (t *talk) much() bool { return t.size > talkMax }

// after are the items behind a position up to another (-1: all), and how far
// they reach.
func (t *talk) after(from, to int64) (out []piece, seq int64) {
	seq = from
	for _, p := range t.items {
		if p.seq > from && (to < 0 || p.seq <= to) {
			out = append(out, p)
			seq = max(seq, p.seq)
		}
	}
	return out, seq
}

// forget drops the items up to a position: they are written.
func (t *talk) forget(seq int64) {
	for len(t.items) > 0 && t.items[0].seq <= seq {
		t.size -= len(t.items[0].Text)
		t.items = t.items[1:]
	}
}

// askItem is an ask as it stands in a chat: with boxes where one of them is the
// answer. A text is written at the end of the chat.
func (m *model) askItem(r *run, e *harness.Ask) chats.Item {
	item := chats.Item{Role: r.Agent, Kind: chats.Ask}
	if e == nil {
		return item
	}
	ask := *askOf(e)
	if logged, ok := r.asked[ask.ID]; ok {
		ask = logged
	}
	o := dispatch.OfferOf(ask)
	item.Text = asText(ask)
	switch {
	case !o.Permission():
	case o.ID == "":
		item.Text += bulleted(ask.Options)
	case m.machine.Answers == "terminal":
		item.Text += bulleted(ask.Options) + "\n\nAnswer with `deckhand answer " + strings.ToLower(r.ID) + "`."
	default:
		for _, box := range o.Boxes() {
			item.Boxes = append(item.Boxes, chats.Box{Text: box.Text, ID: box.ID})
		}
		item.Field = o.Field
	}
	return item
}

// asText is what is asked.
func asText(a dispatch.Ask) string {
	text := a.Title
	if a.Message != "" && a.Kind != "question" {
		text += "\n\n    " + strings.ReplaceAll(a.Message, "\n", "\n    ")
	}
	return text
}

// asProposal is a proposal as a chat has it; it is decided on its page.
func asProposal(p *harness.Proposal) string {
	text := "I propose to change " + plural(len(p.Changes), "note", "notes") + "."
	if p.Reason != "" {
		text += "\n\n" + short(p.Reason, proposalReason)
	}
	for i, c := range p.Changes {
		if i == proposalChanges {
			break
		}
		if text += "\n* " + c.Kind + " " + c.File; c.To != "" {
			text += " → " + c.To
		}
	}
	return text
}

func bulleted(options []string) string {
	text := ""
	for _, o := range options {
		text += "\n* " + o
	}
	return text
}

// tail is the end of a tool's output: the last 20 lines, at most 2,000 bytes.
func tail(s string) string {
	s = strings.TrimRight(s, "\n")
	lines := strings.Split(s, "\n")
	lines = lines[max(0, len(lines)-20):]
	s = strings.Join(lines, "\n")
	if over := len(s) - 2000; over > 0 {
		s = strings.ToValidUTF8(s[over:], "")
	}
	return s
}
