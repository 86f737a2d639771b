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
	return answered(ctx, d, func(answer func(T, error)) { answer(fn()) })
}

// answered runs fn in the loop and waits until it has given its answer, then or
// later.
func answered[T any](ctx context.Context, d *daemon, fn func(answer func(T, error))) (T, error) {
	type given struct {
		v   T
		err error
	}
	got := make(chan given, 1)
	var zero T
	select {
	case d.inbox <- func() { fn(func(v T, err error) { got <- given{v, err} }) }:
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
	if d.ready && d.rereading == 0 {
		d.watched()
		d.decision = dispatch.Reconcile(d.view(now))
		d.dirty = d.dirty || len(d.decision.Actions) > 0
	}
	return d.status(now)
}

// view is the world as a person is to see it: while the state cannot be
// written, that is the reason why nothing starts.
func (d *daemon) view(now time.Time) dispatch.World {
	w := d.world(now)
	if d.stuck() {
		w.Set.Held = dispatch.Reason{Text: "the state cannot be written: " + d.stalled.text, Hint: "deckhand doctor"}
	}
	return w
}

func (b *backend) Why(ctx context.Context, card string) (control.Why, error) {
	return inLoop(ctx, b.d, func() (control.Why, error) { return b.d.why(card, b.d.view(time.Now())) })
}

// Prompt reads the linked notes outside the loop.
func (b *backend) Prompt(ctx context.Context, card string) (control.Prompt, error) {
	compose, err := inLoop(ctx, b.d, func() (func() control.Prompt, error) { return b.d.preview(card, b.d.readNote) })
	if err != nil {
		return control.Prompt{}, err
	}
	return compose(), nil
}

// Log reads the run's files outside the loop: a long capture holds up nobody.
func (b *backend) Log(ctx context.Context, run string, since int64) (control.Log, error) {
	t, err := inLoop(ctx, b.d, func() (tracing, error) { return b.d.tracing(run) })
	if err != nil {
		return control.Log{}, err
	}
	return b.d.traces.since(t, since)
}

// Chat reads the file outside the loop.
func (b *backend) Chat(ctx context.Context, run string) (control.Chat, error) {
	c, err := inLoop(ctx, b.d, func() (chatFile, error) { return b.d.chatFile(run) })
	if err != nil {
		return control.Chat{}, err
	}
	return c.read()
}

// Journal reads the logs outside the loop.
func (b *backend) Journal(ctx context.Context, since time.Time) ([]control.JournalEntry, error) {
	read, err := inLoop(ctx, b.d, func() (func() ([]control.JournalEntry, error), error) { return b.d.events(since), nil })
	if err != nil {
		return nil, err
	}
	return read()
}

func (b *backend) Boards(ctx context.Context) ([]control.Board, error) {
	return inLoop(ctx, b.d, func() ([]control.Board, error) { return b.d.boardViews(), nil })
}

func (b *backend) Approvals(ctx context.Context) ([]control.Approval, error) {
	return inLoop(ctx, b.d, func() ([]control.Approval, error) { return b.d.approvalViews(), nil })
}

func (b *backend) Proposals(ctx context.Context) ([]control.Proposal, error) {
	return inLoop(ctx, b.d, func() ([]control.Proposal, error) { return b.d.proposals(), nil })
}

// Diff reads the kept contents outside the loop.
func (b *backend) Diff(ctx context.Context, of string) (control.Diff, error) {
	diff, err := inLoop(ctx, b.d, func() (func() control.Diff, error) { return b.d.diff(of) })
	if err != nil {
		return control.Diff{}, err
	}
	return diff(), nil
}

func (b *backend) Do(ctx context.Context, c control.Command) (control.Result, error) {
	return answered(ctx, b.d, func(answer func(control.Result, error)) { b.d.command(c, answer) })
}

func (b *backend) Events(ctx context.Context, _ int64) (<-chan control.Event, error) {
	return inLoop(ctx, b.d, func() (<-chan control.Event, error) {
		return b.d.clients.join(ctx, b.d.statusNow()), nil
	})
}
