package daemon

import (
	"context"
	"net/http"
	"time"

	"deckhand/dispatch"
	"deckhand/internal/control"
)

// backend answers clients from the loop's state.
type backend struct{ d *daemon }

// serve opens the control socket.
func (d *daemon) serve() error {
	l, err := control.Listen(d.f.socket(d.o.Runtime))
	if err != nil {
		return err
	}
	srv := control.NewServer(&backend{d})
	d.wg.Go(func() {
		if err := srv.Serve(d.ctx, l); err != nil && d.ctx.Err() == nil && err != http.ErrServerClosed {
			d.post(func() { d.say("control socket: %v", err) })
		}
	})
	return nil
}

// inLoop runs fn in the loop and gives back what it returns.
func inLoop[T any](ctx context.Context, d *daemon, fn func() (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	got := make(chan answer, 1)
	job := func() { v, err := fn(); got <- answer{v, err} }
	var zero T
	select {
	case d.inbox <- job:
	case <-ctx.Done():
		return zero, ctx.Err()
	case <-d.ctx.Done():
		return zero, errEnding
	}
	select {
	case a := <-got:
		return a.v, a.err
	case <-ctx.Done():
		return zero, ctx.Err()
	case <-d.ctx.Done():
		return zero, errEnding
	}
}

var errEnding = &control.Error{Text: "the daemon is ending", Hint: "deckhand watch", Code: control.CodeNoDaemon}

func (b *backend) Status(ctx context.Context) (control.Status, error) {
	return inLoop(ctx, b.d, func() (control.Status, error) { return b.d.statusNow(), nil })
}

// statusNow is the status with reasons that are true now: that a card starts in
// four seconds is not true for long. Nothing is acted on.
func (d *daemon) statusNow() control.Status {
	now := time.Now()
	if d.ready {
		d.decision = dispatch.Reconcile(d.world(now))
		d.dirty = d.dirty || len(d.decision.Actions) > 0
	}
	return d.status(now)
}

func (b *backend) Why(ctx context.Context, card string) (control.Why, error) {
	return inLoop(ctx, b.d, func() (control.Why, error) { return b.d.why(card, time.Now()) })
}

func (b *backend) Prompt(ctx context.Context, card string) (control.Prompt, error) {
	return inLoop(ctx, b.d, func() (control.Prompt, error) { return b.d.model.prompt(card, b.d.readNote) })
}

// Log reads the run's files outside the loop: a long capture holds up nobody.
func (b *backend) Log(ctx context.Context, run string, since int64) (control.Log, error) {
	r, err := b.find(ctx, run)
	if err != nil {
		return control.Log{}, err
	}
	return b.d.trace(r, since)
}

func (b *backend) Chat(ctx context.Context, run string) (control.Chat, error) {
	return inLoop(ctx, b.d, func() (control.Chat, error) {
		r, fault := b.d.run(run)
		if fault != nil {
			return control.Chat{}, fault
		}
		return b.d.chat(r)
	})
}

func (b *backend) Journal(ctx context.Context, since time.Time) ([]control.JournalEntry, error) {
	return inLoop(ctx, b.d, func() ([]control.JournalEntry, error) { return b.d.events(since) })
}

func (b *backend) Boards(ctx context.Context) ([]control.Board, error) {
	return inLoop(ctx, b.d, func() ([]control.Board, error) { return b.d.boardViews(), nil })
}

// find gives a copy of what the loop knows of a run.
func (b *backend) find(ctx context.Context, name string) (*run, error) {
	return inLoop(ctx, b.d, func() (*run, error) {
		r, fault := b.d.run(name)
		if fault != nil {
			return nil, fault
		}
		state := *r.Run
		return &run{Run: &state, dir: r.dir}, nil
	})
}

func (b *backend) Do(ctx context.Context, c control.Command) (control.Result, error) {
	return inLoop(ctx, b.d, func() (control.Result, error) { return b.d.command(c) })
}

func (b *backend) Events(ctx context.Context, since int64) (<-chan control.Event, error) {
	return inLoop(ctx, b.d, func() (<-chan control.Event, error) {
		return b.d.clients.join(ctx, b.d.statusNow(), since), nil
	})
}
