package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"deckhand/dispatch"
	"deckhand/harness"
)

// grace is how long an agent whose turn is over may take to go by itself.
const grace = 5 * time.Second

// byItself is who resumes a run that on_interrupt: resume lets go on.
const byItself = "on_interrupt: resume"

// mostResumes is how often a run goes on by itself before a person is asked: a
// machine that kills it each time must not pay for it for ever.
const mostResumes = 3

// follow attaches the loop to a life.
func (d *daemon) follow(r *run, s spawned) {
	n := s.life.N
	r.use = usage{life: n}
	r.talk = &talk{role: r.Agent, life: n}
	r.prompt = s.prompt
	r.runner = newRunner(d.ctx, s, follower{
		post: d.post, news: &d.news, spawn: d.wg.Go,
		event: func(e harness.Event) { d.hear(r, n, e) },
		left:  d.leftInCopy(r, n),
		read:  func() { delete(d.busy, r.ID); d.dirty = true },
		end:   func(e end) { d.lifeEnded(r, s.life, e) },
	})
	d.busy[r.ID] = true
	if len(s.receipt) > 0 && r.Open() {
		d.lookNotes(r)
	}
	r.chatDue = time.Now().Add(chatFirst)
	if r.Phase == dispatch.PhaseStopping {
		r.runner.stop()
	}
}

// hear takes one event of an agent.
func (d *daemon) hear(r *run, life int, e harness.Event) {
	entry := dispatch.Entry{Life: life, Seq: e.Seq}
	switch e.Kind {
	case harness.Bound:
		entry.Kind, entry.Session = dispatch.Bound, e.Session
	case harness.AskOpen:
		entry.Kind, entry.Ask = dispatch.Asked, askOf(e.Ask)
	case harness.Propose:
		entry.Kind = dispatch.Proposed
		d.proposed(r, entry, e.Proposal)
		entry.Kind = "" // it is logged when it was looked at
	case harness.AskGone:
		entry.Kind, entry.Ask, entry.Reason = dispatch.AskGone, &dispatch.Ask{ID: e.AskID}, e.Reason
	case harness.UsageSeen:
		r.use.add(e.Usage)
		r.model = cmp.Or(e.Usage.Model, r.model)
	case harness.Late:
		d.unread(r, e.Row, e.Text)
	case harness.Done:
		entry = finished(r, entry, e)
	}
	first := !r.talk.began
	r.talk.began = true
	if r.takes(entry) {
		d.fact(r, entry)
	}
	now, soon := r.talk.hear(e, d.askItem(r, e.Ask))
	if e.Kind == harness.Done && r.runner != nil {
		r.runner.turnOver()
		if r.Phase == dispatch.PhaseEnding {
			r.runner.finish(grace)
		}
	}
	d.chatLater(r, now || first, soon)
	d.clients.event(r, e)
}

// finished is the entry of the end of a turn. A turn that ends in a question
// is not over for its run: it waits.
func finished(r *run, entry dispatch.Entry, e harness.Event) dispatch.Entry {
	if e.Outcome == harness.Completed && e.Question {
		entry.Kind = dispatch.Asked
		entry.Ask = &dispatch.Ask{ID: "q" + strconv.FormatInt(e.Seq, 10), Kind: "question", Title: lastParagraph(e.Text)}
		return entry
	}
	entry.Kind, entry.Text, entry.Reason = dispatch.Finished, short(e.Text, 4000), e.Reason
	entry.Outcome = dispatch.Failed
	if e.Outcome == harness.Completed {
		entry.Outcome = dispatch.Review
	}
	if entry.Outcome == dispatch.Failed && entry.Reason == "" {
		entry.Reason = "the turn ended: " + e.Outcome
	}
	if r.Phase == dispatch.PhaseStopping {
		entry.Outcome, entry.Reason = dispatch.Stopped, ""
	}
	entry.Tokens, entry.Cost = r.use.tokens, r.use.cost
	return entry
}

func askOf(a *harness.Ask) *dispatch.Ask {
	return &dispatch.Ask{
		ID: a.ID, Kind: a.Kind, Title: a.Title, Message: a.Message, Options: a.Options,
		Prefill: a.Prefill, Placeholder: a.Placeholder, Timeout: a.Timeout,
	}
}

