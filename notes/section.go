package notes

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"deckhand/internal/markdown"
	"deckhand/internal/span"

	"golang.org/x/text/unicode/norm"
)

// Section finds the part of src that a link's heads or block name: the section
// of a heading, a block, or, when both are empty, everything. It reports false
// when there is no such part.
func Section(src []byte, heads []string, block string) (span.Span, bool) {
	switch {
	case block != "":
		return blockSpan(src, block)
	case len(heads) == 0:
		return span.Span{Start: 0, End: len(src)}, true
	}
	o := sections{src: src, list: scan(src, false).Headings}
	if at, ok := o.find(heads, 0, len(o.list)); ok {
		return o.span(at), true
	}
	// a "#" in the heading itself reads like a path of headings
	if at, ok := o.find([]string{strings.Join(heads, "#")}, 0, len(o.list)); ok && len(heads) > 1 {
		return o.span(at), true
	}
	return span.Span{}, false
}

// sections looks for headings of one note.
type sections struct {
	src  []byte
	list []Heading
}

// span is the section of heading i.
func (o sections) span(i int) span.Span {
	start := o.list[i].Span.Start
	if end := o.end(i); end < len(o.list) {
		return span.Span{Start: start, End: o.list[end].Span.Start}
	}
	return span.Span{Start: start, End: len(o.src)}
}

// end is the number of the heading that ends the section of heading i.
func (o sections) end(i int) int {
	end := i + 1
	for end < len(o.list) && o.list[end].Level > o.list[i].Level {
		end++
	}
	return end
}

// find gives the first heading in list[from:to] that heads lead to, each below
// the one before. Better ways to compare come first, whatever their place.
func (o sections) find(heads []string, from, to int) (int, bool) {
	ways := comparisons(heads[0])
	for w, same := range ways {
		for i := from; i < to; i++ {
			text := o.list[i].Text
			if !same(text) || anySame(ways[:w], text) {
				continue
			}
			if len(heads) == 1 {
				return i, true
			}
			if at, ok := o.find(heads[1:], i+1, min(o.end(i), to)); ok {
				return at, true
			}
		}
	}
	return 0, false
}

// anySame reports whether a heading was looked below before, in a better way.
func anySame(ways []func(string) bool, heading string) bool {
	return slices.ContainsFunc(ways, func(same func(string) bool) bool { return same(heading) })
}

// comparisons are the ways a link's head may name a heading, best first: its
// text, its text without punctuation (with what links in it show, or without
// its block id), and the anchor that forges and editors make of it.
func comparisons(head string) []func(heading string) bool {
	exact := func(h string) func(string) bool {
		h = norm.NFC.String(h)
		return func(heading string) bool { return h != "" && norm.NFC.String(heading) == h }
	}
	like := func(h string) func(string) bool {
		h = loose(h)
		return func(heading string) bool {
			return h != "" && (loose(heading) == h || loose(shown(heading)) == h)
		}
	}
	ways := []func(string) bool{exact(head), like(head)}
	if decoded, ok := unpercent(head); ok {
		ways = append(ways, exact(decoded), like(decoded))
		head = decoded
	}
	slug := norm.NFC.String(head)
	return append(ways, func(heading string) bool { return slug != "" && anchor(heading) == slug })
}

// shownLink is a link in a heading and the part of it that is shown.
var shownLink = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|\[([^\[\]]*)\]\([^()]*\)`)
})

// shown is a heading as it is read: links by their text, no block id.
func shown(heading string) string {
	if at := idAt([]byte(heading), 0); at >= 0 {
		heading = heading[:at]
	}
	if !strings.Contains(heading, "[") {
		return heading
	}
	return shownLink().ReplaceAllString(heading, "$1$2")
}

// anchor is the fragment GitHub, GitLab and VS Code make of a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFC.String(strings.TrimSpace(shown(heading))))
}

// idAt finds the block id that ends text: the offset of its "^", not before
// from, or -1. A blank or nothing stands before it.
func idAt(text []byte, from int) int {
	at := len(text)
	for at > from && isID(text[at-1]) {
		at--
	}
	if at == len(text) || at == from || text[at-1] != '^' {
		return -1
	}
	at--
	if at > from && text[at-1] != ' ' && text[at-1] != '\t' {
		return -1
	}
	return at
}

func isID(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '-' }

// blockSpan finds the block that carries the id: a paragraph; an item with its
// children, when the id stands in its first paragraph; the section of a
// heading; or, when the id stands alone in a paragraph, what is before it: a
// table, quote, list, code.
func blockSpan(src []byte, id string) (span.Span, bool) {
	_, body := markdown.CutHeader(src)
	b := blocks{src: src, id: id}
	for l := range markdown.Lines(src, body) {
		if b.line(l) {
			break
		}
	}
	if b.state == foundHeading {
		return headingBlock(src, b.found.Start)
	}
	return b.found, b.state != searching
}

func headingBlock(src []byte, start int) (span.Span, bool) {
	o := sections{src: src, list: scan(src, false).Headings}
	for i, h := range o.list {
		if h.Span.Start <= start && start < h.Span.End {
			return o.span(i), true
		}
	}
	// inside a list or quote a heading has no section: it stands for its line
	start = 1 + bytes.LastIndexByte(src[:start], '\n')
	end := len(src)
	if i := bytes.IndexByte(src[start:], '\n'); i >= 0 {
		end = start + i + 1
	}
	return span.Span{Start: start, End: end}, true
}
