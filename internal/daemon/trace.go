package daemon

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/control"
)

// tracing is what a run's trace is read from: its log with what its captures
// say. The two are merged by position in the captures and not by time: an entry
// of the log stands behind what was heard when it was made. That order only ever
// grows at its end, so that numbers once given stay, and whoever asks for what
// came after a number misses nothing and gets nothing twice.
//
// While the daemon lives, a capture is read as far as the loop has heard it:
// what comes later can have entries before it.
type tracing struct {
	run     string
	open    bool
	dir     harness.Dir
	drivers map[string]harness.Driver
	life    int   // the life that is attached, 0: none
	heard   int64 // how far
	upTo    string
}

// tracing collects it of a run.
func (m *model) tracing(name string) (tracing, error) {
	r, fault := m.run(name)
	if fault != nil {
		return tracing{}, fault
	}
	t := tracing{run: r.ID, open: r.Live() || r.runner != nil, dir: r.dir, drivers: m.drivers, upTo: r.LastID}
	if r.talk != nil && r.runner != nil {
		t.life, t.heard = r.talk.life, r.talk.seen
	}
	return t, nil
}

// mark is a place in a trace.
type mark struct {
	life  int
	seq   int64
	entry bool // entries stand behind the line they come from
}

func (a mark) compare(b mark) int {
	if c := cmp.Or(cmp.Compare(a.life, b.life), cmp.Compare(a.seq, b.seq)); c != 0 || a.entry == b.entry {
		return c
	}
	if b.entry {
		return -1
	}
	return 1
}

// traced is an event of a trace. One that is over (a tool that has ended, whose
// end is an event of its own) keeps its number and is not told again.
type traced struct {
	control.LogEvent
	at   mark
	over bool
}

// entryView is a log entry as a person reads it; entries that only keep the
// books are left out.
func entryView(e dispatch.Entry) (control.LogEvent, bool) {
	ev := control.LogEvent{Time: e.Time, Kind: string(e.Kind), Text: e.Reason}
	switch e.Kind {
	case dispatch.Chat, dispatch.Chatted, dispatch.Bound, dispatch.Asked, dispatch.Shown, dispatch.Delivered, dispatch.Offered, notified:
		return ev, false // the capture says it, or nothing happened for a person
	case dispatch.AskGone:
		return ev, timedOut(e) // else the capture says it
	case dispatch.Answered, dispatch.Steered, dispatch.Unread, dispatch.Renoted:
		ev.Text = talkText(e)
	case dispatch.Claimed:
		if e.Card != nil {
			ev.Text = "@" + e.Agent + " on " + where(e.Card.Board, e.Card.Line, 0) + " in " + e.Folder
		}
	case dispatch.Show:
		ev.Text = strings.Join(e.Lines, "\n")
	case dispatch.Started:
		ev.Text = "life " + strconv.Itoa(e.Life)
	case dispatch.Finished:
		ev.Text = cmp.Or(e.Reason, e.Outcome)
	case dispatch.Stopping:
		ev.Text = e.By + ": " + e.Reason
	case dispatch.Proposed, dispatch.Decided, dispatch.RollingBack, dispatch.Applied, dispatch.NotApplied, dispatch.Undo, dispatch.Reverted, dispatch.NotReverted:
		ev.Text = proposalText(e)
	case dispatch.Resumed:
		ev.Text = strings.Join(append([]string{"by " + e.By}, e.Lines...), "\n")
	case dispatch.Ended:
		if e.Exit != nil {
			ev.Text = strings.TrimSpace("exit " + strconv.Itoa(e.Exit.Code) + " " + e.Exit.Signal)
		}
	}
	return ev, true
}

// talkText is the same of what people answer and say.
func talkText(e dispatch.Entry) string {
	switch {
	case e.Kind == dispatch.Answered && e.Answer != nil:
		return e.Answer.String() + " (" + source(e) + ")"
	case e.Kind == dispatch.Steered:
		return strings.TrimSpace(e.How+" ("+e.By+") "+e.Reason) + "\n" + e.Text
	case e.Kind == dispatch.Unread:
		return "not read before its turn was over, and kept for the next:\n" + e.Text
	case len(e.Lines) > 0:
		return "not as it was told: " + strings.Join(e.Lines, ", ")
	}
	return "its notes are as it was told again"
}

// tracer turns the events of one life into lines of a trace: text in whole
// pieces, each at the event that ended it; a tool that runs, and the same tool
// when it has ended.
type tracer struct {
	life  int
	out   []*traced
	last  int64 // position of the newest event
	text  strings.Builder
	kind  string
	began time.Time
	tools map[string]*traced // those that run
}

