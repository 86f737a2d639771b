package board

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deckhand/internal/markdown"
	"deckhand/internal/span"
)

// mention is one "@name", "#agent/name" or "#project/name" in a line.
type mention struct {
	start, end int
	name       string
	project    bool
}

// longLine bounds how far into a line mentions are looked for: a pasted log is
// no place for them.
const longLine = 8192

// mentions reads the first n bytes of a paragraph. Nothing is one in code,
// comments, links, addresses and tags of HTML, which may end beyond n. odd are
// names that would be one in lower case.
func mentions(s string, n int) (found []mention, odd []string) {
	n = min(n, longLine)
	s = s[:min(len(s), longLine+longLink)]
	if strings.IndexByte(s[:n], '@') < 0 && !strings.Contains(s[:n], "#agent/") && !strings.Contains(s[:n], "#project/") {
		return nil, nil
	}
	hidden := hiddenIn(s)
	for i := 0; i < n; i++ {
		if s[i] != '@' && s[i] != '#' {
			continue
		}
		if h, in := within(hidden, i); in {
			i = h.End - 1
			continue
		}
		m, upper, ok := mentionAt(s, i)
		switch {
		case ok:
			found = append(found, m)
			i = m.end - 1
		case upper != "":
			odd = append(odd, upper)
		}
	}
	return found, odd
}

// within finds the span that holds i; hidden is in order and apart.
func within(hidden []span.Span, i int) (span.Span, bool) {
	at, ok := slices.BinarySearchFunc(hidden, i, func(h span.Span, i int) int {
		switch {
		case h.End <= i:
			return -1
		case h.Start > i:
			return 1
		}
		return 0
	})
	if !ok {
		return span.Span{}, false
	}
	return hidden[at], true
}

// mentionAt reads the mention at s[i], which is '@' or '#'.
func mentionAt(s string, i int) (m mention, upper string, ok bool) {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if s[i] == '#' {
		m, ok = tagAt(s, i)
		return m, "", ok && (i == 0 || unicode.IsSpace(before))
	}
	if i > 0 && !opensMention(before) {
		return m, "", false
	}
	end := i + 1 + nameLen(s[i+1:])
	if end > i+1 && endsMention(s[end:]) {
		m = mention{start: i, end: end, name: s[i+1 : end]}
		if strings.HasPrefix(s[end:], "{") {
			m.end += fieldEnd(0, s[end:], "}")
		}
		return m, "", true
	}
	end = i + 1
	for end < len(s) && (nameByte(s[end]) || 'A' <= s[end] && s[end] <= 'Z') {
		end++
	}
	if endsMention(s[end:]) {
		upper = s[i+1 : end]
	}
	return m, upper, false
}

// tagAt reads #agent/name or #project/name.
func tagAt(s string, i int) (mention, bool) {
	for _, kind := range [...]string{"#agent/", "#project/"} {
		if !strings.HasPrefix(s[i:], kind) {
			continue
		}
		start := i + len(kind)
		rest := strings.TrimLeftFunc(s[start:], func(r rune) bool { return r != '/' && tagRune(r) })
		end := len(s) - len(rest)
		if end == start || strings.HasPrefix(rest, "/") {
			return mention{}, false
		}
		return mention{start: i, end: end, name: s[start:end], project: kind == "#project/"}, true
	}
	return mention{}, false
}

// nameLen is the length of the name at the start of s: lower case letters,
// digits, _ and -, a letter first.
func nameLen(s string) int {
	n := 0
	for n < len(s) && nameByte(s[n]) {
		n++
	}
	if n > 0 && (s[0] < 'a' || s[0] > 'z') {
		return 0
	}
	return n
}

func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// opensMention reports whether a mention may stand after r.
func opensMention(r rune) bool {
	return unicode.IsSpace(r) || r == '*' || r == '~' || unicode.In(r, unicode.Ps, unicode.Pi) || cjk(r)
}

// endsMention reports whether a name may be followed by rest.
func endsMention(rest string) bool {
	if rest == "" {
		return true
	}
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case cjk(r):
		return true
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_', r == '-', r == '/', r == '@':
		return false
	case r == '.':
		next, _ := utf8.DecodeRuneInString(rest[n:])
		return !unicode.IsLetter(next) && !unicode.IsDigit(next)
	}
	return true
}

// cjk reports whether r is a letter of a script that is written without blanks.
func cjk(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}

// hiddenIn lists the parts of a line in which nothing is a mention, in order
// and apart.
func hiddenIn(s string) []span.Span {
	masks := masked(s)
	var out []span.Span
	for i := 0; i < len(s); i++ {
		if m, in := within(masks, i); in {
			out = append(out, m)
			i = m.End - 1
			continue
		}
		n := 0
		switch s[i] {
		case '\\':
			i++
			continue
		case '[':
			n = linkLen(s[i:])
		case '<':
			n = angleLen(s[i:])
		case ':':
			if strings.HasPrefix(s[i:], "://") {
				n = strings.IndexFunc(s[i:]+" ", unicode.IsSpace)
			}
		}
		if n > 0 {
			out = append(out, span.Span{Start: i, End: i + n})
			i += n - 1
		}
	}
	return out
}

// longLink bounds the search for the end of a link, so that a line full of
// opening brackets costs no more than its length.
const longLink = 2000

// masked lists the code and comments in a line.
func masked(s string) []span.Span {
	var out []span.Span
	for _, m := range markdown.InlineMasks([]byte(s), span.Span{End: len(s)}) {
		out = append(out, m.Span)
	}
	return out
}

// linkLen is the length of the link that s begins with: [[x]], [x](y) or [x][y].
func linkLen(s string) int {
	s = s[:min(len(s), longLink)]
	if strings.HasPrefix(s, "[[") {
		return fieldEnd(0, s, "]]")
	}
	end := bracketEnd(s)
	if end == 0 || end+1 == len(s) {
		return 0
	}
	switch s[end+1] {
	case '(':
		depth := 0
		for i := end + 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	case '[':
		return fieldEnd(end+1, s[end+1:], "]")
	}
	return 0
}

// bracketEnd is the offset of the ] that closes the [ that s begins with, else 0.
func bracketEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// angleLen is the length of the address or HTML tag that s begins with.
func angleLen(s string) int {
	if len(s) < 2 || s[1] != '/' && !unicode.IsLetter(rune(s[1])) {
		return 0
	}
	return fieldEnd(0, s[:min(len(s), longLink)], ">")
}
