package daemon

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deckhand/dispatch"
	"deckhand/internal/control"
)

// decide logs what becomes of a proposal, and carries it out.
func (d *daemon) decide(r *run, e dispatch.Entry) bool {
	p := r.ProposalByID(e.Offer)
	if p == nil || p.Fate != dispatch.FateOpen && p.Fate != dispatch.FateLost {
		return false
	}
	e.Kind = dispatch.Decided
	if !d.log(r, e) {
		return false
	}
	what := "rejected"
	if len(e.Files) > 0 {
		what = plural(len(e.Files), "file", "files") + " to be applied"
	}
	d.say("%s: the proposal of @%s on %q is decided by the %s: %s", r.Board, r.Agent, r.Card.Title, e.By, what)
	d.carryOut(r, e.Offer, false)
	d.deliver(r)
	return true
}

// carryOut does what is under way for a proposal; resume says that a daemon that
// was killed may have begun it. One batch is written at a time.
func (d *daemon) carryOut(r *run, offer string, resume bool) {
	p := r.ProposalByID(offer)
	if p == nil || !p.Busy() {
		d.settled(r, offer)
		return
	}
	job := &applying{ctx: d.ctx, store: d.store, state: d.f.state, folder: d.notesAsChanged(), changes: p.Chosen(), resume: resume}
	fate := p.Fate
	job.undo = fate == dispatch.FateUndoing || fate == dispatch.FateRedoing
	d.queues.add("apply", func() any {
		if fate == dispatch.FateRolling || fate == dispatch.FateRedoing {
			return written{err: job.takeBack()}
		}
		return job.write()
	}, func(v any) {
		w := v.(written)
		if resume && w.err != nil && diskFailed(w.err) { // it may answer later
			if r.stuck.failed(time.Now(), w.err) {
				d.say("run %s: %v", r.ID, w.err)
			}
			return
		}
		d.carriedOut(r, offer, fate, w)
	})
}

// carriedOut logs how it went. A file that could not be written leads to those
// before it: that they are put back is logged before it is done.
func (d *daemon) carriedOut(r *run, offer string, fate dispatch.Fate, w written) {
	p := r.ProposalByID(offer)
	e := dispatch.Entry{Offer: offer, Files: p.Files}
	switch {
	case w.begun && w.err != nil:
		e.Kind, e.Reason = dispatch.RollingBack, w.err.Error()
		d.fact(r, e)
		d.carryOut(r, offer, false)
		return
	case fate == dispatch.FateApplying && w.err == nil:
		e.Kind = dispatch.Applied
	case fate == dispatch.FateUndoing && w.err == nil:
		e.Kind = dispatch.Reverted
	case fate == dispatch.FateApplying || fate == dispatch.FateRolling:
		e.Kind, e.Reason = dispatch.NotApplied, because(p, w.err)
	default:
		e.Kind, e.Reason = dispatch.NotReverted, because(p, w.err)
	}
	d.fact(r, e)
	d.say("%s: the proposal of @%s on %q: %s", r.Board, r.Agent, r.Card.Title, outcome(r.ProposalByID(offer)))
	d.settled(r, offer)
	d.deliver(r)
}

