// Package crash proves that a program killed at any moment loses nothing and
// does nothing twice.
package crash

import (
	"context"
	"strings"
	"testing"
	"time"

	"deckhand/internal/robust"
)

var suite = robust.Suite{Section: "crash"}

func TestMain(m *testing.M) { suite.Main(m) }

const shop = `---
project: shop
---

## Plan

- [ ] Checkout with QRIS @pi
	[record]

## In Progress

## Review
`

// TestKilledAtEveryPoint kills the daemon with -9 at every point of a card's
// life at which something is logged or has an effect; the next one brings the
// card to Review, and the agent was prompted once.
func TestKilledAtEveryPoint(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	list := robust.NewPlace(t, robust.Fast, "shop")
	list.Save("Shop.md", shop)
	list.Once(ctx, robust.FaultEnv+"="+robust.ListPoints)
	points := robust.Points(list.Log.String())
	if len(points) < 20 {
		t.Fatalf("only %d points:\n%s", len(points), list.Log)
	}
	killed := 0
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			p := robust.NewPlace(t, robust.Fast, "shop")
			p.Save("Shop.md", shop)
			if p.OnceKilled(ctx, point) {
				killed++
			}
			p.Once(ctx)
			if got := p.Lane("Shop.md", "Review"); strings.Count(got, "🟢 pi: review") != 1 {
				t.Errorf("Review:\n%s", got)
			}
			if n := strings.Count(strings.Join(p.Record("shop"), "\n"), "start"); n != 1 {
				t.Errorf("prompted %d times", n)
			}
			if left := p.Processes(); len(left) > 0 {
				t.Errorf("still there: %v", left)
			}
			if t.Failed() {
				t.Logf("%s\n%s", p.Log, p.Logs())
			}
		})
	}
	suite.Figure(t, "points of one card's life", "killed at %d of %d", killed, len(points))
}
