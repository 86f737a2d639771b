// Package span changes some bytes of a text and leaves the rest as they are.
//
// It is what every writer of a person's file is built on: a reader finds byte
// ranges, an operation says which ranges become what, and everything else is
// copied. The package knows nothing of Markdown, lines of a certain kind, or
// files.
//
// Grammar: a Span is half open, [Start,End). An Edit replaces the bytes of its
// span by Text; an empty span inserts. Edits are applied to the original
// positions, in order of Start; two edits may touch but not overlap.
package span

import (
	"bytes"
	"fmt"
	"slices"
)

// Span is a half-open range of bytes.
type Span struct{ Start, End int }

// Len is the number of bytes in s.
func (s Span) Len() int { return s.End - s.Start }

// Empty reports whether s holds no byte.
func (s Span) Empty() bool { return s.End <= s.Start }

// Contains reports whether pos lies in s.
func (s Span) Contains(pos int) bool { return s.Start <= pos && pos < s.End }

// Of returns the bytes of s in src, sharing memory.
func (s Span) Of(src []byte) []byte { return src[s.Start:s.End] }

// Edit replaces the bytes of Span by Text.
type Edit struct {
	Span Span
	Text []byte
}

// Insert is an edit that adds text at pos and removes nothing.
func Insert(pos int, text []byte) Edit { return Edit{Span{pos, pos}, text} }

// Delete is an edit that removes the bytes of s.
func Delete(s Span) Edit { return Edit{Span: s} }

// Apply returns src with the edits made. Edits at the same position are made
// in the order given. It fails, and returns nil, when a span lies outside src
// or two spans overlap. src is not changed.
func Apply(src []byte, edits ...Edit) ([]byte, error) {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return a.Span.Start - b.Span.Start })
	size, last := len(src), 0
	for _, e := range sorted {
		if e.Span.Start < last || e.Span.End < e.Span.Start || e.Span.End > len(src) {
			return nil, fmt.Errorf("edit of bytes %d to %d overlaps another or lies outside %d bytes", e.Span.Start, e.Span.End, len(src))
		}
		last = e.Span.End
		size += len(e.Text) - e.Span.Len()
	}
	out := make([]byte, 0, size)
	last = 0
	for _, e := range sorted {
		out = append(out, src[last:e.Span.Start]...)
		out = append(out, e.Text...)
		last = e.Span.End
	}
	return append(out, src[last:]...), nil
}

// EOL is the line end for lines added at pos: that of the line before it, else
// of the first line after it, else "\n". A lone CR is not a line end.
func EOL(src []byte, pos int) string {
	at := bytes.LastIndexByte(src[:pos], '\n')
	if at < 0 {
		if next := bytes.IndexByte(src[pos:], '\n'); next >= 0 {
			at = pos + next
		}
	}
	switch {
	case at < 0:
		return "\n"
	case at > 0 && src[at-1] == '\r':
		return "\r\n"
	}
	return "\n"
}
