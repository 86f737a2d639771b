package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"deckhand/dispatch"
	"deckhand/harness"
)

// load reads the log of every run.
func (m *model) load() error {
	entries, err := os.ReadDir(m.f.path("runs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		dir, err := harness.OpenDir(m.f.state, e.Name())
		if err != nil {
			return err
		}
		r, err := loadRun(dir)
		if err != nil {
			return fmt.Errorf("run %s: %w", e.Name(), err)
		}
		if r != nil {
			m.runs[r.ID] = r
		}
	}
	return nil
}

// loadRun folds one log; nil when it holds no claim (a kill right after the
// folder was made).
func loadRun(dir harness.Dir) (*run, error) {
	r := newRun(nil, dir)
	err := eachEntry(dir, func(e dispatch.Entry) {
		if r.Run == nil && e.Kind != dispatch.Claimed {
			return
		}
		if r.Run == nil {
			r.Run = &dispatch.Run{ID: e.Run}
		}
		r.apply(e)
	})
	if err != nil || r.Run == nil {
		return nil, err
	}
	return r, nil
}

// eachEntry reads a run's log. A line that is no entry is left out: a later
// version may have written it.
func eachEntry(dir harness.Dir, fn func(dispatch.Entry)) error {
	return dir.ReadLog(func(line []byte) error {
		var e dispatch.Entry
		if err := json.Unmarshal(line, &e); err == nil && e.Kind != "" {
			fn(e)
		}
		return nil
	})
}

// latest is what the disk says of the latest life of a run.
func latest(r *run) (*harness.Life, dispatch.Life, error) {
	lives, err := r.dir.Lives()
	if err != nil || len(lives) == 0 {
		return nil, dispatch.Life{}, err
	}
	l := lives[len(lives)-1]
	state, err := l.State()
	return &l, dispatch.Life{N: l.N, HasOut: state.HasOut, Held: state.Held, Exit: state.Exit != nil}, err
}

// recover takes up every run that was open, by the table.
func (d *daemon) recover() {
	for _, r := range d.sorted() {
		life, seen, err := latest(r)
		if err != nil {
			d.say("run %s: %v", r.ID, err)
			continue
		}
		step := dispatch.Recover(r.Run, seen, d.onBoard(r))
		if step == dispatch.StepNone && r.ChatOpen && seen.HasOut {
			step = dispatch.StepRead // its chat was being written
		}
		d.takeUp(r, life, step)
	}
}

func (d *daemon) takeUp(r *run, life *harness.Life, step dispatch.Step) {
	switch step {
	case dispatch.StepForget:
		d.log(r, dispatch.Entry{Kind: dispatch.Released, Reason: "deckhand was ended before anything was done"})
	case dispatch.StepAttach, dispatch.StepStop, dispatch.StepRead, dispatch.StepWait:
		d.reattach(r, life)
	case dispatch.StepInterrupt:
		if life == nil {
			d.log(r, dispatch.Entry{Kind: dispatch.Interrupted, Reason: "its capture is gone"})
			return
		}
		// Following a life without keeper says so at once, and what it left
		// behind is swept on the same way as always.
		d.reattach(r, life)
	}
}

// reattach follows a life that was started before.
func (d *daemon) reattach(r *run, life *harness.Life) {
	spec, err := life.Spec()
	if err == nil {
		var prompt []byte
		if prompt, err = life.Prompt(); err == nil {
			err = d.resume(r, life, spec, string(prompt))
		}
	}
	if err != nil {
		d.say("run %s: %v", r.ID, err)
		d.log(r, dispatch.Entry{Kind: dispatch.Interrupted, Life: life.N, Reason: harness.OneSentence(err.Error())})
	}
}

func (d *daemon) resume(r *run, life *harness.Life, spec harness.Spec, prompt string) error {
	driver := d.drivers[spec.Driver]
	if driver == nil {
		return fmt.Errorf("driver %s is not known", spec.Driver)
	}
	agent := harness.Agent{Name: spec.Agent, Driver: spec.Driver, Command: spec.Argv}
	session, rows, err := attach(driver, agent, spec, prompt)
	if err != nil {
		return err
	}
	if err := life.Send(rows...); err != nil {
		return err
	}
	if r.Life < life.N && r.Live() && !d.log(r, dispatch.Entry{Kind: dispatch.Started, Life: life.N}) {
		return errors.New("its log cannot be written")
	}
	d.follow(r, spawned{life: life, n: life.N, session: session, prompt: prompt})
	return nil
}

// decode reads a capture through its driver again: for a log that is asked
// for, and for replay.
func decode(life harness.Life, drivers map[string]harness.Driver, fn func(harness.Event)) error {
	spec, err := life.Spec()
	if err != nil {
		return err
	}
	driver := drivers[spec.Driver]
	if driver == nil {
		return fmt.Errorf("driver %s is not known", spec.Driver)
	}
	prompt, err := life.Prompt()
	if err != nil {
		return err
	}
	agent := harness.Agent{Name: spec.Agent, Driver: spec.Driver, Command: spec.Argv}
	session, _, err := attach(driver, agent, spec, string(prompt))
	if err != nil {
		return err
	}
	err = life.Read(1, func(l harness.Line) error {
		events, _ := session.Decode(l)
		for _, e := range events {
			fn(e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	state, err := life.State()
	if err == nil && state.Exit != nil {
		for _, e := range session.Exit(state.Exit.Code, state.Exit.Signal, state.Exit.Time) {
			fn(e)
		}
	}
	return err
}

// Replay reads the captures of a recorded run folder through the driver again
// and writes one line an event. No agent is started.
func Replay(ctx context.Context, path string, write func(life int, e harness.Event)) error {
	dir := harness.Dir{Path: path}
	lives, err := dir.Lives()
	if err != nil {
		return err
	}
	if len(lives) == 0 {
		return fmt.Errorf("%s holds no recorded life", path)
	}
	for _, l := range lives {
		if err := decode(l, drivers(), func(e harness.Event) { write(l.N, e) }); err != nil {
			return fmt.Errorf("life %d: %w", l.N, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
