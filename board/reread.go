package board

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"sort"

	"deckhand/internal/markdown"
	"deckhand/internal/span"
)

// A board that changed in few places is read again in those places only. That
// is exact, and cheap, for one reason. What a line is depends on the lines
// before it, but at two kinds of lines nothing of that is left: behind a
// heading outside lists and quotes nothing is open, and at an item of an
// outermost list everything that was open ends (markdown.Resume). So reading
// may begin at either, and may end where it comes, behind the change, to either
// of the old board: all that follows reads as it did, at other offsets.
//
// A board with hints, or one that must not be written, is read as a whole:
// both are about the file and not about a place. So is a board that was read
// in parts many times, because its cards hold on to the texts they come from.

// maxAge bounds how often a board is read again in parts.
const maxAge = 16

// Reread reads the board's file again, with what did not change taken over
// from b. The result is that of Parse; it is b itself where nothing changed.
func (b *Board) Reread(src []byte, o Options) *Board {
	if !b.options.equal(o) {
		return Parse(b.Path, src, o)
	}
	if bytes.Equal(b.Src, src) {
		return b
	}
	return b.reread(src, []span.Edit{difference(b.Src, src)})
}

// equal reports whether boards read the same with both.
func (o Options) equal(p Options) bool {
	return o.Named == p.Named && (o.Agents == nil) == (p.Agents == nil) && slices.Equal(o.Agents, p.Agents) &&
		maps.EqualFunc(o.Lanes, p.Lanes, slices.Equal)
}

// difference is the one edit that makes is of was.
func difference(was, is []byte) span.Edit {
	const step = 64
	most := min(len(was), len(is))
	from := 0
	for from+step <= most && bytes.Equal(was[from:from+step], is[from:from+step]) {
		from += step
	}
	for from < most && was[from] == is[from] {
		from++
	}
	most -= from
	to := 0
	for to+step <= most && bytes.Equal(was[len(was)-to-step:len(was)-to], is[len(is)-to-step:len(is)-to]) {
		to += step
	}
	for to < most && was[len(was)-to-1] == is[len(is)-to-1] {
		to++
	}
	return span.Edit{Span: span.Span{Start: from, End: len(was) - to}, Text: is[from : len(is)-to]}
}

// reread reads src, which is b.Src with edits made; they are in order.
func (b *Board) reread(src []byte, edits []span.Edit) *Board {
	if b.Inactive != "" || len(b.Hints) > 0 || b.age >= maxAge {
		return Parse(b.Path, src, b.options)
	}
	n := &Board{
		Path: b.Path, Src: src, Kanban: b.Kanban, Project: b.Project, Problem: b.Problem, footer: len(src),
		options: b.options, names: b.names, written: b.written, age: b.age + 1,
	}
	r := rereader{old: b, p: newParser(n), edits: edits, lane: -1}
	r.p.room(len(b.items) + 2)
	for r.next < len(edits) {
		lines := r.begin()
		if lines == nil {
			return Parse(b.Path, src, b.options)
		}
		if !r.read(lines) {
			r.p.finish()
			return n
		}
	}
	r.takeOver(len(b.Lanes)-1, len(b.items), len(b.Src))
	n.footer = b.footer + r.delta
	r.p.handOver(n)
	n.Inactive = inactive(n.Path, src, r.p.merge)
	return n
}

// rereader makes a board of an old one and of the lines around its edits.
type rereader struct {
	old   *Board
	p     *parser
	edits []span.Edit
	next  int // the first edit that is not behind this place

	lane    int // the last of the old lanes behind this place
	item    int // the first of the old items that is not
	archive int // the first of the archive's cards that is not

	delta int // how far offsets have moved here
	lines int // and line numbers
	lists int // and numbers of lists
}

// begin takes over what stands before the next edit, but for the last item or
// lane at which reading can begin, and gives the lines from there. It gives nil
// before the first lane.
func (r *rereader) begin() iter.Seq[markdown.Line] {
	old, at := r.old, r.edits[r.next].Span.Start
	if at == len(old.Src) && at > 0 && old.Src[at-1] != '\n' {
		at-- // the last line goes on
	}
	lane := sort.Search(len(old.Lanes), func(i int) bool { return old.Lanes[i].Head.End > at }) - 1
	if lane < 0 {
		return nil
	}
	item := old.itemFrom(at) - 1
	if item >= 0 && lineEnd(old.Src, old.items[item].span.Start+int(old.items[item].pad)) > at {
		item--
	}
	head := old.Lanes[lane].Head
	if item < 0 || old.items[item].span.Start < head.Start {
		r.takeOver(lane, item+1, head.End)
		return r.fromLane(lane)
	}
	it := &old.items[item]
	r.takeOver(lane, item, it.span.Start)
	p := r.p
	p.lane, p.archive, p.gap = int(it.lane), false, false
	p.line, p.lists = int(it.line)-1+r.lines, int(it.list)+r.lists
	return markdown.Resume(p.b.Src, it.span.Start+r.delta, old.bullet(it))
}

// fromLane gives the lines behind a lane's heading.
func (r *rereader) fromLane(index int) iter.Seq[markdown.Line] {
	p := r.p
	l := &p.b.Lanes[index]
	l.mark, l.Role = l.Head.End, p.b.names.role(l.Title)
	p.lane, p.archive, p.gap = index, false, false
	p.last, p.lastAt = markdown.Heading, l.Head.Start
	p.line = l.Line - 1 + bytes.Count(l.Head.Of(p.b.Src), []byte("\n"))
	p.lists = 0
	if n := len(p.b.items); n > 0 {
		p.lists = int(p.b.items[n-1].list)
	}
	return markdown.Lines(p.b.Src, l.Head.End)
}

