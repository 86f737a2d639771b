package dispatch

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Batch is changes of notes that an agent proposed together, as a log has them.
// What the files hold before and after is kept beside the logs, by hash.
type Batch struct {
	ID      string   `json:"id"` // the agent's
	Reason  string   `json:"reason,omitempty"`
	Path    string   `json:"path,omitempty"` // of the file that shows it
	Late    bool     `json:"late,omitempty"` // its agent has ended: nobody waits for the decision
	Changes []Change `json:"changes"`        // at most one of a file
}

// Change is what would become of one note.
type Change struct {
	Kind    string `json:"kind"` // create, edit, delete, move
	File    string `json:"file"`
	To      string `json:"to,omitempty"`     // move
	Before  string `json:"before,omitempty"` // sha256 of the contents, hex; empty: there is no file
	After   string `json:"after,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Again   string `json:"again,omitempty"` // that a person rejected the same before, and when
	Added   int    `json:"added,omitempty"` // lines
	Removed int    `json:"removed,omitempty"`
}

// Name is the change's file for people; of a move both.
func (c Change) Name() string {
	if c.To != "" {
		return c.File + " → " + c.To
	}
	return c.File
}

// Fate is what became of a proposal.
type Fate string

// The fates.
const (
	FateOpen     Fate = "open"     // a person decides
	FateApplying Fate = "applying" // decided; its files are being written
	FateRolling  Fate = "rolling"  // one could not be written: those before it are being put back
	FateApplied  Fate = "applied"
	FateRejected Fate = "rejected"
	FateFailed   Fate = "failed"
	FateUndoing  Fate = "undoing"  // what was applied is being taken back
	FateRedoing  Fate = "redoing"  // and could not be: what was taken back is being put in again
	FateReverted Fate = "reverted" // it was taken back
	FateLost     Fate = "lost"     // its agent's turn ended before anybody decided
)

// Proposal is a batch and what became of it.
type Proposal struct {
	Batch
	Offer    string // its name for people: the id of its boxes
	Life     int    // whose agent waits for it
	Fate     Fate
	Since    time.Time
	Files    []string // of the changes that were decided to be applied
	Rejected []string // and of the others
	Note     string   // of the person
	Why      string   // why it failed, or why it could not be taken back
	By       string   // who decided
	At       time.Time
}

// Busy reports whether files are being written for it.
func (p *Proposal) Busy() bool {
	switch p.Fate {
	case FateApplying, FateRolling, FateUndoing, FateRedoing:
		return true
	}
	return false
}

// Chosen are the changes that were decided to be applied, in their order.
func (p *Proposal) Chosen() []Change {
	var out []Change
	for _, c := range p.Changes {
		if slices.Contains(p.Files, c.File) {
			out = append(out, c)
		}
	}
	return out
}

// Names are the files of its changes.
func (p *Proposal) Names() []string {
	out := make([]string, 0, len(p.Changes))
	for _, c := range p.Changes {
		out = append(out, c.File)
	}
	return out
}

// Asks is what it wants, in a line.
func (p *Proposal) Asks() string {
	if len(p.Changes) == 1 {
		c := p.Changes[0]
		return "May it " + c.Kind + " " + c.Name() + "?"
	}
	return "May it change " + strconv.Itoa(len(p.Changes)) + " notes: " + strings.Join(p.Names(), ", ") + "?"
}

// Ruling is what an agent is told of its proposal.
type Ruling struct {
	Applied  []string `json:"applied,omitempty"`
	Rejected []string `json:"rejected,omitempty"`
	Failed   string   `json:"failed,omitempty"`
	Note     string   `json:"note,omitempty"`
}

// String is the ruling for people.
func (g Ruling) String() string {
	var parts []string
	for _, part := range []struct{ what, of string }{
		{"applied", strings.Join(g.Applied, ", ")}, {"rejected", strings.Join(g.Rejected, ", ")}, {"failed", g.Failed},
	} {
		if part.of != "" {
			parts = append(parts, part.what+" "+part.of)
		}
	}
	text := strings.Join(parts, "; ")
	if g.Note != "" {
		text += ": " + g.Note
	}
	return text
}

// ProposalByID is a proposal of the run by the id that people know it by; nil:
// it has none.
func (r *Run) ProposalByID(offer string) *Proposal {
	i := r.proposal(offer)
	if i < 0 {
		return nil
	}
	return &r.Proposals[i]
}

func (r *Run) proposal(offer string) int {
	return slices.IndexFunc(r.Proposals, func(p Proposal) bool { return p.Offer == offer && offer != "" })
}

// RejectedBefore is when a person rejected the very same change of this run, and
// what they said with it; nil: never.
func (r *Run) RejectedBefore(c Change) *Proposal {
	for i := len(r.Proposals) - 1; i >= 0; i-- {
		p := &r.Proposals[i]
		if !slices.Contains(p.Rejected, c.File) {
			continue
		}
		if slices.ContainsFunc(p.Changes, func(o Change) bool {
			return o.Kind == c.Kind && o.File == c.File && o.To == c.To && o.After == c.After
		}) {
			return p
		}
	}
	return nil
}

// Undecided are the proposals that wait for a person.
func (r *Run) Undecided() []Proposal {
	return slices.DeleteFunc(slices.Clone(r.Proposals), func(p Proposal) bool { return p.Fate != FateOpen })
}

// applyProposals adds entries about proposals.
func (r *Run) applyProposals(e Entry) {
	switch e.Kind {
	case Proposed:
		r.proposed(e)
	case Decided:
		r.decided(e)
	case RollingBack:
		r.turnBack(e)
	case Applied:
		r.settled(e, FateApplied, Ruling{Applied: e.Files})
	case NotApplied:
		r.settled(e, FateFailed, Ruling{Failed: e.Reason})
	case Undo:
		r.fate(e, func(p *Proposal) { p.Fate, p.Why = FateUndoing, "" })
	case Reverted:
		r.fate(e, func(p *Proposal) { p.Fate = FateReverted })
	case NotReverted:
		r.fate(e, func(p *Proposal) { p.Fate, p.Why = FateApplied, e.Reason })
	}
}

// proposed is a new proposal. One that comes with a reason was refused at once.
func (r *Run) proposed(e Entry) {
	if e.Proposal == nil || !r.Open() || r.proposal(e.Offer) >= 0 {
		return
	}
	p := Proposal{Batch: *e.Proposal, Offer: e.Offer, Life: e.Life, Fate: FateOpen, Since: e.Time}
	r.Proposals = append(slices.Clone(r.Proposals), p)
	if e.Reason != "" {
		r.settled(e, FateFailed, Ruling{Failed: e.Reason})
		return
	}
	if !p.Late {
		r.wait(e.Time)
	}
}

// decided is the first decision of a proposal. One by which nothing is applied
// is carried out with that.
func (r *Run) decided(e Entry) {
	p := r.ProposalByID(e.Offer)
	if p == nil || p.Fate != FateOpen && p.Fate != FateLost {
		return
	}
	r.fate(e, func(p *Proposal) {
		p.Fate, p.Files, p.Note, p.By, p.At = FateApplying, e.Files, e.Text, e.By, e.Time
		p.Rejected = nil
		for _, file := range p.Names() {
			if !slices.Contains(e.Files, file) {
				p.Rejected = append(p.Rejected, file)
			}
		}
	})
	if len(e.Files) == 0 {
		r.settled(e, FateRejected, Ruling{})
	}
}

// turnBack is a file that could not be written, in the middle of others.
func (r *Run) turnBack(e Entry) {
	r.fate(e, func(p *Proposal) {
		p.Why = e.Reason
		switch p.Fate {
		case FateApplying:
			p.Fate = FateRolling
		case FateUndoing:
			p.Fate = FateRedoing
		}
	})
}

// settled is the end of a proposal. Its agent gets it next, if it still waits:
// the id of the row is the proposal's own, so that it gets it once.
func (r *Run) settled(e Entry, fate Fate, told Ruling) {
	p := r.ProposalByID(e.Offer)
	if p == nil || p.Fate != FateOpen && p.Fate != FateApplying && p.Fate != FateRolling {
		return
	}
	told.Rejected, told.Note = p.Rejected, p.Note
	by, waits := p.By, r.Open() && p.Life == r.Life && !p.Late
	r.fate(e, func(p *Proposal) { p.Fate, p.Why = fate, told.Failed })
	r.Told = append(slices.Clone(r.Told), Told{
		Ask: p.ID, What: told.String(), By: by, At: e.Time, Entry: e.ID, Offer: e.Offer, Life: e.Life, Seq: e.Seq,
	})
	if waits {
		r.Owed = append(slices.Clone(r.Owed), Owed{Row: "decide-" + e.Offer, Kind: "decide", Ask: p.ID, Ruling: told})
	}
	r.goesOn(e.Time)
}

// fate changes a proposal that others may hold a copy of.
func (r *Run) fate(e Entry, change func(*Proposal)) {
	if i := r.proposal(e.Offer); i >= 0 {
		r.Proposals = slices.Clone(r.Proposals)
		change(&r.Proposals[i])
	}
}

// withdraw ends the proposals that nobody has decided: the turn they belong to
// is over. What was proposed at its end is still to be decided.
func (r *Run) withdraw() {
	if len(r.Undecided()) == 0 {
		return
	}
	r.Proposals = slices.Clone(r.Proposals)
	for i := range r.Proposals {
		if r.Proposals[i].Fate == FateOpen && !r.Proposals[i].Late {
			r.Proposals[i].Fate = FateLost
		}
	}
}

// wait is the begin of a wait for a person.
func (r *Run) wait(at time.Time) {
	if r.Phase == PhaseWorking {
		r.Phase, r.Waits = PhaseWaiting, at
	}
}

// goesOn ends it when nothing is left to wait for. The time that a person took
// is nobody's work.
func (r *Run) goesOn(at time.Time) {
	if len(r.Asks) > 0 || r.Phase != PhaseWaiting || slices.ContainsFunc(r.Proposals, r.pending) {
		return
	}
	r.Phase, r.Waited = PhaseWorking, r.Waited+max(0, at.Sub(r.Waits))
}

// pending reports whether the agent at work waits for a proposal.
func (r *Run) pending(p Proposal) bool {
	return p.Life == r.Life && !p.Late && (p.Fate == FateOpen || p.Fate == FateApplying || p.Fate == FateRolling)
}
