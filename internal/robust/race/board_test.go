package race

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"deckhand/internal/robust"
)

var projects = []string{"shop", "blog", "api"}

// livelyBoard has a card for each project and a lane for the person's own.
func livelyBoard() string {
	var b strings.Builder
	b.WriteString("---\nproject: shop\n---\n\n## Plan\n\n")
	for _, p := range projects {
		fmt.Fprintf(&b, "- [ ] Work in %s #project/%s @pi\n\t[record] [slow:40ms]\n", p, p)
	}
	b.WriteString("\n## In Progress\n\n## Review\n\n## Ideas\n\n")
	return b.String()
}

// TestPersonSavesWhileCardsRun lets a person add lines to a board, saving it in
// each style and now and then from a copy that is older than the board, while
// its cards start, work and end.
func TestPersonSavesWhileCardsRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	saves, old, late, gone := 0, 0, 0, 0
	rounds := suite.Rounds(100)
	for _, style := range styles {
		t.Run(style, func(t *testing.T) {
			for range rounds {
				p := &person{Place: robust.NewPlace(t, robust.Fast, projects...), t: t, style: style}
				p.round(ctx)
				saves, old, late = saves+p.saves, old+p.old, late+p.late
				if p.gone {
					gone++
				}
			}
		})
	}
	if old == 0 {
		t.Error("no save was older than the board: nothing was at stake")
	}
	suite.Figure(t, "saves while cards ran", "%d in %d rounds, %d from a copy older than the board (%d older than a whole run), %d into a file just replaced; every line there, every card in one lane, each prompted once", saves, rounds*len(styles), old, gone, late)
}

// person works on a board beside a daemon.
type person struct {
	*robust.Place
	t     *testing.T
	style string
	saves int
	old   int  // saves of a copy that was older than the board
	stale bool // the last one was
	late  int  // saves that were at their place only a moment later
	gone  bool // a whole run was missing in the last one
}

func (p *person) round(ctx context.Context) {
	p.t.Helper()
	p.Save("Shop.md", livelyBoard())
	d := p.Start(ctx)
	for !p.done() && !p.lineGone(d) {
		p.edit(ctx)
		select {
		case <-ctx.Done():
			p.t.Fatalf("%v\n%s\n%s\n%s", ctx.Err(), p.Read("Shop.md"), p.Log, p.Logs())
		case <-time.After(time.Duration(rand.IntN(40)) * time.Millisecond):
		}
	}
	p.Await(ctx, nil, func() bool { return p.done() || p.lineGone(d) }) // also when the last save was an old copy
	d.Kill()
	p.check()
	if p.t.Failed() {
		p.t.Fatalf("%s\n%s\n%s", p.Read("Shop.md"), p.Log, p.Logs())
	}
}

// lineGone: a copy from before a card was taken was saved when its run was over
// and shown; on a busy machine a person can be that slow. Nothing is put back
// then, nothing starts, and that is said.
func (p *person) lineGone(d *robust.Process) bool {
	plan, _, _ := strings.Cut(p.Text("Shop.md"), "\n## In Progress\n")
	for _, project := range projects {
		_, after, there := strings.Cut(plan, fmt.Sprintf("- [ ] Work in %s #project/%s @pi\n\t[record] [slow:40ms]\n", project, project))
		if !there || strings.HasPrefix(after, "\t- ") || !strings.Contains(strings.Join(p.Record(project), "\n"), "end") {
			continue
		}
		status, err := d.Client.Status(p.t.Context())
		must(p.t, err)
		for _, h := range status.Held {
			p.gone = p.gone || strings.Contains(strings.Join(h.Reasons, "\n"), "its line is gone")
		}
	}
	return p.gone
}

// done: all cards are in review, and every line of the person is there.
func (p *person) done() bool {
	data, err := os.ReadFile(p.At("Shop.md"))
	_, review, _ := strings.Cut(string(data), "## Review\n")
	return err == nil && strings.Count(review, "🟢 pi: review") == len(projects) && p.saved(string(data))
}

// saved: the board holds what was saved last.
func (p *person) saved(text string) bool {
	return p.saves == 0 || strings.Contains(text, idea(p.saves-1))
}

func idea(n int) string { return fmt.Sprintf("- [ ] idea %d\n", n) }

// edit loads the board, thinks, adds a line and saves. A save that went into
// the file that deckhand had just replaced is at its place a moment later; a
// person does not type into a text that lacks their last line.
func (p *person) edit(ctx context.Context) {
	p.t.Helper()
	loaded := p.Read("Shop.md")
	if !p.saved(loaded) {
		p.late++
		p.Await(ctx, nil, func() bool { loaded = p.Read("Shop.md"); return p.saved(loaded) })
	}
	spin(time.Duration(rand.IntN(5000)) * time.Microsecond)
	stale := p.Read("Shop.md") != loaded
	if stale && p.stale {
		return // not twice in a row: after two old copies of one change it is the person's turn
	}
	if p.stale = stale; stale {
		p.old++
	}
	text := strings.TrimRight(loaded, "\n") + "\n" + idea(p.saves)
	must(p.t, save(p.At("Shop.md"), p.style, []byte(text), time.Duration(rand.IntN(300))*time.Microsecond))
	p.saves++
}

// check counts what is on the board and in the agents' records.
func (p *person) check() {
	p.t.Helper()
	text := p.Read("Shop.md")
	for i := range p.saves {
		if n := strings.Count(text, idea(i)); n != 1 {
			p.t.Errorf("line %d of %d of the person is there %d times", i, p.saves, n)
		}
	}
	for _, project := range projects {
		card := fmt.Sprintf("- [ ] Work in %s ", project)
		if n := strings.Count(text, card); n != 1 || !p.gone && !strings.Contains(p.Lane("Shop.md", "Review"), card) {
			p.t.Errorf("card of %s is there %d times, or not in Review", project, n)
		}
		if n := strings.Count(strings.Join(p.Record(project), "\n"), "start"); n > 1 || n == 0 && !p.gone { // the round ended there, others may not have begun
			p.t.Errorf("%s was prompted %d times", project, n)
		}
	}
}
