package notes

import (
	"bytes"

	"deckhand/internal/markdown"
	"deckhand/internal/span"
)

// Outline is what a note holds, found by reading its lines once.
type Outline struct {
	Headings []Heading // outside lists and quotes, in order
	Items    int       // list items of all depths, with and without a box
	Links    []Link
}

// Heading is one heading of a note.
type Heading struct {
	Level int
	Text  string    // its source, without marks; of several lines when underlined
	Span  span.Span // its lines, line end included
	Line  int       // 1-based, of the file
}

// Scan reads the outline of a note.
func Scan(src []byte) Outline { return scan(src, true) }

func scan(src []byte, links bool) Outline {
	_, body := markdown.CutHeader(src)
	s := scanner{src: src, body: body, no: bytes.Count(src[:body], []byte("\n"))}
	k := linker{src: src}
	for l := range markdown.Lines(src, body) {
		if text := s.line(l); links {
			k.text(text)
		}
	}
	if links {
		k.text(s.para)
	}
	s.out.Links = k.sorted()
	return s.out
}

// scanner gathers an outline line by line.
type scanner struct {
	src  []byte
	body int
	no   int       // number of the line
	para span.Span // text of the open paragraph; it may lead on to more lines
	from int       // number of the line the open paragraph began on
	out  Outline
}

// line takes the next line and gives the text that ended with it or before
// it, if any.
func (s *scanner) line(l markdown.Line) (ended span.Span) {
	s.no++
	s.out.Items += markers(s.src[l.Start:l.Text])
	if l.Kind == markdown.Text && !l.First {
		s.para.End = l.End
		return ended
	}
	ended, s.para = s.para, span.Span{}
	switch l.Kind {
	case markdown.Text:
		s.para, s.from = span.Span{Start: l.Text, End: l.End}, s.no
	case markdown.Heading:
		// no paragraph can be open before it: it ends one, and the title is read next
		s.heading(l, s.no)
		s.para = l.Title
	case markdown.Underline:
		s.heading(l, s.from)
	}
	return ended
}

func (s *scanner) heading(l markdown.Line, no int) {
	if l.Items > 0 || l.Quotes > 0 {
		return
	}
	start := l.Start
	if l.Kind == markdown.Underline {
		start = s.body + 1 + bytes.LastIndexByte(s.src[s.body:l.Title.Start], '\n')
	}
	s.out.Headings = append(s.out.Headings, Heading{
		Level: l.Level,
		Text:  string(l.Title.Of(s.src)),
		Span:  span.Span{Start: start, End: l.Next},
		Line:  no,
	})
}

// markers counts the list markers that stand before a line's text.
func markers(prefix []byte) int {
	n, inside := 0, false
	for _, c := range prefix {
		switch c {
		case ' ', '\t', '>':
			inside = false
		default:
			if !inside {
				n++
			}
			inside = true
		}
	}
	return n
}