// read reads lines until it comes, behind an edit, to an item or a lane of the
// old board; false where the file ends before.
func (r *rereader) read(lines iter.Seq[markdown.Line]) bool {
	end := r.pass()
	for l := range lines {
		for r.next < len(r.edits) && r.edits[r.next].Span.Start+r.delta < l.Next {
			end = r.pass()
		}
		r.p.line++
		if l.Start >= end && (r.meetsItem(&l) || r.meetsLane(&l)) {
			return true
		}
		if !r.p.take(&l) {
			break
		}
	}
	return false
}

// pass leaves an edit behind and gives its end in the new bytes.
func (r *rereader) pass() int {
	e := r.edits[r.next]
	end := e.Span.Start + r.delta + len(e.Text)
	r.delta += len(e.Text) - e.Span.Len()
	r.next++
	return end
}

// meetsItem reports whether l begins an item of the old board, and ends the
// item before it.
func (r *rereader) meetsItem(l *markdown.Line) bool {
	p, old := r.p, r.old
	if !l.Starts || p.lane < 0 {
		return false
	}
	at := l.Start - r.delta
	for r.item < len(old.items) && old.items[r.item].span.Start < at {
		r.item++
	}
	if r.item == len(old.items) {
		return false
	}
	it := &old.items[r.item]
	if it.span.Start != at || int(it.lane) != p.lane {
		return false
	}
	p.take(l)
	p.open = false
	r.lane, r.lines, r.lists = p.lane, p.line-int(it.line), p.lists-int(it.list)
	p.b.Lanes[p.lane].Body.End = old.Lanes[p.lane].Body.End + r.delta
	r.archiveFrom(at)
	return true
}

// meetsLane reports whether l is the heading of a lane of the old board, and
// ends the lane before it.
func (r *rereader) meetsLane(l *markdown.Line) bool {
	p, old := r.p, r.old
	index := len(p.b.Lanes)
	if l.Kind != markdown.Heading || l.Listed || l.Quotes > 0 || p.last == markdown.Rule || index >= len(old.Lanes) {
		return false
	}
	was := old.Lanes[index]
	if was.Head.Start+r.delta != l.Start || was.Head.End+r.delta != l.Next {
		return false
	}
	p.take(l)
	r.lane, r.item, r.lines = index, old.itemFrom(was.Head.Start), p.line-was.Line
	if r.item < len(old.items) {
		r.lists = p.lists + 1 - int(old.items[r.item].list)
	}
	p.b.Lanes[index] = r.movedLane(was)
	r.archiveFrom(was.Head.Start)
	return true
}

// itemFrom is the index of the first item that begins at or after an offset.
func (b *Board) itemFrom(at int) int {
	return sort.Search(len(b.items), func(i int) bool { return b.items[i].span.Start >= at })
}

// archiveFrom leaves the archive's cards before at behind.
func (r *rereader) archiveFrom(at int) {
	for r.archive < len(r.old.Archive) && r.old.Archive[r.archive].Span.Start < at {
		r.archive++
	}
}

// takeOver takes the old board over: lanes up to lane, items before item, and
// the archive's cards before the offset at.
func (r *rereader) takeOver(lane, item, at int) {
	for {
		to := r.item
		for to < item && int(r.old.items[to].lane) == r.lane {
			to++
		}
		r.takeItems(to)
		if r.lane >= lane {
			break
		}
		r.lane++
		r.p.from = append(r.p.from, len(r.p.cards))
		r.p.b.Lanes = append(r.p.b.Lanes, r.movedLane(r.old.Lanes[r.lane]))
	}
	from := r.archive
	r.archiveFrom(at)
	n := len(r.p.b.Archive)
	r.p.b.Archive = append(r.p.b.Archive, r.old.Archive[from:r.archive]...)
	r.moveCards(r.p.b.Archive[n:])
}

// takeItems takes over items of one lane, and their cards.
func (r *rereader) takeItems(to int) {
	if r.item == to {
		return
	}
	p := r.p
	was := r.old.items[r.item:to]
	n, first, last := len(p.b.items), -1, -1
	p.b.items = append(p.b.items, was...)
	r.item = to
	for i := range was {
		if c := int(was[i].card); c >= 0 {
			if first < 0 {
				first = c
			}
			last = c
		}
	}
	shift := 0
	if first >= 0 {
		shift = len(p.cards) - p.from[r.lane] - first
		c := len(p.cards)
		p.cards = append(p.cards, r.old.Lanes[r.lane].Cards[first:last+1]...)
		r.moveCards(p.cards[c:])
	}
	for i := range p.b.items[n:] {
		it := &p.b.items[n+i]
		it.span = r.moved(it.span)
		it.line += int32(r.lines)
		it.list += int32(r.lists)
		if it.card >= 0 {
			it.card += int32(shift)
		}
	}
}

// moveCards corrects the places of cards that were taken over.
func (r *rereader) moveCards(cards []Card) {
	for i := range cards {
		c := &cards[i]
		c.Span = r.moved(c.Span)
		c.Line += r.lines
	}
}

func (r *rereader) movedLane(l Lane) Lane {
	l.Head, l.Body = r.moved(l.Head), r.moved(l.Body)
	l.mark += r.delta
	l.Line += r.lines
	l.Cards = nil
	return l
}

func (r *rereader) moved(s span.Span) span.Span {
	return span.Span{Start: s.Start + r.delta, End: s.End + r.delta}
}
