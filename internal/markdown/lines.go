package markdown

import (
	"bytes"
	"iter"

	"deckhand/internal/span"
)

// Lines walks the lines of src from the offset from, which is the body's start
// as CutHeader gives it.
func Lines(src []byte, from int) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		s := scanner{src: src, ahead: noText}
		s.walk(from, yield)
	}
}

func (s *scanner) walk(at int, yield func(Line) bool) {
	for at < len(s.src) {
		l := s.scan(at)
		if !yield(l) {
			return
		}
		at = l.Next
	}
}

// Resume walks the lines of src from an item of an outermost list on, as Lines
// would have come there, but takes the item for one that goes on with a list.
// What stands before such a line decides nothing about it and what follows
// but this: items of the marker character bullet are of the same list.
//
// The reason is that its marker is indented less than the content of the item
// before, so that all that was open there ends, whatever it was.
func Resume(src []byte, at int, bullet byte) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		s := scanner{src: src, bullet: bullet, open: []container{{width: beyond}}, ahead: noText}
		s.walk(at, yield)
	}
}

// beyond is more than any line is indented by.
const beyond = 1 << 30

// container is an open block quote or list item.
type container struct {
	quote bool
	width int  // columns an item's lines are indented by
	empty bool // the item began with a blank line and holds nothing yet; only of the last one
}

// leaf is the open block that takes lines, if any.
type leaf struct {
	kind  Kind // Blank: none
	fence byte // its character
	run   int  // its length
	html  int  // type 1 to 7 of the HTML block
	start int  // of a paragraph: first byte of its text
}

// maxDepth bounds how deep containers nest, so that a file of markers costs no
// more than its length; what is deeper is text.
const maxDepth = 1000

// scanner holds the open blocks between two lines and the place inside one.
type scanner struct {
	src    []byte
	open   []container
	quotes int // how many of open are quotes
	leaf   leaf
	bullet byte // marker character of the outermost list that may go on; 0: none

	pos, end int // the place in the line
	col      int // its column, tabs counted
	tab      int // columns left of a tab that is used in part

	// What comes after the white space at the place, and its column: however
	// many containers the white space belongs to, it is read once.
	ahead, aheadCol int
	noRule          int // no rule begins before this offset

	line Line
	work int // bytes of white space read and containers looked at, for tests
}

// noText is before any text.
const noText = -1

// scan reads the line at offset at.
func (s *scanner) scan(at int) Line {
	end, next := lineAt(s.src, at)
	s.line = Line{Start: at, End: end, Next: next}
	s.pos, s.end, s.col, s.tab = at, end, 0, 0
	matched := s.match()
	all := matched == len(s.open)
	if !all || !s.continueLeaf() {
		s.startBlocks(matched, all)
	}
	s.line.Quotes, s.line.Items = s.quotes, len(s.open)-s.quotes
	s.line.Listed = len(s.open) > 0 && !s.open[0].quote
	return s.line
}

// match walks down the open containers as far as the line goes on with them.
func (s *scanner) match() int {
	quotes := 0
	for i := range s.open {
		c := &s.open[i]
		s.work++
		indent, at := s.indent()
		blank := at == s.end
		if blank && quotes == s.quotes { // items only from here on: all go on but an empty one
			if last := len(s.open) - 1; s.open[last].empty {
				return last
			}
			return len(s.open)
		}
		switch {
		case c.quote:
			if blank || indent > 3 || s.src[at] != '>' {
				return i
			}
			s.advance(indent + 1)
			s.optionalBlank()
			quotes++
		case blank: // a quote further down ends here
		case indent < c.width:
			return i
		default:
			s.advance(c.width)
		}
	}
	return len(s.open)
}

// continueLeaf takes the line into the open block when that is one that takes
// any line: code, HTML, a comment.
func (s *scanner) continueLeaf() bool {
	indent, at := s.indent()
	blank := at == s.end
	switch s.leaf.kind {
	case Fence:
		s.take(Fence, s.pos)
		if indent <= 3 && s.closesFence(at) {
			s.leaf, s.line.Last = leaf{}, true
		}
		return true
	case Code:
		if !blank && indent < 4 {
			s.leaf = leaf{}
			return false
		}
		s.take(Code, s.pos)
		return true
	case HTML:
		if s.leaf.html >= 6 && blank {
			s.leaf = leaf{}
			return false
		}
		s.take(HTML, at)
		if htmlEnds(s.leaf.html, s.src[at:s.end]) {
			s.leaf = leaf{}
		}
		return true
	case Comment:
		s.take(Comment, at)
		if bytes.Contains(s.src[at:s.end], percents) {
			s.leaf = leaf{}
		}
		return true
	}
	return false
}

