package daemon

import (
	"fmt"
	"time"

	"deckhand/dispatch"
)

// post gives the loop something to do. It waits for the loop, so that a flood
// is held back where it comes from, and gives up when the daemon ends.
func (d *daemon) post(fn func()) {
	select {
	case d.inbox <- fn:
	case <-d.ctx.Done():
	}
}

// loop is the one goroutine that owns the state.
func (d *daemon) loop() error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if d.dirty && d.ready && d.rereading == 0 {
			d.reconcile()
		}
		if d.o.Once {
			if over, err := d.over(); over {
				return err
			}
		}
		timer.Reset(time.Until(d.nextWake()))
		select {
		case <-d.ctx.Done():
			return d.failure
		case fn := <-d.inbox:
			fn()
			d.drain()
		case <-timer.C:
			d.dirty = true
			d.due(time.Now())
		}
	}
}

// drain handles what has come in meanwhile, so that one look serves a burst.
func (d *daemon) drain() {
	for range cap(d.inbox) {
		select {
		case fn := <-d.inbox:
			fn()
		default:
			return
		}
	}
}

// decides reports whether anything may be decided now.
func (d *daemon) decides() bool { return d.ready && d.rereading == 0 && !d.stuck() }

// stuck reports whether the state could not be written a moment ago.
func (d *daemon) stuck() bool { return !d.stalled.again.IsZero() }

// rounds bounds how often one wake-up looks again after its own actions.
const rounds = 16

func (d *daemon) reconcile() {
	d.dirty = false
	if !d.stuck() {
		d.catchUp()
		d.tryAgain(time.Now())
	}
	d.forgetGone()
	now := time.Now()
	for range rounds {
		if d.stuck() { // only to be looked at
			d.decision, d.acted = dispatch.Reconcile(d.view(now)), 0
			break
		}
		d.decision = dispatch.Reconcile(d.world(now))
		d.mem = d.decision.Memory
		if d.acted = d.actAll(d.decision.Actions); d.acted == 0 && !d.stuck() {
			break
		}
	}
	d.wake = d.decision.Wake
	for _, r := range d.runs {
		d.deliver(r)
		if r.chatSoon && !d.busy[r.ID] {
			r.chatSoon = false
			d.writeChat(r, true)
		}
	}
	d.survey(now)
	d.writePages(now)
	d.report(now)
	d.notify(now)
	d.runsBase()
}

// actAll carries out actions, until one finds that nothing can be written, and
// counts those that could be done.
func (d *daemon) actAll(actions []dispatch.Action) (acted int) {
	for _, a := range actions {
		if d.stuck() {
			break
		}
		if d.act(a) {
			acted++
		}
	}
	return acted
}

// slowest is the longest the loop sleeps: clocks that jump are looked at then.
const slowest = 10 * time.Minute

// nextWake is when something is due, if nothing happens before. What can only
// be done when something is decided is no reason to wake while nothing is.
func (d *daemon) nextWake() time.Time {
	at := time.Now().Add(slowest)
	earlier := func(t time.Time) {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	earlier(d.stalled.again)
	for _, t := range d.again {
		earlier(t)
	}
	if !d.decides() {
		return at
	}
	earlier(d.wake)
	earlier(d.record.trouble.again)
	earlier(d.record.due)
	earlier(d.page.trouble.again)
	earlier(d.page.due)
	earlier(d.surveyAgain)
	for _, w := range d.waits {
		earlier(w.until)
	}
	for _, s := range d.boards {
		earlier(s.lanes.again)
		earlier(s.refused.again)
	}
	for _, r := range d.runs {
		for _, p := range r.pages {
			earlier(p.fault.again)
		}
		earlier(r.fault.again)
		earlier(r.lost)
		earlier(r.untold.again)
		earlier(r.stuck.again)
		earlier(r.chatDue)
	}
	return at
}

// due does what was put off until now.
func (d *daemon) due(now time.Time) {
	d.stalled.due(now)
	d.lookDue(now)
	if !d.decides() {
		return
	}
	for id, r := range d.runs {
		if r.fault.due(now) {
			delete(d.writing, id)
		}
		r.untold.due(now)
		for _, p := range r.pages {
			p.fault.due(now)
		}
		if r.stuck.due(now) {
			d.carryOn(r)
		}
		d.followAgain(r, now)
		if !r.chatDue.IsZero() && !now.Before(r.chatDue) {
			d.writeChat(r, false)
		}
	}
	d.record.trouble.due(now)
	d.page.trouble.due(now)
	for path, s := range d.boards {
		s.lanes.due(now)
		if s.refused.due(now) {
			d.askBoard(path)
		}
	}
	d.record.flush(d, now)
	d.tidy(now)
}

// over reports whether a daemon that runs once has nothing left to do. It ends
// with an error when it cannot go on.
func (d *daemon) over() (bool, error) {
	if d.stalled.tries > enough {
		return true, fmt.Errorf("the state cannot be written: %s", d.stalled.text)
	}
	if !d.decides() || d.dirty || d.acted > 0 || len(d.again) > 0 || !d.queues.idle() || d.unprobed() {
		return false, nil
	}
	for _, r := range d.runs {
		if r.busy() {
			return false, nil
		}
	}
	if d.record.waits() {
		d.record.write(d) // nothing else is left: what waits is written now
		return false, nil
	}
	return !d.page.trouble.waits(), nil
}

// busy reports whether something of a run is still to come without a person.
func (r *run) busy() bool {
	switch {
	case r.fault.waits(), !r.lost.IsZero(), len(r.unlogged) > 0, r.untold.waits(), r.telling:
		return true
	case !r.chatDue.IsZero() && r.chatFault.tries < enough:
		return true
	}
	return r.Live() && r.Phase != dispatch.PhaseWaiting && !(r.fault.tries >= enough && r.Phase == dispatch.PhaseClaimed)
}
