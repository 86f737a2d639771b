package board

import (
	"bytes"
	"slices"
	"sort"
	"strconv"

	"deckhand/internal/span"
)

// change is one card's new bytes and place. card nil adds a card; to nil
// leaves it where it is.
type change struct {
	card   *Card
	text   []byte
	to     *Lane
	at     int
	put    *Item
	gone   bool // the card is taken off the board
	reword bool // it may read otherwise than before
}

// place makes a change and checks on the result that nothing else changed. It
// tries the plain way first, then blank lines that keep what comes before or
// after from running into the card.
func (b *Board) place(ch change) (*Board, bool) {
	if ch.gone {
		for _, way := range b.removals(ch) {
			if n, ok := b.try(ch, nil, way); ok {
				return n, true
			}
		}
		return nil, false
	}
	if ch.to == nil {
		return b.try(ch, ch.text, []span.Edit{{Span: ch.card.Span, Text: ch.text}})
	}
	for _, text := range b.marked(ch) {
		for _, way := range b.ways(ch, text) {
			if n, ok := b.try(ch, text, way); ok {
				return n, true
			}
		}
	}
	return nil, false
}

// try makes a change in one way.
func (b *Board) try(ch change, text []byte, way []span.Edit) (*Board, bool) {
	out, err := span.Apply(b.Src, way...)
	if err != nil {
		return nil, false
	}
	slices.SortStableFunc(way, func(x, y span.Edit) int { return x.Span.Start - y.Span.Start })
	n := b.reread(out, way)
	return n, b.holds(n, ch, text)
}

// marked gives the card's bytes as they go into the lane: in a Kanban file
// with the list's marker, because Obsidian keeps one list a lane.
func (b *Board) marked(ch change) [][]byte {
	last := b.lastItem(ch.to)
	if !b.Kanban || last == nil || ch.card == nil {
		return [][]byte{ch.text}
	}
	blanks := len(ch.text) - len(bytes.TrimLeft(ch.text, " \t"))
	old := b.itemOf(ch.card)
	if old == nil || b.bullet(old) == b.bullet(last) {
		return [][]byte{ch.text}
	}
	out := append(bytes.Clone(ch.text[:blanks]), b.nextMarker(last)...)
	out = append(out, ch.text[blanks+len(b.marker(old)):]...)
	return [][]byte{out, ch.text}
}

// nextMarker is the marker of an item after last.
func (b *Board) nextMarker(last *item) []byte {
	m := b.marker(last)
	n, err := strconv.Atoi(string(m[:len(m)-1]))
	if err != nil {
		return m
	}
	return append([]byte(strconv.Itoa(n+1)), m[len(m)-1])
}

// marker is an item's marker: "-", "10."
func (b *Board) marker(it *item) []byte {
	return b.Src[it.span.Start+int(it.marker) : it.span.Start+int(it.after)]
}

// bullet is the character by which lists differ.
func (b *Board) bullet(it *item) byte { return b.Src[it.span.Start+int(it.after)-1] }

func (b *Board) itemOf(c *Card) *item {
	i := b.itemFrom(c.Span.Start)
	if i == len(b.items) || b.items[i].span.Start != c.Span.Start {
		return nil
	}
	return &b.items[i]
}

// lastItem is the last item of the lane's first list, or nil.
func (b *Board) lastItem(l *Lane) *item {
	first := b.itemFrom(l.Head.Start)
	if first == len(b.items) || b.items[first].span.Start >= l.Body.End {
		return nil
	}
	list := b.items[first].list
	after := sort.Search(len(b.items), func(i int) bool { return b.items[i].list > list })
	return &b.items[after-1]
}

// ways are the edits to try, best first.
func (b *Board) ways(ch change, text []byte) [][]span.Edit {
	gone := b.removals(ch)
	var out [][]span.Edit
	for _, in := range b.insertions(ch, text) {
		for _, g := range gone {
			out = append(out, append(append([]span.Edit{}, g...), in))
		}
	}
	return out
}

// removals are the ways to take the card out: with one blank line that only
// divided it from its neighbours, or leaving a blank line in its place.
func (b *Board) removals(ch change) [][]span.Edit {
	if ch.card == nil {
		return [][]span.Edit{nil}
	}
	s := ch.card.Span
	blank := span.Edit{Span: s, Text: []byte(span.EOL(b.Src, s.Start))}
	it := b.itemOf(ch.card)
	if it == nil {
		return [][]span.Edit{{span.Delete(s)}, {blank}}
	}
	wide := s
	prev := b.neighbour(it, -1)
	switch {
	case it.loose:
		wide.End = lineEnd(b.Src, s.End)
	case prev != nil && prev.loose:
		wide.Start = lineStart(b.Src, s.Start-1)
	case b.filled(it):
		wide.End = lineEnd(b.Src, s.End)
	}
	if !ch.gone && (b.to(ch) == s.Start || b.to(ch) == s.End) {
		wide = s
	}
	return [][]span.Edit{{span.Delete(wide)}, {span.Delete(s)}, {blank}}
}

// to is where the plain insertion of a change goes.
func (b *Board) to(ch change) int { at, _, _ := b.spot(ch); return at }

func lineEnd(src []byte, at int) int {
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }

// neighbour is the item before (-1) or after (1) it in its list, or nil.
func (b *Board) neighbour(it *item, step int) *item {
	i := b.itemFrom(it.span.Start) + step
	if i < 0 || i >= len(b.items) || b.items[i].list != it.list {
		return nil
	}
	return &b.items[i]
}