// take makes the line one of kind, with its text at pos, inside all open containers.
func (s *scanner) take(kind Kind, pos int) {
	s.line.Kind, s.line.Text = kind, pos
	if pos < s.end {
		s.fill()
	}
}

// fill notes that the last container holds something.
func (s *scanner) fill() {
	if n := len(s.open); n > 0 {
		s.open[n-1].empty = false
	}
}

// startBlocks opens the containers and the block that begin on the rest of the line.
func (s *scanner) startBlocks(matched int, all bool) {
	for {
		indent, at := s.indent()
		if at == s.end {
			s.blank(matched)
			return
		}
		para := s.leaf.kind == Text
		if indent > 3 {
			s.text(matched, para, indent, at)
			return
		}
		if s.container(&matched, &all, para && all, indent, at) {
			continue
		}
		if s.block(matched, all, indent, at) {
			return
		}
		s.text(matched, para, indent, at)
		return
	}
}

// blank ends what a blank line ends.
func (s *scanner) blank(matched int) {
	s.close(matched)
	s.leaf = leaf{}
	s.line.Kind, s.line.Text = Blank, s.end
}

// close drops the containers the line does not go on with, and the block in them.
func (s *scanner) close(matched int) {
	if matched < len(s.open) {
		for _, c := range s.open[matched:] {
			if c.quote {
				s.quotes--
			}
		}
		s.open = s.open[:matched]
		s.leaf = leaf{}
	}
}

// container opens a quote or an item where one begins. para says that the
// open paragraph would go on with this line.
func (s *scanner) container(matched *int, all *bool, para bool, indent, at int) bool {
	if len(s.open) >= maxDepth {
		return false
	}
	if s.src[at] == '>' {
		s.close(*matched)
		s.advance(indent + 1)
		s.optionalBlank()
		s.push(container{quote: true}, matched, all)
		return true
	}
	m, ok := itemMarker(s.src[at:s.end])
	if !ok || s.isRule(at) || para && (isUnderline(s.src[at:s.end]) || !m.interrupts) {
		return false
	}
	s.close(*matched)
	s.item(m, matched, all, indent, at)
	return true
}

// item opens a list item whose marker stands at offset at.
func (s *scanner) item(m marker, matched *int, all *bool, indent, at int) {
	outer := len(s.open) == 0
	bullet := s.bullet
	s.advance(indent + m.size)
	blanks, text := s.indent()
	pad := blanks
	switch {
	case text == s.end:
		pad = 1
	case blanks > 4:
		pad = 1
		s.advance(1)
	default:
		s.advance(blanks)
	}
	s.push(container{width: indent + m.size + pad, empty: text == s.end}, matched, all)
	if outer {
		s.bullet = m.kind
		s.line.Starts, s.line.NewList = true, bullet != m.kind
		s.line.Marker = span.Span{Start: at, End: at + m.size}
		s.line.Content = s.pos
	}
}

func (s *scanner) push(c container, matched *int, all *bool) {
	if len(s.open) == 0 {
		s.bullet = 0
	}
	s.fill()
	s.open = append(s.open, c)
	if c.quote {
		s.quotes++
	}
	s.leaf = leaf{}
	*matched, *all = len(s.open), true
}

// block opens a block other than paragraph and indented code where one begins.
func (s *scanner) block(matched int, all bool, indent, at int) bool {
	rest := s.src[at:s.end]
	para := all && s.leaf.kind == Text
	switch c := rest[0]; {
	case c == '#':
		if level := headingLevel(rest); level > 0 {
			s.begin(matched, Heading, at)
			s.line.Level, s.line.Title = level, headingTitle(s.src, at+level, s.end)
			s.leaf = leaf{}
			return true
		}
	case c == '`' || c == '~':
		if run := fenceRun(rest); run > 0 {
			s.begin(matched, Fence, at)
			s.leaf = leaf{kind: Fence, fence: c, run: run}
			return true
		}
	case c == '<':
		if typ := htmlType(rest, s.leaf.kind != Text); typ > 0 {
			s.begin(matched, HTML, at)
			if !htmlEnds(typ, rest) {
				s.leaf = leaf{kind: HTML, html: typ}
			}
			return true
		}
	case c == '%':
		return s.comment(matched, at, rest)
	}
	if para && isUnderline(rest) {
		s.underline(at, rest[0])
		return true
	}
	if s.isRule(at) {
		s.begin(matched, Rule, at)
		return true
	}
	return false
}

