package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/chats"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/robust"
	"deckhand/journal"
)

// runOf is a run as the files tell it.
type runOf struct {
	dir     harness.Dir
	entries []dispatch.Entry
}

// runsOf reads the runs' logs, of which every line is whole.
func runsOf(t *testing.T, p *robust.Place) []runOf {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(p.Options.State, "*/runs/*"))
	if err != nil {
		t.Fatal(err)
	}
	var runs []runOf
	for _, dir := range dirs {
		r := runOf{dir: harness.Dir{Path: dir}}
		data, err := os.ReadFile(filepath.Join(dir, "log.jsonl"))
		if errors.Is(err, fs.ErrNotExist) && len(r.lives(t)) == 0 {
			continue // killed before its first entry: it never was
		}
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var e dispatch.Entry
			if err := json.Unmarshal(line, &e); err != nil || line[len(line)-1] != '\n' {
				t.Errorf("%s: %v: %s", dir, err, line)
			}
			r.entries = append(r.entries, e)
		}
		runs = append(runs, r)
	}
	return runs
}

// lives are those of the run in which an agent was started.
func (r runOf) lives(t *testing.T) []harness.Life {
	t.Helper()
	lives, err := r.dir.Lives()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(lives, func(l harness.Life) bool {
		s, err := l.State()
		if err != nil {
			t.Fatal(err)
		}
		return !s.HasOut
	})
}

// checkRecords looks that logs, journal and chats are whole and tell each event
// once.
func checkRecords(t *testing.T, p *robust.Place) {
	t.Helper()
	events := map[string]dispatch.Entry{}
	for _, r := range runsOf(t, p) {
		last := ""
		for _, e := range r.entries {
			if _, twice := events[e.ID]; twice || e.ID <= last {
				t.Errorf("run %s: event %s %s does not rise, or is there twice", e.Run, e.Kind, e.ID)
			}
			events[e.ID], last = e, e.ID
		}
		if len(r.lives(t)) > 0 {
			checkChat(t, p, r)
		}
	}
	checkJournal(t, p, events)
}

// told are the kinds of log entries that people read in the journal, whatever
// they say; others are told only sometimes.
var told = []dispatch.Kind{
	dispatch.Claimed, dispatch.Released, dispatch.Started, dispatch.Asked, dispatch.Finished,
	dispatch.Stopping, dispatch.Interrupted, dispatch.Resumed, dispatch.Accepted, dispatch.Answered, dispatch.Steered,
}

// checkJournal compares the journal with the logs.
func checkJournal(t *testing.T, p *robust.Place, events map[string]dispatch.Entry) {
	t.Helper()
	days, err := filepath.Glob(p.At("deckhand/journal/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, day := range days {
		data, err := os.ReadFile(day)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range journal.Parse(data) {
			if e.Problem != "" {
				t.Errorf("%s: %s: %s", day, e.Problem, data[e.Span.Start:e.Span.End])
			}
			id, _, _ := strings.Cut(e.Entry.Event, "-") // one for each file of a proposal
			if times[e.Entry.Event]++; events[id].ID == "" {
				t.Errorf("the journal has an event %s that no log has", e.Entry.Event)
			}
		}
	}
	for id, n := range times {
		if n > 1 {
			t.Errorf("%s stands %d times in the journal", id, n)
		}
	}
	for id, e := range events {
		for i := range filesOf(e) {
			if times[fmt.Sprintf("%s-%d", id, i+1)] != 1 {
				t.Errorf("%s %s: file %d is not in the journal", e.Kind, id, i+1)
			}
		}
		stopped := e.Kind == dispatch.Finished && e.Outcome == dispatch.Stopped // by the stop, which is told
		if n := times[id]; n > 1 || n == 0 && slices.Contains(told, e.Kind) && !stopped {
			t.Errorf("%s %s stands %d times in the journal", e.Kind, id, n)
		}
	}
}

// filesOf is how many files an entry about a proposal tells of.
func filesOf(e dispatch.Entry) int {
	switch e.Kind {
	case dispatch.Proposed:
		return len(e.Proposal.Changes)
	case dispatch.Applied, dispatch.NotApplied, dispatch.Reverted:
		return len(e.Files)
	}
	return 0
}

// checkChat compares a run's chat with what was sent and with what the agent
// said: each prompt once, in their order.
func checkChat(t *testing.T, p *robust.Place, r runOf) {
	t.Helper()
	data, err := os.ReadFile(p.At(r.entries[0].Chat))
	if err != nil {
		t.Error(err)
		return
	}
	chat := chats.Read(data)
	if chat.Broken != "" || chat.Props.Run != r.dir.Run() {
		t.Errorf("%s: header of run %s: %s", r.entries[0].Chat, chat.Props.Run, chat.Broken)
	}
	var said, words []string
	looks := 0
	for i, item := range chat.Items {
		switch {
		case item.Role == chats.You && item.Kind == chats.Text && i+1 < len(chat.Items) && chat.Items[i+1].Kind == chats.Sent:
			words = append(words, strings.TrimSpace(item.Text))
		case item.Role == chats.You && item.Kind == chats.Text:
			said = append(said, strings.TrimSpace(item.Text))
		case item.Kind == chats.Text:
			looks += strings.Count(item.Text, "I look at the project")
		}
	}
	var sent []string
	for _, l := range r.lives(t) {
		prompt, err := l.Prompt()
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, strings.TrimSpace(string(prompt)))
	}
	if !slices.Equal(said, sent) || looks > len(sent)+len(words) {
		t.Errorf("%d prompts sent, %d in the chat, of which %d are answered:\n%s", len(sent), len(said), looks, data)
	}
	if want := r.words(); !slices.Equal(words, want) {
		t.Errorf("a person said %q, the chat has %q:\n%s", want, words, data)
	}
}

// words are what a person answered and said to agents at work.
func (r runOf) words() (out []string) {
	rulings := map[string]string{}
	for _, told := range dispatch.Fold(r.entries).Told {
		if told.RowOf() == "" {
			rulings[told.Entry] = told.What
		}
	}
	for _, e := range r.entries {
		switch {
		case e.Kind == dispatch.Applied || e.Kind == dispatch.NotApplied:
			out = append(out, rulings[e.ID])
		case e.Kind == dispatch.Answered:
			out = append(out, e.Answer.String())
		case e.Kind == dispatch.Steered && e.How != dispatch.HowReply: // that goes with a prompt
			out = append(out, e.Text)
		case e.Kind == dispatch.Stopping && e.By != dispatch.ByLimit && e.By != "gone":
			out = append(out, "stop: "+e.Reason)
		case e.Kind == dispatch.Resumed && e.By == dispatch.ByChat:
			out = append(out, e.Lines...)
		}
	}
	return out
}
