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
	"time"

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
	if _, err := d.command(control.Command{Name: "send_back", Run: run.ID, Text: "Now\n\nin blue.", From: "cli"}); err != nil {
		t.Fatal(err)
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

// page waits until a file of the folder holds a text, and gives it.
func (p *placeT) page(d *runningT, rel func() string, holds string) string {
	p.t.Helper()
	for {
		text := ""
		if at := rel(); at != "" {
			text = p.text(at)
		}
		if strings.Contains(text, holds) {
			return text
		}
		if _, err := d.client.Status(d.ctx); err != nil {
			p.t.Fatalf("%s lacks %q: %v\n%s\n%s", rel(), holds, err, text, p.log)
		}
	}
}

func (p *placeT) needsMe() string { return "deckhand/Needs me.md" }

// chatOfRun is the path of the only chat; empty as long as there is none.
func (p *placeT) chatOfRun() string {
	files, err := filepath.Glob(p.at("deckhand/chats/*/*.md"))
	if err != nil || len(files) != 1 {
		return ""
	}
	rel, err := filepath.Rel(p.work, files[0])
	if err != nil {
		return ""
	}
	return rel
}

// Answered in Needs me: what was written there goes, and the page is not in the
// way of what a person is about to write.
func TestAnsweredInNeedsMe(t *testing.T) {
	p := newPlace(t, fast, one("[ask] [record]"))
	d := p.watching(bounded(t))
	page := p.page(d, p.needsMe, "- [ ] Deny ^")
	if !strings.Contains(page, "Write SHIP.md?\n\n    The card says [ask].\n\n- [ ] Allow once ^") {
		t.Errorf("Needs me:\n%s", page)
	}
	page = strings.Replace(page, "- [ ] Deny", "- [x] Deny", 1)
	p.save(p.needsMe(), strings.Replace(page, "- why:\n", "- why: it is shared\n", 1))
	d.reviewed()
	page = p.page(d, p.needsMe, "- [ ] Accept ^")
	if strings.Contains(page, "why:") || strings.Contains(page, "Allow") {
		t.Errorf("what is over still stands there:\n%s", page)
	}
	got := p.sent()
	if len(got) != 2 || got[0] != `{"id":"ID","type":"extension_ui_response","confirmed":false}` || !strings.Contains(got[1], `"message":"it is shared"`) {
		t.Errorf("the agent got %q", got)
	}
	p.save(p.needsMe(), strings.Replace(page, "- [ ] Accept", "- [x] Accept", 1))
	p.shows(d, "Done", "🟢 pi: accepted")
	p.page(d, p.needsMe, "# Nothing needs you")
}

// Sent back in Needs me: another life on the same session, with what was written.
func TestSentBackInNeedsMe(t *testing.T) {
	p := newPlace(t, fast, one("[record]"))
	d := p.watching(bounded(t))
	page := p.page(d, p.needsMe, "- [ ] Send back ^")
	page = strings.Replace(page, "- [ ] Send back", "- [x] Send back", 1)
	p.save(p.needsMe(), strings.Replace(page, "- reply:\n", "- reply: In blue.\nAnd in green.\n", 1))
	d.until(func(s control.Status) bool { return s.Runs[0].Status == "working" })
	d.reviewed()
	prompts := p.prompts()
	if len(prompts) != 2 || !strings.Contains(prompts[1], "In blue.\nAnd in green.\n") || strings.Contains(prompts[1], "reply:") {
		t.Errorf("prompts %q", prompts)
	}
	if page := p.page(d, p.needsMe, "- [ ] Send back ^"); strings.Contains(page, "blue") {
		t.Errorf("what was sent still stands there:\n%s", page)
	}
}

// In the chat: a box answers, and what is written at its end steers the agent
// while it works, and is a reply when it is over.
func TestAnsweredInTheChat(t *testing.T) {
	p := newPlace(t, fast, one("[ask] [record]"))
	d := p.watching(bounded(t))
	chat := p.page(d, p.chatOfRun, "- [ ] Deny ^")
	if !strings.Contains(chat, "\n- why:\n\n## You\n\n- [ ] send ^s") {
		t.Errorf("the chat does not end in boxes and a send box:\n%s", chat)
	}
	p.save(p.chatOfRun(), strings.Replace(chat, "- [ ] Allow once", "- [x] Allow once ✅ 2026-11-30", 1))
	d.reviewed()
	chat = p.page(d, p.chatOfRun, "status: review")
	if strings.Contains(chat, "Deny") || !strings.Contains(chat, "\n## You\n\nAllow once\n\n> sent ") {
		t.Errorf("the chat after an answer:\n%s", chat)
	}
	if got, want := p.sent(), []string{`{"id":"ID","type":"extension_ui_response","confirmed":true}`}; !slices.Equal(got, want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	if !strings.Contains(chat, "\n## You\n\n- [ ] send ^s") {
		t.Fatalf("the chat does not end in a send box:\n%s", chat)
	}
	p.save(p.chatOfRun(), strings.Replace(chat, "## You\n\n- [ ] send", "## You\n\nIn blue.\n\n- [x] send", 1))
	d.until(func(s control.Status) bool { return s.Runs[0].Status == "working" })
	d.reviewed()
	chat = p.page(d, p.chatOfRun, "status: review")
	if strings.Count(chat, "In blue.\n\n> sent ") != 1 || strings.Count(chat, "] send ^s") != 1 {
		t.Errorf("the chat after a reply:\n%s", chat)
	}
	if prompts := p.prompts(); len(prompts) != 2 || !strings.Contains(prompts[1], "In blue.") {
		t.Errorf("prompts %q", prompts)
	}
}

// Steering from the chat and by command, and a follow-up.
func TestSteered(t *testing.T) {
	p := newPlace(t, fast, one("[ask] [record]"))
	d := p.watching(bounded(t))
	run, _ := d.asked()
	chat := p.page(d, p.chatOfRun, "] send ^s")
	p.save(p.chatOfRun(), strings.Replace(chat, "## You\n\n- [ ] send", "## You\n\n/tests too\n\n- [X] send", 1))
	p.page(d, p.chatOfRun, "/tests too\n\n> sent ")
	if _, err := d.command(control.Command{Name: "follow_up", Run: run.ID, Text: "And the docs.", From: "pane"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Value: says("allow"), From: "pane"}); err != nil {
		t.Fatal(err)
	}
	d.reviewed()
	got := p.sent()
	want := []string{`"type":"steer","message":" /tests too"}`, `"type":"follow_up","message":"And the docs."}`, `"type":"extension_ui_response","confirmed":true}`}
	if len(got) != len(want) {
		t.Fatalf("the agent got %q, want %q", got, want)
	}
	for i := range want {
		if !strings.HasSuffix(got[i], want[i]) {
			t.Errorf("the agent got %q, want %q", got[i], want[i])
		}
	}
	chat = p.page(d, p.chatOfRun, "status: review")
	for _, said := range []string{"\n/tests too\n\n> sent ", "\nAnd the docs.\n\n> sent ", "\nAllow once\n\n> sent ", "Understood:  /tests too", "Understood: And the docs."} {
		if strings.Count(chat, said) != 1 {
			t.Errorf("the chat has %q %d times:\n%s", said, strings.Count(chat, said), chat)
		}
	}
}

// What pi has answered itself is recorded as that, and its boxes go.
func TestAskTimesOut(t *testing.T) {
	p := newPlace(t, fast, one("[ask] [timeout:700ms]"))
	d := p.watching(bounded(t))
	p.shows(d, "In Progress", "- [ ] Allow once ^")
	d.reviewed()
	chat := p.page(d, p.chatOfRun, "status: review")
	if strings.Contains(chat, "Allow once") || len(p.sent()) != 0 {
		t.Errorf("sent %q, and the chat:\n%s", p.sent(), chat)
	}
	if board := p.read("Shop.md"); strings.Contains(board, "Allow once") {
		t.Errorf("board:\n%s", board)
	}
	if run := d.until(func(control.Status) bool { return true }).Runs[0]; p.journaled(d, "timed out") == "" {
		t.Errorf("the journal has no timeout of %s", run.ID)
	}
}

// journaled is the entry of the journal with a status; empty: there is none.
func (p *placeT) journaled(d *runningT, status string) string {
	p.t.Helper()
	var journal control.Journal
	entries, err := d.client.Journal(d.ctx, time.Time{})
	if err != nil {
		p.t.Fatal(err)
	}
	journal.Entries = entries
	for _, e := range journal.Entries {
		if e.Status == status {
			return e.Object + ": " + e.Reason
		}
	}
	return ""
}

// A yes that reaches further than once answers the same question again, is
// listed and counted, outlives the daemon, and can be revoked.
func TestStandingPermission(t *testing.T) {
	p, told := notifies(t, one("[ask] [record]"))
	p.write(p.at("deckhand.yaml"), fast)
	d := p.briefly(bounded(t))
	run, ask := d.asked()
	if got := strings.Join(ask.Scopes, " "); got != "once session project always" {
		t.Errorf("scopes %s", got)
	}
	if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Value: says("allow"), Scope: "forever"}); !code(err, control.CodeUsage) {
		t.Errorf("a scope that is none: %v", err)
	}
	if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Value: says("allow"), Scope: "project", From: "cli"}); err != nil {
		t.Fatal(err)
	}
	d.reviewed()
	d.end()

	d = p.watching(bounded(t))
	for {
		if _, err := d.command(control.Command{ID: "again", Name: "send_back", Run: run.ID, Text: "Once more. [ask] [record]"}); err == nil {
			break
		} else if !strings.Contains(err.Error(), "first scan") {
			t.Fatal(err)
		}
	}
	d.until(func(s control.Status) bool { return s.Runs[0].Status == "working" })
	d.reviewed()
	list, err := d.client.Approvals(d.ctx)
	if err != nil || len(list) != 1 || list[0].Used != 1 || list[0].Scope != "project" || list[0].Message != "The card says [ask]." || list[0].By != "cli" {
		t.Fatalf("approvals %+v %v", list, err)
	}
	if got := p.journaled(d, "answered"); !strings.Contains(got, "Allow (project) (cli, "+list[0].ID+")") {
		t.Errorf("the journal says %q", got)
	}
	record, err := os.ReadFile(filepath.Join(p.proj, "RECORD.log"))
	if err != nil || strings.Count(string(record), "answer confirmed true") != 2 {
		t.Errorf("record %v:\n%s", err, record)
	}
	if got := told(); strings.Count(got, "pi asks") != 1 {
		t.Errorf("told of what was not asked:\n%s", got)
	}
	if _, err := d.command(control.Command{Name: "revoke", Text: list[0].ID[:20]}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.command(control.Command{Name: "revoke", Text: list[0].ID}); !code(err, control.CodeError) {
		t.Errorf("revoked twice: %v", err)
	}
	if list, err := d.client.Approvals(d.ctx); err != nil || len(list) != 0 {
		t.Errorf("approvals %+v %v", list, err)
	}
}

