package notes

import (
	"bytes"
	"slices"
	"strings"

	"deckhand/internal/markdown"
	"deckhand/internal/span"
)

// maxLink is the length in bytes up to which something is taken for a link:
// no path is longer.
const maxLink = 4096

// Links lists the wikilinks, embeds and relative Markdown links of src in
// order of their start. A Markdown link may hold others in its text.
func Links(src []byte) []Link { return scan(src, true).Links }

// linker finds links in one run of text after the other.
type linker struct {
	src   []byte
	links []Link
	open  []bracket // those no "]" has closed yet
	wiki  bracket   // the last "[[" of the line that no "]]" has closed yet; at is -1 for none
	bang  int       // the last "!" that is not escaped
	image int       // where the last image began
}

// bracket is a "[" and whether a "!" stands before it.
type bracket struct {
	at   int
	bang bool
}

func (b bracket) start() int {
	if b.bang {
		return b.at - 1
	}
	return b.at
}

// text reads a paragraph or heading.
func (k *linker) text(t span.Span) {
	if b := t.Of(k.src); !bytes.Contains(b, []byte("[[")) && !bytes.Contains(b, []byte("](")) {
		return // boxes of tasks are brackets too
	}
	masks := markdown.InlineMasks(k.src, t)
	k.open, k.wiki.at, k.bang, k.image = k.open[:0], -1, -1, -1
	for at := t.Start; at < t.End; {
		if len(k.open) == 0 && k.wiki.at < 0 {
			at = k.nextOpen(at, t.End)
		}
		switch {
		case at == t.End:
		case len(masks) == 0 || at < masks[0].Span.Start:
			at = k.step(at, t.End)
		default:
			at = max(at, masks[0].Span.End)
			masks, k.wiki.at = masks[1:], -1
		}
	}
}

// nextOpen skips text in which nothing is open: to the next "[", or to the
// backslashes and the "!" before it.
func (k *linker) nextOpen(at, end int) int {
	i := bytes.IndexByte(k.src[at:end], '[')
	if i < 0 {
		return end
	}
	from := at
	at += i
	if at > from && k.src[at-1] == '!' {
		at--
	}
	for at > from && k.src[at-1] == '\\' {
		at--
	}
	return at
}

// step reads what stands at offset at and returns the offset to go on at.
func (k *linker) step(at, end int) int {
	next := byte(0)
	if at+1 < end {
		next = k.src[at+1]
	}
	switch k.src[at] {
	case '\\':
		if next == '\n' {
			return at + 1
		}
		return at + 2
	case '\n':
		k.wiki.at = -1
	case '!':
		k.bang = at
	case '[':
		b := bracket{at, at > 0 && k.bang == at-1}
		if next == '[' {
			k.wiki = b
		}
		k.open = append(k.open, b)
	case ']':
		return k.closing(at, end, next)
	}
	return at + 1
}

func (k *linker) closing(at, end int, next byte) int {
	if next == ']' && k.wiki.at >= 0 {
		k.addWiki(k.wiki, at)
		for len(k.open) > 0 && k.open[len(k.open)-1].at >= k.wiki.at {
			k.open = k.open[:len(k.open)-1]
		}
		k.wiki.at = -1
		return at + 2
	}
	if len(k.open) == 0 {
		return at + 1
	}
	start := k.open[len(k.open)-1]
	k.open = k.open[:len(k.open)-1]
	if next != '(' || start.bang && start.at < k.image {
		return at + 1
	}
	dest, after, ok := destination(k.src[:min(end, at+maxLink)], at+2)
	if !ok {
		return at + 1
	}
	k.addMarkdown(start, at, after, dest)
	k.wiki.at = -1
	// no link in a link and no image in an image: CommonMark has it so for
	// links, and thus no text is part of more than two
	if start.bang {
		k.image = start.at
	} else {
		k.open = k.open[:0]
	}
	return after
}

// addWiki adds the wikilink from the bracket b to the "]]" at offset end.
func (k *linker) addWiki(b bracket, end int) {
	if end-b.at > maxLink {
		return
	}
	raw := k.raw(b, end+2)
	name, alias := cutAlias(raw[len(raw)-(end-b.at) : len(raw)-2])
	l := Link{Alias: strings.TrimSpace(unescape(alias))}
	l.Target, l.Heads, l.Block = cutParts(name)
	if strings.Contains(l.Target, "://") {
		return
	}
	k.add(l, b, raw)
}

