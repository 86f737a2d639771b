package daemon

import (
	"context"
	"time"

	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/control"
	"deckhand/internal/store"
)

// offline answers from the files, when no daemon runs.
type offline struct {
	m *model
	s *store.Store // only read from
}

var _ control.Reader = (*offline)(nil)

func (o *offline) decide() time.Time {
	now := time.Now()
	o.m.decision = dispatch.Reconcile(o.m.world(now))
	return now
}

func (o *offline) Status(context.Context) (control.Status, error) {
	now := o.decide()
	for _, r := range o.m.runs {
		if r.Open() && r.Life > 0 {
			o.m.use(r)
		}
	}
	return o.m.status(now), nil
}

// use adds up what an open run has used so far, from its capture.
func (m *model) use(r *run) {
	life, _, err := latest(r)
	if err != nil || life == nil {
		return // then it is not known
	}
	r.use = usage{life: life.N}
	_ = decode(*life, m.drivers, 0, func(e harness.Event) { // a capture that ends early has used what it says
		if e.Kind == harness.UsageSeen {
			r.use.add(e.Usage)
		}
	})
}

func (o *offline) Why(_ context.Context, card string) (control.Why, error) {
	return o.m.why(card, o.m.world(time.Now()))
}

func (o *offline) Prompt(_ context.Context, card string) (control.Prompt, error) {
	compose, err := o.m.preview(card, func(rel string) ([]byte, error) {
		src, _, err := o.s.Read(rel)
		return src, err
	})
	if err != nil {
		return control.Prompt{}, err
	}
	return compose(), nil
}

func (o *offline) Log(_ context.Context, run string, since int64) (control.Log, error) {
	t, err := o.m.tracing(run)
	if err != nil {
		return control.Log{}, err
	}
	return t.since(since)
}

func (o *offline) Chat(_ context.Context, run string) (control.Chat, error) {
	c, err := o.m.chatFile(run)
	if err != nil {
		return control.Chat{}, err
	}
	return c.read()
}

func (o *offline) Journal(_ context.Context, since time.Time) ([]control.JournalEntry, error) {
	return o.m.events(since)()
}

func (o *offline) Proposals(context.Context) ([]control.Proposal, error) { return o.m.proposals(), nil }

func (o *offline) Diff(_ context.Context, of string) (control.Diff, error) {
	diff, err := o.m.diff(of)
	if err != nil {
		return control.Diff{}, err
	}
	return diff(), nil
}

func (o *offline) Boards(context.Context) ([]control.Board, error) { return o.m.boardViews(), nil }

func (o *offline) Approvals(context.Context) ([]control.Approval, error) {
	return o.m.approvalViews(), nil
}
