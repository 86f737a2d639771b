package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/internal/control"
)

// onNotes is a place whose card is about the notes themselves. The stand-in
// writes a file named after its card: here one that is a note already.
func onNotes(t *testing.T, words string) *placeT {
	t.Helper()
	p := newPlace(t, fast, strings.Replace(one(words), "project: shop", "project: notes", 1))
	p.write(p.at("SHIP.md"), "not yet\n")
	if err := os.Mkdir(p.at(".secret"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(p.at(".secret/key.md"), "secret\n")
	return p
}

// whole is every file of the work folder that a person has.
func (p *placeT) whole() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	for _, name := range []string{"SHIP.md", ".secret/key.md", "RECORD.log"} {
		out[name] = p.text(name)
	}
	return out
}

// An agent whose project is the notes works in a copy of them; what it changed
// there is one proposal, in review, and nothing of it is done before it is
// decided.
func TestAgentOnTheNotes(t *testing.T) {
	p := onNotes(t, "[record]")
	before := p.whole()
	d := p.watching(bounded(t))
	got := d.proposed()
	run := d.reviewed()
	if len(got.Changes) != 1 || got.Changes[0].Kind != "edit" || got.Changes[0].File != "SHIP.md" || got.Run != run.ID {
		t.Fatalf("proposed %+v\n%s", got, p.logs())
	}
	p.shows(d, "Review", "- 1 changed in its copy of the notes: [proposal](deckhand/proposals/")
	if strings.HasPrefix(run.Folder, p.work) || !strings.HasPrefix(run.Folder, p.o.State) {
		t.Errorf("it worked in %s", run.Folder)
	}
	p.holds(before)
	if logs := p.logs(); !strings.Contains(logs, "changed in its copy and not proposed: RECORD.log") {
		t.Errorf("what cannot be proposed is not said:\n%s", logs)
	}
	if _, err := os.Stat(filepath.Join(run.Folder, ".secret")); err == nil {
		t.Error("what begins with a dot was copied")
	}
	if prompts := p.prompts(); len(prompts) != 1 || !strings.Contains(prompts[0], "You work in a copy of the person's notes.") {
		t.Errorf("prompts: %q", prompts)
	}
	p.page(d, p.needsMe, "May it edit SHIP.md?")
	if _, err := d.command(control.Command{Name: "apply", Proposal: got.ID}); err != nil {
		t.Fatal(err)
	}
	if text := p.text("SHIP.md"); !strings.Contains(text, "Ship it") || strings.Contains(text, "not yet") {
		t.Errorf("applied: %q", text)
	}
	if _, err := d.command(control.Command{Name: "revert", Proposal: got.ID}); err != nil {
		t.Fatal(err)
	}
	p.holds(before)
}

// The next turn begins with the notes as they are then, and is told what became
// of what it proposed.
func TestNextTurnOnTheNotes(t *testing.T) {
	p := onNotes(t, "[record]")
	d := p.watching(bounded(t))
	run := d.reviewed()
	first := d.proposed()
	if _, err := d.command(control.Command{Name: "reject", Proposal: first.ID, Note: "shorter"}); err != nil {
		t.Fatal(err)
	}
	p.write(p.at("SHIP.md"), "changed by hand\n")
	if _, err := d.command(control.Command{Name: "reply", Run: run.ID, Text: "once more"}); err != nil {
		t.Fatal(err)
	}
	second := d.until(func(s control.Status) bool { return len(s.Proposals) == 1 && s.Proposals[0].ID != first.ID }).Proposals[0]
	diff, err := d.client.Diff(d.ctx, second.ID)
	if err != nil || !strings.Contains(diff.Text, "-changed by hand\n") {
		t.Errorf("diff: %v\n%s", err, diff.Text)
	}
	if prompts := p.prompts(); len(prompts) != 2 || !strings.Contains(prompts[1], "SHIP.md") || !strings.Contains(prompts[1], "shorter") {
		t.Errorf("prompts: %q", prompts)
	}
}

// A note that was changed meanwhile is left out, and the card says so.
func TestNoteChangedBesideItsCopy(t *testing.T) {
	p := onNotes(t, "[record] [ask]")
	d := p.watching(bounded(t))
	run := d.until(func(s control.Status) bool { return len(s.Runs) == 1 && len(s.Runs[0].Asks) == 1 }).Runs[0]
	p.write(p.at("SHIP.md"), "mine\n")
	if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Value: says("allow")}); err != nil {
		t.Fatal(err)
	}
	d.reviewed()
	if logs := p.logs(); !strings.Contains(logs, "changed in its copy and not proposed: SHIP.md changed since it was proposed") {
		t.Errorf("not said:\n%s", logs)
	}
	p.holds(map[string]string{"SHIP.md": "mine\n"})
}

// More than may be copied here is a reason, and nothing runs.
func TestNotesTooLargeToCopy(t *testing.T) {
	p := onNotes(t, "[record]")
	p.addConfig("copy_max: 1KB\n")
	p.write(p.at("Large.md"), strings.Repeat("large\n", 1000))
	d := p.watching(bounded(t))
	s := d.until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Status == "failed" })
	if !strings.Contains(s.Runs[0].Reason, "copy_max") {
		t.Errorf("reason %q", s.Runs[0].Reason)
	}
	if n := p.lives(); n > 0 && p.starts() > 0 {
		t.Errorf("it ran: %d", n)
	}
}

// Killed around the look at the copy, there is one proposal in the end.
func TestKilledAtTheEndOnTheNotes(t *testing.T) {
	for _, point := range []string{"1 copy looked at", "1 logged proposed", "1 logged finished"} {
		t.Run(point, func(t *testing.T) {
			p := onNotes(t, "[record]")
			before := p.whole()
			p.killedAt(point)
			d := p.watching(bounded(t))
			d.reviewed()
			got := d.proposed()
			if n := strings.Count(p.logs(), `"kind":"proposed"`); n != 1 {
				t.Errorf("proposed %d times\n%s", n, p.logs())
			}
			p.holds(before)
			if _, err := d.command(control.Command{Name: "apply", Proposal: got.ID}); err != nil {
				t.Fatal(err)
			}
			if text := p.text("SHIP.md"); text == "not yet\n" {
				t.Error("not applied")
			}
		})
	}
}
