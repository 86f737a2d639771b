package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/harness"
	"deckhand/internal/control"
)

// sent are the lines that the agents of the only run got, oldest first, ids of
// dialogs replaced, without those that every life gets.
func (p *placeT) sent() []string {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.o.State, "*/runs/*/*/in.jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	slices.Sort(files)
	var out []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			p.t.Fatal(err)
		}
		for row := range bytes.Lines(data) {
			var s harness.Send
			if err := json.Unmarshal(row, &s); err != nil {
				p.t.Fatal(err)
			}
			var r struct{ ID, Type string }
			if err := json.Unmarshal([]byte(s.Line), &r); s.Line == "" || err != nil || r.Type == "get_state" || r.ID == "prompt" {
				continue
			}
			out = append(out, strings.ReplaceAll(s.Line, strings.TrimPrefix(r.ID, "answer-"), "ID"))
		}
	}
	return out
}

// asked waits for the ask of the only run.
func (r *runningT) asked() (control.Run, control.Ask) {
	r.t.Helper()
	s := r.until(func(s control.Status) bool { return len(s.Runs) == 1 && len(s.Runs[0].Asks) == 1 })
	return s.Runs[0], s.Runs[0].Asks[0]
}

// command sends one that has more than a name.
func (r *runningT) command(c control.Command) (control.Result, error) {
	r.t.Helper()
	r.n++
	if c.ID == "" {
		c.ID = r.t.Name() + c.Name + string(rune('a'+r.n))
	}
	return r.client.Do(r.ctx, c)
}

func (r *runningT) reviewed() control.Run {
	r.t.Helper()
	return r.until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Status == "done" }).Runs[0]
}

// one is a board with one card.
func one(note string) string { return boardOf("- [ ] Ship it @pi\n\t" + note + "\n") }

// Each kind of ask, answered by a ticked box on the card: what the agent got, to
// the byte, and what it made of it.
func TestAnsweredByABox(t *testing.T) {
	for _, c := range []struct{ name, note, old, tick, got, record string }{
		{"allow", "[ask] [record]", "[ ] Allow once", "[x] Allow once", `{"id":"ID","type":"extension_ui_response","confirmed":true}`, "answer confirmed true"},
		{"deny", "[ask] [record]", "[ ] Deny", "[x] Deny", `{"id":"ID","type":"extension_ui_response","confirmed":false}`, "answer confirmed false"},
		{"pick", "[ask:select] [record]", "[ ] as a whole", "[X] as a whole", `{"id":"ID","type":"extension_ui_response","value":"as a whole"}`, `answer value "as a whole"`},
		{"write", "[ask:input] [record]", "- reply:\n\t\t- [ ] send", "- reply: # Shipped\n\t\t- [x] send", `{"id":"ID","type":"extension_ui_response","value":"# Shipped"}`, `answer value "# Shipped"`},
		{"edit", "[ask:editor] [record]", "- reply:\n\t\t- [ ] send", "- reply:\n\t\t# Shipped\n\t\tToday.\n\t\t- [x] send", `{"id":"ID","type":"extension_ui_response","value":"# Shipped\nToday."}`, `answer value "# Shipped\nToday."`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, fast, one(c.note))
			d := p.watching(bounded(t))
			p.shows(d, "In Progress", "🟡 pi asks")
			board := p.read("Shop.md")
			if strings.Count(board, c.old) != 1 {
				t.Fatalf("no %q on the card:\n%s", c.old, board)
			}
			p.save("Shop.md", strings.Replace(board, c.old, c.tick, 1))
			d.reviewed()
			if got := p.sent(); !slices.Equal(got, []string{c.got}) {
				t.Errorf("the agent got %q, want %q", got, c.got)
			}
			record, err := os.ReadFile(filepath.Join(p.proj, "RECORD.log"))
			if err != nil || strings.Count(string(record), c.record) != 1 {
				t.Errorf("record: %v\n%s", err, record)
			}
			p.shows(d, "Review", " · board · ")
		})
	}
}

