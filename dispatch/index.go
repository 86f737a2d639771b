package dispatch

import (
	"strings"

	"deckhand/board"
)

// spot is a card and the lane it stands in; in the archive there is none.
type spot struct {
	lane *board.Lane
	card *board.Card
}

// index is what a Reconcile asks of one board. A parsed board never changes,
// so that it is made once for it and not once a Reconcile.
type index struct {
	board  *board.Board
	run    map[string][]spot // cards that carry a run's item, the archive last
	open   map[string][]spot // open cards outside done lanes, by first line
	asks   []spot            // open cards in ready lanes that ask for an agent
	hashes map[string]string // of open cards that mention an agent, by first line; "" when two read the same
}

func newIndex(b *board.Board) *index {
	ix := &index{board: b, run: map[string][]spot{}, open: map[string][]spot{}, hashes: map[string]string{}}
	for lane, card := range b.All() {
		ix.add(spot{lane, card})
	}
	for i := range b.Archive {
		ix.carrier(spot{nil, &b.Archive[i]})
	}
	return ix
}

func (ix *index) carrier(s spot) {
	if id := runOf(s.card); id != "" {
		ix.run[id] = append(ix.run[id], s)
	}
}

func (ix *index) add(s spot) {
	ix.carrier(s)
	if !s.card.Open() || s.lane.Role == board.Done {
		return
	}
	ix.open[s.card.Key] = append(ix.open[s.card.Key], s)
	if len(s.card.Agents) > 0 {
		if _, twice := ix.hashes[s.card.Key]; twice {
			ix.hashes[s.card.Key] = ""
		} else {
			ix.hashes[s.card.Key] = Hash(s.card)
		}
	}
	if s.lane.Role == board.Ready && (len(s.card.Agents) > 0 || s.card.NoteAgent != "") {
		ix.asks = append(ix.asks, s)
	}
}

// runOf is the id of the run whose item the card carries; empty when none. On
// the card ids are in lower case, in logs as ULIDs are written.
func runOf(c *board.Card) string {
	if c.Status == nil {
		return ""
	}
	return strings.ToUpper(c.Status.Run)
}
