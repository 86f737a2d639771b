package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"

	"deckhand/dispatch"
	"deckhand/harness"
)

// load reads the log of every run. A run folder that cannot be read is left
// alone and named; it is no reason to keep the others waiting.
func (m *model) load() error {
	m.loadApprovals()
	entries, err := os.ReadDir(m.f.path("runs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() })
	runs, faults := make([]*run, len(entries)), make([]error, len(entries))
	spread(len(entries), func(mine iter.Seq[int]) {
		for i := range mine {
			runs[i], faults[i] = loadRun(harness.Dir{Path: m.f.path("runs", entries[i].Name())})
		}
	})
	for i, r := range runs {
		switch err := faults[i]; {
		case err != nil:
			m.broken = append(m.broken, fmt.Sprintf("run %s is left alone: %v", entries[i].Name(), err))
		case r != nil:
			m.runs[r.ID] = r
			for _, id := range r.offered {
				m.offers.take(id)
			}
		}
	}
	return nil
}

// loadRun folds one log; nil when nothing is logged (a kill right after the
// folder was made).
func loadRun(dir harness.Dir) (*run, error) {
	r := newRun(nil, dir)
	lines := 0
	err := eachEntry(dir, func(e dispatch.Entry) {
		lines++
		if r.Run == nil && e.Kind == dispatch.Claimed && e.Run == dir.Run() {
			r.Run = &dispatch.Run{ID: e.Run}
		}
		if r.Run != nil {
			r.apply(e)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case r.Run != nil:
		return r, nil
	case lines > 0:
		return nil, errors.New("its log does not begin with its claim")
	}
	return nil, nil
}

// eachEntry reads a run's log. A line that is no entry is left out: a crash cut
// it short, or a later version wrote it.
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
	state, err := stateOf(l)
	return &l, dispatch.Life{N: l.N, HasOut: state.HasOut, Held: state.Held, Exit: state.Exit != nil}, err
}

// recover takes up every run that was open, by the table.
func (d *daemon) recover() {
	for _, r := range d.sorted() {
		unsaid := r.ChatLife < r.Life || owedToChat(r) // its chat was not begun to be written, or lacks what a person said
		if !r.Live() && !r.ChatOpen && !unsaid {
			continue // nothing is left to take up
		}
		life, seen, err := latest(r)
		if err != nil {
			d.unreadable(r, life, err)
			continue
		}
		step := dispatch.Recover(r.Run, seen, d.onBoard(r))
		if (step == dispatch.StepNone || step == dispatch.StepStart) && (r.ChatOpen || unsaid) && seen.HasOut {
			step = dispatch.StepRead // its chat was being written, or was to be
		}
		d.takeUp(r, life, step)
	}
}

func (d *daemon) takeUp(r *run, life *harness.Life, step dispatch.Step) {
	switch step {
	case dispatch.StepForget:
		d.log(r, dispatch.Entry{Kind: dispatch.Released, Reason: "deckhand was ended before anything was done"})
		return
	case dispatch.StepNone, dispatch.StepStart:
		return
	}
	if life == nil {
		d.fact(r, dispatch.Entry{Kind: dispatch.Interrupted, Reason: "its capture is gone"})
		return
	}
	// A life without keeper says so at once when it is followed, and what it
	// left behind is swept on the same way as always.
	if err := d.attach(r, life); err != nil {
		d.unreadable(r, life, err)
	}
}

// unreadable is a run of which the files cannot be read. While its agent may be
// at work it is left as it is, and looked at again; else it is over.
func (d *daemon) unreadable(r *run, life *harness.Life, err error) {
	switch {
	case !r.Live():
	case errors.Is(err, fs.ErrNotExist) && life == nil:
		d.fact(r, dispatch.Entry{Kind: dispatch.Ended, Reason: "the folder of its run was removed"})
	case errors.Is(err, fs.ErrNotExist):
		d.lifeEnded(r, life, end{removed: true})
	case life != nil && over(*life):
		d.said(r, 0, harness.OneSentence(err.Error()))
		d.lifeEnded(r, life, end{gone: true})
	default:
		d.lifeEnded(r, life, end{err: err})
	}
}

// over reports whether a life has certainly no keeper any more.
func over(l harness.Life) bool {
	state, err := stateOf(l)
	return err == nil && !state.Held
}

// stateOf looks at a life. Files that a power cut spoilt say as little as files
// that are not there.
func stateOf(l harness.Life) (harness.LifeState, error) {
	state, err := l.State()
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax), errors.As(err, &shape):
		state.Exit, err = nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return harness.LifeState{HasOut: true}, nil
	}
	return state, err
}

// attach follows a life that was started before.
func (d *daemon) attach(r *run, life *harness.Life) error {
	s, rows, err := reopen(*life, d.drivers)
	if err != nil {
		return err
	}
	if err := life.Send(rows...); err != nil {
		return err
	}
	if r.Life < life.N && r.Live() {
		d.fact(r, dispatch.Entry{Kind: dispatch.Started, Life: life.N})
	}
	d.follow(r, s)
	return nil
}

// reopen opens the protocol on a recorded life, by what was recorded of it.
func reopen(life harness.Life, drivers map[string]harness.Driver) (spawned, []harness.Send, error) {
	spec, err := life.Spec()
	if err != nil {
		return spawned{}, nil, err
	}
	driver := drivers[spec.Driver]
	if driver == nil {
		return spawned{}, nil, fmt.Errorf("driver %s is not known", spec.Driver)
	}
	prompt, err := life.Prompt()
	if err != nil {
		return spawned{}, nil, err
	}
	agent := harness.Agent{Name: spec.Agent, Driver: spec.Driver, Command: spec.Argv}
	session, rows, err := attach(driver, agent, spec, string(prompt))
	return spawned{life: &life, session: session, prompt: string(prompt), receipt: spec.Receipt}, rows, err
}

// errEnough ends a reading that has come far enough.
var errEnough = errors.New("enough was read")

// decode reads a capture through its driver again, up to a position (0: all of
// it and the end): for a log that is asked for, and for replay.
func decode(life harness.Life, drivers map[string]harness.Driver, upTo int64, fn func(harness.Event)) error {
	s, _, err := reopen(life, drivers)
	if err != nil {
		return err
	}
	each := func(events []harness.Event) {
		for _, e := range events {
			fn(e)
		}
	}
	err = life.Read(1, func(l harness.Line) error {
		if upTo > 0 && l.Seq > upTo {
			return errEnough
		}
		events, _ := s.session.Decode(l)
		each(events)
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	if err != nil || upTo > 0 {
		return err
	}
	state, err := life.State()
	if err == nil && state.Exit != nil {
		each(s.session.Exit(state.Exit.Code, state.Exit.Signal, state.Exit.Time))
	}
	return err
}
