package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/control"
)

var mayI = dispatch.Ask{ID: "1", Kind: "confirm", Title: "Run in shop? (deletes)", Message: "rm -rf build"}

// waiting is a run that asks, and a permission for it.
func waiting() (*run, dispatch.Approval) {
	r := newRun(&dispatch.Run{ID: "R", Agent: "pi", Folder: "/p/shop", Project: "shop"}, harness.Dir{})
	for _, e := range []dispatch.Entry{
		{Kind: dispatch.Claimed, Agent: "pi", Folder: "/p/shop", Project: "shop"}, {Kind: dispatch.Started, Life: 1}, {Kind: dispatch.Asked, Ask: &mayI},
	} {
		r.apply(e)
	}
	return r, dispatch.Approval{ID: "p1", Scope: dispatch.ScopeProject, Folder: "/p/shop", Digest: dispatch.Digest(r.Run, mayI)}
}

// What a permission answers is in nobody's way until it is answered.
func TestCoveredIsNotAsked(t *testing.T) {
	r, p := waiting()
	m := &model{}
	if got := m.needsOf(r); len(got) != 1 || got[0].Text != mayI.Title {
		t.Errorf("not covered: %+v", got)
	}
	m.approvals.all = []dispatch.Approval{p}
	if got := m.needsOf(r); len(got) != 0 {
		t.Errorf("covered: %+v", got)
	}
}

// A file that cannot be read grants nothing, is said, and is not written over.
func TestApprovalsThatCannotBeRead(t *testing.T) {
	p := newPlace(t, fast, one("[ask]"))
	d := p.briefly(bounded(t))
	run, _ := d.asked()
	d.end()
	states, err := filepath.Glob(filepath.Join(p.o.State, "notes-*"))
	if err != nil || len(states) != 1 {
		t.Fatal(states, err)
	}
	file := filepath.Join(states[0], approvalsFile)
	p.write(file, "[{")
	d = p.watching(bounded(t))
	s := d.until(func(s control.Status) bool { return len(s.Problems) > 0 })
	if got := s.Problems[0]; !strings.HasSuffix(got.Where, approvalsFile) || !strings.Contains(got.Text, "nothing is allowed for more than once") {
		t.Errorf("said: %+v", got)
	}
	if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Value: says("allow"), Scope: "always"}); !code(err, control.CodeError) {
		t.Errorf("kept: %v", err)
	}
	if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Value: says("allow")}); err != nil {
		t.Error(err)
	}
	d.reviewed()
	if data, err := os.ReadFile(file); err != nil || string(data) != "[{" {
		t.Errorf("the file: %v %q", err, data)
	}
}

// There is an end to how many are kept, and those of runs that are over go.
func TestApprovalsAreBounded(t *testing.T) {
	r, p := waiting()
	m := &model{runs: map[string]*run{r.ID: r}, f: &folder{state: t.TempDir()}}
	d := &daemon{model: m}
	session := p
	session.ID, session.Scope, session.Run = "s", dispatch.ScopeSession, r.ID
	gone := session
	gone.Run = "GONE"
	for range approvalsKept - 2 {
		m.approvals.all = append(m.approvals.all, p)
	}
	m.approvals.all = append(m.approvals.all, session, gone)
	if err := d.mayGrant(); err != nil {
		t.Errorf("one is of a run that is gone: %v", err)
	}
	if n := len(m.approvals.all); n != approvalsKept-1 {
		t.Errorf("%d are left", n)
	}
	if err := d.keepApprovals(append(m.approvals.all, p)); err != nil {
		t.Fatal(err)
	}
	if err := d.mayGrant(); !code(err, control.CodeError) {
		t.Errorf("one too many: %v", err)
	}
	info, err := os.Stat(m.f.path(approvalsFile))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the file: %v %v", info.Mode(), err)
	}
}

// answers: terminal: no note has a box for a permission, each names the command,
// and one that was there before does nothing and says so.
func TestAnswersInTheTerminal(t *testing.T) {
	p := newPlace(t, fast, one("[ask]"))
	d := p.watching(bounded(t))
	run, _ := d.asked()
	p.shows(d, "In Progress", "[ ] Allow once")
	chat := func() string { return p.text(run.Chat) }
	for !strings.Contains(chat(), "[ ] Allow once") {
		if _, err := d.client.Status(d.ctx); err != nil {
			t.Fatal(err)
		}
	}
	p.edit("trust:", "answers: terminal\ntrust:")
	p.shows(d, "In Progress", "- Answer with `deckhand answer "+strings.ToLower(run.ID)+"`.")
	p.save(run.Chat, strings.Replace(chat(), "[ ] Allow once", "[x] Allow once", 1))
	d.until(func(s control.Status) bool { return strings.HasPrefix(s.Runs[0].Reason, "a box answers nothing") })
	page := ""
	for !strings.Contains(page, "a box answers nothing") {
		if page = p.text("deckhand/Needs me.md"); d.ctx.Err() != nil {
			t.Fatalf("Needs me:\n%s", page)
		}
	}
	if strings.Contains(page, "Allow once") || !strings.Contains(page, "deckhand answer "+strings.ToLower(run.ID)) {
		t.Errorf("Needs me:\n%s", page)
	}
	if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Value: says("allow")}); err != nil {
		t.Error(err)
	}
	d.reviewed()
}
