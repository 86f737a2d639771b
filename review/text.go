package review

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// role says what a piece of text is; the palette says how that looks.
type role uint8

// The roles.
const (
	plain  role = iota
	dim         // there when it is looked for
	strong      // titles
	accent      // keys, what is selected, links
	needs       // waits for a person
	works       // goes on
	good        // ended well
	bad         // ended badly
	quiet       // held, queued
	code        // commands, output
	bar         // the edge of what a person is to do
	roles

	marked role = 0x80 // added to a role: in the selected row
)

// span is text of one role. It is clean: it can be sent to a terminal.
type span struct {
	text string
	role role
}

// line is one row of a document, no wider than it was made for.
type line []span

// width is how many cells a text takes.
func width(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] >= 0x80 {
			return uniseg.StringWidth(s)
		}
		n++
	}
	return n
}

func (l line) width() int {
	n := 0
	for _, s := range l {
		n += width(s.text)
	}
	return n
}

func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// clean makes one line of text that can be sent: what a terminal would obey,
// what reorders a line or hides in it is shown as an escape, as the command line
// shows it. Tabs become blanks.
func clean(s string) string {
	if !strings.ContainsFunc(s, dangerous) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case c == '\t':
			b.WriteString("    ")
		case !dangerous(c):
			b.WriteRune(c)
		case c < 0x80:
			fmt.Fprintf(&b, `\x%02x`, c)
		case c > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
		i += n
	}
	return b.String()
}

// dangerous are controls, the characters that turn or hide text, and those that
// end a line. Joiners, which scripts and emoji need, are none.
func dangerous(c rune) bool {
	switch {
	case c < 0x80:
		return c < ' ' || c == 0x7f
	case c == '\u200c' || c == '\u200d':
		return false
	}
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !unicode.Is(unicode.Prepended_Concatenation_Mark, c)
}

// oneLine is text of others in one row.
func oneLine(s string) string {
	return clean(strings.Join(strings.Fields(s), " "))
}

// fit cuts a text to n cells; what is cut off is shown by a mark.
func fit(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if width(s) <= n {
		return s
	}
	head, _ := split(s, n-1)
	return head + "…"
}

// fitLine cuts a line to n cells.
func fitLine(l line, n int) line {
	if l.width() <= n {
		return l
	}
	var out line
	for _, s := range l {
		w := width(s.text)
		if w < n {
			out, n = append(out, s), n-w
			continue
		}
		if n > 0 {
			head, _ := split(s.text, n-1)
			out = append(out, span{head + "…", s.role})
		}
		break
	}
	return out
}

// split cuts a text before the character that does not fit into n cells.
func split(s string, n int) (head, rest string) {
	state, used, at := -1, 0, 0
	for tail := s; tail != ""; {
		var g string
		var w int
		g, tail, w, state = uniseg.FirstGraphemeClusterInString(tail, state)
		if used+w > n {
			break
		}
		used += w
		at += len(g)
	}
	return s[:at], s[at:]
}

// wrap breaks text of others into lines of at most n cells, at blanks where
// there are any. A line end of the text ends a line.
func wrap(s string, n int) []string {
	var out []string
	s = strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for part := range strings.SplitSeq(s, "\n") {
		out = wrapOne(clean(part), max(n, 2), out)
	}
	return out
}

func wrapOne(s string, n int, out []string) []string {
	indent := s[:len(s)-len(strings.TrimLeft(s, " "))]
	if len(indent) > n/2 {
		indent = ""
	}
	for {
		if width(s) <= n {
			return append(out, s)
		}
		head, rest := split(s, n)
		if head == "" { // one character that is wider than the room
			_, size := utf8.DecodeRuneInString(s)
			head, rest = s[:size], s[size:]
		}
		if i := strings.LastIndexByte(head, ' '); i > len(indent) && !strings.HasPrefix(rest, " ") {
			head, rest = s[:i], s[i+1:]
		}
		out = append(out, strings.TrimRight(head, " "))
		if rest = strings.TrimLeft(rest, " "); rest == "" {
			return out
		}
		s = indent + rest
	}
}

// paragraph wraps text of others in one role.
func paragraph(s string, n int, r role) []line {
	rows := wrap(s, n)
	out := make([]line, len(rows))
	for i, row := range rows {
		out[i] = line{{row, r}}
	}
	return out
}

// indented puts a mark before the first line and blanks below it.
func indented(mark span, rows []line) []line {
	blank := span{strings.Repeat(" ", width(mark.text)), plain}
	for i, row := range rows {
		lead := blank
		if i == 0 {
			lead = mark
		}
		rows[i] = append(line{lead}, row...)
	}
	return rows
}

// spread puts one text to the left and one to the right end of n cells.
func spread(left, right line, n int) line {
	room := n
	if w := right.width(); w > 0 {
		room -= w + 1
	}
	left = fitLine(left, max(0, room))
	gap := n - left.width() - right.width()
	if gap < 0 {
		return fitLine(left, n)
	}
	return append(append(left[:len(left):len(left)], span{strings.Repeat(" ", gap), plain}), right...)
}
