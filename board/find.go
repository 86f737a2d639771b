package board

import (
	"iter"
	"sort"
)

// All walks the cards of all lanes, in order. The archive is no lane.
func (b *Board) All() iter.Seq2[*Lane, *Card] {
	return func(yield func(*Lane, *Card) bool) {
		for i := range b.Lanes {
			l := &b.Lanes[i]
			for j := range l.Cards {
				if !yield(l, &l.Cards[j]) {
					return
				}
			}
		}
	}
}

// ByRun lists the cards that carry a run's id, those of the archive last.
func (b *Board) ByRun(id string) []*Card {
	var out []*Card
	for _, c := range b.All() {
		if c.Status != nil && c.Status.Run == id {
			out = append(out, c)
		}
	}
	for i := range b.Archive {
		if c := &b.Archive[i]; c.Status != nil && c.Status.Run == id {
			out = append(out, c)
		}
	}
	return out
}

// ByKey lists the open cards with this key, outside done lanes and archive.
func (b *Board) ByKey(key string) []*Card {
	var out []*Card
	for l, c := range b.All() {
		if l.Role != Done && c.Key == key && c.Open() {
			out = append(out, c)
		}
	}
	return out
}

// LaneOf is the lane a card of this board stands in; nil for the archive.
func (b *Board) LaneOf(c *Card) *Lane {
	i := sort.Search(len(b.Lanes), func(i int) bool { return b.Lanes[i].Body.End > c.Span.Start })
	if i == len(b.Lanes) {
		return nil
	}
	l := &b.Lanes[i]
	j := sort.Search(len(l.Cards), func(j int) bool { return l.Cards[j].Span.Start >= c.Span.Start })
	if j == len(l.Cards) || &l.Cards[j] != c {
		return nil
	}
	return l
}

// Lane is the first lane with this role, or nil.
func (b *Board) Lane(role Role) *Lane {
	for i := range b.Lanes {
		if b.Lanes[i].Role == role {
			return &b.Lanes[i]
		}
	}
	return nil
}

// LaneNamed is the first lane with this name, or nil.
func (b *Board) LaneNamed(name string) *Lane {
	for i := range b.Lanes {
		if SameName(b.Lanes[i].Title, name) {
			return &b.Lanes[i]
		}
	}
	return nil
}

// Missing lists the roles a run needs and no lane of the board has.
func (b *Board) Missing() []Role {
	var out []Role
	for _, r := range [...]Role{Working, Review} {
		if b.Lane(r) == nil {
			out = append(out, r)
		}
	}
	return out
}
