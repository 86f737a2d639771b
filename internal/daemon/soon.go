package daemon

import (
	"errors"
	"time"

	"deckhand/internal/control"
)

// soon is a refusal that ends by itself: the turn of an agent is over, and the
// agent is being ended. No status tells of the end of that.
type soon struct{ why *control.Error }

func (s soon) Error() string { return s.why.Error() }
func (s soon) Unwrap() error { return s.why }

// ending refuses what a run stands in the way of that is over in a moment.
func ending(r *run) error {
	return soon{&control.Error{Text: "the agent of " + r.Card.Title + " is still being ended", Hint: "try again in a moment", Code: control.CodeConflict}}
}

// mostWait is how long a command waits for agents that are being ended. One that
// heeds nothing is killed sooner.
const mostWait = 30 * time.Second

// postponed is a command that was refused for the moment.
type postponed struct {
	try   func() (control.Result, error)
	done  reply
	until time.Time
}

// whenEnded carries out a command that may have to wait for agents that are
// being ended: it was said at the right time, and nobody would say it again.
func (d *daemon) whenEnded(try func() (control.Result, error), done reply) {
	w := postponed{try, done, time.Now().Add(mostWait)}
	if !w.over(time.Now()) {
		d.waits = append(d.waits, w)
	}
}

// over tries a command, and reports whether it was answered.
func (w postponed) over(now time.Time) bool {
	res, err := w.try()
	if _, yet := errors.AsType[soon](err); yet && now.Before(w.until) {
		return false
	}
	w.done(res, err)
	return true
}

// tryAgain tries what waits, in its order.
func (d *daemon) tryAgain(now time.Time) {
	all := d.waits
	d.waits = nil
	for _, w := range all {
		if !w.over(now) {
			d.waits = append(d.waits, w)
		}
	}
}
