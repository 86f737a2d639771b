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
			return worded(driver.Probe(ctx, a.Agent), name)
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

// probeNow looks at one agent's program and waits for the answer.
func (m *model) probeNow(ctx context.Context, name string) harness.Probe {
	a, driver, err := m.harnessAgent(name)
	if err != nil {
		return harness.Probe{State: "unavailable", Reason: err.Error(), Tried: a.Tried}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	p := worded(driver.Probe(ctx, a.Agent), name)
	if len(p.Tried) == 0 {
		p.Tried = a.Tried
	}
	return p
}
