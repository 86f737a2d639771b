package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"deckhand/board"
	"deckhand/change"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/mirror"
)

// The work folder itself is a project, too. An agent that writes files works in
// a copy of it, and what it changed there becomes a proposal.

// copyName is the one copy in the folder's state: runs in it come one after the
// other.
const copyName = "copy"

func (m *model) copyDir() string { return m.f.path(copyName) }

// copyFolder is where its agent works, by the real path that it will have.
func (m *model) copyFolder() string {
	return mirror.Notes(filepath.Join(realParent(m.f.state), copyName))
}

// inCopy reports whether the agent of a run works there.
func (m *model) inCopy(r *run) bool { return r.Project == dispatch.Notes && r.Folder == m.copyFolder() }

// willCopy reports whether the agent of a card would. No board is given to that
// project by the configuration.
func (m *model) willCopy(path string, c *board.Card, agent string) bool {
	b := m.boardAt(path)
	return agent != assistantName && (c.Project == dispatch.Notes || c.Project == "" && b != nil && b.Project == dispatch.Notes)
}

// copied makes the copy that a run's agent works in, unless it goes on in the
// one it has. A zero one is of an agent that works somewhere else.
type copied struct {
	ctx  context.Context
	spec *mirror.Spec
}

// copyFor is the copy of a run's agent.
func (m *model) copyFor(ctx context.Context, r *run) copied {
	if !m.inCopy(r) {
		return copied{}
	}
	return copied{ctx, &mirror.Spec{Owner: r.ID, From: m.f.dir, To: m.copyDir(), Skip: m.private(), Max: m.machine.CopyMax}}
}

// private leaves out of a copy what is deckhand's, and what people had left out.
func (m *model) private() func(rel string, dir bool) bool {
	skip, output := m.skip(), m.settings.Output
	return func(rel string, dir bool) bool { return within(rel, output) || rel == settingsName || skip(rel, dir) }
}

func (c copied) make() error {
	if c.spec == nil || mirror.Made(c.spec.To, c.spec.Owner) {
		return nil
	}
	var large *mirror.TooLargeError
	err := mirror.Make(c.ctx, *c.spec)
	if errors.As(err, &large) {
		return fmt.Errorf("the notes are %d MB, and copy_max in config.yaml allows %d MB here", large.Size/1e6, large.Max/1e6)
	}
	return err
}

// leftInCopy returns how to look at what a turn has left in the run's copy, when
// it is over, and to log that as a proposal before its end is: whoever reads that
// the work is done can read what it is. A run that works elsewhere has none.
func (d *daemon) leftInCopy(r *run, life int) func(harness.Event) func() {
	if !d.inCopy(r) {
		return nil
	}
	look := proposing{store: d.store, state: d.f.state, folder: d.notesAsChanged()}
	ctx, dir, owner, skip := d.ctx, d.copyDir(), r.ID, d.private()
	return func(e harness.Event) func() {
		if !mirror.Made(dir, owner) {
			return func() {} // it was looked at before
		}
		batch, left, err := look.inCopy(ctx, dir, skip)
		d.o.at("copy looked at")
		return func() {
			if ctx.Err() == nil {
				d.proposedLate(r, dispatch.Entry{Kind: dispatch.Proposed, Life: life, Seq: e.Seq, Proposal: &batch}, left, err)
			}
		}
	}
}

// inCopy makes one batch of what was changed in a copy. What cannot be proposed,
// or stands otherwise in the notes by now, is left out of it, with why.
func (j proposing) inCopy(ctx context.Context, dir string, skip func(string, bool) bool) (b dispatch.Batch, left []string, err error) {
	changes, left, err := mirror.Changes(ctx, dir, skip)
	p := harness.Proposal{ID: "copy"}
	for _, c := range changes {
		one := []change.Change{c}
		why := j.allowed(one)
		if problems := change.Preflight(one, reader(j.store)); why == nil && len(problems) > 0 {
			why = problems[0]
		}
		if why != nil {
			left = append(left, why.Error())
			continue
		}
		p.Changes = append(p.Changes, harness.Change{Kind: string(c.Kind), File: c.File, To: c.To, Before: c.Before, After: c.After})
	}
	b = dispatch.Batch{ID: p.ID, Changes: []dispatch.Change{}}
	if err == nil && len(p.Changes) > 0 {
		b, err = j.take(&p)
	}
	b.Late = true
	return b, left, err
}

// mostLeft is how many of the files that cannot be proposed are named.
const mostLeft = 10

// proposedLate logs what a turn left in its copy; then the copy is nobody's.
func (d *daemon) proposedLate(r *run, entry dispatch.Entry, left []string, err error) {
	if r.takes(entry) {
		for i, what := range left {
			if i == mostLeft {
				d.said(r, entry.Life, fmt.Sprintf("and %d more that cannot be proposed", len(left)-i))
				break
			}
			d.said(r, entry.Life, "changed in its copy and not proposed: "+what)
		}
		if err != nil {
			entry.Reason = err.Error()
			d.say("%s: what @%s changed in its copy of the notes for %q cannot be proposed: %s", r.Board, r.Agent, r.Card.Title, entry.Reason)
		} else {
			entry.Proposal.Path = d.pageName(time.Now(), r.Card.Title)
		}
		if err != nil || len(entry.Proposal.Changes) > 0 {
			d.fact(r, entry)
		}
	}
	if err := mirror.End(d.copyDir()); err != nil {
		d.say("%v", err)
	}
}
