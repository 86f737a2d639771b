package pi

import (
	"encoding/json"
	"slices"

	"deckhand/harness"
)

// Proposals are deckhand's addition to the protocol: an agent that works on notes
// says what it would change and waits for the decision, and may say its plan.
// pi itself does neither; docs/propose.md is for those that do.

// The types of these lines.
const (
	ProposeType  = "propose"
	DecisionType = "decision"
	PlanType     = "plan"
)

// Propose is a line of an agent: changes of notes, for one decision.
type Propose struct {
	Type    string   `json:"type"`
	ID      string   `json:"id"`
	Reason  string   `json:"reason,omitempty"`
	Changes []Change `json:"changes"`
}

// Change is what would become of one note.
type Change struct {
	Kind   string `json:"kind"` // create, edit, delete, move
	File   string `json:"file"`
	To     string `json:"to,omitempty"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Decision is the line that answers it.
type Decision struct {
	Type     string   `json:"type"`
	ID       string   `json:"id"`
	Applied  []string `json:"applied,omitempty"`
	Rejected []string `json:"rejected,omitempty"`
	Failed   string   `json:"failed,omitempty"` // why nothing was written
	Note     string   `json:"note,omitempty"`   // of the person
}

// Plan is a line of an agent: its work plan, the whole of it each time.
type Plan struct {
	Type   string     `json:"type"`
	Goal   string     `json:"goal"`
	Status string     `json:"status"` // running, paused, failed, complete
	Steps  []PlanStep `json:"steps"`
	Note   string     `json:"note,omitempty"`
}

// PlanStep is one step of a Plan.
type PlanStep struct {
	Text   string `json:"text"`
	Status string `json:"status"` // pending, done, blocked
}

// propose opens a proposal. Whoever proposes waits, so what cannot be decided is
// answered at once.
func (s *session) propose(line []byte) {
	var p Propose
	err := json.Unmarshal(line, &p)
	switch {
	case p.ID == "":
		s.note("pi proposed something without an id: nobody can decide it")
		return
	case slices.Contains(s.proposals, p.ID):
		return
	case err != nil:
		s.refuse(p.ID, "it cannot be read: "+err.Error())
		return
	case s.turn == nil || s.turn.phase == idle || s.turn.aborted:
		s.refuse(p.ID, "no turn is running")
		return
	}
	s.proposals = append(s.proposals, p.ID)
	out := &harness.Proposal{ID: p.ID, Reason: p.Reason}
	for _, c := range p.Changes {
		out.Changes = append(out.Changes, harness.Change(c))
	}
	s.say(harness.Event{Kind: harness.Propose, Proposal: out})
}

func (s *session) refuse(id, why string) {
	s.note("a proposal of pi was refused: %s", why)
	s.sends = append(s.sends, decision(derived("refuse", s.at.Seq), id, harness.Decision{Failed: why}))
}

// decide is the decision of a proposal. One that is over takes none.
func (s *session) decide(c harness.Command) []harness.Send {
	if !slices.Contains(s.proposals, c.Ask) {
		return nil
	}
	return []harness.Send{decision(c.ID, c.Ask, c.Decision)}
}

// decided closes a proposal: its decision is on its way.
func (s *session) decided(id string) {
	s.proposals = slices.DeleteFunc(s.proposals, func(p string) bool { return p == id })
}

func decision(row, id string, d harness.Decision) harness.Send {
	return harness.Send{ID: row, Line: line(Decision{
		Type: DecisionType, ID: id, Applied: d.Applied, Rejected: d.Rejected, Failed: d.Failed, Note: d.Note,
	})}
}

// planSteps bounds the steps of a plan that are kept.
const planSteps = 100

// plan says the agent's plan, in the words all plans have.
func (s *session) plan(line []byte) {
	var p Plan
	if err := json.Unmarshal(line, &p); err != nil {
		s.note("a plan of pi cannot be read: %s", err)
		return
	}
	steps := []harness.Step{}
	for _, step := range p.Steps[:min(len(p.Steps), planSteps)] {
		state := step.Status
		if state == "done" {
			state = "completed"
		}
		steps = append(steps, harness.Step{Text: oneLine(step.Text), State: oneLine(state)})
	}
	s.say(harness.Event{Kind: harness.Plan, Text: oneLine(p.Goal), Plan: steps})
}
