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

// late is how long after a change we see it at the most, for the file's own time
// of the change to count: the watcher waits for more, and then there is reading.
// What seems to be older was changed by another clock, or was missed.
const late = 100 * time.Millisecond

// Memory is what has to be remembered from one Reconcile to the next. It is
// rebuilt from the boards after a restart. A Reconcile never changes the one
// it is given.
type Memory struct {
	Runs  map[string]RunSight
	Open  bool      // the pause after a start is over
	Start time.Time // of the first look

	boards map[string]memory // by path
}

// memory is what is remembered of one board.
type memory struct {
	ix      *index
	seen    time.Time        // when the board was there last
	changed time.Time        // ctime of its file then
	cards   map[string]Sight // by first line
}

// Sight is since when a card looks as it does.
type Sight struct {
	Hash  string
	Lane  string
	Text  time.Time // its text is unchanged since
	Moved time.Time // it came, with the same text, from another lane; zero: it did not
	Came  time.Time // it came, with whatever text, from another lane; zero: nobody saw it come
	Seen  time.Time // last time it was there; zero: it is there
}

// RunSight is what was seen of a run's card.
type RunSight struct {
	Away   time.Time // since when it is out of the working lane, or ticked
	Gone   time.Time // since when it is on no board, with its board there and readable
	Crowd  bool      // other running cards of the board went at the same time
	One    bool      // it stood once, and open
	Made   string    // what a person made of the boxes on it
	MadeAt time.Time // and since when it is so
	Twin   bool      // it was ticked, and in the same save an open copy of it came beside it
}

// Hash names the person's bytes of a card.
func Hash(c *board.Card) string {
	sum := sha256.Sum256(c.Text)
	return hex.EncodeToString(sum[:16])
}

// look brings the memory up to what the boards show now.
func (m Memory) look(w *World) Memory {
	next := Memory{Runs: maps.Clone(m.Runs), Open: m.Open, Start: m.Start, boards: make(map[string]memory, len(w.Boards))}
	if next.Runs == nil {
		next.Runs = map[string]RunSight{}
	}
	if next.Start.IsZero() {
		next.Start = w.Now
	}
	for i := range w.Boards {
		s := &w.Boards[i]
		next.boards[s.Board.Path] = m.boards[s.Board.Path].look(s, w.Now)
	}
	for path, old := range m.boards {
		if _, here := next.boards[path]; !here && w.Now.Sub(old.seen) < forget {
			next.boards[path] = old
		}
	}
	return next
}

// look is the memory of a board that is here now.
func (m memory) look(s *Seen, now time.Time) memory {
	if m.ix != nil && m.ix.board == s.Board {
		m.seen, m.changed = now, s.Changed
		return m
	}
	next := memory{ix: newIndex(s.Board), seen: now, changed: s.Changed, cards: make(map[string]Sight, len(m.cards))}
	at := m.since(s.Changed, now)
	for key, hash := range next.ix.hashes {
		lane := ""
		if spots := next.ix.open[key]; len(spots) == 1 {
			lane = spots[0].lane.Title
		}
		old, known := m.cards[key]
		if !known {
			next.cards[key] = first(hash, lane, now, s.Changed)
			continue
		}
		next.cards[key] = old.see(hash, lane, now, at)
	}
	for key, old := range m.cards {
		if _, here := next.cards[key]; here {
			continue
		}
		if old.Seen.IsZero() {
			old.Seen = m.seen
		}
		if now.Sub(old.Seen) < forget {
			next.cards[key] = old
		}
	}
	return next
}

// since is when what is new on a board came, at the latest: when its file
// changed, if we see that change in time, else now. A file that is as it was when
// we looked last (what is new came with a write of ours) tells nothing.
func (m memory) since(changed, now time.Time) time.Time {
	if changed.After(m.changed) && !changed.After(now) && now.Sub(changed) < late {
		return changed
	}
	return now
}

// first is the sight of a card that was not here before: it is at least as old
// as the last change of its file.
func first(hash, lane string, now, changed time.Time) Sight {
	s := Sight{Hash: hash, Lane: lane, Text: now}
	if changed.Before(now) && !changed.IsZero() {
		s.Text = changed
	}
	return s
}

// see is the sight of a card that is here now; what is new on it came at. Of two
// that read the same neither is known: hash is empty then.
func (s Sight) see(hash, lane string, now, at time.Time) Sight {
	switch {
	case s.Hash != hash:
		s.Text, s.Moved = at, time.Time{}
		if s.Lane != lane {
			s.Came = now
		}
	case s.Lane != lane:
		s.Moved, s.Came = at, now // when it came is compared with what we did, by our own clock
	}
	s.Hash, s.Lane, s.Seen = hash, lane, time.Time{}
	return s
}

// settled is when a card that looks like this may start. A move says that the
// person is done with it; after a change of its text they may still be typing.
func (s Sight) settled(set *Settings) time.Time {
	if !s.Moved.IsZero() {
		return s.Moved.Add(set.Settle)
	}
	return s.Text.Add(set.Typing)
}
