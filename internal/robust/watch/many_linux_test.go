package watch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestManyFiles: in 100,000 files (the full form) a few boards are found at the
// start, and saves of others while it runs and while it does not.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	ctx := bounded(t)
	p := newPlace(t)
	files, each := suite.Rounds(100_000), max(4, suite.Rounds(20))
	place := func(i int) string { return fmt.Sprintf("area %d/topic %d/note %d.md", i/1000, i/100%10, i%100) }
	for i := range files {
		if i%100 == 0 {
			put(t, p, place(i), "# A note\n")
			continue
		}
		p.Write(p.At(place(i)), "# A note\n\n- [ ] of somebody\n")
	}
	var cards []string
	var taken []int
	rng := rand.New(rand.NewPCG(1, 6))
	save := func(what string) {
		for range each {
			i := rng.IntN(files)
			for slices.Contains(taken, i) {
				i = rng.IntN(files)
			}
			title := fmt.Sprintf("%s %d", what, i)
			taken, cards = append(taken, i), append(cards, title)
			p.Save(place(i), board(i, title))
		}
	}
	save("Before")
	began := time.Now()
	d := p.Start(ctx)
	ready := time.Since(began)
	inReview(d, len(cards))
	save("While")
	inReview(d, len(cards))
	d.Kill()
	save("Away")
	d = p.Start(ctx)
	inReview(d, len(cards))
	mustStartOnce(t, p, cards)
	suite.Figure(t, "many files", "%d, read in %v; %d cards saved among them before, while and after a kill, each started once", files, ready.Round(time.Millisecond), len(cards))
}
