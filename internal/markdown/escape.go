package markdown

import "strings"

// Escape writes one line of text so that no reader of Markdown takes it for
// more inside a line: it holds no comment, wikilink, embed, image, tag of HTML,
// block id, strike-through and no code span that stays open. Emphasis, a code
// span that ends and a link like [text](target) stay what they are: they add
// nothing to a board. Control characters are the caller's: some show them,
// some drop them.
func Escape(text string) string {
	ticks := strings.Count(text, "`")%2 == 1 || strings.Contains(text, "``") || strings.Contains(text, "\\`")
	var out strings.Builder
	out.Grow(len(text))
	for i := 0; i < len(text); i++ {
		if obeyed(text, i, ticks) {
			out.WriteByte('\\')
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// EscapeStart writes what Escape gave so that it begins no block where a block
// could begin: no list, quote, heading, underline, rule, fence or table.
func EscapeStart(s string) string {
	if s == "" {
		return s
	}
	if strings.IndexByte("-*+#>=|_~[:", s[0]) >= 0 {
		return `\` + s
	}
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n > 0 && n < len(s) && (s[n] == '.' || s[n] == ')') {
		return s[:n] + `\` + s[n:]
	}
	return s
}

// obeyed reports whether text[i] gets a backslash. Some characters are marks
// only in company: next to themselves, or before what they open.
func obeyed(text string, i int, ticks bool) bool {
	next := byte(' ')
	if i+1 < len(text) {
		next = text[i+1]
	}
	switch text[i] {
	case '`':
		return ticks
	case '^':
		return true
	case '%', '[', '~':
		return next == text[i] || i > 0 && text[i-1] == text[i]
	case '!':
		return next == '['
	case '<':
		return isLetter(next) || strings.IndexByte("!/?", next) >= 0
	case '\\':
		return strings.IndexByte(punctuation, next) >= 0
	}
	return false
}

// punctuation is what a backslash escapes in Markdown.
const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
