package daemon

import (
	"time"

	"deckhand/harness"
)

// tidyEvery is how often captures that are too old or too much are dropped.
const tidyEvery = time.Hour

// tidy does what is to be done now and then.
func (d *daemon) tidy(now time.Time) {
	if now.Sub(d.probed) >= slowest && d.missing() {
		d.probe()
	}
	if now.Sub(d.pruned) >= tidyEvery {
		d.pruned = now
		d.prune()
	}
}

// prune drops captures that are too old or too much, never of an open run.
func (d *daemon) prune() {
	state, days, size := d.f.state, d.machine.KeepDays, d.machine.KeepSize
	d.queues.add("prune", func() any {
		_, err := harness.Prune(state, days, size, d.isOpen)
		return err
	}, func(v any) {
		if err, _ := v.(error); err != nil {
			d.say("captures: %v", err)
		}
	})
}

// isOpen asks the loop whether a run is open; of one that is not known, and at
// the end, it may be.
func (d *daemon) isOpen(run string) bool {
	open := make(chan bool, 1)
	d.post(func() {
		r := d.runs[run]
		open <- r == nil || r.Live()
	})
	select {
	case is := <-open:
		return is
	case <-d.ctx.Done():
		return true
	}
}
