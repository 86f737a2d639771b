package inbox

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"deckhand/internal/markdown"
)

// Limits of what an agent says on a page.
const (
	textLines = 8
	lineChars = 200
	codeChars = 4000
)

// said are the lines of an agent's text as they may stand on a page of ours.
func said(text string) []string {
	var lines []string
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for line := range strings.SplitSeq(text, "\n") {
		if line = markdown.EscapeStart(inLine(line)); line == "" {
			continue
		}
		if len(lines) == textLines {
			lines[textLines-1] += " …"
			break
		}
		lines = append(lines, line)
	}
	return lines
}

// inLine makes one line of text that no reader takes for more.
func inLine(s string) string {
	return markdown.Escape(cut(visible(strings.Join(strings.Fields(s), " ")), lineChars))
}

// visible shows what would drive a terminal, turn a line around or hide.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t' || r == '\u200c' || r == '\u200d' || r == utf8.RuneError: // joiners: scripts and emoji need them
			b.WriteRune(r)
		case r >= ' ' && r < 0x7f: // most of all text
			b.WriteRune(r)
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// code are the lines of an indented block.
func code(s string) []string {
	left := utf8.RuneCountInString(s) - codeChars
	if left > 0 {
		s = cut(s, codeChars)
	}
	var lines []string
	for line := range strings.SplitSeq(strings.Trim(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n") {
		lines = append(lines, strings.TrimRight("    "+visible(line), " \t"))
	}
	if left > 0 {
		lines = append(lines, "", fmt.Sprintf("%d more characters: see the chat", left))
	}
	return lines
}

// typed is what to type. It may name what anybody has named: when that could be
// read as more than text, it is a code span, which shows it as it is.
func typed(s string) string {
	s = ready(s)
	if strings.IndexFunc(s, special) < 0 && s == markdown.EscapeStart(s) {
		return s
	}
	fence, run := 1, 0
	for _, c := range s {
		if run++; c != '`' {
			run = 0
		}
		fence = max(fence, run+1)
	}
	pad := ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		pad = " "
	}
	ticks := strings.Repeat("`", fence)
	return ticks + pad + s + pad + ticks
}

// special are characters that may mean something in Markdown.
func special(c rune) bool {
	return c < utf8.RuneSelf && !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune(" ./:;,?()@-", c)
}

// ready is a line of ours, kept to one line.
func ready(s string) string {
	s = strings.ReplaceAll(s, "\r\n", " ")
	return strings.TrimSpace(visible(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, s)))
}

// cut is s with at most n characters.
func cut(s string, n int) string {
	count := 0
	for i := range s {
		if count++; count == n && utf8.RuneCountInString(s[i:]) > 1 {
			return s[:i] + "…"
		}
	}
	return s
}
