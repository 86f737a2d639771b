package chats

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"deckhand/internal/markdown"
)

// picture is the first of the control pictures, U+2400 SYMBOL FOR NULL; U+2421
// stands for DEL. What has no picture of its own is written as other, the
// character's number in hex, and a semicolon.
const (
	picture = '\u2400'
	del     = 0x7f
	other   = '\u2426'
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
			b.WriteString(pictureOf(r))
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
		control, n := pictured(s[i:])
		switch {
		case !isPicture(r), n == 0 && slashes%2 == 0: // one that a person has written
			out = append(out, s[i:i+size]...)
		case slashes%2 == 0:
			out = append(out[:len(out)-slashes/2], string(control)...)
			size = n
		default:
			out = append(out[:len(out)-(slashes+1)/2], s[i:i+size]...) // n+1 of 2n+1
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
	return r != '\t' && r != '\n' && r != '\r' && markdown.Hidden(r)
}

func isPicture(r rune) bool {
	return r >= picture && r <= picture+0x21 && r != picture+0x20 || r == other
}

func pictureOf(r rune) string {
	switch {
	case r == del:
		return string(picture + 0x21)
	case r < 0x20:
		return string(picture + r)
	}
	return fmt.Sprintf("%c%X;", other, r)
}

// pictured is the character that s begins with the picture of, and how many
// bytes that has; 0 when it is no picture, or one of nothing.
func pictured(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == picture+0x21:
		return del, size
	case r != other && isPicture(r):
		return r - picture, size
	case r != other:
		return 0, 0
	}
	hex, _, closed := strings.Cut(s[size:min(len(s), size+len("10FFFF;"))], ";")
	n, err := strconv.ParseUint(hex, 16, 32)
	if !closed || err != nil || !hidden(rune(n)) || pictureOf(rune(n)) != s[:size+len(hex)+1] {
		return 0, 0
	}
	return rune(n), size + len(hex) + 1
}
