package dispatch

import (
	"fmt"
	"strings"

	"deckhand/board"
)

// place is where the card of a run stands.
type place struct {
	seen *Seen
	lane *board.Lane
	card *board.Card
	item bool // it carries the run's status item; else it was found by its first line
}

// at is `Shop.md:12`.
func (p place) at() string { return fmt.Sprintf("%s:%d", p.seen.Board.Path, p.card.Line) }

// finder looks cards up by run and by first line; built once a Reconcile.
type finder struct {
	byRun map[string][]place
	byKey map[CardID][]place // open cards outside done lanes
	equal map[string][]place // the same over all boards: first line, agent, project
	world *World
}

func newFinder(w *World) *finder {
	f := &finder{byRun: map[string][]place{}, byKey: map[CardID][]place{}, equal: map[string][]place{}, world: w}
	for i := range w.Boards {
		seen := &w.Boards[i]
		for lane, card := range seen.Board.All() {
			p := place{seen: seen, lane: lane, card: card}
			if card.Status != nil {
				item := p
				item.item = true
				f.byRun[runOf(card)] = append(f.byRun[runOf(card)], item)
			}
			if card.Open() && lane.Role != board.Done {
				id := CardID{seen.Board.Path, card.Key}
				f.byKey[id] = append(f.byKey[id], p)
				if len(card.Agents) > 0 {
					k := equalKey(card, seen.Board, w)
					f.equal[k] = append(f.equal[k], p)
				}
			}
		}
	}
	return f
}

func equalKey(c *board.Card, b *board.Board, w *World) string {
	return c.Key + "\x00" + strings.Join(c.Agents, ",") + "\x00" + projectOf(c, b, w)
}

// run finds the card of a run. With no item anywhere, the card that reads as
// it did at the claim is it, when there is just one. More than one place means
// that nothing may be written.
func (f *finder) run(r *Run) []place {
	if with := f.byRun[r.ID]; len(with) > 0 {
		return with
	}
	var out []place
	for _, p := range f.byKey[CardID{r.Board, r.Card.Key}] {
		if p.card.Status == nil {
			out = append(out, p)
		}
	}
	return out
}

// projectOf names the project of a card: its own #project/, else its board's,
// else the one whose configuration names the board; empty when none.
func projectOf(c *board.Card, b *board.Board, w *World) string {
	if c.Project != "" {
		return c.Project
	}
	if b.Project != "" {
		return b.Project
	}
	found := ""
	for name, p := range w.Set.Projects {
		for _, path := range p.Boards {
			if path == b.Path && (found == "" || name < found) {
				found = name
			}
		}
	}
	return found
}

// nested reports whether two real folders share one queue: they are the same,
// or one lies in the other.
func nested(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// runOf is the id of the run whose item the card carries; empty when none. On
// the card ids are in lower case, in logs as ULIDs are written.
func runOf(c *board.Card) string {
	if c.Status == nil {
		return ""
	}
	return strings.ToUpper(c.Status.Run)
}
