package daemon

import (
	"context"
	"encoding/json"
	"slices"

	"deckhand/harness"
	"deckhand/internal/control"
)

// backlog is how many events a client may be behind: as many as the loop sends
// before whoever takes them gets to run. One that does not keep up is let go; it
// comes back and gets a snapshot.
const backlog = 2048

// clients are those who listen to events. It belongs to the loop.
type clients struct {
	list []*client
	seq  int64
	last string // the last status sent, to see that it changed
}

type client struct {
	ctx context.Context
	out chan control.Event
}

// join adds a client; it gets a snapshot first, and then what changes: whatever
// it missed is in the snapshot, and of a run's events in its trace.
func (c *clients) join(ctx context.Context, now control.Status) <-chan control.Event {
	c.status(now) // the others, too, so that all are told of the same changes from here on
	c.last = shapeOf(now)
	cl := &client{ctx: ctx, out: make(chan control.Event, backlog)}
	cl.out <- control.Event{Seq: c.seq, Kind: "snapshot", Data: now}
	c.list = append(c.list, cl)
	return cl.out
}

// send gives an event to everybody who still listens and keeps up.
func (c *clients) send(kind, run string, data any) {
	c.leave()
	if len(c.list) == 0 {
		return
	}
	c.seq++
	kept := c.list[:0]
	for _, cl := range c.list {
		select {
		case cl.out <- control.Event{Seq: c.seq, Kind: kind, Run: run, Data: data}:
			kept = append(kept, cl)
		default:
			close(cl.out)
		}
	}
	clear(c.list[len(kept):])
	c.list = kept
}

// leave lets those go who do not listen any more.
func (c *clients) leave() {
	c.list = slices.DeleteFunc(c.list, func(cl *client) bool {
		if cl.ctx.Err() == nil {
			return false
		}
		close(cl.out)
		return true
	})
}

// any reports whether somebody listens.
func (c *clients) any() bool {
	c.leave()
	return len(c.list) > 0
}

// status tells a changed status.
func (c *clients) status(s control.Status) {
	if shape := shapeOf(s); shape != c.last {
		c.last = shape
		c.send("status", "", s)
	}
}

// shapeOf tells two statuses apart.
func shapeOf(s control.Status) string {
	data, err := json.Marshal(s)
	if err != nil {
		return err.Error() // a status is data alone
	}
	return string(data)
}

// event tells what an agent did.
func (c *clients) event(r *run, e harness.Event) {
	c.send("run", r.ID, control.LogEvent{N: e.Seq, Time: e.Time, Kind: string(e.Kind), Text: e.Text})
}
