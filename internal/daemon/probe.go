package daemon

import (
	"context"
	"time"

	"deckhand/harness"
)

// probe looks at the agents' programs, outside the loop.
func (d *daemon) probe() {
	d.probed = time.Now()
	for name := range d.machine.Agents {
		a, driver, err := d.harnessAgent(name)
		if err != nil {
			d.agents[name], d.dirty = harness.Probe{State: "unavailable", Reason: err.Error(), Tried: a.Tried}, true
			continue
		}
		d.queues.add("probe:"+name, func() any {
			ctx, cancel := context.WithTimeout(d.ctx, probeTime)
			defer cancel()
			return driver.Probe(ctx, a.Agent)
		}, func(v any) {
			p := v.(harness.Probe)
			if old, known := d.agents[name]; !known || old.State != p.State || old.Reason != p.Reason {
				d.dirty = true
			}
			d.agents[name] = p
		})
	}
}

// probeTime bounds one look at an agent's program.
const probeTime = 10 * time.Second

// unprobed reports whether an agent has not been looked at yet.
func (d *daemon) unprobed() bool {
	for name := range d.machine.Agents {
		if _, ok := d.agents[name]; !ok {
			return true
		}
	}
	return false
}

// missing reports whether a card waits for an agent that could not be started
// when it was looked at.
func (d *daemon) missing() bool {
	for _, v := range d.decision.Cards {
		for _, name := range v.Card.Agents {
			if !d.agent(name).Ready {
				return true
			}
		}
	}
	return false
}

// tidyEvery is how often captures that are too old or too much are dropped.
const tidyEvery = time.Hour

// tidy does what is to be done now and then.
func (d *daemon) tidy(now time.Time) {
	if now.Sub(d.probed) >= slowest && d.missing() {
		d.probe()
	}
	if now.Sub(d.pruned) >= tidyEvery {
		d.pruned = now
		d.prune()
	}
}

// prune drops captures that are too old or too much, never of an open run.
func (d *daemon) prune() {
	state, days, size := d.f.state, d.machine.KeepDays, d.machine.KeepSize
	d.queues.add("prune", func() any {
		_, err := harness.Prune(state, days, size, d.isOpen)
		return err
	}, func(v any) {
		if err, _ := v.(error); err != nil {
			d.say("captures: %v", err)
		}
	})
}

// isOpen asks the loop whether a run is open; of one that is not known, and at
// the end, it may be.
func (d *daemon) isOpen(run string) bool {
	open := make(chan bool, 1)
	d.post(func() {
		r := d.runs[run]
		open <- r == nil || r.Live()
	})
	select {
	case is := <-open:
		return is
	case <-d.ctx.Done():
		return true
	}
}

// probeNow looks at one agent's program and waits for the answer.
func (m *model) probeNow(ctx context.Context, name string) harness.Probe {
	a, driver, err := m.harnessAgent(name)
	if err != nil {
		return harness.Probe{State: "unavailable", Reason: err.Error(), Tried: a.Tried}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	p := driver.Probe(ctx, a.Agent)
	if len(p.Tried) == 0 {
		p.Tried = a.Tried
	}
	return p
}
