package daemon

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/control"
)

// trace is a run's log with what its captures say, in the order of time.
func (m *model) trace(r *run, since int64) (control.Log, error) {
	out := control.Log{Run: r.ID, Events: []control.LogEvent{}, Open: r.Live()}
	// What an agent said comes before the entry that was made of it, also where
	// both have the same millisecond.
	var all []control.LogEvent
	lives, err := r.dir.Lives()
	if err != nil {
		return out, err
	}
	for _, l := range lives {
		t := tracer{}
		if err := decode(l, m.drivers, t.hear); err != nil {
			return out, err
		}
		t.flush()
		all = append(all, t.out...)
	}
	if err := eachEntry(r.dir, func(e dispatch.Entry) {
		if ev, ok := entryView(e); ok {
			all = append(all, ev)
		}
	}); err != nil {
		return out, err
	}
	slices.SortStableFunc(all, func(a, b control.LogEvent) int { return a.Time.Compare(b.Time) })
	for i := range all {
		all[i].N = int64(i + 1)
	}
	out.Next = int64(len(all))
	if since < int64(len(all)) {
		out.Events = append(out.Events, all[max(since, 0):]...)
	}
	return out, nil
}

// entryView is a log entry as a person reads it; entries that only keep the
// books are left out.
func entryView(e dispatch.Entry) (control.LogEvent, bool) {
	ev := control.LogEvent{Time: e.Time, Kind: string(e.Kind), Text: e.Reason}
	switch e.Kind {
	case dispatch.Chat, dispatch.Chatted, dispatch.Bound, dispatch.Asked, dispatch.Shown:
		return ev, false // the capture says it, or nothing happened for a person
	case dispatch.Claimed:
		ev.Text = "@" + e.Agent + " on " + where(e.Card.Board, e.Card.Line, 0) + " in " + e.Folder
	case dispatch.Show:
		ev.Text = strings.Join(e.Lines, "\n")
	case dispatch.Started:
		ev.Text = "life " + itoa(e.Life)
	case dispatch.Finished:
		ev.Text = cmp.Or(e.Reason, e.Outcome)
	case dispatch.Stopping:
		ev.Text = e.By + ": " + e.Reason
	case dispatch.Resumed:
		ev.Text = strings.Join(append([]string{"by " + e.By}, e.Lines...), "\n")
	case dispatch.Ended:
		if e.Exit != nil {
			ev.Text = strings.TrimSpace("exit " + itoa(e.Exit.Code) + " " + e.Exit.Signal)
		}
	}
	return ev, true
}

// tracer turns the events of one life into lines of a trace: text in whole
// pieces, a tool once, with its end state or running.
type tracer struct {
	out   []control.LogEvent
	text  strings.Builder
	kind  string
	began time.Time
	tools map[string]int // index in out of the tools that run
}

func (t *tracer) hear(e harness.Event) {
	switch e.Kind {
	case harness.Text, harness.Thought:
		if t.kind != string(e.Kind) {
			t.flush()
			t.kind, t.began = string(e.Kind), e.Time
		}
		t.text.WriteString(e.Text)
		return
	}
	t.flush()
	ev := control.LogEvent{Time: e.Time, Kind: string(e.Kind), Text: e.Text}
	switch e.Kind {
	case harness.ToolBegin, harness.ToolUpdate, harness.ToolEnd:
		t.tool(e)
		return
	case harness.AskOpen:
		ev.Text = strings.TrimSpace(e.Ask.Kind + ": " + e.Ask.Title + " " + e.Ask.Message)
	case harness.AskGone:
		ev.Text = e.Reason
	case harness.UsageSeen:
		ev.Text = itoa(int(e.Usage.Tokens)) + " tokens, " + usd(e.Usage.Cost)
	case harness.Bound:
		ev.Text = e.Session
	case harness.Done:
		ev.Text = strings.TrimSpace(e.Outcome + " " + e.Reason)
	}
	t.out = append(t.out, ev)
}

func (t *tracer) tool(e harness.Event) {
	if t.tools == nil {
		t.tools = map[string]int{}
	}
	i, known := t.tools[e.Tool.ID]
	if !known {
		i = len(t.out)
		t.tools[e.Tool.ID] = i
		t.out = append(t.out, control.LogEvent{
			Time: e.Time, Kind: "tool", Text: strings.TrimSpace(e.Tool.Name + " " + e.Tool.Title), State: "running",
		})
	}
	if e.Kind != harness.ToolEnd {
		return
	}
	t.out[i].State, t.out[i].Millis = "failed", e.Tool.Millis
	if e.Tool.OK {
		t.out[i].State = "ok"
	}
	if out := tail(e.Tool.Output); out != "" {
		t.out[i].Text += "\n" + out
	}
}

func (t *tracer) flush() {
	if t.text.Len() > 0 {
		t.out = append(t.out, control.LogEvent{Time: t.began, Kind: t.kind, Text: t.text.String()})
	}
	t.text.Reset()
	t.kind = ""
}

// chat is the chat file of a run, wherever it lies now.
func (m *model) chat(r *run) (control.Chat, error) {
	at := m.chatPath(r)
	text, err := os.ReadFile(filepath.Join(m.f.dir, filepath.FromSlash(at)))
	if err != nil {
		return control.Chat{}, &control.Error{Text: at + ": the chat is not there", Hint: "deckhand log " + r.ID, Code: control.CodeError}
	}
	return control.Chat{Run: r.ID, Path: at, Text: string(text)}, nil
}

// events are the entries of all runs since a time, as the journal has them.
func (m *model) events(since time.Time) ([]control.JournalEntry, error) {
	out := []control.JournalEntry{}
	for _, r := range m.sorted() {
		if err := eachEntry(r.dir, func(e dispatch.Entry) {
			if j, ok := m.journalEntry(r, e); ok && !e.Time.Before(since) {
				out = append(out, control.JournalEntry{Time: e.Time, Event: e.ID, Run: r.ID, Status: j.Status, Object: j.Object, Reason: j.Reason})
			}
		}); err != nil {
			return out, err
		}
	}
	slices.SortFunc(out, func(a, b control.JournalEntry) int { return cmp.Compare(a.Event, b.Event) })
	return out, nil
}