// addMarkdown adds the link to dest whose text lies between b and the "]" at
// offset end, and which is over at after.
func (k *linker) addMarkdown(b bracket, end, after int, dest string) {
	if hasScheme(dest) || strings.HasPrefix(dest, "//") || after-b.at > maxLink {
		return
	}
	raw := k.raw(b, after)
	l := Link{Alias: strings.TrimSpace(unescape(raw[len(raw)-(after-b.at)+1 : len(raw)-(after-end)]))}
	l.Target, l.Heads, l.Block = cutParts(dest)
	k.add(l, b, raw)
}

// raw is the link from b to the offset end with its "!". The other strings of
// a link share its memory.
func (k *linker) raw(b bracket, end int) string { return string(k.src[b.start():end]) }

func (k *linker) add(l Link, b bracket, raw string) {
	if l.Target == "" && len(l.Heads) == 0 && l.Block == "" {
		return
	}
	l.Raw, l.Embed = raw, b.bang
	l.Span = span.Span{Start: b.start(), End: b.start() + len(raw)}
	k.links = append(k.links, l)
}

// sorted puts links that hold others before these.
func (k *linker) sorted() []Link {
	slices.SortStableFunc(k.links, func(a, b Link) int { return a.Span.Start - b.Span.Start })
	return k.links
}

// destination reads a link's destination and title from offset at, after the
// "(", and returns the offset after the ")".
func destination(src []byte, at int) (dest string, after int, ok bool) {
	at = skipBlanks(src, at)
	start := at
	if at < len(src) && src[at] == '<' {
		if at, ok = angleEnd(src, at+1); !ok {
			return "", 0, false
		}
		dest, at = string(src[start+1:at]), at+1
	} else {
		if at, ok = bareEnd(src, at); !ok {
			return "", 0, false
		}
		dest = string(src[start:at])
	}
	if at, ok = titleEnd(src, at); !ok {
		return "", 0, false
	}
	return dest, at + 1, true
}

// angleEnd finds the ">" of a destination in angle brackets.
func angleEnd(src []byte, at int) (int, bool) {
	for ; at < len(src) && src[at] != '\n' && src[at] != '<'; at++ {
		switch src[at] {
		case '\\':
			at++
		case '>':
			return at, true
		}
	}
	return 0, false
}

// bareEnd finds the end of a destination without angle brackets: a blank or
// the ")" that closes none of its own. CommonMark nests 32 of these.
func bareEnd(src []byte, at int) (int, bool) {
	depth := 0
	for ; at < len(src) && src[at] > ' '; at++ {
		switch src[at] {
		case '\\':
			at++
		case '(':
			if depth++; depth > 32 {
				return 0, false
			}
		case ')':
			if depth--; depth < 0 {
				return at, true
			}
		}
	}
	return min(at, len(src)), depth == 0
}

// titleEnd skips blanks and a title, and gives the offset of the ")" after them.
func titleEnd(src []byte, at int) (int, bool) {
	title := skipBlanks(src, at)
	if title > at && title < len(src) && src[title] != ')' {
		end, ok := quotedEnd(src, title)
		if !ok {
			return 0, false
		}
		title = skipBlanks(src, end)
	}
	return title, title < len(src) && src[title] == ')'
}

// quotedEnd gives the offset after a title on one line, in quotes or brackets.
func quotedEnd(src []byte, at int) (int, bool) {
	closing := src[at]
	switch closing {
	case '(':
		closing = ')'
	case '"', '\'':
	default:
		return 0, false
	}
	for at++; at < len(src) && src[at] != '\n'; at++ {
		switch c := src[at]; {
		case c == closing:
			return at + 1, true
		case c == '(' && closing == ')':
			return 0, false
		case c == '\\':
			at++
		}
	}
	return 0, false
}

func skipBlanks(src []byte, at int) int {
	for at < len(src) && (src[at] == ' ' || src[at] == '\t') {
		at++
	}
	return at
}
