package board

import (
	"bytes"
	"strconv"
	"strings"

	"deckhand/internal/markdown"
	"deckhand/internal/span"
)

// item is an item of a list directly under a lane: a card or a bare bullet.
// All are copied when a board is read again, so they are kept small.
type item struct {
	span   span.Span // whole lines, without the blank lines after it
	line   int32     // 1-based
	lane   int32
	list   int32 // lists are numbered through the board
	card   int32 // index in the lane's cards; -1: a bare bullet
	marker int32 // where its marker begins, behind span.Start
	after  int32 // where the marker ends
	pad    int32 // where its content begins
	loose  bool  // blank lines between it and the next item of its list
}

// Parse reads a board. It never fails: what cannot be read is said in
// Inactive, Problem or Hints, and serialising a board is writing Src.
func Parse(path string, src []byte, o Options) *Board {
	h, body := readHeader(src)
	b := &Board{
		Path: path, Src: src, Kanban: h.kanban, Project: h.project, Problem: h.problem, footer: len(src), options: o,
		names: newLaneNames(o.Lanes, h.lanes), written: writtenNames(o.Lanes, h.lanes),
	}
	p := newParser(b)
	p.window.text = string(src)
	p.line = bytes.Count(src[:body], []byte("\n"))
	for l := range markdown.Lines(src, body) {
		if p.line++; !p.take(&l) {
			break
		}
	}
	p.finish()
	return b
}

// writtenNames are the titles of lanes that are added.
func writtenNames(base, over map[Role][]string) map[Role]string {
	out := map[Role]string{}
	for _, names := range []map[Role][]string{DefaultLanes(), base, over} {
		for r, list := range names {
			if len(list) > 0 {
				out[r] = list[0]
			}
		}
	}
	return out
}

// parser gathers a board from its lines.
type parser struct {
	b *Board
	o Options
	window
	pools

	line    int // 1-based number of the line at hand
	merge   int // line of the first merge marker
	lane    int // index of the lane at hand; -1 none
	archive bool
	lists   int

	last     markdown.Kind // of the block before, outside lists
	before   markdown.Kind // of the block before the paragraph at hand
	lastAt   int           // where that block begins
	beforeAt int
	paraAt   int // first line of the paragraph at hand
	paraLine int
	gap      bool // blank lines since the item at hand

	open  bool // an item is at hand
	item  item
	lines []markdown.Line // its lines
	found []mention       // scratch
}

func newParser(b *Board) *parser {
	return &parser{b: b, o: b.options, window: window{src: b.Src}, pools: newPools(), lane: -1, last: markdown.Blank}
}

// take reads one line; false ends the board at its settings footer.
func (p *parser) take(l *markdown.Line) bool {
	if l.End-l.Start >= mergeMarker && p.merge == 0 {
		p.noteMerge(l)
	}
	if l.Listed {
		p.listed(l)
		return true
	}
	if l.Kind == markdown.Blank {
		p.gap = true
		return true
	}
	p.endItem()
	p.gap = false
	if l.First {
		p.before, p.beforeAt = p.last, p.lastAt
		p.last, p.lastAt = l.Kind, l.Start
		p.paraAt, p.paraLine = l.Start, p.line
	}
	top := l.Quotes == 0
	switch {
	case top && l.Kind == markdown.Comment && l.First && footerLine(p.str(l.Text, l.End)):
		p.b.footer = l.Start
		p.endLane(l.Start)
		p.lane = -1
		return false
	case top && l.Level > 0:
		p.heading(l)
	case top && l.Kind == markdown.Text && l.First:
		p.mark(l)
	}
	return true
}

// finish completes the board behind its last line.
func (p *parser) finish() {
	p.endItem()
	p.endLane(p.b.footer)
	p.handOver(p.b)
	p.b.Inactive = inactive(p.b.Path, p.b.Src, p.merge)
}

// footerLine reports whether a comment is Obsidian Kanban's settings footer.
func footerLine(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(text, "%%")), "kanban:settings")
}

// mergeMarker is the length of the marks that git and sync programs write
// around two sides of a file.
const mergeMarker = 7

// noteMerge looks for such a mark. A line of equal signs alone underlines
// headings too.
func (p *parser) noteMerge(l *markdown.Line) {
	if c := p.b.Src[l.Start]; c != '<' && c != '>' {
		return
	}
	text := p.str(l.Start, l.End)
	for _, m := range [...]string{"<<<<<<<", ">>>>>>>"} {
		if rest, ok := strings.CutPrefix(text, m); ok && (rest == "" || rest[0] == ' ') && l.Kind != markdown.Comment {
			p.merge = p.line
		}
	}
}

