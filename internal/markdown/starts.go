package markdown

import (
	"bytes"

	"deckhand/internal/span"
)

// marker is the start of a list item.
type marker struct {
	kind       byte // bullet character, or '.' or ')' of a number: what tells two lists apart
	size       int
	interrupts bool // may begin inside a paragraph: it has content, and a number is 1
}

// itemMarker reads a list marker at the start of rest. It must be followed by a blank or nothing.
func itemMarker(rest []byte) (marker, bool) {
	m, one := marker{}, true
	switch c := rest[0]; {
	case c == '-' || c == '*' || c == '+':
		m.kind, m.size = c, 1
	case isDigit(c):
		n, value := number(rest)
		if n > 9 || n == len(rest) || rest[n] != '.' && rest[n] != ')' {
			return m, false
		}
		m.kind, m.size = rest[n], n+1
		one = value == 1
	default:
		return m, false
	}
	after := rest[m.size:]
	if len(after) > 0 && !isBlank(after[0]) {
		return m, false
	}
	m.interrupts = one && len(bytes.TrimLeft(after, " \t")) > 0
	return m, true
}

// number reads the digits at the start of rest, ten at most.
func number(rest []byte) (n, value int) {
	for n < len(rest) && n < 10 && isDigit(rest[n]) {
		value = value*10 + int(rest[n]-'0')
		n++
	}
	return n, value
}

// rule reports whether rest is a thematic break: three or more of one of -, _
// and *; and how much of rest was read to tell.
func rule(rest []byte) (ok bool, read int) {
	c, n := rest[0], 0
	if c != '-' && c != '_' && c != '*' {
		return false, 0
	}
	for i, b := range rest {
		switch b {
		case c:
			n++
		case ' ', '\t':
		default:
			return false, i
		}
	}
	return n >= 3, len(rest)
}

// isUnderline reports whether rest is a setext underline.
func isUnderline(rest []byte) bool {
	c := rest[0]
	return (c == '-' || c == '=') && len(bytes.TrimRight(rest[runOf(rest, c):], " \t")) == 0
}

// headingLevel is the level of the ATX heading that rest is, else 0.
func headingLevel(rest []byte) int {
	n := runOf(rest, '#')
	if n > 6 || n < len(rest) && rest[n] != ' ' && rest[n] != '\t' {
		return 0
	}
	return n
}

// headingTitle is the title in src[start:end], blanks and closing #s off.
func headingTitle(src []byte, start, end int) span.Span {
	for start < end && isBlank(src[start]) {
		start++
	}
	for end > start && isBlank(src[end-1]) {
		end--
	}
	hash := end
	for hash > start && src[hash-1] == '#' {
		hash--
	}
	switch {
	case hash == start:
		return span.Span{Start: start, End: start}
	case hash < end && isBlank(src[hash-1]):
		end = hash
		for end > start && isBlank(src[end-1]) {
			end--
		}
	}
	return span.Span{Start: start, End: end}
}

// fenceRun is the length of the fence that rest opens, else 0.
func fenceRun(rest []byte) int {
	n := runOf(rest, rest[0])
	if n < 3 || rest[0] == '`' && bytes.IndexByte(rest[n:], '`') >= 0 {
		return 0
	}
	return n
}

func runOf(b []byte, c byte) int {
	n := 0
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
