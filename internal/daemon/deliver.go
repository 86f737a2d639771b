package daemon

import (
	"errors"
	"slices"
	"time"

	"deckhand/dispatch"
	"deckhand/harness"
)

// deliver sends an agent what it is owed, one after the other. Each is logged
// before, and its row has an id of its own: sent again, after a kill in between,
// it gets there once. What was there when a life was taken up is heard first;
// until then it is not known what the agent can be told.
func (d *daemon) deliver(r *run) {
	if len(r.Owed) == 0 || r.runner == nil || r.telling || d.busy[r.ID] || len(r.unlogged) > 0 || !r.untold.again.IsZero() {
		return
	}
	o, to := r.Owed[0], r.runner
	r.telling = true
	d.queues.add("say:"+r.ID, func() any {
		err := to.tell(harness.Command{
			ID: o.Row, Kind: o.Kind, Text: o.Text, Ask: o.Ask,
			Answer:   harness.Answer{Value: o.Answer.Value, Confirmed: o.Answer.Confirmed, Note: o.Answer.Note},
			Decision: harness.Decision(o.Ruling),
		})
		d.o.at("row sent")
		return err
	}, func(v any) {
		r.telling = false
		err, _ := v.(error)
		d.told(r, to, o, err)
		d.deliver(r)
	})
}

// told takes note of what became of something that an agent was owed.
func (d *daemon) told(r *run, to *runner, o dispatch.Owed, err error) {
	switch {
	case r.runner != to: // its life is over, or another one
	case err == nil:
		r.untold = trouble{}
		d.fact(r, dispatch.Entry{Kind: dispatch.Delivered, Row: o.Row})
	case errors.Is(err, harness.ErrNoTurn):
		if d.unread(r, o.Row, o.Text); o.Text == "" { // an answer has nothing that could be said later
			d.fact(r, dispatch.Entry{Kind: dispatch.Delivered, Row: o.Row})
		}
	default:
		if r.untold.failed(time.Now(), err) {
			d.say("run %s: %v", r.ID, err)
		}
	}
}

// unread is something that was said to an agent which did not read it before its
// turn was over. The run goes on with it, or, when it ended in a question, it goes
// along with the answer. A turn that is still to begin has had nothing to read.
func (d *daemon) unread(r *run, row, text string) {
	if text == "" || !r.Live() || r.Phase == dispatch.PhaseClaimed || slices.ContainsFunc(r.Late, func(l dispatch.Owed) bool { return l.Row == row }) {
		return
	}
	d.fact(r, dispatch.Entry{Kind: dispatch.Unread, Row: row, Text: text})
}

// unsent finds what was on its way to an agent that was gone before it came there.
// What the agent is owed and came there all the same, before a kill or in the last
// moment, is owed no more: it would be told twice.
func (d *daemon) unsent(r *run, life int, e end) {
	if e.removed {
		return // what came there is not known
	}
	for _, o := range slices.Clone(r.Owed) {
		if e.rows[o.Row] {
			d.fact(r, dispatch.Entry{Kind: dispatch.Delivered, Row: o.Row})
		}
	}
	for _, t := range r.Told {
		if row := t.RowOf(); row != "" && t.Life == life && !e.rows[row] {
			d.unread(r, row, t.What)
		}
	}
}
