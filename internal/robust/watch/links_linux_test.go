package watch

import (
	"os"
	"testing"
	"time"

	"deckhand/internal/control"
)

// TestLinksInCircles: links that lead to themselves, to each other, to the
// folder they are in or above it, to other folders of the work folder and out of
// it, made before the start and while it runs. What is behind them is read by no
// second name and not at all outside: each card starts once, the one outside never.
func TestLinksInCircles(t *testing.T) {
	t.Parallel()
	ctx := bounded(t)
	p := newPlace(t)
	put(t, p, "real/Board.md", board(0, "Behind a link"))
	mkdir(t, p.Path("outside/deep"))
	p.Write(p.Path("outside/deep/Board.md"), board(1, "Outside"))
	tangle := func(in string) {
		mkdir(t, p.At(in+"/a/b"))
		for link, to := range map[string]string{
			"self": "self", "here": ".", "up": "..", "ping": "pong", "pong": "ping", "a/b/root": p.Work,
			"a/b/top": "../..", "linked": p.At("real"), "Linked.md": p.At("real/Board.md"), "out": p.Path("outside"), "Out.md": p.Path("outside/deep/Board.md"),
		} {
			if err := os.Symlink(to, p.At(in+"/"+link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tangle("before")
	d := p.Start(ctx)
	inReview(d, 1)
	tangle("while")
	put(t, p, "while/a/b/Board.md", board(1, "Among links"))
	inReview(d, 2)
	for _, args := range [][]string{{"doctor"}, {"status", "--json"}} {
		began := time.Now()
		if said := p.Type(ctx, args...); said.Code < 0 {
			t.Errorf("%v was ended after %v: %s", args, time.Since(began), said.Err)
		}
	}
	d.Until(func(s control.Status) bool { return len(s.Held) == 0 && len(s.Queued) == 0 })
	mustStartOnce(t, p, []string{"Behind a link", "Among links"})
}
