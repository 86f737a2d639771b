package assistant

import (
	"errors"
	"fmt"
	"strings"

	"deckhand/change"
	"deckhand/harness/pi"
)

// work is the plan of a session, and where in the record it began.
type work struct {
	change.Work

	From int `json:"from"` // so many proposals came before it
}

func planTools() []tool {
	step := record(map[string]any{
		"text": text("the step"), "status": oneOf("how it stands", string(change.Pending), string(change.Done), string(change.Blocked)),
	}, "text", "status")
	criterion := record(map[string]any{
		"test": oneOf("present: the text stands in the document. absent: it does not. board: the card stands in the lane. structure: the document has no new fault of structure",
			string(change.Present), string(change.Absent), string(change.OnBoard), string(change.Structure)),
		"file":  text("the document, or " + change.Everywhere + " for all of them"),
		"text":  text("of present and absent: the exact text; without it, the document itself"),
		"card":  text("of board"),
		"lane":  text("of board"),
		"state": oneOf("of board", "open", "done"),
	}, "test", "file")
	return []tool{
		{
			name: setWork, kind: plans,
			about: fmt.Sprintf("State or renew the plan of a task of several steps, at most %d. Say all of it each time. It becomes complete by itself, when every step is done and verify_work has passed.", change.MaxSteps),
			params: map[string]any{
				"goal": text("what is to be reached"), "status": oneOf("how it stands", string(change.Running), string(change.Paused), string(change.Failed)),
				"steps": listOf("the steps, in order", step), "note": text("what the person should know; may be left out"),
			},
			need: []string{"goal", "status", "steps"}, run: with(doSetWork),
		},
		{
			name: "verify_work", kind: plans,
			about: "Have it checked whether the work is done. Name every document that was changed. Call it again after each change.",
			params: map[string]any{
				"criteria": listOf("what must hold", criterion),
			},
			need: []string{"criteria"}, run: with(verifyWork),
		},
	}
}

func doSetWork(t *turn, next change.Work) (string, error) {
	var now work
	old := t.a.session.planned()
	if old != nil {
		now = *old
	}
	if old == nil || old.Status == change.Complete || old.Goal != next.Goal && old.Status == change.Failed {
		now = work{From: len(t.a.session.record())} // a new task
	}
	next.Verification = nil
	set, err := now.Set(next)
	if err != nil {
		return "", err
	}
	now.Work = set
	if err := t.plan(now); err != nil {
		return "", err
	}
	return workText(set), nil
}

func verifyWork(t *turn, args struct{ Criteria []change.Criterion }) (string, error) {
	f, err := t.folder()
	if err != nil {
		return "", err
	}
	if err := f.refresh(); err != nil {
		return "", err
	}
	all, now := t.a.session.record(), t.a.session.planned()
	if now != nil {
		all = all[min(now.From, len(all)):]
	}
	v, err := change.Verify(f.planned(), applied(all, f.contents), args.Criteria)
	if err != nil {
		return "", err
	}
	out := verificationText(v)
	if now != nil {
		next := work{Work: now.Verified(v), From: now.From}
		if err := t.plan(next); err != nil {
			return "", err
		}
		out += workText(next.Work)
	}
	if !v.Passed {
		return "", errors.New(out)
	}
	return out, nil
}

// changed tells the plan that files are not what they were when it was checked.
func (t *turn) changed() error {
	now := t.a.session.planned()
	if now == nil || now.Verification == nil {
		return nil
	}
	return t.plan(work{Work: now.Changed(), From: now.From})
}

// recheck looks, at the beginning of a turn, whether what was done still stands.
func (a *agent) recheck() error {
	now := a.session.planned()
	if now == nil {
		return nil
	}
	all := a.session.record()
	next, problems := now.Recheck(applied(all[min(now.From, len(all)):], a.folder.contents), a.folder.contents)
	if len(problems) == 0 {
		return nil
	}
	return a.plan(work{Work: next, From: now.From})
}

func (t *turn) plan(w work) error { return t.a.plan(w) }

// plan keeps the plan, and says it.
func (a *agent) plan(w work) error {
	if err := a.session.plan(w); err != nil {
		return fmt.Errorf("the plan could not be kept: %w", err)
	}
	out := pi.Plan{Type: pi.PlanType, Goal: w.Goal, Status: string(w.Status), Note: w.Note}
	for _, s := range w.Steps {
		out.Steps = append(out.Steps, pi.PlanStep{Text: s.Text, Status: string(s.Status)})
	}
	a.emit(out)
	return nil
}

// workText is the plan as the model reads it.
func workText(w change.Work) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Plan: %s (%s)\n", w.Goal, w.Status)
	for _, s := range w.Steps {
		box := map[change.StepStatus]string{change.Done: "x", change.Blocked: "!"}[s.Status]
		fmt.Fprintf(&b, "- [%s] %s\n", first(box, " "), s.Text)
	}
	if w.Note != "" {
		fmt.Fprintf(&b, "Note: %s\n", w.Note)
	}
	if w.Verification != nil && !w.Verification.Passed {
		b.WriteString("The last verify_work failed.\n")
	}
	return b.String()
}

// verificationText is what a check found.
func verificationText(v change.Verification) string {
	var b strings.Builder
	for _, c := range v.Checks {
		word := "FAILED"
		if c.Passed {
			word = "passed"
		}
		fmt.Fprintf(&b, "%s: %s %s %s%s", word, c.Test, c.File, c.Text, c.Card)
		if c.Detail != "" {
			fmt.Fprintf(&b, ": %s", c.Detail)
		}
		b.WriteByte('\n')
	}
	if len(v.Unchecked) > 0 {
		fmt.Fprintf(&b, "FAILED: changed documents that no criterion names: %s\n", strings.Join(v.Unchecked, ", "))
	}
	return b.String()
}
