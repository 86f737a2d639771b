package board

import (
	"bytes"
	"strconv"
	"strings"

	"deckhand/internal/markdown"
	"deckhand/internal/span"
)

// item is an item of a list directly under a lane: a card or a bare bullet.
type item struct {
	span   span.Span // whole lines, without the blank lines after it
	lane   int
	list   int       // lists are numbered through the board
	card   int       // index in the lane's cards; -1: a bare bullet
	marker span.Span // "-", "10."
	pad    int       // where its content begins
	loose  bool      // blank lines between it and the next item of its list
}

// Parse reads a board. It never fails: what cannot be read is said in
// Inactive, Problem or Hints, and serialising a board is writing Src.
func Parse(path string, src []byte, o Options) *Board {
	h, body := readHeader(src)
	b := &Board{Path: path, Src: src, Kanban: h.kanban, Project: h.project, Problem: h.problem, footer: len(src), options: o}
	p := parser{b: b, o: o, names: newLaneNames(o.Lanes, h.lanes), text: string(src), lane: -1, last: markdown.Blank}
	p.line = bytes.Count(src[:body], []byte("\n"))
	for l := range markdown.Lines(src, body) {
		if p.line++; !p.take(l) {
			break
		}
	}
	p.endItem()
	p.endLane(b.footer)
	b.written = writtenNames(o.Lanes, h.lanes)
	b.Inactive = inactive(path, src, p.merge)
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
	b     *Board
	o     Options
	names laneNames
	text  string // Src, so that lines share its memory

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
	first int             // its line number
	lines []markdown.Line // its lines
}

// take reads one line; false ends the board at its settings footer.
func (p *parser) take(l markdown.Line) bool {
	p.noteMerge(l)
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
	case top && l.Kind == markdown.Comment && l.First && footerLine(p.text[l.Text:l.End]):
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

// footerLine reports whether a comment is Obsidian Kanban's settings footer.
func footerLine(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(text, "%%")), "kanban:settings")
}

// noteMerge looks for the lines that git and sync programs write around two
// sides. A line of equal signs alone underlines headings too.
func (p *parser) noteMerge(l markdown.Line) {
	if p.merge > 0 || l.End-l.Start < 7 {
		return
	}
	text := p.text[l.Start:l.End]
	for _, m := range [...]string{"<<<<<<<", ">>>>>>>"} {
		if rest, ok := strings.CutPrefix(text, m); ok && (rest == "" || rest[0] == ' ') && l.Kind != markdown.Comment {
			p.merge = p.line
		}
	}
}

// heading ends a lane and begins one, or the archive.
func (p *parser) heading(l markdown.Line) {
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
	p.b.Lanes = append(p.b.Lanes, Lane{
		Title: title, Limit: limit, Role: p.names.role(title), Line: p.paraLine,
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
func (p *parser) mark(l markdown.Line) {
	if p.lane < 0 || !completeMark(p.text[l.Text:l.End]) {
		return
	}
	lane := &p.b.Lanes[p.lane]
	if lane.mark != lane.Head.End || len(lane.Cards) > 0 || strings.TrimSpace(p.text[lane.Head.End:l.Start]) != "" {
		return
	}
	lane.mark = l.Next
	if lane.Role == NoRole {
		lane.Role = Done
	}
}

func (p *parser) endLane(at int) {
	if p.lane >= 0 {
		p.b.Lanes[p.lane].Body.End = at
	}
}

// listed takes a line of an item. Blank lines count only when more of the item follows.
func (p *parser) listed(l markdown.Line) {
	if l.Starts {
		p.endItem()
		if l.NewList {
			p.lists++
		} else if n := len(p.b.items); n > 0 && p.gap && p.b.items[n-1].list == p.lists {
			p.b.items[n-1].loose = true
		}
		p.last, p.lastAt = markdown.Blank, l.Start
		p.open, p.first, p.lines = true, p.line, p.lines[:0]
		p.item = item{
			span: span.Span{Start: l.Start, End: l.Next}, lane: p.lane, list: p.lists, card: -1,
			marker: l.Marker, pad: l.Content,
		}
	}
	p.lines = append(p.lines, l)
	blank := strings.TrimSpace(p.text[l.Start:l.End]) == ""
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
	c, ok := p.card()
	switch {
	case p.archive:
		if ok {
			p.b.Archive = append(p.b.Archive, c)
		}
		return
	case ok:
		lane := &p.b.Lanes[p.lane]
		p.item.card = len(lane.Cards)
		lane.Cards = append(lane.Cards, c)
	}
	p.b.items = append(p.b.items, p.item)
}

func lineNumber(src []byte, at int) string { return itoa(1 + bytes.Count(src[:at], []byte("\n"))) }

func itoa(n int) string { return strconv.Itoa(n) }
