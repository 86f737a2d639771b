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
		if r.Open() {
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
	r.use = usage{}
	_ = decode(*life, m.drivers, func(e harness.Event) { // a capture that ends early has used what it says
		if e.Kind == harness.UsageSeen {
			r.use.add(e.Usage)
		}
	})
}

func (o *offline) Why(_ context.Context, card string) (control.Why, error) {
	return o.m.why(card, o.decide())
}

func (o *offline) Prompt(_ context.Context, card string) (control.Prompt, error) {
	return o.m.prompt(card, func(rel string) ([]byte, error) {
		src, _, err := o.s.Read(rel)
		return src, err
	})
}

func (o *offline) Log(_ context.Context, run string, since int64) (control.Log, error) {
	r, fault := o.m.run(run)
	if fault != nil {
		return control.Log{}, fault
	}
	return o.m.trace(r, since)
}

func (o *offline) Chat(_ context.Context, run string) (control.Chat, error) {
	r, fault := o.m.run(run)
	if fault != nil {
		return control.Chat{}, fault
	}
	return o.m.chat(r)
}

func (o *offline) Journal(_ context.Context, since time.Time) ([]control.JournalEntry, error) {
	return o.m.events(since)
}

func (o *offline) Boards(context.Context) ([]control.Board, error) { return o.m.boardViews(), nil }
