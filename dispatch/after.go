package dispatch

import (
	"fmt"
	"slices"
	"strings"

	"deckhand/board"
)

// after holds a card until the cards it names are done. A target is a card's
// block id, title or first line, of this board or, when this one has none, of
// any; `Board#card` and `Board#^id` name the board.
func (j *judge) after(seen *Seen, lane *board.Lane, c *board.Card) Rule {
	const name = "what it waits for is done"
	if len(c.After) == 0 {
		return pass(name)
	}
	self := place{spot: spot{lane, c}, seen: seen}
	for _, target := range c.After {
		open, found := j.target(self, target)
		switch {
		case !found:
			return fail(name, "correct its after: line", "after: no card reads %q", target)
		case len(open) > 1:
			return fail(name, "make the titles differ", "after: more than one card reads %q: %s", target, atOf(open))
		case len(open) == 1 && open[0].card == c:
			return fail(name, "correct its after: line", "after: %q is the card itself", target)
		}
	}
	if round := j.cycle(self); round != nil {
		return fail(name, "delete one of their after: lines", "cards wait for each other: %s", strings.Join(round, " waits for "))
	}
	for _, target := range c.After {
		if open, _ := j.target(self, target); len(open) > 0 {
			return later(name, "after %q (%s), which is not done", open[0].card.Title, open[0].at())
		}
	}
	return pass(name)
}

// target finds what an after: of a card names: those of them that are not done.
func (j *judge) target(from place, target string) (open []place, found bool) {
	j.names()
	file, part, cut := strings.Cut(target, "#")
	whole, id := j.titles[plain(target)], j.blocks[strings.TrimPrefix(strings.TrimSpace(target), "^")]
	if cut {
		part = strings.TrimSpace(part)
		id = within(j.blocks[strings.TrimPrefix(part, "^")], file)
		if !strings.HasPrefix(part, "^") {
			id = append(slices.Clip(id), within(j.titles[plain(part)], file)...)
		}
		if file == "" {
			id = near(id, from.seen)
		}
	}
	all := near(append(slices.Clip(whole), id...), from.seen)
	for i, p := range all {
		if !done(p) && !slices.ContainsFunc(all[:i], func(q place) bool { return q.card == p.card }) {
			open = append(open, p)
		}
	}
	return open, len(all) > 0
}

// done: ticked, in a done lane, or archived.
func done(p place) bool {
	return p.card.Ticked() || p.lane == nil || p.lane.Role == board.Done
}

// near are the places on the same board, when there are any.
func near(places []place, seen *Seen) []place {
	var own []place
	for _, p := range places {
		if p.seen == seen {
			own = append(own, p)
		}
	}
	if len(own) > 0 {
		return own
	}
	return places
}

// within are the places on boards that the file part of a link means.
func within(places []place, file string) []place {
	if file == "" {
		return places
	}
	var out []place
	for _, p := range places {
		if isFile(p.seen.Board.Path, file) {
			out = append(out, p)
		}
	}
	return out
}

// isFile reports whether a link's file part means this path.
func isFile(path, file string) bool {
	path, file = plain(strings.TrimSuffix(path, ".md")), plain(strings.TrimSuffix(file, ".md"))
	return path == file || strings.HasSuffix(path, "/"+file)
}

func plain(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// names makes the tables of what an after: can name. Conflict copies hold
// nothing that can be waited for; a board that is away for a moment does.
func (j *judge) names() {
	if j.titles != nil {
		return
	}
	j.titles, j.blocks = map[string][]place{}, map[string][]place{}
	for i := range j.w.Boards {
		s := &j.w.Boards[i]
		if _, copied := board.ConflictCopy(s.Board.Path); copied {
			continue
		}
		for lane, card := range s.Board.All() {
			j.name(place{spot: spot{lane, card}, seen: s})
		}
		for k := range s.Board.Archive {
			j.name(place{spot: spot{nil, &s.Board.Archive[k]}, seen: s})
		}
	}
}

func (j *judge) name(p place) {
	title, key := plain(p.card.Title), plain(p.card.Key)
	j.titles[title] = append(j.titles[title], p)
	if key != title {
		j.titles[key] = append(j.titles[key], p)
	}
	if id := p.card.BlockID; id != "" {
		j.blocks[id] = append(j.blocks[id], p)
	}
}

// cycle follows what a card waits for; when that leads back to it, it names
// the cards of the round.
func (j *judge) cycle(start place) []string {
	visited := map[*board.Card]bool{}
	var follow func(p place) []string
	follow = func(p place) []string {
		for _, target := range p.card.After {
			open, _ := j.target(p, target)
			if len(open) != 1 {
				continue
			}
			next := open[0]
			if next.card == start.card {
				return []string{quoted(p), quoted(next)}
			}
			if visited[next.card] {
				continue
			}
			visited[next.card] = true
			if round := follow(next); round != nil {
				return append([]string{quoted(p)}, round...)
			}
		}
		return nil
	}
	return follow(start)
}

func quoted(p place) string { return fmt.Sprintf("%q (%s)", p.card.Title, p.at()) }
