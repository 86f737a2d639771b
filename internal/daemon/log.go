package daemon

import (
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"deckhand/dispatch"
)

// A run's log takes two kinds of entries. A decision is written first and
// counts then: what cannot be written is not done. A fact has happened, written
// or not: an agent asked, a process ended, a card was changed. It counts at
// once and is written as soon as the disk takes it, and until then nothing is
// decided about its run, so that the log keeps the order of what happened.

// log writes a decision. It reports false, and nothing has happened, when the
// disk does not take it: nothing new is decided for a while.
func (d *daemon) log(r *run, e dispatch.Entry) bool {
	if d.stuck() || len(r.unlogged) > 0 {
		return false
	}
	e = d.stamped(r, e)
	if !d.written(r, e) {
		return false
	}
	d.apply(r, e)
	d.record.note(d, r, e)
	return true
}

// apply adds an entry to what is known of a run.
func (d *daemon) apply(r *run, e dispatch.Entry) {
	r.apply(e)
	switch e.Kind {
	case dispatch.Answered, dispatch.Steered, dispatch.AskGone, dispatch.Resumed, dispatch.Accepted, dispatch.Ended:
		r.chatSoon = true
	}
	if e.By == dispatch.ByNote {
		d.page.took = append(d.page.took, e.Took...)
	}
	if r.ahead != nil && !r.Live() {
		d.dropAhead(r, func() {})
	}
}

// fact writes what has happened.
func (d *daemon) fact(r *run, e dispatch.Entry) {
	e = d.stamped(r, e)
	d.apply(r, e)
	d.dirty = true
	if len(r.unlogged) > 0 || !d.written(r, e) {
		r.unlogged = append(r.unlogged, e)
		return
	}
	d.record.note(d, r, e)
}

// said writes a remark.
func (d *daemon) said(r *run, life int, text string) {
	d.fact(r, dispatch.Entry{Kind: dispatch.Said, Life: life, Reason: text})
}

// stamped gives an entry its id, and its place among what the agent said: an
// entry that comes from no line of the capture stands behind the last one heard.
func (d *daemon) stamped(r *run, e dispatch.Entry) dispatch.Entry {
	now := time.Now().Truncate(time.Millisecond)
	e.ID, e.Time, e.Run = d.ids.next(now), now, r.ID
	switch e.Kind {
	case dispatch.Ended, dispatch.Interrupted:
		if r.Phase == dispatch.PhaseEnding {
			break // its turn was over before, and has an offer
		}
		e.Offer = d.offers.next()
	case dispatch.Asked, dispatch.Finished, dispatch.Proposed:
		e.Offer = d.offers.next()
	}
	if e.Seq == 0 && r.talk != nil && (e.Life == 0 || e.Life == r.talk.life) {
		switch e.Kind {
		case dispatch.Started, dispatch.Chat, dispatch.Chatted:
		default:
			e.Life, e.Seq = r.talk.life, r.talk.seen
		}
	}
	return e
}

// written appends an entry to its run's log.
func (d *daemon) written(r *run, e dispatch.Entry) bool {
	d.o.at("log " + string(e.Kind))
	line, err := json.Marshal(e)
	if err == nil {
		err = r.dir.AppendLog(line)
	}
	d.o.at("logged " + string(e.Kind))
	switch {
	case errors.Is(err, fs.ErrNotExist): // its folder was deleted: no reason to hold up the others
		if r.fault.failed(time.Now(), err) {
			d.say("run %s: %v", r.ID, err)
		}
		return false
	case err != nil:
		d.stall(err)
		return false
	}
	d.stalled, d.dirty = trouble{}, true
	return true
}

// stall lets nothing new be decided for a while: the state cannot be written.
func (d *daemon) stall(err error) {
	if d.stalled.failed(time.Now(), err) {
		d.say("the state cannot be written, nothing is started: %v", err)
	}
}

// catchUp writes the facts that the disk did not take.
func (d *daemon) catchUp() {
	for _, r := range d.sorted() {
		for len(r.unlogged) > 0 {
			if !d.written(r, r.unlogged[0]) {
				return
			}
			d.record.note(d, r, r.unlogged[0])
			r.unlogged = r.unlogged[1:]
		}
	}
}