// spot is where a card goes: at the end of the lane's first list, or before or
// after the card that has its place; loose tells on which side a blank line
// divides it from its neighbour. In a lane without a list it goes below the
// heading, its mark and one blank line, and where that line stood between two
// headings it gets a second one.
func (b *Board) spot(ch change) (at int, before, after bool) {
	cards := ch.to.Cards
	if ch.at == 1 && len(cards) > 0 {
		it := b.itemOf(&cards[0])
		return it.span.Start, false, it.loose
	}
	last := b.lastItem(ch.to)
	if ch.at > 1 && ch.at-2 < len(cards) {
		last = b.itemOf(&cards[ch.at-2])
	}
	if last == nil {
		at = b.emptySpot(ch.to)
		return at, false, b.gapOnly(ch.to, at)
	}
	loose := last.loose
	if prev := b.neighbour(last, -1); prev != nil && b.neighbour(last, 1) == nil {
		loose = prev.loose
	}
	return last.span.End, loose, false
}

func (b *Board) emptySpot(l *Lane) int {
	next := lineEnd(b.Src[:l.Body.End], l.mark)
	if l.mark == l.Head.End && len(bytes.TrimSpace(b.Src[l.mark:next])) == 0 {
		return next
	}
	return l.mark
}

// gapOnly reports whether a lane is nothing but one blank line, which divides
// its heading from the next. In a Kanban file that is up to the plugin, which
// writes lanes its own way.
func (b *Board) gapOnly(l *Lane, at int) bool {
	return !b.Kanban && at > l.mark && at == l.Body.End && at < b.footer
}

// filled reports whether a lane is nothing but one item between two blank
// lines. Without the item one of them is enough, and the second comes again
// with the next card: byte for byte, or it is none of ours to take.
func (b *Board) filled(it *item) bool {
	if b.Kanban {
		return false
	}
	l := &b.Lanes[it.lane]
	next := lineEnd(b.Src, it.span.End)
	return l.mark < it.span.Start && b.emptySpot(l) == it.span.Start && next == l.Body.End && next < b.footer &&
		string(b.Src[it.span.End:next]) == span.EOL(b.Src, it.span.Start)
}

// insertions are the ways to put text in, best first: as it is, with a blank
// line after, before, on both sides, and at the end of the lane.
func (b *Board) insertions(ch change, text []byte) []span.Edit {
	at, before, after := b.spot(ch)
	edit := func(at int, before, after bool) span.Edit {
		eol := []byte(span.EOL(b.Src, at))
		var t []byte
		if before {
			t = append(t, eol...)
		}
		t = append(t, text...)
		if after {
			t = append(t, eol...)
		}
		return span.Insert(at, t)
	}
	end := ch.to.lastLine(b.Src)
	return []span.Edit{
		edit(at, before, after), edit(at, false, true), edit(at, true, false), edit(at, true, true),
		edit(end, true, false), edit(end, true, true),
	}
}

// lastLine is the end of the lane's last line that is not blank.
func (l *Lane) lastLine(src []byte) int {
	trimmed := bytes.TrimRight(src[:l.Body.End], " \t\r\n")
	return max(lineEnd(src[:l.Body.End], len(trimmed)), l.mark)
}

// holds checks a result: the same header, lanes, archive and footer, all other
// cards with all their bytes in order, and this card where it was to be, with
// its person's text and its status item.
func (b *Board) holds(n *Board, ch change, text []byte) bool {
	if len(n.Lanes) != len(b.Lanes) || n.Problem != b.Problem || n.Inactive != "" ||
		!bytes.Equal(n.Src[n.footer:], b.Src[b.footer:]) || !b.sameCards(n, n.Archive, b.Archive, ch, nil, text) {
		return false
	}
	for i := range b.Lanes {
		was, is := &b.Lanes[i], &n.Lanes[i]
		if !bytes.Equal(was.Head.Of(b.Src), is.Head.Of(n.Src)) || !b.sameCards(n, is.Cards, was.Cards, ch, was, text) {
			return false
		}
	}
	return true
}

// leaves reports whether the card goes from where it is.
func (ch change) leaves() bool { return ch.to != nil || ch.gone }

// sameCards compares the cards of one lane before and after a change.
func (b *Board) sameCards(n *Board, is, was []Card, ch change, lane *Lane, text []byte) bool {
	awaited := ch.to != nil && ch.to == lane
	for i := range was {
		mine := ch.card != nil && was[i].Span == ch.card.Span
		if mine && ch.leaves() {
			continue
		}
		if awaited && !b.stays(n, is, &was[i]) {
			if !ch.begins(n, is, text) {
				return false
			}
			awaited, is = false, is[1:]
		}
		if mine && !ch.begins(n, is, text) || !mine && !b.stays(n, is, &was[i]) {
			return false
		}
		is = is[1:]
	}
	if awaited {
		return len(is) == 1 && ch.begins(n, is, text)
	}
	return len(is) == 0
}

// begins reports whether the first of cards is the changed one.
func (ch change) begins(n *Board, cards []Card, text []byte) bool {
	return len(cards) > 0 && bytes.Equal(cards[0].Span.Of(n.Src), text) && ch.is(&cards[0])
}

// stays reports whether c is the first of cards, those of the result n. What
// was taken over is the same bytes at another place.
func (b *Board) stays(n *Board, cards []Card, c *Card) bool {
	if len(cards) == 0 {
		return false
	}
	return cards[0].Content == c.Content || bytes.Equal(cards[0].Span.Of(n.Src), c.Span.Of(b.Src))
}

// is reports whether c, which has the bytes of the changed card, reads as that card.
func (ch change) is(c *Card) bool {
	if ch.card == nil {
		return c.Status == nil
	}
	if ch.reword {
		return sameStatus(c.Status, ch.card.Status)
	}
	if ch.put != nil && (c.Status == nil || c.Status.Run != ch.put.Run) {
		return false
	}
	return c.Key == ch.card.Key
}