// because is why nothing was written, and what could not be put back.
func because(p *dispatch.Proposal, err error) string {
	parts := []string{}
	if p.Why != "" {
		parts = append(parts, p.Why)
	}
	if err != nil {
		parts = append(parts, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return short(strings.Join(parts, "; "), 2000)
}

// settled answers the commands that wait for a proposal.
func (d *daemon) settled(r *run, offer string) {
	waiting := d.deciding[offer]
	delete(d.deciding, offer)
	for _, done := range waiting {
		d.tellOutcome(r, offer, done)
	}
}

func (d *daemon) tellOutcome(r *run, offer string, done reply) {
	p := r.ProposalByID(offer)
	text := outcome(p)
	if p.Fate == dispatch.FateFailed || p.Fate == dispatch.FateApplied && p.Why != "" {
		done(control.Result{}, refused(control.CodeConflict, "deckhand proposals", "nothing was written: %s", p.Why))
		return
	}
	done(control.Result{Text: text, Run: r.ID}, nil)
}

// outcome is what became of a proposal, in a line.
func outcome(p *dispatch.Proposal) string {
	ruling := dispatch.Ruling{Rejected: p.Rejected, Note: oneLine(p.Note)}
	switch p.Fate {
	case dispatch.FateOpen:
		return ""
	case dispatch.FateApplied:
		ruling.Applied = p.Files
	case dispatch.FateRejected:
	case dispatch.FateFailed:
		ruling.Failed = p.Why
	case dispatch.FateReverted:
		return "taken back: " + strings.Join(p.Files, ", ")
	case dispatch.FateLost:
		return "not decided: its agent's turn ended before"
	default:
		return "it is being carried out"
	}
	return ruling.String()
}

// proposalNamed is the proposal that is meant: by its id, or a beginning of one.
func (m *model) proposalNamed(name string) (*run, *dispatch.Proposal, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	type found struct {
		r *run
		p *dispatch.Proposal
	}
	var all []found
	for _, r := range m.sorted() {
		for i := range r.Proposals {
			p := &r.Proposals[i]
			if p.Offer == name {
				return r, p, nil
			}
			if name != "" && strings.HasPrefix(p.Offer, name) {
				all = append(all, found{r, p})
			}
		}
	}
	switch len(all) {
	case 1:
		return all[0].r, all[0].p, nil
	case 0:
		return nil, nil, refused(control.CodeError, "deckhand proposals", "no proposal is called %q", name)
	}
	e := &control.Error{Text: fmt.Sprintf("%q is several proposals", name), Code: control.CodeUsage}
	for _, f := range all {
		e.Matches = append(e.Matches, f.p.Offer+" "+f.r.Card.Title)
	}
	return nil, nil, e
}

// doDecide applies or rejects a proposal for a command, which is answered when
// that is done.
func (d *daemon) doDecide(c control.Command, done reply) {
	r, p, err := d.proposalNamed(c.Proposal)
	if err != nil {
		done(control.Result{}, err)
		return
	}
	offer := p.Offer
	did, err := r.did(c.ID)
	switch {
	case err != nil:
		done(control.Result{}, err)
		return
	case did:
		d.whenSettled(r, offer, done)
		return
	}
	e := dispatch.Entry{Offer: offer, By: from(c), Command: c.ID, Text: strings.TrimSpace(c.Note)}
	if c.Name == "apply" {
		e.Files, err = chosen(p, c.Files)
	}
	if utf8.RuneCountInString(c.Note) > control.NoteMax {
		err = refused(control.CodeUsage, "", "the note is longer than %d characters", control.NoteMax)
	}
	if err == nil {
		err = d.decidable(r, p)
	}
	if err == nil && !d.decide(r, e) {
		err = unwritable()
	}
	if err != nil {
		done(control.Result{}, err)
		return
	}
	d.whenSettled(r, offer, done)
}

// chosen are the files of a proposal that are meant; none named: all.
func chosen(p *dispatch.Proposal, files []string) ([]string, error) {
	if len(files) == 0 {
		return p.Names(), nil
	}
	var out []string
	for _, f := range files {
		i := slices.IndexFunc(p.Changes, func(c dispatch.Change) bool { return c.File == f || c.To == f && f != "" })
		if i < 0 {
			return nil, &control.Error{Text: fmt.Sprintf("%q is no file of this proposal", f), Code: control.CodeUsage, Matches: p.Names()}
		}
		out = append(out, p.Changes[i].File)
	}
	return out, nil
}

// decidable says why a proposal cannot be decided any more.
func (d *daemon) decidable(r *run, p *dispatch.Proposal) error {
	switch why := d.held(); {
	case why.Text != "": // of a folder that is not ours nothing is written
		return refused(control.CodeConflict, why.Hint, "%s", why.Text)
	case p.Fate == dispatch.FateOpen && r.Phase == dispatch.PhaseStopping:
		return refused(control.CodeConflict, "", "%s is being stopped", r.Card.Title)
	case p.Fate == dispatch.FateOpen, p.Fate == dispatch.FateLost:
		return nil
	}
	return refused(control.CodeConflict, "deckhand diff "+p.Offer, "it was decided at %s: %s", p.At.Local().Format("15:04"), outcome(p))
}

// whenSettled answers a command when a proposal is carried out.
func (d *daemon) whenSettled(r *run, offer string, done reply) {
	if p := r.ProposalByID(offer); p.Busy() {
		d.deciding[offer] = append(d.deciding[offer], done)
		return
	}
	d.tellOutcome(r, offer, done)
}

// doRevert takes back what was applied.
func (d *daemon) doRevert(c control.Command, done reply) {
	r, p, err := d.proposalNamed(c.Proposal)
	if err != nil {
		done(control.Result{}, err)
		return
	}
	offer := p.Offer
	did, err := r.did(c.ID)
	switch why := d.held(); {
	case err != nil:
	case did:
		d.whenSettled(r, offer, done)
		return
	case why.Text != "":
		err = refused(control.CodeConflict, why.Hint, "%s", why.Text)
	case p.Fate == dispatch.FateReverted:
		err = refused(control.CodeConflict, "", "it was taken back already")
	case p.Fate != dispatch.FateApplied:
		err = refused(control.CodeConflict, "", "it was not applied: it is %s", p.Fate)
	case !d.log(r, dispatch.Entry{Kind: dispatch.Undo, Offer: offer, By: from(c), Command: c.ID}):
		err = unwritable()
	}
	if err != nil {
		done(control.Result{}, err)
		return
	}
	d.carryOut(r, offer, false)
	d.whenSettled(r, offer, done)
}

// carryOn takes up the proposals of a run that a killed daemon was carrying out,
// or that could not be looked at.
func (d *daemon) carryOn(r *run) {
	for _, p := range r.Proposals {
		if p.Busy() {
			d.carryOut(r, p.Offer, true)
		}
	}
}
