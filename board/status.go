package board

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deckhand/internal/markdown"
	"deckhand/internal/span"
)

// runMark stands before the run id at the end of a status item's first line.
const runMark = "^r-"

// statusWord tells a word of a status item, and how it is marked and written.
type statusWord struct {
	word, mark string
	colon      bool // "pi: review" but "pi works"
}

// statusWords are the words of status items. The marks are wide emoji that are
// no field of the Tasks plugin.
func statusWords() [7]statusWord {
	return [...]statusWord{
		{"works", "🔵", false},
		{"asks", "🟡", false},
		{"review", "🟢", true},
		{"accepted", "🟢", true},
		{"failed", "🔴", false},
		{"stopped", "⚪", false},
		{"interrupted", "🟠", false},
	}
}

// status finds the status item among the lines of the card at hand; the last
// one, where there are more.
func (p *parser) status() *Status {
	for i := len(p.lines) - 1; i > 0; i-- {
		l := &p.lines[i]
		if l.Kind != markdown.Text && l.Kind != markdown.Code {
			continue
		}
		line := p.str(l.Start, l.End)
		if !strings.Contains(line, runMark) {
			continue
		}
		if s := readStatus(strings.TrimLeft(line, " \t")); s != nil {
			p.statusLines(s, i, leading(line))
			return s
		}
	}
	return nil
}

// statusLines gives s its span and the lines below its first: those indented deeper.
func (p *parser) statusLines(s *Status, at int, indent string) {
	s.indent = indent
	card := p.item.span.Start
	s.Span = span.Span{Start: p.lines[at].Start - card, End: p.lines[at].Next - card}
	width := columns(indent)
	var blank []string
	for i := range p.lines[at+1:] {
		l := &p.lines[at+1+i]
		line := p.str(l.Start, l.End)
		in := leading(line)
		if len(in) == len(line) {
			blank = append(blank, p.str(l.Start, l.Next))
			continue
		}
		if columns(in) <= width {
			return
		}
		s.kept = append(append(s.kept, blank...), p.str(l.Start, l.Next))
		s.Lines = append(s.Lines, line[len(in):])
		s.Span.End, blank = l.Next-card, nil
	}
}

// readStatus reads a status item's first line, indentation off.
func readStatus(line string) *Status {
	text := strings.TrimRight(cutMarker(line), " \t")
	if text == line {
		return nil
	}
	at := strings.LastIndex(text, runMark)
	if at < 1 || text[at-1] != ' ' || !runID(text[at+len(runMark):]) {
		return nil
	}
	body := strings.TrimLeftFunc(text[:at-1], func(r rune) bool {
		return unicode.IsSpace(r) || r >= utf8.RuneSelf && !unicode.IsLetter(r)
	})
	n := nameLen(body)
	if n == 0 {
		return nil
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(body[n:], ":"), " ")
	word, _, _ := strings.Cut(rest, " ")
	for _, w := range statusWords() {
		if w.word == word {
			return &Status{Run: text[at+len(runMark):], Agent: body[:n], Word: word, Head: line}
		}
	}
	return nil
}

func runID(s string) bool {
	for _, c := range []byte(s) {
		if !nameByte(c) || c == '_' || c == '-' {
			return false
		}
	}
	return len(s) >= 4
}

// Limits of an agent's text under a card.
const (
	saidLines = 8
	saidRunes = 200
)

// Lines are the lines the item is written as, without indentation; all but
// the first go one level deeper.
func (i Item) Lines() []string {
	lines := []string{i.head()}
	said := 0
	for _, text := range i.Said {
		for line := range strings.SplitSeq(text, "\n") {
			line = escapeLine(line)
			if line == "" {
				continue
			}
			if said++; said > saidLines {
				continue
			}
			lines = append(lines, "- "+line)
		}
	}
	if said > saidLines {
		lines[len(lines)-1] += " …"
	}
	return append(lines, i.Boxes...)
}

func (i Item) head() string {
	var out strings.Builder
	out.WriteString("- ")
	words := statusWords()
	at := slices.IndexFunc(words[:], func(w statusWord) bool { return w.word == i.Word })
	colon := ""
	if at >= 0 {
		if !i.Text {
			out.WriteString(words[at].mark + " ")
		}
		if words[at].colon {
			colon = ":"
		}
	}
	out.WriteString(i.Agent + colon + " " + i.Word)
	sep := " · "
	if i.Word == "accepted" { // reads "accepted 30 Nov"
		sep = " "
	}
	for _, d := range i.Details {
		if d = escape(d); d != "" {
			out.WriteString(sep + d)
			sep = " · "
		}
	}
	if i.Link != "" {
		out.WriteString(" · " + i.Link)
	}
	out.WriteString(" " + runMark + i.Run)
	return out.String()
}

// escapeLine writes one line of an agent so that it is nothing but text where
// a list item's content begins.
func escapeLine(line string) string { return markdown.EscapeStart(escape(line)) }

// escape makes text of an agent harmless inside a line.
func escape(text string) string {
	text = collapse(strings.Map(plainRune, strings.ToValidUTF8(text, "\ufffd")))
	if rs := []rune(text); len(rs) > saidRunes {
		text = strings.TrimSpace(string(rs[:saidRunes-1])) + "…"
	}
	return markdown.Escape(text)
}

// plainRune drops what a terminal or a reader's eye could be led by.
func plainRune(r rune) rune {
	switch {
	case r == '\t' || r == '\r' || r == '\n' || r == '\u2028' || r == '\u2029':
		return ' '
	case markdown.Hidden(r):
		return -1
	}
	return r
}

// Added lists the lines that a person added: those of after that are not among
// before, without regard to indentation, the state of boxes, and what the
// Tasks plugin and Dataview append. Blank lines are none.
func Added(before, after []string) []string {
	had := countLines(before)
	var out []string
	for _, l := range after {
		if strings.TrimSpace(l) == "" {
			continue
		}
		k := sameLine(l)
		if had[k] > 0 {
			had[k]--
			continue
		}
		out = append(out, l)
	}
	return out
}

func countLines(lines []string) map[string]int {
	had := map[string]int{}
	for _, l := range lines {
		had[sameLine(l)]++
	}
	return had
}

// sameLine is what two states of one line have in common.
func sameLine(line string) string {
	s := strings.TrimSpace(line)
	if rest := cutMarker(s); rest != s {
		if _, text, ok := cutBox(rest); ok {
			s = "- [ ]" + text
		}
	}
	rest, id := cutBlockID(s)
	rest = dropTrailingFields(rest)
	rest, early := cutBlockID(rest)
	return rest + "^" + early + id
}
