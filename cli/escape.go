package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text of others fit for one line of a terminal: what could move
// the cursor, change its state or reorder what is read is shown as an escape.
func clean(s string) string { return escape(s, "") }

// cleanText does the same for text of several lines.
func cleanText(s string) string { return escape(s, "\n\t") }

// escape replaces every dangerous character that is not in keep.
func escape(s, keep string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !dangerous(c) || strings.ContainsRune(keep, c):
			b.WriteRune(c)
		case c < 0x80:
			b.WriteString(asciiEscape(c))
		case c > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
		i += n
	}
	return b.String()
}

func asciiEscape(c rune) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return fmt.Sprintf(`\x%02x`, c)
}

// dangerous are C0, DEL and C1 controls, which terminals obey, the controls of
// bidirectional text, which make a line read as another, what has no width and
// hides in it, and what ends a line. Joiners, which scripts and emoji need, and
// marks of numbers that are drawn, are none.
func dangerous(c rune) bool {
	switch {
	case c < 0x80:
		return c < ' ' || c == 0x7f
	case c == '\u200c' || c == '\u200d':
		return false
	}
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !unicode.Is(unicode.Prepended_Concatenation_Mark, c)
}
