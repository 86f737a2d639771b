package disk

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deckhand/internal/robust"
)

const board = `---
project: shop
---

## Plan

- [ ] Checkout with QRIS @pi
	[record]

## In Progress

Half a thought, in no card.

## Review

- [ ] A card without an agent
`

// lines are a person's, in a board that is whole: each stands in it once.
func lines() []string {
	return []string{
		"---\nproject: shop\n---\n", "## Plan\n", "- [ ] Checkout with QRIS @pi\n\t[record]\n", "## In Progress\n",
		"Half a thought, in no card.\n", "## Review\n", "- [ ] A card without an agent\n",
	}
}

// torn says what is wrong with the bytes of a board; empty: nothing.
func torn(text string) string {
	for _, l := range lines() {
		if n := strings.Count(text, l); n != 1 {
			return fmt.Sprintf("%q stands %d times in\n%s", l, n, text)
		}
	}
	return ""
}

// failures are what a disk says, by what it was asked for.
func failures(op string) []syscall.Errno {
	switch op {
	case "open":
		return []syscall.Errno{syscall.EMFILE, syscall.EIO, syscall.ENOSPC, syscall.EACCES}
	case "sync":
		return []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT}
	case "write":
		return []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO}
	}
	return []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT, syscall.EROFS}
}

// probe is one life of a card with something wrong at its nth call.
type probe struct {
	*robust.Place
	t *testing.T

	mu    sync.Mutex
	calls int         // guarded by mu
	hit   robust.Call // guarded by mu: what went wrong
	torn  string      // guarded by mu
}

func newProbe(t *testing.T, n int, what func(c robust.Call) robust.Verdict) *probe {
	t.Helper()
	p := &probe{Place: robust.NewPlace(t, robust.Fast, "shop"), t: t}
	p.Save("Shop.md", board)
	p.Behind(func(c robust.Call) robust.Verdict {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.look()
		if p.calls++; p.calls != n {
			return robust.Verdict{}
		}
		p.hit = c
		return what(c)
	})
	return p
}

// look reads the board as it is between two calls; mu is held.
func (p *probe) look() {
	text, err := os.ReadFile(p.At("Shop.md"))
	if why := torn(string(text)); p.torn == "" && (err != nil || why != "") {
		p.torn = fmt.Sprintf("before call %d: %v %s", p.calls, err, why)
	}
}

// finished lets a daemon without faults do what is left, and checks that
// nothing is lost, torn, doubled or left behind.
func (p *probe) finished(ctx context.Context) {
	p.t.Helper()
	p.Open()
	p.Once(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.torn != "" {
		p.t.Errorf("the board was torn %s", p.torn)
	}
	text := p.Read("Shop.md")
	if why := torn(text); why != "" {
		p.t.Error(why)
	}
	if n := strings.Count(p.Lane("Shop.md", "Review"), "🟢 pi: review"); n != 1 {
		p.t.Errorf("it stands in Review %d times:\n%s", n, text)
	}
	if n := strings.Count(strings.Join(p.Record("shop"), "\n"), "start"); n != 1 {
		p.t.Errorf("prompted %d times", n)
	}
	for _, name := range p.Leftovers() {
		p.t.Errorf("%s was left behind", name)
	}
	if left := p.Processes(); len(left) > 0 {
		p.t.Errorf("still there: %v", left)
	}
	if p.t.Failed() {
		p.t.Logf("at call %s\n%s\n%s", p.hit, p.Log, p.Logs())
	}
}

// once is a run of the daemon to its end, however that is.
func (p *probe) once(ctx context.Context) error {
	p.Options.Once = true
	defer func() { p.Options.Once = false }()
	err := p.Spawn(ctx).Wait()
	if ctx.Err() != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Fatalf("at call %s: it does not end: %v\n%s\n%s", p.hit, err, p.Log, p.Logs())
	}
	return err
}

// calls is how many calls change files in the life of a card.
func calls(t *testing.T, ctx context.Context) int {
	t.Helper()
	p := newProbe(t, 0, nil)
	if err := p.once(ctx); err != nil {
		t.Fatalf("%v\n%s", err, p.Log)
	}
	p.finished(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls < 100 {
		t.Fatalf("only %d calls", p.calls)
	}
	return p.calls
}

// sweep does something at each call, or at some of them in a shorter form.
func sweep(t *testing.T, what func(t *testing.T, ctx context.Context, n int)) (done, of int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	t.Cleanup(cancel)
	of = calls(t, ctx)
	done = max(8, suite.Rounds(of))
	t.Run("call", func(t *testing.T) {
		for i := range done {
			n := 1 + (i*of+of/2)/done
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				what(t, ctx, n)
			})
		}
	})
	return done, of
}

// TestFailedCall lets each call that changes a file fail once: the same daemon
// or, when it had to end, the next one brings the card to Review.
func TestFailedCall(t *testing.T) {
	var ended counter
	done, of := sweep(t, func(t *testing.T, ctx context.Context, n int) {
		p := newProbe(t, n, func(c robust.Call) robust.Verdict {
			all := failures(c.Op)
			return robust.Verdict{Fail: all[n%len(all)]}
		})
		if err := p.once(ctx); err != nil {
			ended.add()
			t.Logf("%s: %v", p.hit, err)
		}
		p.finished(ctx)
	})
	if t.Failed() {
		return
	}
	suite.Figure(t, "the nth call fails", "%d of %d calls, %d of them end the daemon: each card in Review, prompted once, no board torn, nothing left behind", done, of, ended.n)
}

// TestKilledCall ends the daemon with SIGKILL at each call that changes a file.
func TestKilledCall(t *testing.T) {
	var killed counter
	_, of := sweep(t, func(t *testing.T, ctx context.Context, n int) {
		p := newProbe(t, n, func(robust.Call) robust.Verdict { return robust.Verdict{Kill: true} })
		if robust.Killed(p.once(ctx)) {
			killed.add()
		}
		p.finished(ctx)
	})
	if killed.n == 0 {
		t.Error("nothing was killed")
	}
	if t.Failed() {
		return
	}
	suite.Figure(t, "killed at the nth call", "%d of %d calls: each card in Review, prompted once, no board torn, nothing left behind", killed.n, of)
}

// counter counts what tests at the same time find.
type counter struct {
	mu sync.Mutex
	n  int // guarded by mu; read when all are done
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}