// lifeEnded is told that a life is over: exit known, or keeper killed. What
// the agent started and left behind is ended first. A capture that cannot be
// read says nothing about its agent: it is followed again, soon.
func (d *daemon) lifeEnded(r *run, life *harness.Life, e end) {
	r.runner = nil
	delete(d.busy, r.ID)
	if e.err != nil {
		if r.fault.failed(time.Now(), e.err) {
			d.say("run %s: %v", r.ID, e.err)
		}
		r.lost, r.fault.again = r.fault.again, time.Time{}
		return
	}
	r.talk.began = r.talk.began || !e.nothing
	if e.before != nil {
		e.before()
	}
	for _, ev := range e.events {
		d.hear(r, life.N, ev)
	}
	d.busy[r.ID] = true
	token, keep := life.Token(), d.machine.SweepKeep
	d.queues.add("run:"+r.ID, func() any {
		ended, kept, err := harness.Sweep(d.ctx, token, keep)
		return swept{ended, kept, err}
	}, func(v any) {
		delete(d.busy, r.ID)
		d.unsent(r, life.N, e)
		if e.nothing && d.startAgain(r) {
			return
		}
		d.lifeOver(r, life.N, e, v.(swept))
	})
}

// followAgain follows a life whose capture could not be read. One that is to be
// stopped and cannot be spoken to is killed.
func (d *daemon) followAgain(r *run, now time.Time) {
	if r.lost.IsZero() || now.Before(r.lost) {
		return
	}
	r.lost = time.Time{}
	life, _, err := latest(r)
	if err == nil && life != nil {
		err = d.attach(r, life)
	}
	if err == nil {
		return
	}
	if life != nil && r.Phase == dispatch.PhaseStopping {
		err = errors.Join(err, life.Send(harness.Send{ID: "lost", Do: harness.DoKill}))
	}
	d.unreadable(r, life, err)
}

// startAgain starts another life for one whose keeper died before it had done
// anything: nothing ran, and what it was told is owed. Not for ever: a keeper that cannot live has a reason.
func (d *daemon) startAgain(r *run) bool {
	if r.misses++; r.misses > 2 || r.Phase != dispatch.PhaseWorking {
		return false
	}
	return d.log(r, dispatch.Entry{Kind: dispatch.Resumed, By: "start", Lines: r.Unsaid()})
}

type swept struct {
	ended, kept []harness.Proc
	err         error
}

func (d *daemon) lifeOver(r *run, n int, e end, s swept) {
	for _, p := range s.ended {
		d.said(r, n, fmt.Sprintf("ended what the agent left behind: %s (process %d)", p.Name, p.PID))
	}
	for _, p := range s.kept {
		d.said(r, n, fmt.Sprintf("still there, and left alone: %s (process %d)", p.Name, p.PID))
	}
	if s.err != nil {
		d.said(r, n, "sweep: "+s.err.Error())
	}
	if r.Live() && r.Phase != dispatch.PhaseClaimed { // else its turn was over before: only its chat was to be completed
		d.fact(r, ended(r, n, e))
		d.say("%s: @%s on %q: %s", r.Board, r.Agent, r.Card.Title, r.ending())
	}
	r.use.seen = nil
	d.chatLater(r, true, true)
	if r.Phase == dispatch.PhaseOver && r.Outcome == dispatch.Broken && d.machine.OnInterrupt == "resume" && r.resumes < mostResumes {
		d.log(r, dispatch.Entry{Kind: dispatch.Resumed, By: byItself, Lines: r.Unsaid()})
	}
}

// ended is the entry of a life that is over while its run was not.
func ended(r *run, n int, e end) dispatch.Entry {
	entry := dispatch.Entry{Kind: dispatch.Ended, Life: n}
	entry.Tokens, entry.Cost = r.uncounted()
	if e.removed {
		entry.Reason = "the folder of its run was removed"
		return entry
	}
	if e.gone && r.Phase != dispatch.PhaseEnding && r.Phase != dispatch.PhaseStopping {
		entry.Kind, entry.Reason = dispatch.Interrupted, "its keeper was killed or the machine restarted; what the agent did last is not known"
		return entry
	}
	if e.exit != nil {
		entry.Exit, entry.Reason = &dispatch.Exit{Code: e.exit.Code, Signal: e.exit.Signal}, e.exit.Reason
	}
	if r.Phase == dispatch.PhaseWorking || r.Phase == dispatch.PhaseWaiting {
		entry.Reason = cmp.Or(entry.Reason, "the agent ended without finishing its turn")
	}
	return entry
}
