package markdown

import "unicode"

// Hidden reports whether a character is not seen and does something all the
// same: it drives a terminal (C0, C1), ends a line for some readers, turns text
// around or hides what stands there. The joiners are none, which scripts and
// emoji need, nor the marks of numbers that are drawn.
func Hidden(r rune) bool {
	switch {
	case r < 0x80:
		return r < ' ' || r == 0x7f
	case r == '\u200c' || r == '\u200d':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
