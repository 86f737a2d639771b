package daemon

import (
	"context"
	"encoding/json"

	"deckhand/harness"
	"deckhand/internal/control"
)

// backlog is how many events a client may be behind. One that does not keep up
// is let go; it comes back and gets a snapshot.
const backlog = 256

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

// join adds a client; it gets a snapshot first.
func (c *clients) join(ctx context.Context, now control.Status, _ int64) <-chan control.Event {
	cl := &client{ctx: ctx, out: make(chan control.Event, backlog)}
	cl.out <- control.Event{Seq: c.seq, Kind: "snapshot", Data: now}
	c.list = append(c.list, cl)
	return cl.out
}

// send gives an event to everybody who still listens and keeps up.
func (c *clients) send(kind, run string, data any) {
	if len(c.list) == 0 {
		return
	}
	c.seq++
	kept := c.list[:0]
	for _, cl := range c.list {
		if cl.ctx.Err() != nil {
			close(cl.out)
			continue
		}
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

// any reports whether somebody listens.
func (c *clients) any() bool { return len(c.list) > 0 }

// status tells a changed status.
func (c *clients) status(s control.Status) {
	data, err := json.Marshal(s)
	if err != nil || string(data) == c.last {
		return
	}
	c.last = string(data)
	c.send("status", "", s)
}

// event tells what an agent did.
func (c *clients) event(r *run, e harness.Event) {
	c.send("run", r.ID, control.LogEvent{N: e.Seq, Time: e.Time, Kind: string(e.Kind), Text: e.Text})
}