// What an agent had not read when it was stopped is kept, said, and the first
// thing that it is told when it goes on.
func TestSaidAndNotRead(t *testing.T) {
	p := newPlace(t, fast, one("[hang]"))
	d := p.watching(bounded(t))
	run := d.until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Tokens > 0 }).Runs[0]
	for _, c := range []control.Command{{Name: "steer", Text: "/Use the <sandbox>."}, {Name: "follow_up", Text: "Then ship."}, {Name: "stop"}} {
		c.Run, c.From = run.ID, "cli"
		if _, err := d.command(c); err != nil {
			t.Fatal(c.Name, err)
		}
	}
	d.until(func(s control.Status) bool { return s.Runs[0].Status == "stopped" })
	if got := p.logs(); strings.Count(got, `"kind":"unread"`) != 2 {
		t.Errorf("kept:\n%s", got)
	}
	if _, err := d.command(control.Command{Name: "reply", Run: run.ID, Text: "And in blue.", From: "cli"}); err != nil {
		t.Fatal(err)
	}
	d.reviewed()
	prompts, err := filepath.Glob(filepath.Join(p.o.State, "*/runs/*/2/prompt.md"))
	if err != nil || len(prompts) != 1 {
		t.Fatal(prompts, err)
	}
	prompt, err := os.ReadFile(prompts[0])
	if err != nil || !strings.Contains(string(prompt), "/Use the <sandbox>.\nThen ship.\nAnd in blue.\n") {
		t.Errorf("the prompt %v:\n%s", err, prompt)
	}
	p.shows(d, "Review", "\t\t- And in blue. · cli · ")
}
