package change

import (
	"strings"
	"testing"
)

func TestWorkIsCompleteOnlyWhenVerified(t *testing.T) {
	plan := func(status WorkStatus, steps ...StepStatus) Work {
		w := Work{Goal: "move the launch", Status: status}
		for _, s := range steps {
			w.Steps = append(w.Steps, Step{"a step", s})
		}
		return w
	}
	set := func(w, next Work) Work {
		t.Helper()
		w, err := w.Set(next)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	passed, failed := Verification{Passed: true}, Verification{}

	w := set(Work{}, plan(Running, Done, Done))
	if w.Status != Running || w.Verified(failed).Status != Running || w.Verified(passed).Status != Complete {
		t.Errorf("all done: %s, %s, %s", w.Status, w.Verified(failed).Status, w.Verified(passed).Status)
	}
	if half := set(w, plan(Running, Done, Pending)).Verified(passed); half.Status != Running || half.Current() != 1 {
		t.Errorf("half done: %s, step %d", half.Status, half.Current())
	} else if late := set(half, plan(Running, Done, Done)); late.Status != Complete {
		t.Errorf("verified before the last step was said to be done: %s", late.Status)
	} else if changed := set(half.Changed(), plan(Running, Done, Done)); changed.Status != Running {
		t.Errorf("a change after the verification: %s", changed.Status)
	}
	if blocked := set(w, plan(Running, Done, Blocked)).Verified(passed); blocked.Status != Running {
		t.Errorf("blocked: %s", blocked.Status)
	}
	if f := set(w, plan(Failed, Done)).Verified(passed); f.Status != Failed {
		t.Errorf("failed: %s", f.Status)
	}

	applied := []Change{{Kind: Edit, File: "A.md", Before: "a", After: "b"}}
	complete := w.Verified(passed)
	if kept, lost := complete.Recheck(applied, memory{"A.md": "b"}.read); kept.Status != Complete || lost != nil {
		t.Errorf("nothing was lost: %s, %v", kept.Status, lost)
	}
	paused, lost := complete.Recheck(applied, memory{"A.md": "c"}.read)
	if paused.Status != Paused || len(lost) != 1 || lost[0].Text != "A.md was edited since" {
		t.Errorf("a file was edited: %s, %v", paused.Status, lost)
	}
	if paused.Verified(failed).Status != Paused || paused.Verified(passed).Status != Complete {
		t.Error("a paused work that is verified again is complete, and only then")
	}
}

func TestWorkRefusals(t *testing.T) {
	step := []Step{{"a step", Pending}}
	for want, w := range map[string]Work{
		"complete is not yours to set":  {Goal: "g", Status: Complete, Steps: step},
		`no work is ""`:                 {Goal: "g", Steps: step},
		"needs a goal":                  {Goal: " ", Status: Running, Steps: step},
		"1 to 20 steps, not 0":          {Goal: "g", Status: Running},
		"1 to 20 steps, not 21":         {Goal: "g", Status: Running, Steps: make([]Step, 21)},
		"step 1: it has no text":        {Goal: "g", Status: Running, Steps: []Step{{"", Done}}},
		`step 2: no step is "complete"`: {Goal: "g", Status: Running, Steps: []Step{{"a", Done}, {"b", "complete"}}},
		"control character":             {Goal: "g\x1b", Status: Running, Steps: step},
		"longer than 2000":              {Goal: "g", Status: Running, Steps: step, Note: strings.Repeat("ü", 2001)},
	} {
		before := Work{Goal: "before", Status: Running, Steps: step}
		if got, err := before.Set(w); err == nil || !strings.Contains(err.Error(), want) || got.Goal != "before" {
			t.Errorf("%q: got %+v, %v", want, got, err)
		}
	}
}

func TestLost(t *testing.T) {
	applied := []Change{
		{Kind: Create, File: "A.md", After: "a"},
		{Kind: Edit, File: "A.md", Before: "a", After: "b"},
		{Kind: Move, File: "B.md", To: "C.md", Before: "b", After: "b"},
		{Kind: Delete, File: "D.md", Before: "d"},
		{Kind: Create, File: "E.md", After: "e"},
	}
	var got []string
	for _, p := range Lost(applied, memory{"A.md": "b", "B.md": "again", "C.md": "c", "D.md": "again"}.read) {
		got = append(got, p.Text)
	}
	want := "B.md is there again; C.md was edited since; D.md is there again; E.md no longer exists"
	if strings.Join(got, "; ") != want {
		t.Errorf("got %q", got)
	}
	if left := Lost(applied, Applied(memory{"D.md": "d"}.read, applied)); left != nil {
		t.Errorf("where all was applied: %v", left)
	}
}

func TestWorkIsReadBack(t *testing.T) {
	steps := []Step{{"read\nall", Done}, {"write", Done}}
	passed := &Verification{Passed: true}
	for _, test := range []struct {
		w    Work
		want WorkStatus // empty: refused
	}{
		{Work{Goal: "g", Status: Complete, Steps: steps, Verification: passed}, Complete},
		{Work{Goal: "g", Status: Complete, Steps: steps}, Paused},
		{Work{Goal: "g", Status: Complete, Steps: []Step{{"a", Blocked}}, Verification: passed}, Paused},
		{Work{Goal: "g", Status: Failed, Steps: steps, Verification: passed}, Failed},
		{Work{Goal: "g", Status: "fine", Steps: steps}, ""},
		{Work{Goal: "g", Status: Complete}, ""},
	} {
		if got, err := test.w.Restored(); got.Status != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%+v: got %+v, %v", test.w, got, err)
		}
	}
	w := Work{Steps: append(steps, Step{"ship", Blocked}, Step{"tell", Pending})}
	if got, want := w.Checklist(), "- [x] read all\n- [x] write\n- [ ] blocked: ship\n- [ ] tell\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
