package daemon

import (
	"cmp"
	"slices"
	"strings"

	"deckhand/dispatch"
	"deckhand/internal/control"
)

// proposals are those that wait for a decision, oldest first.
func (m *model) proposals() []control.Proposal {
	out := []control.Proposal{}
	for _, r := range m.sorted() {
		for i := range r.Proposals {
			if p := &r.Proposals[i]; p.Fate == dispatch.FateOpen || p.Fate == dispatch.FateApplying || p.Fate == dispatch.FateRolling {
				out = append(out, proposalView(r, p))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b control.Proposal) int { return a.Created.Compare(b.Created) })
	return out
}

func proposalView(r *run, p *dispatch.Proposal) control.Proposal {
	v := control.Proposal{
		ID: p.Offer, Run: r.ID, Card: r.Card.Title, Agent: r.Agent, Reason: p.Reason, Created: p.Since, Path: p.Path,
		Status: statusOf(p.Fate), Outcome: outcome(p), Changes: []control.ProposalChange{},
	}
	for _, c := range p.Changes {
		v.Changes = append(v.Changes, control.ProposalChange{Kind: c.Kind, File: c.File, To: c.To, Reason: oneLine(c.Again + " " + c.Reason), Added: c.Added, Removed: c.Removed})
	}
	return v
}

// diff returns how to make the diff of a proposal, or of all those of a run.
func (m *model) diff(of string) (func() control.Diff, error) {
	r, p, err := m.proposalNamed(of)
	var all []dispatch.Proposal
	switch {
	case err == nil:
		all = []dispatch.Proposal{*p}
	default:
		found, fault := m.run(of)
		if fault != nil {
			return nil, refused(control.CodeError, "deckhand proposals", "no proposal and no run is called %q", of)
		}
		if r, all = found, found.Proposals; len(all) == 0 {
			return nil, refused(control.CodeError, "deckhand log "+strings.ToLower(r.ID), "%s has proposed nothing", r.Card.Title)
		}
	}
	state, id := m.f.state, r.ID
	return func() control.Diff {
		var b strings.Builder
		for _, p := range all {
			for _, c := range p.Changes {
				b.WriteString(titled(state, c))
			}
		}
		return control.Diff{Run: id, Text: b.String()}
	}, nil
}

// titled is the diff of one file with its names, as git and patch write them.
func titled(state string, c dispatch.Change) string {
	from, to := "a/"+c.File, "b/"+cmp.Or(c.To, c.File)
	switch c.Kind {
	case "create":
		from = "/dev/null"
	case "delete":
		to = "/dev/null"
	}
	return "--- " + from + "\n+++ " + to + "\n" + diffOf(state, c)
}
