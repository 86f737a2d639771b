package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold is s as names and headings are compared: NFC, then simple Unicode case
// folding. It returns s itself when s is plain lower case ASCII, so that the
// index can share memory with the paths it holds.
func fold(s string) string {
	upper := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return foldUnicode(norm.NFC.String(s))
		}
		upper = upper || 'A' <= c && c <= 'Z'
	}
	if !upper {
		return s
	}
	return strings.ToLower(s)
}

func foldUnicode(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(s[i]) // two names that differ in broken bytes stay different
		} else {
			b.WriteRune(foldRune(r))
		}
		i += size
	}
	return b.String()
}

// foldRune is one rune for all that fold to each other: the smallest of the
// orbit, and its lower case when that is ASCII.
func foldRune(r rune) rune {
	least := r
	for n := unicode.SimpleFold(r); n != r; n = unicode.SimpleFold(n) {
		least = min(least, n)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// loose is a heading, or what a link says of it, as it is compared when the
// exact text fits nowhere: Obsidian writes links to headings without this
// punctuation, and people write them from memory.
func loose(s string) string {
	const dropped = "!\"#$%&()*+,.:;<=>?@^`{|}~/[]\\"
	words := strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || r < utf8.RuneSelf && strings.IndexByte(dropped, byte(r)) >= 0
	})
	return fold(strings.Join(words, " "))
}

// unpercent decodes %XX. It reports false when there is nothing to decode or
// what looks like an escape is none: such a name is meant as it stands.
func unpercent(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		return s, false
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return s, false
		}
		hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
		if hi < 0 || lo < 0 {
			return s, false
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), true
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
