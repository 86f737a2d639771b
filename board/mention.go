package board

import (
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
	return appendMentions(nil, s, n, classify(s[:min(n, longLine)]))
}

// appendMentions is mentions with a place for what is found, for a line of
// class k.
func appendMentions(found []mention, s string, n int, k class) (_ []mention, odd []string) {
	n = min(n, longLine)
	s = s[:min(len(s), longLine+longLink)]
	var masks []span.Span
	if k.has(hasCode|hasAngle) && mayMask(s[:n]) {
		masks = masked(s)
	}
	for i := 0; i < n; i++ {
		c := classOf[s[i]]
		if len(masks) == 0 && (!c.has(mentionOrHidden) || c.has(hasHash) && !tagMayStart(s[i+1:])) {
			continue
		}
		if end := hiddenEnd(s, i, &masks); end > 0 {
			i = end - 1
			continue
		}
		if !c.has(hasAt | hasHash) {
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

// tagMayStart reports whether #agent/ or #project/ may go on with rest.
func tagMayStart(rest string) bool {
	return rest != "" && (rest[0] == 'a' || rest[0] == 'p')
}

// mentionOrHidden is what a mention may begin with, or a part of a line in which
// nothing is one, masks left out.
const mentionOrHidden = hasAt | hasHash | hasOpen | hasAngle | hasColon | hasStroke

// hiddenEnd is the end of the part that begins at s[i], or of the mask that
// holds it, else 0. masks that end before are dropped.
func hiddenEnd(s string, i int, masks *[]span.Span) int {
	for len(*masks) > 0 && (*masks)[0].End <= i {
		*masks = (*masks)[1:]
	}
	if len(*masks) > 0 && (*masks)[0].Start <= i {
		return (*masks)[0].End
	}
	n := 0
	switch s[i] {
	case '\\': // takes what follows along
		n = 2
	case '[':
		n = linkLen(s[i:])
	case '<':
		n = angleLen(s[i:])
	case ':':
		if strings.HasPrefix(s[i:], "://") {
			n = addressLen(s[i:])
		}
	}
	if n == 0 {
		return 0
	}
	return i + n
}

// mentionAt reads the mention at s[i], which is '@' or '#'. upper is a name
// that would be one in lower case.
func mentionAt(s string, i int) (m mention, upper string, ok bool) {
	if s[i] == '#' {
		m, ok = tagAt(s, i)
		return m, "", ok
	}
	if before, _ := utf8.DecodeLastRuneInString(s[:i]); i > 0 && !opensMention(before) {
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
	return m, upperName(s[i+1:]), false
}

// upperName is the name at the start of s that is none for its case.
func upperName(s string) string {
	end := 0
	for end < len(s) && (nameByte(s[end]) || 'A' <= s[end] && s[end] <= 'Z') {
		end++
	}
	if endsMention(s[end:]) {
		return s[:end]
	}
	return ""
}

// tagAt reads #agent/name or #project/name after white space.
func tagAt(s string, i int) (mention, bool) {
	if before, _ := utf8.DecodeLastRuneInString(s[:i]); i > 0 && !unicode.IsSpace(before) {
		return mention{}, false
	}
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
	if rest == "" || rest[0] == ' ' {
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

// addressLen is the length of s up to white space.
func addressLen(s string) int {
	if n := strings.IndexFunc(s, unicode.IsSpace); n >= 0 {
		return n
	}
	return len(s)
}

// longLink bounds the search for the end of a link, so that a line full of
// opening brackets costs no more than its length.
const longLink = 2000

// mayMask reports whether code or a comment may begin in s.
func mayMask(s string) bool {
	return strings.IndexByte(s, '`') >= 0 || strings.Contains(s, "<!--") || strings.Contains(s, "%%")
}

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
