package assistant_test

import (
	"strings"
	"testing"

	"deckhand/internal/testkit"
)

const (
	planned  = `{"goal":"Launch in June","status":"running","steps":[{"text":"change it","status":"pending"}]}`
	finished = `{"goal":"Launch in June","status":"running","steps":[{"text":"change it","status":"done"}]}`
	edit     = `{"file":"Specification.md","old_text":"in May","new_text":"in June","reason":"moved"}`
	verify   = `{"criteria":[{"test":"present","file":"Specification.md","text":"in June"},{"test":"absent","file":"*","text":"in May"}]}`
)

// plans are the states of the plan that were said, in order.
func (r *raw) plans() (out []string) {
	for _, l := range r.lines {
		if l["type"] == "plan" {
			out = append(out, l["status"].(string))
		}
	}
	return out
}

// TestPlan: complete is found and never said, a change takes the check back, and
// a file that a person edits afterwards pauses the plan.
func TestPlan(t *testing.T) {
	p := newPlace(t, shop(),
		testkit.Step{Calls: []testkit.Call{
			call("set_work", strings.Replace(planned, `"running"`, `"complete"`, 1)),
			call("set_work", planned), call("verify_work", verify), call("edit_file", edit),
		}},
		testkit.Step{Calls: []testkit.Call{call("verify_work", `{"criteria":[{"test":"absent","file":"*","text":"in May"}]}`)}},
		testkit.Step{Calls: []testkit.Call{call("set_work", finished), call("verify_work", verify)}},
		testkit.Step{Say: "Done and checked."})
	r := p.raw()
	r.prompt("Move the launch.")
	change := r.changes(r.until("propose"))
	p.apply(change[0])
	r.send(map[string]any{"type": "decision", "id": "p1", "applied": []string{"Specification.md"}})
	r.until("agent_settled")
	got := r.results()
	for i, want := range []string{
		"complete", "Plan: Launch in June (running)\n- [ ] change it", "FAILED: present Specification.md in June", "Applied: Specification.md",
		"FAILED: changed documents that no criterion names: Specification.md", "- [x] change it", "Plan: Launch in June (complete)",
	} {
		contains(t, "a result", got[i], want)
	}
	if all := strings.Join(r.plans(), " "); !strings.HasSuffix(all, "running complete") || strings.Contains(all, "complete ") {
		t.Errorf("plans: %s", all)
	}
	r.end()

	p.write(notes{"Specification.md": "# Specification\nThe launch is in July.\n"})
	p.model.Then(testkit.Step{Say: "Somebody moved it."})
	r = p.raw()
	r.prompt("How is it?")
	r.until("agent_settled")
	r.end()
	if all := strings.Join(r.plans(), " "); all != "paused" {
		t.Errorf("plans: %s", all)
	}
	contains(t, "the record", p.model.Last().Body, "Plan: Launch in June (paused)", "applied; was edited since")
}
