package chats

import (
	"strings"
	"unicode/utf8"
)

// picture is the first of the control pictures, U+2400 SYMBOL FOR NULL; the
// last one, U+2421, stands for DEL.
const (
	picture = '\u2400'
	del     = 0x7f
)

// oneLine are the characters that a value of one line has as pictures besides
// the controls that no text has.
const oneLine = "\t\n\r"

// escapeText makes a text safe between the structure of a chat.
func escapeText(s string, special func(string) bool) string {
	return escapeLines(escapeControls(s, ""), special)
}

// unescapeText is the inverse of escapeText.
func unescapeText(s string, special func(string) bool) string {
	return unescapeControls(unescapeLines(s, special))
}

// escapeLines adds a backslash to every line that reads as special after any
// number of backslashes. A lone CR ends no line here, but editors make one of
// it: what follows it is escaped too.
func escapeLines(s string, special func(string) bool) string {
	return mapLines(s, func(line string) string {
		if special(strings.TrimLeft(line, `\`)) {
			return `\` + line
		}
		return line
	})
}

// unescapeLines is the inverse of escapeLines.
func unescapeLines(s string, special func(string) bool) string {
	return mapLines(s, func(line string) string {
		if rest := strings.TrimLeft(line, `\`); len(rest) < len(line) && special(rest) {
			return line[1:]
		}
		return line
	})
}

// mapLines applies f to what stands between the line ends of s.
func mapLines(s string, f func(string) string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		end := strings.IndexAny(s, "\n\r")
		if end < 0 {
			b.WriteString(f(s))
			return b.String()
		}
		b.WriteString(f(s[:end]))
		b.WriteByte(s[end])
		s = s[end+1:]
	}
}

// escapeControls writes control characters, and those of also, as pictures.
// Invalid UTF-8 stays as it is.
func escapeControls(s, also string) string {
	var b strings.Builder
	b.Grow(len(s))
	slashes := 0 // backslashes before s[i]
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case isPicture(r):
			b.WriteString(strings.Repeat(`\`, slashes+1))
			b.WriteString(s[i : i+size])
		case hidden(r) || r < 0x20 && strings.IndexByte(also, byte(r)) >= 0:
			b.WriteString(strings.Repeat(`\`, slashes))
			b.WriteRune(pictureOf(r))
		default:
			b.WriteString(s[i : i+size])
		}
		slashes = countSlash(slashes, r)
		i += size
	}
	return b.String()
}

// unescapeControls is the inverse of escapeControls.
func unescapeControls(s string) string {
	if !strings.Contains(s, "\u2400"[:2]) {
		return s
	}
	out := make([]byte, 0, len(s))
	slashes := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if isPicture(r) {
			out = out[:len(out)-(slashes+1)/2] // n of 2n, n+1 of 2n+1
			if slashes%2 == 0 {
				out = append(out, controlOf(r))
			} else {
				out = append(out, s[i:i+size]...)
			}
		} else {
			out = append(out, s[i:i+size]...)
		}
		slashes = countSlash(slashes, r)
		i += size
	}
	return string(out)
}

func countSlash(n int, r rune) int {
	if r == '\\' {
		return n + 1
	}
	return 0
}

func hidden(r rune) bool {
	return r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == del
}

func isPicture(r rune) bool { return r >= picture && r <= picture+0x21 && r != picture+0x20 }

func pictureOf(r rune) rune {
	if r == del {
		return picture + 0x21
	}
	return picture + r
}

func controlOf(r rune) byte {
	if r == picture+0x21 {
		return del
	}
	return byte(r - picture)
}
