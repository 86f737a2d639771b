package notes

import (
	"bytes"
	"strings"

	"deckhand/internal/markdown"
	"deckhand/internal/span"
)

// state is how far the search for a block has come.
type state uint8

const (
	searching    state = iota
	foundItem          // its end is not known yet
	foundText          // its end is not known yet
	foundBefore        // all of it is known
	foundHeading       // its section is not known here
)

// blocks looks for the block of an id, line by line.
type blocks struct {
	src []byte
	id  string

	items []int     // where the open items start
	para  span.Span // lines of the paragraph, from its first to the one last read
	first bool      // the paragraph is the first thing in the innermost item
	top   span.Span // the outermost block before this line or around it
	quote bool      // top is a quote
	list  bool      // top is a list

	state state
	found span.Span
	depth int // of a found item
}

// line takes the next line and reports whether the search is over.
func (b *blocks) line(l markdown.Line) bool {
	started := markers(b.src[l.Start:l.Text])
	if b.ended(l, started) {
		return true
	}
	b.items = b.items[:min(len(b.items), max(0, l.Items-started))]
	for range started {
		b.items = append(b.items, l.Start)
	}
	if l.Kind == markdown.Text {
		if l.First {
			b.para = span.Span{Start: l.Start, End: l.Next}
			b.first = started > 0
		}
		b.para.End = l.Next
	}
	if b.state == searching {
		b.look(l)
	}
	b.outermost(l)
	return b.state >= foundBefore
}

// ended extends what was found by the line, or reports that it ends before it.
func (b *blocks) ended(l markdown.Line, started int) bool {
	switch b.state {
	case foundItem:
		if l.Items-started < b.depth {
			return true
		}
		if l.Kind != markdown.Blank || started > 0 {
			b.found.End = l.Next
		}
	case foundText:
		if l.Kind == markdown.Underline {
			b.state, b.found = foundHeading, l.Title
			return true
		}
		if l.Kind != markdown.Text || l.First {
			return true
		}
		b.found.End = l.Next
	}
	return false
}

// look tells whether the line ends in the id and what that names.
func (b *blocks) look(l markdown.Line) {
	if l.Kind != markdown.Text && l.Kind != markdown.Heading {
		return
	}
	text := bytes.TrimRight(b.src[:l.End], " \t")
	at := idAt(text, min(l.Text, len(text)))
	if at < 0 || !strings.EqualFold(string(text[at+1:]), b.id) {
		return
	}
	inside, alone := l.Items+l.Quotes > 0, at == l.Text
	lazy := inside && l.Text == l.Start
	switch {
	case l.Kind == markdown.Heading:
		b.state, b.found = foundHeading, l.Title
	case alone && (lazy || l.First && !inside):
		if !b.top.Empty() {
			b.state, b.found = foundBefore, b.top
		}
	case (alone || b.first) && l.Items > 0:
		b.state, b.depth = foundItem, l.Items
		b.found = span.Span{Start: b.items[len(b.items)-1], End: l.Next}
	default:
		b.state, b.found = foundText, b.para
	}
}

// outermost keeps the outermost block up to date.
func (b *blocks) outermost(l markdown.Line) {
	if l.Kind == markdown.Blank && !l.Listed {
		b.quote = false // the next quote is another one
	}
	if l.Kind == markdown.Blank {
		return
	}
	quote := l.Quotes > 0 && !l.Listed
	same := quote == b.quote && l.Listed == b.list
	if same && (l.Listed && !l.NewList || quote || !l.Listed && !l.First) {
		b.top.End = l.Next
	} else {
		b.top = span.Span{Start: l.Start, End: l.Next}
	}
	b.quote, b.list = quote, l.Listed
}
