package journal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// obeyed are the characters that make something of inline text: each gets a
// backslash where it could.
const obeyed = "\\`%<[^!"

// oneLine is s as it stands on a line of its own.
func oneLine(s string) string {
	s = visible(unbroken(s))
	var b strings.Builder
	for i := range len(s) {
		if escapes(s, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unbroken is s without line ends.
func unbroken(s string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\u2028", " ", "\u0085", " ").Replace(s)
}

// escapes reports whether the character at i gets a backslash: %%, <tag and
// [[ are marks only in company.
func escapes(s string, i int) bool {
	next := byte(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	switch s[i] {
	case '\\', '`', '^':
		return true
	case '%':
		return next == '%' || i > 0 && s[i-1] == '%'
	case '<':
		return next == '!' || next == '/' || next == '?' || next|0x20 >= 'a' && next|0x20 <= 'z'
	case '!':
		return next == '['
	case '[':
		return next == '[' || i > 0 && s[i-1] == '['
	}
	return false
}

// readLine is the inverse of oneLine.
func readLine(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(obeyed, s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// visible shows what would move a cursor, turn a line around or hide: control
// and format characters, and bytes that are no text. Tabs stay.
func visible(s string) string {
	clean := func(r rune) bool {
		return r == '\t' || r != utf8.RuneError && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case clean(r):
			b.WriteRune(r)
		case r == 0x200c || r == 0x200d: // joiners: words of some scripts and emoji need them
			b.WriteRune(r)
		case r == utf8.RuneError:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// token is a value between the %% of an entry's last line.
func token(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '%' || r == utf8.RuneError || unicode.In(r, unicode.C, unicode.Z) {
			return -1
		}
		return r
	}, s)
}

// diffText is a diff as it stands in its fence.
func diffText(s string) string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		line = visible(line)
		if line != "" && strings.IndexByte(" +-@\\", line[0]) < 0 {
			b.WriteByte(' ')
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// fence is longer than any run of backticks in s.
func fence(s string) string {
	run, longest := 0, 2
	for i := range len(s) {
		run++
		if s[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