func (t *tracer) hear(e harness.Event) {
	t.last = max(t.last, e.Seq) // what the end of a process says comes from no line
	if e.Kind == harness.Text || e.Kind == harness.Thought {
		if t.kind != string(e.Kind) {
			t.flush(t.here())
			t.kind, t.began = string(e.Kind), e.Time
		}
		t.text.WriteString(e.Text)
		return
	}
	t.flush(t.here())
	ev := control.LogEvent{Time: e.Time, Kind: string(e.Kind), Text: e.Text}
	switch e.Kind {
	case harness.ToolBegin, harness.ToolUpdate, harness.ToolEnd:
		t.tool(e)
		return
	case harness.Late:
		return // the log says what became of it
	case harness.AskOpen:
		ev.Text = strings.TrimSpace(e.Ask.Kind + ": " + e.Ask.Title + " " + e.Ask.Message)
	case harness.AskGone:
		ev.Text = e.Reason
	case harness.UsageSeen:
		ev.Text = strconv.FormatInt(e.Usage.Tokens, 10) + " tokens, " + usd(e.Usage.Cost)
	case harness.Bound:
		ev.Text = e.Session
	case harness.Propose:
		return // the log says it when it was looked at
	case harness.Plan:
		ev.Text, ev.Steps = plan(e.Plan)
	case harness.Done:
		ev.Text = strings.TrimSpace(e.Outcome + " " + e.Reason)
	}
	t.add(ev)
}

// plan is a plan in a line, and its steps.
func plan(steps []harness.Step) (text string, all []control.Step) {
	done := 0
	for _, s := range steps {
		if s.State == "completed" {
			done++
		}
		all = append(all, control.Step(s))
	}
	return strconv.Itoa(done) + " of " + plural(len(steps), "step", "steps") + " done", all
}

func (t *tracer) here() mark { return mark{life: t.life, seq: t.last} }

func (t *tracer) add(e control.LogEvent) { t.out = append(t.out, &traced{LogEvent: e, at: t.here()}) }

func (t *tracer) tool(e harness.Event) {
	if t.tools == nil {
		t.tools = map[string]*traced{}
	}
	began, known := t.tools[e.Tool.ID]
	if !known {
		t.add(control.LogEvent{Time: e.Time, Kind: "tool", Text: strings.TrimSpace(e.Tool.Name + " " + e.Tool.Title), State: "running"})
		began = t.out[len(t.out)-1]
		t.tools[e.Tool.ID] = began
	}
	if e.Kind != harness.ToolEnd {
		return
	}
	delete(t.tools, e.Tool.ID)
	began.over = true
	done := began.LogEvent
	done.State, done.Millis = "failed", e.Tool.Millis
	if e.Tool.OK {
		done.State = "ok"
	}
	if out := tail(e.Tool.Output); out != "" {
		done.Text += "\n" + out
	}
	t.add(done)
}

// flush makes what was said an event; its place is that of what ended it.
func (t *tracer) flush(at mark) {
	if t.text.Len() > 0 {
		t.out = append(t.out, &traced{LogEvent: control.LogEvent{Time: t.began, Kind: t.kind, Text: t.text.String()}, at: at})
	}
	t.text.Reset()
	t.kind = ""
}

// chatFile is where the chat of a run lies.
type chatFile struct{ dir, run, path string }

func (m *model) chatFile(name string) (chatFile, error) {
	r, fault := m.run(name)
	if fault != nil {
		return chatFile{}, fault
	}
	return chatFile{m.f.dir, r.ID, m.chatPath(r)}, nil
}

func (c chatFile) read() (control.Chat, error) {
	text, err := readRegular(filepath.Join(c.dir, filepath.FromSlash(c.path)), oursMost)
	if err != nil {
		return control.Chat{}, &control.Error{Text: c.path + ": the chat is not there", Hint: "deckhand log " + c.run, Code: control.CodeError}
	}
	return control.Chat{Run: c.run, Path: c.path, Text: string(text)}, nil
}

// events returns how to read the entries of all runs since a time, as the
// journal has them.
func (m *model) events(since time.Time) func() ([]control.JournalEntry, error) {
	type source struct {
		dir   harness.Dir
		id    string
		title string
	}
	var all []source
	for _, r := range m.sorted() {
		if !r.LastTime.Before(since) {
			all = append(all, source{r.dir, r.ID, r.Card.Title})
		}
	}
	return func() ([]control.JournalEntry, error) {
		out := []control.JournalEntry{}
		for _, s := range all {
			if err := eachEntry(s.dir, func(e dispatch.Entry) {
				if status, reason, ok := told(e); ok && !e.Time.Before(since) {
					out = append(out, control.JournalEntry{Time: e.Time, Event: e.ID, Run: s.id, Status: status, Object: s.title, Reason: reason})
				}
			}); err != nil {
				return out, err
			}
		}
		slices.SortFunc(out, func(a, b control.JournalEntry) int { return cmp.Compare(a.Event, b.Event) })
		return out, nil
	}
}
