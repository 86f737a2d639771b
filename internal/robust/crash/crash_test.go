// Package crash proves that a program killed at any moment loses nothing and
// does nothing twice.
package crash

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deckhand/internal/robust"
)

// whole is how long one story may take on a machine that does much else.
const whole = 2 * time.Minute

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
// life at which something is logged, written or started; the next one brings the
// card to Review, and the agent was prompted once.
func TestKilledAtEveryPoint(t *testing.T) {
	ctx := bounded(t, 4*time.Minute)
	list := robust.NewPlace(t, robust.Fast, "shop")
	list.Save("Shop.md", shop)
	list.Once(ctx, robust.FaultEnv+"="+robust.ListPoints)
	all := points(list.Log.String(), "")
	if len(all) < 80 {
		t.Fatalf("only %d points:\n%s", len(all), list.Log)
	}
	tried := all
	if !suite.Full() {
		tried = kinds(all)
	}
	var killed atomic.Int64
	t.Run("at", func(t *testing.T) {
		for _, point := range tried {
			t.Run(point, func(t *testing.T) {
				t.Parallel()
				p := robust.NewPlace(t, robust.Fast, "shop")
				p.Save("Shop.md", shop)
				if p.OnceKilled(ctx, point) {
					killed.Add(1)
				}
				p.Once(ctx)
				if got := p.Lane("Shop.md", "Review"); strings.Count(got, "🟢 pi: review") != 1 {
					t.Errorf("Review:\n%s", got)
				}
				if n := starts(p, "shop"); n != 1 {
					t.Errorf("prompted %d times", n)
				}
				if left := p.Processes(); len(left) > 0 {
					t.Errorf("still there: %v", left)
				}
				checkRecords(t, p)
				if t.Failed() {
					t.Logf("%s\n%s", p.Log, p.Logs())
				}
			})
		}
	})
	suite.Figure(t, "points of one card's life", "killed at %d of %d, of %d there are", killed.Load(), len(tried), len(all))
}

// bounded is a context for a proof.
func bounded(t *testing.T, long time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	t.Cleanup(cancel)
	return ctx
}

// points are those that a daemon came by, from the first that ends in after on.
// Reading changes nothing that a kill could leave half done.
func points(log, after string) []string {
	all := robust.Points(log)
	first := slices.IndexFunc(all, func(p string) bool { return strings.HasSuffix(p, after) })
	if first < 0 {
		return nil
	}
	return slices.DeleteFunc(all[first:], func(p string) bool {
		return strings.HasSuffix(p, " store open") || strings.HasSuffix(p, " store read")
	})
}

// kinds are the first of each kind of points.
func kinds(all []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool {
		_, kind, _ := strings.Cut(p, " ")
		again := seen[kind]
		seen[kind] = true
		return again
	})
}

// starts counts how often agents were prompted in a project, by their own record.
func starts(p *robust.Place, project string) int {
	return strings.Count("\n"+strings.Join(p.Record(project), "\n"), "\nstart ")
}
