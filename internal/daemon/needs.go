package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/inbox"
	"deckhand/internal/store"
)

// needsName is the page of what waits for the person.
const needsName = "Needs me.md"

// needsPath is where that page is.
func (m *model) needsPath() string { return path.Join(m.settings.Output, needsName) }

// needs is what waits for a person: newest first.
func (m *model) needs(now time.Time) []inbox.Need {
	page := m.needsPath()
	link := func(to, text string) string { return dispatch.Link(page, to, text, m.wiki) }
	var out []inbox.Need
	for _, r := range m.sorted() {
		for _, n := range m.needsOf(r) {
			n.Agent, n.Card = r.Agent, r.Card.Title
			n.Board, n.Chat = link(r.Board, trimMD(path.Base(r.Board))), link(m.chatPath(r), "chat")
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b inbox.Need) int { return b.Since.Compare(a.Since) })
	for _, v := range m.decision.Cards {
		if held := v.Held(); len(held) > 0 && v.Board.Inactive == "" { // else the board itself is named below
			out = append(out, heldNeed(v, held))
		}
	}
	for _, p := range m.paths() {
		if b := m.boards[p].board; b.Inactive != "" {
			hint := dispatch.Mend(&dispatch.Seen{Board: b})
			out = append(out, inbox.Need{Kind: "conflict", Card: p, Text: b.Inactive, Next: hint, Board: link(p, trimMD(path.Base(p)))})
		}
	}
	return out
}

func heldNeed(v dispatch.Verdict, held []dispatch.Reason) inbox.Need {
	n := inbox.Need{Kind: "held", Card: v.Card.Title}
	var lines, hints []string
	for _, h := range held {
		lines = append(lines, where(v.Board.Path, v.Card.Line, 0)+": "+h.Text)
		if h.Hint != "" {
			hints = append(hints, h.Hint)
		}
	}
	n.Text = strings.Join(lines, "\n")
	if len(hints) > 0 {
		n.Next = hints[0]
	}
	return n
}

// needsOf is what a run wants of a person: one thing, or each of its questions.
func (m *model) needsOf(r *run) []inbox.Need {
	var along []string
	for _, note := range m.decision.Notes {
		switch {
		case note.Run != r.ID:
		case note.Along:
			along = append(along, note.Text)
		default:
			return []inbox.Need{{Kind: "held", Since: r.Turn, Text: note.Text, Next: note.Hint}}
		}
	}
	var out []inbox.Need
	switch n, ok := m.needOf(r); {
	case r.Phase == dispatch.PhaseWaiting:
		for _, a := range r.Asks {
			if !m.covered(r, a.ID) {
				out = append(out, m.askNeed(r, a))
			}
		}
	case ok:
		out = append(out, n)
	case len(along) > 0:
		out = append(out, inbox.Need{Kind: "held", Since: r.Turn})
	}
	for _, p := range r.Undecided() {
		out = append(out, inbox.Need{
			Kind: "asks", Since: p.Since, Text: p.Asks() + "\n" + p.Reason, Next: "deckhand apply " + p.Offer,
			Page: dispatch.Link(m.needsPath(), p.Path, "proposal", m.wiki),
		})
	}
	for i := range out {
		out[i].Facts = append(out[i].Facts, along...)
	}
	return out
}

func (m *model) askNeed(r *run, a dispatch.Ask) inbox.Need {
	n := inbox.Need{Kind: "asks", Since: a.Since, Text: a.Title}
	if a.Kind != "question" {
		n.Code = a.Message
	}
	o := dispatch.OfferOf(a)
	if o.ID == "" || m.machine.Answers == "terminal" && o.Permission() {
		n.Next = "deckhand answer " + strings.ToLower(r.ID)
		if len(a.Options) > 0 {
			n.Text += "\n" + strings.Join(a.Options, "\n")
		}
		return n
	}
	n.Boxes, n.Offer = o.Lines(), o.ID
	return n
}

func (m *model) needOf(r *run) (inbox.Need, bool) {
	n := inbox.Need{Next: next(r), Since: r.Ended}
	switch {
	case r.Phase != dispatch.PhaseOver && r.Phase != dispatch.PhaseEnding:
		return n, r.fault.text != "" && faultNeed(r, &n)
	case r.Outcome == dispatch.Review:
		n.Kind, n.Text, n.Facts = "review", r.Answer, figures(r)
		if m.settledByHand(r) {
			return n, false
		}
		overBoxes(r, &n)
	case r.Outcome == dispatch.Failed || r.Outcome == dispatch.Broken:
		n.Kind, n.Text = r.Outcome, r.Reason
		if !m.onBoard(r) {
			return n, false
		}
		overBoxes(r, &n)
	default:
		return n, false
	}
	return n, true
}

