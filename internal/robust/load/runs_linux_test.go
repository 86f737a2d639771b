package load

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

// goroutines ends a daemon with the signal at which the runtime says where each
// goroutine stands, and counts them.
func goroutines(p *robust.Place, d *robust.Process) int {
	before := strings.Count(p.Log.String(), "\ngoroutine ")
	_ = d.Cmd.Process.Signal(syscall.SIGQUIT)
	<-d.Gone()
	return strings.Count(p.Log.String(), "\ngoroutine ") - before
}

func threads(t *testing.T, pid int) int {
	t.Helper()
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestRunAfterRun: a thousand cards, one after the other (the full form). The
// daemon has no more descriptors and goroutines in the end than one that has just been
// started on the same folder.
func TestRunAfterRun(t *testing.T) {
	ctx := bounded(t, 30*time.Minute)
	p := newPlace(t, 1)
	d := p.Start(ctx)
	pid := d.Cmd.Process.Pid
	before := files(t, pid)
	n := max(10, suite.Rounds(1000))
	const batch, few = 20, 6
	for first := 0; first < n; first += batch {
		var cards []string
		for i := first; i < min(n, first+batch); i++ {
			cards = append(cards, card(fmt.Sprintf("Card %d", i), 0, ""))
		}
		p.Save(fmt.Sprintf("Board %d.md", first), board(cards...))
		want := min(n, first+batch)
		d.Until(func(s control.Status) bool { return count(s, "done") == want })
	}
	lived := 0
	for _, line := range p.Record("p0") {
		if strings.HasPrefix(line, "start ") {
			lived++
		}
	}
	if lived != n {
		t.Errorf("%d of %d cards were started", lived, n)
	}
	// What is held for a run is let go soon after it; what is not is held for ever.
	again(t, bounded(t, time.Minute), func() bool { return len(p.Procs()) == 0 && files(t, pid) <= before+few })
	used, tasks, own := files(t, pid), threads(t, pid), memory(t, pid)
	routines := goroutines(p, d)
	fresh := goroutines(p, p.Start(ctx))
	if routines > fresh+few {
		t.Errorf("%d goroutines after %d runs, %d after none", routines, n, fresh)
	}
	suite.Figure(t, "run after run", "%d; then %d descriptors (%d before), %d goroutines (%d in a fresh daemon), %d threads, %s", n, used, before, routines, fresh, tasks, megabytes(own))
}