// underline makes the open paragraph a heading.
func (s *scanner) underline(at int, c byte) {
	s.line.Level = 1
	if c == '-' {
		s.line.Level = 2
	}
	title := bytes.TrimRight(s.src[s.leaf.start:s.line.Start], " \t\r\n")
	s.line.Title = span.Span{Start: s.leaf.start, End: s.leaf.start + len(title)}
	s.leaf = leaf{}
	s.take(Underline, at)
}

var percents = []byte("%%")

// comment opens an Obsidian comment. One that ends inside its first line with
// text after it is part of a paragraph.
func (s *scanner) comment(matched, at int, rest []byte) bool {
	if !bytes.HasPrefix(rest, percents) {
		return false
	}
	i := bytes.Index(rest[2:], percents)
	if i >= 0 && len(bytes.TrimRight(rest[2+i+2:], " \t")) > 0 {
		return false
	}
	s.begin(matched, Comment, at)
	if i < 0 {
		s.leaf = leaf{kind: Comment}
	}
	return true
}

// isRule reports whether a rule begins here. A line of thousands of markers is
// looked through once: what makes one of them no rule does so for those behind.
func (s *scanner) isRule(at int) bool {
	if at < s.noRule {
		return false
	}
	ok, n := rule(s.src[at:s.end])
	if !ok {
		s.noRule = at + n
	}
	s.work += n
	return ok
}

// begin starts a block on this line, which ends what was open.
func (s *scanner) begin(matched int, kind Kind, at int) {
	s.close(matched)
	s.leaf = leaf{}
	s.line.First = true
	if len(s.open) == 0 {
		s.bullet = 0
	}
	s.take(kind, at)
}

// text takes the line as text of a paragraph or as indented code.
func (s *scanner) text(matched int, para bool, indent, at int) {
	switch {
	case para: // a lazy line leaves all containers open
		s.take(Text, at)
	case indent > 3:
		s.begin(matched, Code, at)
		s.leaf = leaf{kind: Code}
	default:
		s.begin(matched, Text, at)
		s.leaf = leaf{kind: Text, start: at}
	}
}

// closesFence reports whether the text at offset at is the end of the open fence.
func (s *scanner) closesFence(at int) bool {
	rest := s.src[at:s.end]
	n := runOf(rest, s.leaf.fence)
	return n >= s.leaf.run && len(bytes.TrimRight(rest[n:], " \t")) == 0
}

// indent gives the columns of white space here and the offset of what follows.
func (s *scanner) indent() (cols, at int) {
	if s.ahead < s.pos {
		s.skipBlanks()
	}
	return s.aheadCol - s.col, s.ahead
}

// skipBlanks looks for the text behind the white space here.
func (s *scanner) skipBlanks() {
	at, col := s.pos, s.col+s.tab
	for ; at < s.end; at++ {
		if s.src[at] == ' ' {
			col++
		} else if s.src[at] == '\t' {
			col += 4 - col%4
		} else {
			break
		}
	}
	s.work += at - s.pos
	s.ahead, s.aheadCol = at, col
}

// advance goes n columns on; a tab may be used in part.
func (s *scanner) advance(n int) {
	for n > 0 {
		switch {
		case s.tab > 0:
			used := min(n, s.tab)
			s.tab, s.col, n = s.tab-used, s.col+used, n-used
		case s.pos == s.end:
			return
		case s.src[s.pos] == '\t':
			s.tab = 4 - s.col%4
			s.pos++
		default:
			s.pos, s.col, n = s.pos+1, s.col+1, n-1
		}
	}
}

// optionalBlank takes the one blank that may follow a quote mark.
func (s *scanner) optionalBlank() {
	if cols, _ := s.indent(); cols > 0 {
		s.advance(1)
	}
}
