package load

import (
	"context"
	"slices"
	"testing"

	"deckhand/internal/robust"
)

// sampler looks at a daemon's memory with every few events that it tells.
type sampler struct {
	stop context.CancelFunc
	done chan struct{}
	seen []int // bytes; read after done
}

// every is the number of events between two samples.
const every = 50

func watchMemory(t *testing.T, ctx context.Context, d *robust.Process) *sampler {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(cancel)
	m := &sampler{stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		last := int64(0)
		for n := 0; ctx.Err() == nil; { // one that does not keep up is let go, and comes back
			events, err := d.Client.Events(ctx, last)
			if err != nil {
				return
			}
			for e := range events {
				last = e.Seq
				if n++; n%every == 0 {
					m.seen = append(m.seen, memory(t, d.Cmd.Process.Pid))
				}
			}
		}
	}()
	return m
}

// end ends it and gives what it saw.
func (m *sampler) end() []int {
	m.stop()
	<-m.done
	return m.seen
}

// judge ends it. Memory is small, and in the last third what it was in the one
// before.
func (m *sampler) judge(t *testing.T) {
	t.Helper()
	seen := m.end()
	if len(seen) < 30 {
		t.Fatalf("only %d samples", len(seen))
	}
	third := len(seen) / 3
	middle, last := median(seen[third:2*third]), median(seen[2*third:])
	suite.Figure(t, "the daemon's own memory meanwhile", "%s in the middle third, %s in the last, %s at most, of %d samples", megabytes(middle), megabytes(last), megabytes(slices.Max(seen)), len(seen))
	switch {
	case raced: // the race detector takes several times as much
	case slices.Max(seen) > most:
		t.Errorf("%d bytes", slices.Max(seen))
	case last > middle+middle/4:
		t.Errorf("it grows: from %d to %d bytes", middle, last)
	}
}

// most is what a daemon may hold.
const most = 60e6

func median(all []int) int {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
