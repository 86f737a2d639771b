package notes

import "strings"

// cutAlias parts the inside of a wikilink at its first "|" or "\|".
func cutAlias(inner string) (name, alias string) {
	for i := 0; i < len(inner); i++ {
		switch {
		case strings.HasPrefix(inner[i:], `\|`):
			return inner[:i], inner[i+2:]
		case inner[i] == '|':
			return inner[:i], inner[i+1:]
		case inner[i] == '\\':
			i++
		}
	}
	return inner, ""
}

// cutParts parts a target at its "#"s. Empty parts do not count.
func cutParts(s string) (name string, heads []string, block string) {
	name, rest, more := cutHash(s)
	name = strings.TrimRight(strings.TrimSpace(unescape(name)), `\`)
	for more {
		var part string
		part, rest, more = cutHash(rest)
		part = strings.TrimSpace(unescape(part))
		id, isBlock := strings.CutPrefix(part, "^")
		switch {
		case isBlock:
			block = strings.TrimSpace(id)
		case part != "":
			heads = append(heads, part)
		}
	}
	return name, heads, block
}

// cutHash parts s at its first "#" without a backslash before it.
func cutHash(s string) (before, after string, found bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '#':
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// unescape takes away the backslashes before ASCII punctuation.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && isPunct(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

// hasScheme reports whether s begins like a URL: a letter, then letters,
// digits, "+", "." and "-", then ":".
func hasScheme(s string) bool {
	scheme, _, found := strings.Cut(s, ":")
	if !found || scheme == "" || !isLetter(scheme[0]) {
		return false
	}
	for i := 1; i < len(scheme); i++ {
		if c := scheme[i]; !isLetter(c) && !('0' <= c && c <= '9') && c != '+' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