// heading ends a lane and begins one, or the archive.
func (p *parser) heading(l *markdown.Line) {
	lane := p.b.Kanban || l.Level == 2
	if !lane && l.Level > 2 {
		return
	}
	title, limit := laneTitle(p.b.Src, l.Title)
	head := span.Span{Start: p.paraAt, End: l.Next}
	if p.before == markdown.Rule && archiveTitle(title) {
		p.endLane(p.beforeAt)
		p.lane, p.archive = -1, true
		return
	}
	p.endLane(head.Start)
	p.lane, p.archive = -1, false
	if !lane {
		return
	}
	p.lane = len(p.b.Lanes)
	p.from = append(p.from, len(p.cards))
	p.b.Lanes = append(p.b.Lanes, Lane{
		Title: title, Limit: limit, Role: p.b.names.role(title), Line: p.paraLine,
		Head: head, Body: span.Span{Start: l.Next, End: l.Next}, mark: l.Next,
	})
}

// laneTitle is a heading's source without comments and limit.
func laneTitle(src []byte, title span.Span) (string, int) {
	masks := markdown.InlineMasks(src, title)
	if len(masks) == 0 {
		return cutLimit(string(title.Of(src)))
	}
	var out []byte
	last := title.Start
	for _, m := range masks {
		if m.Kind != markdown.MaskSpan {
			out = append(out, src[last:m.Span.Start]...)
			last = m.Span.End
		}
	}
	return cutLimit(string(append(out, src[last:title.End]...)))
}

// mark reads the line that marks a lane of finished cards.
func (p *parser) mark(l *markdown.Line) {
	if p.lane < 0 || !completeMark(p.str(l.Text, l.End)) {
		return
	}
	lane := &p.b.Lanes[p.lane]
	if lane.mark != lane.Head.End || len(p.cards) > p.from[p.lane] || len(bytes.TrimSpace(p.b.Src[lane.Head.End:l.Start])) > 0 {
		return
	}
	lane.mark = l.Next
	if lane.Role == NoRole {
		lane.Role = Done
	}
}

// endLane ends the lane at hand. What read as its mark is none when its line
// turns out to be the next heading, by what is below it.
func (p *parser) endLane(at int) {
	if p.lane < 0 {
		return
	}
	lane := &p.b.Lanes[p.lane]
	lane.Body.End = at
	if lane.mark > at {
		lane.mark, lane.Role = lane.Head.End, p.b.names.role(lane.Title)
	}
}

// listed takes a line of an item. Blank lines count only when more of the item follows.
func (p *parser) listed(l *markdown.Line) {
	if l.Starts {
		p.endItem()
		if l.NewList {
			p.lists++
		} else if n := len(p.b.items); n > 0 && p.gap && int(p.b.items[n-1].list) == p.lists {
			p.b.items[n-1].loose = true
		}
		p.last, p.lastAt = markdown.Blank, l.Start
		p.open, p.lines = true, p.lines[:0]
		p.item = item{
			span: span.Span{Start: l.Start, End: l.Next}, line: int32(p.line), lane: int32(p.lane), list: int32(p.lists), card: -1,
			marker: int32(l.Marker.Start - l.Start), after: int32(l.Marker.End - l.Start), pad: int32(l.Content - l.Start),
		}
	}
	p.lines = append(p.lines, *l)
	blank := len(bytes.TrimSpace(p.b.Src[l.Start:l.End])) == 0
	p.gap = blank && !l.Starts
	if !blank {
		p.item.span.End = l.Next
	}
}

// endItem makes the item at hand a card, or leaves it a bullet.
func (p *parser) endItem() {
	if !p.open {
		return
	}
	p.open = false
	if p.lane < 0 && !p.archive {
		return
	}
	for len(p.lines) > 1 && p.lines[len(p.lines)-1].Start >= p.item.span.End {
		p.lines = p.lines[:len(p.lines)-1]
	}
	if p.archive {
		if p.card() != nil {
			last := len(p.cards) - 1
			p.b.Archive = append(p.b.Archive, p.cards[last])
			p.cards[last] = Card{}
			p.cards = p.cards[:last]
		}
		return
	}
	n := len(p.cards)
	if p.card() != nil {
		p.item.card = int32(n - p.from[p.lane])
	}
	p.b.items = append(p.b.items, p.item)
}

func lineNumber(src []byte, at int) string { return itoa(1 + bytes.Count(src[:at], []byte("\n"))) }

func itoa(n int) string { return strconv.Itoa(n) }
