package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"deckhand/harness"
)

// runner follows one life of an agent: it decodes the capture, sends what the
// protocol wants sent, and carries out the stop order. Decisions are the
// loop's; it hears of every event through post.
type runner struct {
	run     string
	life    *harness.Life
	n       int
	post    func(func())
	onEvent func(harness.Event)
	onEnd   func(end)

	mu      sync.Mutex
	session harness.Session // guarded by mu
	ended   chan struct{}   // closed when the life is over
	turn    chan struct{}   // closed when its turn is over: there is nothing to abort any more
	stops   sync.Once
	turns   sync.Once
}

// end is how following a life ended.
type end struct {
	exit   *harness.Exit
	gone   bool // the keeper died
	err    error
	events []harness.Event // what the end itself says
}

// attach opens the protocol on a life that is starting or running and gives
// it the prompt; rows that were sent before are not sent again.
func attach(d harness.Driver, a harness.Agent, spec harness.Spec, prompt string) (harness.Session, []harness.Send, error) {
	s := d.Open(a, spec)
	rows := s.Start()
	more, err := s.Encode(harness.Command{ID: "prompt", Kind: "prompt", Text: prompt})
	return s, append(rows, more...), err
}

// follow runs until the life is over or ctx ends.
func (r *runner) follow(ctx context.Context) {
	err := r.life.Follow(ctx, func(l harness.Line) error {
		r.mu.Lock()
		events, sends := r.session.Decode(l)
		r.mu.Unlock()
		if len(sends) > 0 {
			if err := r.life.Send(sends...); err != nil {
				return err
			}
		}
		if len(events) > 0 {
			r.post(func() {
				for _, e := range events {
					r.onEvent(e)
				}
			})
		}
		return nil
	})
	if ctx.Err() != nil {
		return
	}
	close(r.ended)
	e := end{err: err, gone: errors.Is(err, harness.ErrKeeperGone)}
	if err == nil {
		e = r.exit()
	}
	r.post(func() { r.onEnd(e) })
}

func (r *runner) exit() end {
	state, err := r.life.State()
	if err != nil || state.Exit == nil {
		return end{err: err, gone: true}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return end{exit: state.Exit, events: r.session.Exit(state.Exit.Code, state.Exit.Signal, state.Exit.Time)}
}

// stop carries out the driver's stop order, once.
func (r *runner) stop(ctx context.Context) {
	r.stops.Do(func() {
		go r.steps(ctx, func(n int) ([]harness.Send, time.Duration, bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.session.Stop(n)
		})
	})
}

// finish ends an agent whose turn is over; one that does not go is stopped.
func (r *runner) finish(ctx context.Context, patience time.Duration) {
	r.mu.Lock()
	sends := r.session.Finish()
	r.mu.Unlock()
	go func() {
		if err := r.life.Send(sends...); err != nil {
			return // the keeper's folder is gone; Follow says so
		}
		select {
		case <-ctx.Done():
		case <-r.ended:
		case <-time.After(patience):
			r.stop(ctx)
		}
	}()
}

func (r *runner) steps(ctx context.Context, step func(int) ([]harness.Send, time.Duration, bool)) {
	for n := 0; ; n++ {
		sends, wait, ok := step(n)
		if !ok {
			return
		}
		if err := r.life.Send(sends...); err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-r.ended:
			return
		case <-r.over(n):
		case <-time.After(wait):
		}
	}
}

func (r *runner) turnOver() { r.turns.Do(func() { close(r.turn) }) }

// over is ready when the first step, the abort, has nothing to wait for.
func (r *runner) over(n int) <-chan struct{} {
	if n == 0 {
		return r.turn
	}
	return nil
}
