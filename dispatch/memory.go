package dispatch

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"time"

	"deckhand/board"
)

// forget is how long a card that is not seen any more is remembered: a file
// that is half written for a moment must not look new.
const forget = 10 * time.Minute

// Memory is what has to be remembered from one Reconcile to the next. It is
// rebuilt from the boards after a restart.
type Memory struct {
	Cards map[CardID]Sight
	Runs  map[string]RunSight
	Open  bool // the pause after a start is over
}

// Sight is since when a card looks as it does.
type Sight struct {
	Hash  string
	Lane  string
	Text  time.Time // its text is unchanged since
	Moved time.Time // it came, with the same text, from another lane; zero: it did not
	Seen  time.Time // last time it was there
}

// RunSight is since when the card of a run is somewhere odd.
type RunSight struct {
	Away time.Time // out of the working lane, or ticked
	Gone time.Time // on no board
}

// Hash names the person's bytes of a card.
func Hash(c *board.Card) string {
	sum := sha256.Sum256(c.Text)
	return hex.EncodeToString(sum[:16])
}

// look brings the memory of cards up to what the boards show now. Only cards
// that mention somebody are remembered: others cannot start.
func (m Memory) look(w *World) Memory {
	next := Memory{Cards: make(map[CardID]Sight, len(m.Cards)), Runs: maps.Clone(m.Runs), Open: m.Open}
	if next.Runs == nil {
		next.Runs = map[string]RunSight{}
	}
	for _, s := range w.Boards {
		for lane, card := range s.Board.All() {
			if len(card.Agents) == 0 {
				continue
			}
			id := CardID{s.Board.Path, card.Key}
			old, known := m.Cards[id]
			next.Cards[id] = old.see(known, Hash(card), lane.Title, w.Now, s.Changed)
		}
	}
	for id, old := range m.Cards {
		if _, here := next.Cards[id]; !here && w.Now.Sub(old.Seen) < forget {
			next.Cards[id] = old
		}
	}
	return next
}

// see is the sight of a card that is here now. ctime is when its file changed
// last: a card that we see for the first time is at least as old as that.
func (s Sight) see(known bool, hash, lane string, now, ctime time.Time) Sight {
	switch {
	case !known:
		s = Sight{Text: now}
		if ctime.Before(now) && !ctime.IsZero() {
			s.Text = ctime
		}
	case s.Hash != hash:
		s.Text, s.Moved = now, time.Time{}
	case s.Lane != lane:
		s.Moved = now
	}
	s.Hash, s.Lane, s.Seen = hash, lane, now
	return s
}

// settled is when a card that looks like this may start.
func (s Sight) settled(set Settings) time.Time {
	at := s.Text.Add(set.Typing)
	if !s.Moved.IsZero() {
		if moved := s.Moved.Add(set.Settle); moved.Before(at) {
			at = moved
		}
	}
	return at
}
