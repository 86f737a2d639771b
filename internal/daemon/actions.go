package daemon

import (
	"fmt"
	"time"

	"deckhand/dispatch"
	"deckhand/harness"
)

// act carries out one action: it logs it, and puts its effect on the way. It
// reports false when nothing could be done now.
func (d *daemon) act(a dispatch.Action) bool {
	r := d.runs[a.Run]
	switch a.Do {
	case dispatch.DoClaim:
		return d.claim(a)
	case dispatch.DoShow:
		return d.show(r, a)
	case dispatch.DoStart:
		return d.startLife(r)
	case dispatch.DoTakeBack:
		return d.takeBack(r, a)
	case dispatch.DoStop:
		return d.stop(r, dispatch.Entry{By: a.By, Reason: a.Reason, Offer: a.Offer})
	case dispatch.DoAddLanes:
		return d.addLanes(a.Board)
	case dispatch.DoClear:
		return d.clear(r, a)
	case dispatch.DoResume:
		return d.log(r, dispatch.Entry{Kind: dispatch.Resumed, By: a.By, Lines: a.Lines, Offer: a.Offer, Took: a.Took})
	case dispatch.DoAccept:
		return d.log(r, dispatch.Entry{Kind: dispatch.Accepted, By: a.By, Offer: a.Offer})
	case dispatch.DoAnswer:
		ask := r.AskByID(a.Ask)
		return ask != nil && d.answer(r, *ask, *a.Answer, dispatch.Entry{By: a.By, Offer: a.Offer, Took: a.Took, Approval: a.Approval})
	case dispatch.DoDecide:
		return d.decide(r, dispatch.Entry{By: a.By, Offer: a.Offer, Files: a.Files, Text: a.Text})
	case dispatch.DoSteer:
		return d.steer(r, dispatch.Entry{How: "steer", Text: a.Text, By: a.By, Offer: a.Offer})
	case dispatch.DoTimeout:
		return d.log(r, dispatch.Entry{Kind: dispatch.AskGone, Ask: &dispatch.Ask{ID: a.Ask}, Reason: a.Reason})
	}
	return false
}

// claim makes a run for a card.
func (d *daemon) claim(a dispatch.Action) bool {
	now := time.Now()
	id := d.ids.next(now)
	dir, err := harness.CreateDir(d.f.state, id)
	if err != nil {
		d.stall(err)
		return false
	}
	card := a.Card
	r := newRun(&dispatch.Run{ID: id}, dir)
	d.runs[id] = r
	d.hireAhead(r, a.Agent)
	chat := d.chatName(now, card.Title)
	ok := d.log(r, dispatch.Entry{
		Kind: dispatch.Claimed, Card: &card, Agent: a.Agent, Project: a.Project, Folder: a.Folder, By: a.By,
		Nonce: d.nonce(card), Chat: chat, Earlier: a.Earlier,
	})
	if !ok {
		d.forgetRun(r, chat)
		return false
	}
	d.writeAhead(r, a)
	d.say("%s:%d: @%s takes %q", card.Board, card.Line, a.Agent, card.Title)
	return true
}

// served takes note that a card a person asked for by command has its run. Until
// the claim stands on the board a kill takes it back, and then the person's word
// still has to count.
func (d *daemon) served(id dispatch.CardID) {
	if !d.forced[id] {
		return
	}
	if err := d.f.force(id, false); err != nil {
		d.say("%v", err)
	}
	delete(d.forced, id)
}

// stop ends the agent of a run before its turn is over; why is what its log says.
func (d *daemon) stop(r *run, why dispatch.Entry) bool {
	why.Kind = dispatch.Stopping
	if r.Phase == dispatch.PhaseStopping || !d.log(r, why) {
		return false
	}
	d.say("%s: stopping @%s on %q: %s", r.Board, r.Agent, r.Card.Title, why.Reason)
	switch {
	case !r.Live(): // it was interrupted: nothing is left to be ended
	case r.runner != nil:
		r.runner.stop()
	case r.starting || !r.lost.IsZero(): // follow sees that it is to be stopped
	default:
		d.fact(r, dispatch.Entry{Kind: dispatch.Ended})
	}
	return true
}

func short(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

func usd(v *float64) string {
	if v == nil {
		return "cost unknown"
	}
	return dispatch.Money(*v)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
