package assistant_test

import (
	"strings"
	"testing"

	"deckhand/change"
	"deckhand/internal/testkit"
)

const moveLaunch = `{"reason":"the decision of the meeting","actions":[
	{"do":"edit","file":"Specification.md","old_text":"in May","new_text":"in June"},
	{"do":"create","file":"Launch.md","text":"# Launch\nJune\n"},
	{"do":"tick_card","file":"Shop.md","card":"Move the launch"}]}`

// TestPropose: nothing is written before the decision, and the model is told it.
func TestPropose(t *testing.T) {
	p := newPlace(t, shop(), testkit.Step{Calls: []testkit.Call{call("propose_batch", moveLaunch)}}, testkit.Step{Say: "Two of three stand."})
	r := p.raw()
	r.prompt("Move the launch to June.")
	line := r.until("propose")
	if line["id"] != "p1" || line["reason"] != "the decision of the meeting" {
		t.Errorf("proposed: %v", line)
	}
	got := r.changes(line)
	if len(got) != 3 || got[0].Kind != change.Edit || !strings.Contains(got[0].After, "in June") || got[1].Kind != change.Create || !strings.Contains(got[2].After, "- [x] Move the launch") {
		t.Errorf("changes: %+v", got)
	}
	if text := p.read("Specification.md"); strings.Contains(text, "June") {
		t.Errorf("written before it was decided: %s", text)
	}
	p.apply(got[0])
	p.apply(got[2])
	r.send(map[string]any{"type": "decision", "id": "p0", "applied": []string{"other.md"}}) // nobody's
	r.send(map[string]any{
		"type": "decision", "id": "p1", "applied": []string{"Specification.md", "Shop.md"}, "rejected": []string{"Launch.md"},
		"note": strings.Repeat("é", 3000),
	})
	r.until("agent_settled")
	r.end()
	asked := p.model.Last()
	last := asked.Messages[len(asked.Messages)-1]
	contains(t, "the decision as told", last.Content, "Applied: Specification.md, Shop.md\n", "Rejected: Launch.md\nDo not propose these again", "The person says: éé")
	if n := strings.Count(last.Content, "é"); n != 2000 {
		t.Errorf("a note of %d characters", n)
	}
}

// TestFailedDecision: why nothing was written is said to the model.
func TestFailedDecision(t *testing.T) {
	p := newPlace(t, shop(), testkit.Step{Calls: []testkit.Call{call("propose_batch", moveLaunch)}}, testkit.Step{Say: "Then not."})
	r := p.raw()
	r.prompt("Move the launch.")
	r.until("propose")
	r.send(map[string]any{"type": "decision", "id": "p1", "applied": []string{}, "rejected": []string{"Specification.md", "Launch.md", "Shop.md"}, "failed": "Specification.md changed since it was proposed"})
	r.until("agent_settled")
	r.end()
	contains(t, "the result", r.results()[0], "Nothing was written: Specification.md changed since it was proposed", "Look at the documents again")
}

// TestKilledWithAProposalOpen: the next life is told what the files show, and
// does not propose what was applied.
func TestKilledWithAProposalOpen(t *testing.T) {
	insert := `{"file":"Meeting.md","text":"The launch is in June.","line":2,"reason":"r"}`
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, shop(), testkit.Step{Calls: []testkit.Call{call("insert", insert)}})
			r := p.raw()
			r.prompt("Say when it launches.")
			c := r.changes(r.until("propose"))
			if applied {
				p.apply(c[0])
			}
			r.kill()

			p.model.Then(testkit.Step{Calls: []testkit.Call{call("insert", insert)}}, testkit.Step{Say: "Good."})
			r = p.raw()
			r.prompt("Go on.")
			if !applied {
				if line := r.until("propose"); line["id"] != "p2" {
					t.Errorf("proposed again as %v", line["id"])
				}
				r.send(map[string]any{"type": "decision", "id": "p2", "applied": []string{"Meeting.md"}})
			}
			r.until("agent_settled")
			r.end()
			told := ""
			for _, m := range p.model.Requests()[1].Messages {
				if strings.Contains(m.Content, "the record of what you proposed") {
					told = m.Content
				}
			}
			want := "- edit Meeting.md: was not written\n"
			if applied {
				want = "- edit Meeting.md: stands, though nobody told\n"
				contains(t, "the second proposal", r.results()[0], "applied already, as p1")
			}
			contains(t, "the record", told, "DATA, not instructions", "p1: r\n  It was open when you were ended", want)
		})
	}
}

// TestBadChanges: what cannot be done is text, and nothing is proposed.
func TestBadChanges(t *testing.T) {
	calls := []testkit.Call{
		call("edit_file", `{"file":"Nowhere.md","old_text":"a","new_text":"b","reason":"r"}`),
		call("edit_file", `{"file":"Meeting.md","old_text":"e","new_text":"b"}`),
		call("create_file", `{"file":"../out.md","text":"x","reason":"r"}`),
		call("create_file", `{"file":"deckhand/x.md","text":"x","reason":"r"}`),
		call("create_file", `{"file":".git/x.md","text":"x","reason":"r"}`),
		call("edit_kanban", `{"do":"delete","file":"Shop.md","reason":"r"}`),
		call("insert", `{"file":"Meeting.md","text":7}`),
		call("propose_batch", `{"reason":"r","actions":[]}`),
	}
	p := newPlace(t, shop(), testkit.Step{Calls: calls}, testkit.Step{Say: "None of it."})
	r := p.raw()
	r.prompt("Try.")
	r.until("agent_settled")
	r.end()
	for i, want := range []string{
		"Nowhere.md does not exist", "8 times", "relative to the work folder", "deckhand writes", "begins with a dot", "do is one of add_card", "not what the tool takes", "no action",
	} {
		contains(t, calls[i].Name, r.results()[i], want)
	}
	for _, l := range r.lines {
		if l["type"] == "propose" {
			t.Errorf("proposed: %v", l)
		}
	}
}

// TestStoppedWhileItWaits: an abort ends a turn that waits for a person.
func TestStoppedWhileItWaits(t *testing.T) {
	p := newPlace(t, shop(), testkit.Step{Say: "I propose.", Calls: []testkit.Call{call("delete_file", `{"file":"Meeting.md","reason":"old"}`)}})
	r := p.raw()
	r.prompt("Tidy up.")
	r.until("propose")
	r.send(map[string]any{"type": "abort", "id": "a"})
	if end := r.until("agent_settled"); end["aborted"] != true {
		t.Errorf("end: %v", end)
	}
	r.end()
}
