package dispatch

import (
	"fmt"
	"slices"
	"strings"

	"deckhand/board"
)

// place is where a card stands.
type place struct {
	spot
	seen *Seen
	item bool // it carries the run's own item; else it was found in another way
}

// at is `Shop.md:12`.
func (p place) at() string { return fmt.Sprintf("%s:%d", p.seen.Board.Path, p.card.Line) }

// blind says why the board decides nothing at the moment; empty: it does.
func (s *Seen) blind() string {
	if s.Gone != "" {
		return s.Gone
	}
	return s.Board.Inactive
}

// fault says why nothing starts on the board at all: it decides nothing, or its
// header cannot be read; empty: nothing is wrong with it.
func (s *Seen) fault() string {
	if why := s.blind(); why != "" {
		return why
	}
	return s.Board.Problem
}

// standing is where the card of a run stands: nowhere, in one place, or, when
// a person copied it, in more. Places on boards that cannot be read or written
// count only where there are no others; blind says then why.
type standing struct {
	places []place
	blind  string
}

// finder looks cards up by run and by first line; built once a Reconcile.
type finder struct {
	w      *World
	mem    Memory
	seen   map[string]*Seen
	byRun  map[string][]place
	newest map[CardID]*Run // of each card's runs, by board and first line
	next   map[string]*Run // the run that took an earlier one's place
	runs   map[string]*Run
}

func newFinder(w *World, mem Memory) *finder {
	f := &finder{
		w: w, mem: mem, seen: make(map[string]*Seen, len(w.Boards)), byRun: map[string][]place{},
		newest: map[CardID]*Run{}, next: map[string]*Run{}, runs: make(map[string]*Run, len(w.Runs)),
	}
	for i := range w.Boards {
		s := &w.Boards[i]
		f.seen[s.Board.Path] = s
		for id, spots := range f.index(s).run {
			for _, sp := range spots {
				f.byRun[id] = append(f.byRun[id], place{sp, s, true})
			}
		}
	}
	for _, r := range w.Runs {
		f.runs[r.ID] = r
		if r.Phase == PhaseReleased {
			continue
		}
		f.newest[CardID{r.Board, r.Key}] = r
		f.newest[CardID{r.Card.Board, r.Card.Key}] = r
		if r.Earlier != nil {
			f.next[r.Earlier.Run] = r
		}
	}
	return f
}

func (f *finder) index(s *Seen) *index { return f.mem.boards[s.Board.Path].ix }

// open are the open cards outside done lanes of a board that read so.
func (f *finder) open(path, key string) []place {
	s := f.seen[path]
	if s == nil {
		return nil
	}
	var out []place
	for _, sp := range f.index(s).open[key] {
		out = append(out, place{sp, s, false})
	}
	return out
}

// run finds the card of a run: the one with its item; else the one with the
// item of the run whose place it takes; else, when no later run is known by
// it, the card that reads as its card did.
func (f *finder) run(r *Run) standing {
	places := f.byRun[r.ID]
	if len(places) == 0 && r.Earlier != nil {
		for _, p := range f.byRun[r.Earlier.Run] {
			p.item = false
			places = append(places, p)
		}
	}
	if id := (CardID{r.Board, r.Key}); len(places) == 0 && f.newest[id] == r {
		for _, p := range f.open(id.Board, id.Key) {
			if p.card.Status == nil {
				places = append(places, p)
			}
		}
	}
	return readable(places)
}

func readable(places []place) standing {
	var st standing
	for _, p := range places {
		if why := p.seen.blind(); why != "" {
			st.blind = why
		} else {
			st.places = append(st.places, p)
		}
	}
	if len(st.places) > 0 {
		st.blind = ""
	}
	return st
}

// there reports whether a board can be read, so that what it lacks was taken away.
func (f *finder) there(path string) bool {
	s := f.seen[path]
	return s != nil && s.blind() == ""
}

// equal is an open card on another board that reads the same and asks the same
// agent to work in the same project.
func (f *finder) equal(seen *Seen, c *board.Card) (place, bool) {
	project := projectOf(c, seen.Board, f.w)
	for i := range f.w.Boards {
		s := &f.w.Boards[i]
		if s == seen || s.blind() != "" {
			continue
		}
		for _, p := range f.open(s.Board.Path, c.Key) {
			if slices.Equal(p.card.Agents, c.Agents) && projectOf(p.card, s.Board, f.w) == project {
				return p, true
			}
		}
	}
	return place{}, false
}

// Notes is the project that is the work folder itself.
const Notes = "notes"

// projectOf names the project of a card: its own #project/, else its board's,
// else the one whose configuration names the board; empty when none.
func projectOf(c *board.Card, b *board.Board, w *World) string {
	if len(c.Agents) == 1 && w.Set.Agents[c.Agents[0]].Notes {
		return Notes
	}
	if c.Project != "" {
		return c.Project
	}
	if b.Project != "" {
		return b.Project
	}
	found := ""
	for name, p := range w.Set.Projects {
		if slices.Contains(p.Boards, b.Path) && (found == "" || name < found) {
			found = name
		}
	}
	return found
}

// nested reports whether two real folders share one queue: they are the same,
// or one lies in the other.
func nested(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// added are the lines a person wrote since the card was shown last: below the
// card or inside our item.
func added(r *Run, c *board.Card) []string {
	now := slices.Clone(c.Lines)
	if c.Status != nil {
		now = append(now, board.Added(slices.Concat(r.Wrote, r.Took), c.Status.Lines)...)
	}
	return NewLines(r.Lines, now)
}

// NewLines are those of now that were not there before; what stands behind a
// field of ours is what was written, without its name.
func NewLines(before, now []string) []string {
	out := board.Added(before, now)
	for i, line := range out {
		if _, said, ok := board.ReadField(line); ok {
			out[i] = said
		}
	}
	return slices.DeleteFunc(out, func(line string) bool { return line == "" })
}

// most is how many places a reason names: there may be thousands, and a reason
// for each of them.
const most = 10

// some lists the first of many for people.
func some[T any](all []T, name func(T) string) string {
	var names []string
	for _, x := range all[:min(len(all), most)] {
		names = append(names, name(x))
	}
	list := strings.Join(names, ", ")
	if more := len(all) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// atOf lists places for people.
func atOf(places []place) string { return some(places, place.at) }
