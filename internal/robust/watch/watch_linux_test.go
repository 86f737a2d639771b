// Package watch proves that nothing a person saves is missed when the system
// does not tell of it: when events are lost, come too early, or never come.
package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

var suite = robust.Suite{Section: "watch"}

func TestMain(m *testing.M) { suite.Main(m) }

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// projects let a few cards work at a time.
func projects() []string { return []string{"p0", "p1", "p2", "p3"} }

// newPlace makes a place with them; a test that fails says which cards were started.
func newPlace(t *testing.T) *robust.Place {
	t.Helper()
	p := robust.NewPlace(t, robust.Fast, projects()...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("started: %v\n%s", starts(p), p.Log)
		}
	})
	return p
}

// board is a board of the nth project with cards in Plan.
func board(n int, cards ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nproject: p%d\n---\n\n## Backlog\n\n## Plan\n\n", n%len(projects()))
	for _, c := range cards {
		b.WriteString(card(c))
	}
	b.WriteString("\n## In Progress\n\n## Review\n")
	return b.String()
}

// card is one whose agent keeps a record.
func card(title string) string { return "- [ ] " + title + " @pi\n\t[record]\n" }

// starts are how often the agents were asked to do each card, by their own record.
func starts(p *robust.Place) map[string]int {
	n := map[string]int{}
	for _, project := range projects() {
		for _, line := range p.Record(project) {
			if rest, ok := strings.CutPrefix(line, "start "); ok {
				_, title, _ := strings.Cut(rest, " ")
				n[title]++
			}
		}
	}
	return n
}

// mustStartOnce fails for each of the cards that was not started exactly once.
func mustStartOnce(t *testing.T, p *robust.Place, cards []string) {
	t.Helper()
	n := starts(p)
	for _, c := range cards {
		if n[c] != 1 {
			t.Errorf("%q was started %d times", c, n[c])
		}
		delete(n, c)
	}
	if len(n) > 0 {
		t.Errorf("started, too: %v", n)
	}
}

// inReview waits until n cards stand in review.
func inReview(d *robust.Process, n int) {
	d.Until(func(s control.Status) bool {
		done := 0
		for _, r := range s.Runs {
			if r.Status == "done" && r.Lane == "Review" {
				done++
			}
		}
		return done >= n
	})
}

// put makes a file of the work folder with the folders above it.
func put(t *testing.T, p *robust.Place, rel, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(p.At(rel)))
	p.Write(p.At(rel), text)
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}
