package change

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// WorkStatus is how a work stands.
type WorkStatus string

// How a work stands. Complete is never said, only found: see Work.
const (
	Running  WorkStatus = "running"
	Paused   WorkStatus = "paused"
	Failed   WorkStatus = "failed"
	Complete WorkStatus = "complete"
)

// StepStatus is how one step stands.
type StepStatus string

// How a step stands.
const (
	Pending StepStatus = "pending"
	Done    StepStatus = "done"
	Blocked StepStatus = "blocked"
)

// Step is one step of a work.
type Step struct {
	Text   string     `json:"text"`
	Status StepStatus `json:"status"`
}

// MaxSteps is how many steps a work may have; it has one at least.
const MaxSteps = 20

// maxText bounds each text of a work, in characters.
const maxText = 2000

// Work is an agent's plan for one task. An agent writes goal, steps and note,
// and that it runs, is paused or failed. That it is complete follows: from all
// steps done and a verification that passed after the last change.
//
// A Work is a value: what happens to it gives another one.
type Work struct {
	Goal         string        `json:"goal"`
	Status       WorkStatus    `json:"status"`
	Steps        []Step        `json:"steps"`
	Note         string        `json:"note,omitempty"`
	Verification *Verification `json:"verification,omitempty"` // nil: nothing was verified since the last change
}

// Set is the work as an agent writes it anew. A verification stays: it is about
// the files and not about the plan.
func (w Work) Set(next Work) (Work, error) {
	if err := next.check(); err != nil {
		return w, err
	}
	next.Verification = w.Verification
	return next.settled(), nil
}

func (w Work) check() error {
	switch {
	case w.Status == Complete:
		return errors.New("complete is not yours to set: mark all steps done and verify the work")
	case w.Status != Running && w.Status != Paused && w.Status != Failed:
		return fmt.Errorf("no work is %q: use running, paused or failed", w.Status)
	case strings.TrimSpace(w.Goal) == "":
		return errors.New("the work needs a goal")
	case len(w.Steps) == 0 || len(w.Steps) > MaxSteps:
		return fmt.Errorf("a work has 1 to %d steps, not %d", MaxSteps, len(w.Steps))
	}
	for i, s := range w.Steps {
		if err := s.check(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return cmp.Or(checkText(w.Goal), checkText(w.Note))
}

func (s Step) check() error {
	switch {
	case strings.TrimSpace(s.Text) == "":
		return errors.New("it has no text")
	case s.Status != Pending && s.Status != Done && s.Status != Blocked:
		return fmt.Errorf("no step is %q: use pending, done or blocked", s.Status)
	}
	return checkText(s.Text)
}

func checkText(s string) error {
	if utf8.RuneCountInString(s) > maxText {
		return fmt.Errorf("a text is longer than %d characters", maxText)
	}
	return writable(s)
}

// Restored is a work as it was read back from where anybody may have edited it:
// of the shape that Set demands, and complete only with the verification that
// makes it so. Whoever does not trust the place takes the verification out.
func (w Work) Restored() (Work, error) {
	next := w
	if w.Status == Complete {
		next.Status = Paused
	}
	if err := next.check(); err != nil {
		return Work{}, err
	}
	return w.settled(), nil
}

// Checklist is the steps as a list of Markdown, one a line, done ones ticked;
// each text is one line. A step that is blocked says so.
func (w Work) Checklist() string {
	var b strings.Builder
	for _, s := range w.Steps {
		box := "- [ ] "
		switch s.Status {
		case Done:
			box = "- [x] "
		case Blocked:
			box = "- [ ] blocked: "
		}
		b.WriteString(box + strings.Join(strings.Fields(s.Text), " ") + "\n")
	}
	return b.String()
}

// Changed is the work after a change was applied or taken back: what was
// verified is no longer what is there.
func (w Work) Changed() Work {
	w.Verification = nil
	return w.settled()
}

// Verified is the work after a verification.
func (w Work) Verified(v Verification) Work {
	w.Verification = &v
	if w.Status == Paused {
		w.Status = Running
		if w = w.settled(); w.Status == Running {
			w.Status = Paused
		}
	}
	return w.settled()
}

// Recheck is the work at the beginning of a turn. Where files no longer hold
// what was applied in it, oldest first, a complete work is paused, and what was
// verified does not count. It lists those files.
func (w Work) Recheck(applied []Change, read Read) (Work, []Problem) {
	lost := Lost(applied, read)
	if len(lost) > 0 {
		w = w.Changed()
	}
	return w, lost
}

// settled is the work with the status that follows.
func (w Work) settled() Work {
	verified := w.Verification != nil && w.Verification.Passed
	switch {
	case w.Status == Running && verified && w.done():
		w.Status = Complete
	case w.Status == Complete && !(verified && w.done()):
		w.Status = Paused
	}
	return w
}

func (w Work) done() bool {
	for _, s := range w.Steps {
		if s.Status != Done {
			return false
		}
	}
	return len(w.Steps) > 0
}

// Current is the step at work: the first one that is pending, of a work that
// runs; -1 when there is none.
func (w Work) Current() int {
	if w.Status != Running {
		return -1
	}
	for i, s := range w.Steps {
		if s.Status == Pending {
			return i
		}
	}
	return -1
}