// The same by command, with why; and what comes too late.
func TestAnsweredByCommand(t *testing.T) {
	p := newPlace(t, fast, one("[ask] [record]"))
	d := p.watching(bounded(t))
	run, ask := d.asked()
	no := "no"
	if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Value: says("perhaps")}); !code(err, control.CodeUsage) {
		t.Errorf("perhaps: %v", err)
	}
	if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Ask: "other", Value: &no}); !code(err, control.CodeConflict) {
		t.Errorf("another ask: %v", err)
	}
	if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Value: &no, Note: strings.Repeat("x", 2001)}); !code(err, control.CodeUsage) {
		t.Errorf("a long note: %v", err)
	}
	first := control.Command{ID: "first", Name: "answer", Run: run.ID, Ask: ask.ID, Value: &no, Note: "/not now", From: "cli"}
	if _, err := d.command(first); err != nil {
		t.Fatal(err)
	}
	if _, err := d.command(first); err != nil {
		t.Errorf("the same command again: %v", err)
	}
	_, err := d.command(control.Command{Name: "answer", Run: run.ID, Ask: ask.ID, Value: says("allow"), From: "pane"})
	if !code(err, control.CodeConflict) || !strings.Contains(err.Error(), "was answered already: Deny: /not now, by the cli at ") {
		t.Errorf("the second answer: %v", err)
	}
	d.reviewed()
	want := []string{`{"id":"ID","type":"extension_ui_response","confirmed":false}`, `{"id":"ID-note","type":"steer","message":" /not now"}`}
	got := p.sent()
	for i := range got {
		got[i] = strings.Replace(got[i], "answer-", "", 1)
	}
	if len(got) != 2 || got[0] != want[0] || !strings.HasSuffix(got[1], `"type":"steer","message":" /not now"}`) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	if _, err := d.command(control.Command{Name: "steer", Run: run.ID, Text: "hello"}); !code(err, control.CodeConflict) {
		t.Errorf("steer, when it is over: %v", err)
	}
}

// A question is answered by the next prompt to the same process; a reply is
// another life on the same session.
func TestQuestionAndReply(t *testing.T) {
	p := newPlace(t, fast, one("[question]"))
	d := p.watching(bounded(t))
	p.shows(d, "In Progress", "🟡 pi asks")
	p.save("Shop.md", strings.Replace(p.read("Shop.md"), "- reply:\n\t\t- [ ] send", "- reply: !yes\n\t\t- [x] send", 1))
	run := d.reviewed()
	if n := p.lives(); n != 1 {
		t.Errorf("%d lives after the answer, want the same one", n)
	}
	if got, want := p.sent(), []string{`{"id":"answer-ID","type":"prompt","message":" !yes"}`}; !slices.Equal(got, want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	d.until(func(s control.Status) bool { return s.Runs[0].Next == "" && s.Runs[0].Lane == "Review" })
	for {
		_, err := d.command(control.Command{Name: "send_back", Run: run.ID, Text: "Now\n\nin blue.", From: "cli"})
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "over in a moment") {
			t.Fatal(err)
		}
	}
	d.until(func(s control.Status) bool { return s.Runs[0].Status == "working" })
	d.reviewed()
	spec := p.specs()
	if len(spec) != 2 || spec[0].Session != spec[1].Session || !spec[1].Resume {
		t.Errorf("lives %+v, want two of one session", spec)
	}
	if prompts := p.prompts(); len(prompts) != 2 || !strings.Contains(prompts[1], "Now\n\nin blue.") {
		t.Errorf("prompts %q", prompts)
	}
}

func code(err error, want int) bool {
	var e *control.Error
	return errors.As(err, &e) && e.Code == want
}

func says(s string) *string { return &s }

func (p *placeT) specs() (out []harness.Spec) {
	p.t.Helper()
	for _, l := range p.allLives() {
		s, err := l.Spec()
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func (p *placeT) prompts() (out []string) {
	p.t.Helper()
	for _, l := range p.allLives() {
		text, err := l.Prompt()
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

func (p *placeT) allLives() (out []harness.Life) {
	p.t.Helper()
	runs, err := filepath.Glob(filepath.Join(p.o.State, "*/runs/*"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, run := range runs {
		lives, err := harness.Dir{Path: run}.Lives()
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, lives...)
	}
	return out
}