// overBoxes are how a run that is over goes on.
func overBoxes(r *run, n *inbox.Need) {
	if o := dispatch.OfferOver(r.Run); o.ID != "" {
		n.Boxes, n.Offer = o.Lines(), o.ID
	}
}

func faultNeed(r *run, n *inbox.Need) bool {
	n.Kind, n.Since, n.Text = "held", r.Turn, r.fault.String()
	return true
}

// settledByHand reports whether a person has taken a reviewed card on: it is
// not in review any more.
func (m *model) settledByHand(r *run) bool {
	s, ok := m.find(r)
	return !ok || s.card.Ticked() || s.lane.Role == board.Done
}

func figures(r *run) []string {
	out := []string{dispatch.Short(r.Ended.Sub(r.Turn))}
	if r.Cost != nil {
		out = append(out, dispatch.Money(*r.Cost))
	}
	return out
}

// needsState is what the page looked like, to see that it must be written.
type needsState struct {
	shape   string
	due     time.Time // looked at then, and written when it changed
	busy    bool
	took    []string // lines of the person that were answered with: they go with the next change
	trouble trouble
}

// needsLate is how long a change of the page waits: what follows it at once
// goes along, and an agent that is being started has the disk for itself.
const needsLate = 150 * time.Millisecond

// writeNeeds writes the page when it changed. Putting it together costs as much as
// there is on it, so that is not done for each event, and never before a start.
func (d *daemon) writeNeeds(now time.Time) {
	notOurs := d.held().Text != "" || d.unprobed() // another machine's folder, or nobody's: nothing of ours belongs there
	if notOurs || d.page.busy || !d.page.trouble.again.IsZero() {
		d.page.due = time.Time{}
		return
	}
	if d.page.due.IsZero() {
		d.page.due = now.Add(needsLate)
	}
	if now.Before(d.page.due) && !d.o.Once {
		return
	}
	d.page.due = time.Time{}
	needs := d.needs(now)
	shape := string(inbox.NeedsMe(needs, now))
	if shape == d.page.shape {
		return
	}
	d.page.busy = true
	d.pageNeeds = map[string]inbox.Need{}
	for _, n := range needs {
		if n.Offer != "" {
			d.pageNeeds[n.Offer] = n
		}
	}
	at, took := d.needsPath(), d.page.took
	mine := d.f.path("needs-me.txt")
	d.queues.add("needs", func() any { return writePage(d.ctx, d.store, at, mine, needs, took, now) }, func(v any) {
		d.page.busy, d.dirty = false, true
		if err, _ := v.(error); err != nil {
			if d.page.trouble.failed(time.Now(), err) {
				d.say("%s", named(at, err))
			}
			return
		}
		d.page.shape, d.page.trouble = shape, trouble{}
		d.page.took = d.page.took[len(took):]
	})
}

// writePage merges the page with what a person wrote into it. Which lines are
// ours is kept with the machine's state, before the page can show them.
// What a person wrote there and was answered with is taken off.
func writePage(ctx context.Context, s *store.Store, at, mine string, needs []inbox.Need, took []string, now time.Time) error {
	wrote, err := os.ReadFile(mine)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	both := slices.Concat(wrote, inbox.NeedsMe(needs, now), []byte(strings.Join(took, "\n")+"\n"))
	if err := writeFile(mine, both); err != nil {
		return err
	}
	res, err := s.UpdateNow(ctx, at, func(cur []byte) ([]byte, error) {
		if cur == nil && len(needs) == 0 {
			return nil, nil // no page is needed to say that nothing is
		}
		return inbox.Update(cur, both, needs, now)
	})
	if err != nil {
		return err
	}
	return writeFile(mine, inbox.Wrote(res.Bytes, both, needs, now))
}

// next is what to type about a run.
func next(r *run) string {
	id := strings.ToLower(r.ID)
	switch r.Phase {
	case dispatch.PhaseWaiting:
		if all := r.Undecided(); len(r.Asks) == 0 && len(all) > 0 {
			return "deckhand apply " + all[0].Offer
		}
		return "deckhand answer " + id
	case dispatch.PhaseOver, dispatch.PhaseEnding:
		if r.Outcome != dispatch.Review && r.Outcome != dispatch.Accept {
			return "deckhand retry " + id
		}
	}
	return ""
}
