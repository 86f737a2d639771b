package daemon

import (
	"path"
	"strings"
	"time"

	"deckhand/dispatch"
	"deckhand/inbox"
)

// Each proposal that waits has a page in deckhand/proposals, where it is read and
// decided. When it is decided, the page says so and can be ticked no more. Which
// pages are up to date is not logged: what a start finds is compared with what
// should be there, and only what differs is written.

// pageState is what is known of a page.
type pageState struct {
	shape string          // what it shows
	open  *inbox.Proposal // as it is read: while it can be decided there; nil: not yet, or no more
	busy  bool            // it is being written
	made  bool            // it was there
	fault trouble         // why it could not be written
}

// pagesKept is how long after its decision a page is looked at by a start.
const pagesKept = 48 * time.Hour

// writePages brings the pages of proposals up to date.
func (d *daemon) writePages(now time.Time) {
	if d.held().Text != "" {
		return // another machine's folder, or nobody's
	}
	for _, r := range d.runs {
		for i := range r.Proposals {
			p := &r.Proposals[i]
			if p.Path != "" && !p.Busy() && (p.Fate == dispatch.FateOpen || now.Sub(r.LastTime) < pagesKept) {
				d.writePage(r, p)
			}
		}
	}
}

func (d *daemon) writePage(r *run, p *dispatch.Proposal) {
	st := r.pages[p.Offer]
	if st == nil {
		st = &pageState{}
		if r.pages == nil {
			r.pages = map[string]*pageState{}
		}
		r.pages[p.Offer] = st
	}
	shape := string(p.Fate) + " " + p.Why
	if st.busy || st.shape == shape || !st.fault.again.IsZero() {
		return
	}
	st.busy, st.open = true, nil
	page, state, changes, made := d.pageOf(r, p), d.f.state, p.Changes, st.made
	d.queues.add("page:"+p.Offer, func() any {
		for i, c := range changes {
			page.Files[i].Diff = diffOf(state, c)
		}
		_, err := d.store.UpdateNow(d.ctx, p.Path, func(cur []byte) ([]byte, error) {
			switch {
			case cur != nil:
				return inbox.UpdateProposal(cur, page)
			case made || page.Outcome != "":
				return nil, nil // a person deleted it
			}
			return inbox.WriteProposal(page), nil
		})
		d.o.at("page written")
		return err
	}, func(v any) {
		st.busy, d.dirty = false, true
		if err, _ := v.(error); err != nil {
			if st.fault.failed(time.Now(), err) {
				d.say("%s", named(p.Path, err))
			}
			return
		}
		st.shape, st.made, st.fault = shape, true, trouble{}
		if page.Outcome == "" {
			st.open = &page
		}
		d.lookSoon(p.Path, 0)
	})
}

// pageOf is the page of a proposal, without its diffs.
func (m *model) pageOf(r *run, p *dispatch.Proposal) inbox.Proposal {
	link := func(to, text string) string { return dispatch.Link(p.Path, to, text, m.wiki) }
	out := inbox.Proposal{
		ID: p.Offer, Agent: r.Agent, Title: r.Card.Title, Status: statusOf(p.Fate), Created: p.Since.Local(), Reason: p.Reason, Outcome: outcome(p),
		Board: link(r.Board, trimMD(path.Base(r.Board))), Chat: link(m.chatPath(r), "chat"),
	}
	if out.Outcome != "" && !p.At.IsZero() {
		out.Outcome += " · " + p.By + " · " + p.At.Local().Format("15:04")
	}
	if p.Fate == dispatch.FateApplied {
		out.Next = "deckhand revert " + p.Offer
	}
	for _, c := range p.Changes {
		out.Files = append(out.Files, inbox.ProposalFile{Kind: c.Kind, Name: c.Name(), Reason: strings.TrimSpace(c.Again + "\n" + c.Reason), Added: c.Added, Removed: c.Removed})
	}
	return out
}

// statusOf is a fate in the words of the journal.
func statusOf(f dispatch.Fate) string {
	switch f {
	case dispatch.FateOpen:
		return "waiting"
	case dispatch.FateLost:
		return "interrupted"
	}
	return string(f)
}

// openPages are the pages that are read, by path.
func (m *model) openPages() map[string]inbox.Proposal {
	out := map[string]inbox.Proposal{}
	for _, r := range m.runs {
		for i := range r.Proposals {
			p := &r.Proposals[i]
			if st := r.pages[p.Offer]; p.Fate == dispatch.FateOpen && st != nil && st.open != nil {
				out[p.Path] = *st.open
			}
		}
	}
	return out
}

// onProposal reads what a person made of the page of a proposal.
func onProposal(at string, src []byte, p inbox.Proposal) []dispatch.Made {
	read := inbox.ReadProposal(src, p)
	made := dispatch.Made{Offer: p.ID, By: dispatch.ByPage, Path: at, Text: read.Note, Changed: read.Changed}
	for _, box := range read.Boxes {
		if _, choice := dispatch.CutOffer(box.ID); box.Ticked && choice >= 0 {
			made.Ticked = append(made.Ticked, choice)
		}
	}
	return []dispatch.Made{made}
}
