package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"deckhand/harness"
)

// follower is who follows a life: the loop, and the daemon that joins goroutines.
type follower struct {
	post  func(func())
	news  *harness.Watches
	spawn func(func())
	event func(harness.Event)        // in the loop
	left  func(harness.Event) func() // not in the loop: looks at what a turn that is over has left, and gives what the loop does before it hears so; may be nil
	read  func()                     // in the loop, once: what was there at the begin has been heard
	end   func(end)                  // in the loop, once
}

// runner follows one life of an agent: it decodes the capture, sends what the
// protocol wants sent, and carries out the stop order. Decisions are the
// loop's; it hears of every event through post.
type runner struct {
	follower
	ctx   context.Context
	life  *harness.Life
	ended chan struct{} // closed when the life is over
	turn  chan struct{} // closed when its turn is over: there is nothing to abort any more
	stops sync.Once
	turns sync.Once

	rows map[string]bool // that came to the agent, or perhaps did; of follow

	mu      sync.Mutex
	session harness.Session // guarded by mu
}

// end is how following a life ended.
type end struct {
	exit    *harness.Exit
	gone    bool            // the keeper died
	nothing bool            // and had not begun: nothing ran
	removed bool            // so is the capture
	err     error           // the capture could not be followed: nothing is known
	events  []harness.Event // what the end itself says
	rows    map[string]bool // that came to the agent, or perhaps did
	before  func()          // is done before they are heard
}

func newRunner(ctx context.Context, s spawned, f follower) *runner {
	r := &runner{follower: f, ctx: ctx, life: s.life, session: s.session, rows: map[string]bool{}, ended: make(chan struct{}), turn: make(chan struct{})}
	f.spawn(r.follow)
	return r
}

// follow runs until the life is over or ctx ends.
func (r *runner) follow() {
	// What is there already is heard first, and of a life that is over its end,
	// too: what was over long ago must not be judged as if it were going on.
	var last int64
	err := r.life.Read(1, func(l harness.Line) error {
		last = l.Seq
		return errors.Join(r.ctx.Err(), r.line(l))
	})
	if err == nil {
		if !over(*r.life) {
			r.post(r.read)
		}
		err = r.life.Follow(r.ctx, r.news, func(l harness.Line) error {
			if l.Seq <= last {
				return nil
			}
			return r.line(l)
		})
	}
	if r.ctx.Err() != nil {
		return
	}
	close(r.ended)
	e := r.exit(err)
	e.rows = r.rows
	r.post(func() { r.end(e) })
}

func (r *runner) line(l harness.Line) error {
	if l.Stream == harness.In {
		r.row(l.Data)
	}
	r.mu.Lock()
	events, sends := r.session.Decode(l)
	r.mu.Unlock()
	if len(sends) > 0 {
		if err := r.life.Send(sends...); err != nil {
			return err
		}
	}
	if len(events) > 0 {
		before := r.before(events)
		r.post(func() {
			before()
			for _, e := range events {
				r.event(e)
			}
		})
	}
	return nil
}

// before is what is to be done before the loop hears of events.
func (r *runner) before(events []harness.Event) func() {
	ends := func(e harness.Event) bool {
		return e.Kind == harness.Done && e.Outcome == harness.Completed && !e.Question
	}
	if i := slices.IndexFunc(events, ends); i >= 0 && r.left != nil {
		return r.left(events[i])
	}
	return func() {}
}

// exit is how the life ended, when following it ended with err.
func (r *runner) exit(err error) end {
	gone := errors.Is(err, harness.ErrKeeperGone)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return end{removed: true}
	case err != nil && !gone:
		return end{err: err}
	}
	state, err := stateOf(*r.life)
	switch {
	case err != nil:
		return end{err: err}
	case gone || state.Exit == nil:
		return end{gone: true, nothing: !state.HasOut, events: r.unread()}
	}
	r.mu.Lock()
	events := r.session.Exit(state.Exit.Code, state.Exit.Signal, state.Exit.Time)
	r.mu.Unlock()
	return end{exit: state.Exit, events: events, before: r.before(events)}
}

// row takes note of a row that came to the agent.
func (r *runner) row(data []byte) {
	var row struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(data, &row) == nil && row.ID != "" {
		r.rows[row.ID] = true
	}
}

// unread is what an agent without a keeper was told and had not taken up, as far
// as its keeper heard. It may have done so since: then it is in its session, and
// nobody is told anything twice.
func (r *runner) unread() []harness.Event {
	r.mu.Lock()
	events := r.session.Exit(-1, "", time.Time{})
	r.mu.Unlock()
	events = slices.DeleteFunc(events, func(e harness.Event) bool { return e.Kind != harness.Late })
	if len(events) == 0 {
		return nil
	}
	spec, err := r.life.Spec()
	if err != nil {
		return nil
	}
	session, err := os.ReadFile(spec.Session)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return slices.DeleteFunc(events, func(e harness.Event) bool { return holdsText(session, e.Text) })
}

// holdsText reports whether a session has a message of this text, or of it behind
// the blank that keeps it from being a command.
func holdsText(session []byte, text string) bool {
	return slices.ContainsFunc([]string{text, " " + text}, func(text string) bool {
		var quoted bytes.Buffer
		enc := json.NewEncoder(&quoted)
		enc.SetEscapeHTML(false)
		return enc.Encode(text) == nil && bytes.Contains(session, bytes.TrimSpace(quoted.Bytes()))
	})
}

// stop carries out the driver's stop order, once.
func (r *runner) stop() { r.stops.Do(func() { r.spawn(r.steps) }) }

// finish ends an agent whose turn is over; one that does not go is stopped.
func (r *runner) finish(patience time.Duration) {
	r.mu.Lock()
	sends := r.session.Finish()
	r.mu.Unlock()
	r.spawn(func() {
		if r.send(sends) && r.waits(patience, nil) {
			r.stop()
		}
	})
}

func (r *runner) steps() {
	for n := 0; ; n++ {
		r.mu.Lock()
		sends, wait, ok := r.session.Stop(n)
		r.mu.Unlock()
		var over <-chan struct{}
		if n == 0 {
			over = r.turn // the first step aborts the turn
		}
		if !ok || !r.send(sends) || !r.waits(wait, over) {
			return
		}
	}
}

// send sends until the disk takes it: an agent that is to end must not go on
// because the disk was full. It reports false when the life is over before.
func (r *runner) send(sends []harness.Send) bool {
	for r.life.Send(sends...) != nil {
		if !r.waits(pause/5, nil) {
			return false
		}
	}
	return true
}

// waits reports whether the life goes on for that long, or until over.
func (r *runner) waits(long time.Duration, over <-chan struct{}) bool {
	t := time.NewTimer(long)
	defer t.Stop()
	select {
	case <-r.ctx.Done():
		return false
	case <-r.ended:
		return false
	case <-over:
	case <-t.C:
	}
	return true
}

func (r *runner) turnOver() { r.turns.Do(func() { close(r.turn) }) }

// tell sends a command to the agent. It is the same again when it is sent again.
func (r *runner) tell(c harness.Command) error {
	r.mu.Lock()
	sends, err := r.session.Encode(c)
	r.mu.Unlock()
	if err != nil || len(sends) == 0 {
		return err
	}
	return r.life.Send(sends...)
}
