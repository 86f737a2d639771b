package board

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deckhand/internal/markdown"
)

// cutBox reads the box an item's content begins with: one character between
// brackets, and white space or nothing after them.
func cutBox(content string) (box, rest string, ok bool) {
	if !strings.HasPrefix(content, "[") {
		return "", "", false
	}
	_, n := utf8.DecodeRuneInString(content[1:])
	end := 1 + n
	if n == 0 || content[1] == ']' || !strings.HasPrefix(content[end:], "]") {
		// an emoji with its selector is one character to people
		sel := "\ufe0f]"
		if n == 0 || !strings.HasPrefix(content[end:], sel) {
			return "", "", false
		}
		end += len(sel) - 1
	}
	rest = content[end+1:]
	r, _ := utf8.DecodeRuneInString(rest)
	if rest != "" && !unicode.IsSpace(r) {
		return "", "", false
	}
	return content[1:end], rest, true
}

func openBox(box string) bool { return box == " " || box == "\u00a0" }

// card reads the item at hand into a card; nil where it has no box.
func (p *parser) card() *Card {
	l := &p.lines[0]
	if l.Kind != markdown.Text {
		return nil
	}
	box, rest, ok := cutBox(p.str(l.Content, l.End))
	if !ok {
		return nil
	}
	c := p.newCard()
	c.Span, c.Line, c.Box = p.item.span, int(p.item.line), box
	at := c.Span.Start
	c.pad, c.para = l.Content-at, l.Next-at
	end := l.End
	for i := range p.lines[1:] {
		n := &p.lines[1+i]
		if n.Kind != markdown.Text || n.First {
			break
		}
		end, c.para = n.End, n.Next-at
	}
	p.firstLine(c, rest, l.End, end)
	c.Text = p.own(c)
	return c
}

// firstLine reads what stands after the box, up to the end of the line, and
// all that is below; para ends at paraEnd.
func (p *parser) firstLine(c *Card, rest string, end, paraEnd int) {
	p.roomForLines()
	k := classify(rest)
	first := rest
	if k.has(hasAngle) {
		parts := splitBreaks(rest)
		first = parts[0]
		p.texts = append(p.texts, parts[1:]...)
	}
	start := end - len(rest)
	c.First = strings.TrimSpace(first)
	start += len(first) - len(strings.TrimLeftFunc(first, unicode.IsSpace))
	if k.has(hasCaret) {
		_, c.BlockID = cutBlockID(rest)
	}
	c.Recurring = k.has(hasWide) && strings.Contains(rest, "🔁")
	p.below(c)
	p.words(c, k, p.str(start, max(paraEnd, start+len(c.First))))
}

// words reads identity, mentions and project off the first line, which is of
// class k and begins the paragraph para.
func (p *parser) words(c *Card, k class, para string) {
	c.Key = keyOf(c.First, k)
	found, odd := p.found[:0], []string(nil)
	if k.has(hasAt | hasHash) {
		found, odd = appendMentions(found, para, len(c.First), k)
	}
	p.found = found
	c.Title = p.title(c, k, found)
	if len(c.First) > longLine {
		c.Hints = append(c.Hints, "the line is longer than "+itoa(longLine)+" bytes: mentions behind that are not read")
	}
	for _, m := range found {
		switch {
		case m.project && c.Project == "":
			c.Project = m.name
		case m.project && c.Project != m.name:
			c.Hints = append(c.Hints, "two projects, the first one counts")
		case m.project:
		case p.configured(m.name):
			c.Agents = p.addName(c.Agents, m.name)
		default:
			c.Unknown = p.addName(c.Unknown, m.name)
		}
	}
	for _, name := range odd {
		if lower := strings.ToLower(name); p.o.Agents != nil && slices.Contains(p.o.Agents, lower) {
			c.Hints = append(c.Hints, "@"+name+" is no mention, @"+lower+" is: agents' names are lower case")
		}
	}
}

// title is the title of a card whose first line is of class k.
func (p *parser) title(c *Card, k class, found []mention) string {
	if !k.has(hasAt|hasHash|hasOpen) || len(c.Key) > longLine {
		return shortTitle(c.Key)
	}
	if c.Key != c.First {
		found, _ = mentions(c.Key, len(c.Key))
	}
	p.scratch = appendTitle(p.scratch[:0], c.Key, found)
	if len(p.scratch) == 0 {
		return c.Key
	}
	return p.kept.keep(p.scratch)
}

func (p *parser) configured(name string) bool {
	return p.o.Agents == nil || slices.Contains(p.o.Agents, name)
}

// addName adds a name that is not there yet. Cards that name one agent alone
// share the list of that name; its capacity is used up, so that it is copied
// when another name is added.
func (p *parser) addName(list []string, name string) []string {
	switch {
	case slices.Contains(list, name):
		return list
	case len(list) > 0:
		return append(list, name)
	}
	for _, one := range p.alone {
		if one[0] == name {
			return one
		}
	}
	one := []string{name}
	if len(p.alone) < cap(p.alone) {
		p.alone = append(p.alone, one)
	}
	return one
}

// splitBreaks divides an item's first line at <br>, but not in code.
func splitBreaks(s string) []string {
	if !strings.Contains(s, "<") {
		return []string{s}
	}
	masks := masked(s)
	var parts []string
	last := 0
	for i := 0; i < len(s); i++ {
		if len(masks) > 0 && i >= masks[0].Start {
			i = masks[0].End - 1
			masks = masks[1:]
			continue
		}
		if n := breakLen(s[i:]); n > 0 {
			parts = append(parts, s[last:i])
			last = i + n
			i = last - 1
		}
	}
	return append(parts, s[last:])
}

// breakLen is the length of the <br> that s begins with, else 0.
func breakLen(s string) int {
	if len(s) < 4 || !strings.EqualFold(s[:3], "<br") {
		return 0
	}
	rest := strings.TrimLeft(s[3:], " ")
	rest = strings.TrimPrefix(rest, "/")
	if !strings.HasPrefix(rest, ">") {
		return 0
	}
	return len(s) - len(rest) + 1
}

// unit is the indentation of the lines directly below the first: the smallest
// one that is not lazy text nor inside code. "" where there is none.
func (p *parser) unit() string {
	unit, least := "", 0
	for i := range p.lines[1:] {
		l := &p.lines[1+i]
		if l.Kind != markdown.Text && l.Kind != markdown.Heading {
			continue
		}
		indent := leading(p.str(l.Start, l.End))
		if indent == "" || len(indent) == l.End-l.Start {
			continue
		}
		if w := columns(indent); least == 0 || w < least {
			unit, least = indent, w
		}
	}
	return unit
}

// leading is the blanks and tabs a line begins with.
func leading(line string) string {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return line[:n]
}

// columns is the width of indentation, tabs counted.
func columns(indent string) int {
	n := 0
	for _, c := range []byte(indent) {
		if c == '\t' {
			n += 4 - n%4
		} else {
			n++
		}
	}
	return n
}

// dedent takes one level of indentation off a line of a card.
func dedent(line, unit string) string {
	if rest, ok := strings.CutPrefix(line, unit); ok && unit != "" {
		return rest
	}
	width := max(columns(unit), 1)
	for n := 0; n < width && line != "" && (line[0] == ' ' || line[0] == '\t'); line = line[1:] {
		n++
		if line[0] == '\t' {
			return line[1:]
		}
	}
	return line
}

// below reads the lines below a card's first: the status item, the person's
// lines, and what these say.
func (p *parser) below(c *Card) {
	from := p.fromLine
	if len(p.lines) == 1 {
		c.Lines = p.texts[from:len(p.texts):len(p.texts)]
		return
	}
	c.unit = p.unit()
	c.Status = p.status()
	for i := range p.lines[1:] {
		l := &p.lines[1+i]
		if c.Status != nil && c.Status.Span.Contains(l.Start-c.Span.Start) {
			continue
		}
		line := dedent(p.str(l.Start, l.End), c.unit)
		p.texts = append(p.texts, line)
		if looksLikeCard(line) {
			const hint = "looks like a card"
			at := c.Line + 1 + i
			c.Hints = append(c.Hints, hint)
			p.b.Hints = append(p.b.Hints, Hint{at, hint + ", line " + itoa(at)})
		}
		if l.Kind == markdown.Text || l.Kind == markdown.Blank {
			p.noteLine(c, strings.TrimSpace(line))
		}
	}
	c.Lines = p.texts[from:len(p.texts):len(p.texts)]
}

// looksLikeCard reports whether a line has a no-break space where the blank
// after a list marker should be.
func looksLikeCard(line string) bool {
	return len(line) > 1 && strings.IndexByte("-*+", line[0]) >= 0 && strings.HasPrefix(line[1:], "\u00a0[")
}

// noteLine reads after: and mentions off a line of the note.
func (p *parser) noteLine(c *Card, line string) {
	line = cutMarker(line)
	if rest, ok := cutFold(line, "after:"); ok {
		c.After = append(c.After, afterTargets(rest)...)
	}
	if c.NoteAgent != "" {
		return
	}
	k := classify(line)
	if !k.has(hasAt | hasHash) {
		return
	}
	found, _ := appendMentions(p.found[:0], line, len(line), k)
	p.found = found
	for _, m := range found {
		if !m.project && p.configured(m.name) {
			c.NoteAgent = m.name
			return
		}
	}
}

// cutFold is strings.CutPrefix without regard to case, for ASCII.
func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || s[0]|0x20 != prefix[0]|0x20 || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// afterTargets are the cards or blocks that an after: line names.
func afterTargets(s string) []string {
	var out []string
	rest := s
	for {
		_, inner, ok := strings.Cut(rest, "[[")
		if !ok {
			break
		}
		target, more, ok := strings.Cut(inner, "]]")
		if !ok {
			break
		}
		out = append(out, linkTarget("[["+target+"]]"))
		rest = more
	}
	if s = strings.TrimSpace(s); len(out) == 0 && s != "" {
		out = append(out, s)
	}
	return out
}

// cutMarker takes a list marker off a line.
func cutMarker(line string) string {
	if line == "" {
		return line
	}
	n := 0
	if strings.IndexByte("-*+", line[0]) >= 0 {
		n = 1
	} else {
		for n < len(line) && '0' <= line[n] && line[n] <= '9' {
			n++
		}
		if n == 0 || n == len(line) || line[n] != '.' && line[n] != ')' {
			return line
		}
		n++
	}
	rest := strings.TrimLeft(line[n:], " \t")
	if len(rest) == len(line)-n {
		return line
	}
	return rest
}

// own are the person's bytes of a card from its box on, without the last line
// end. Where everything is read they share memory with Src; a part that is read
// again must not hold on to a whole board.
func (p *parser) own(c *Card) []byte {
	raw := c.Span.Of(p.b.Src)
	switch {
	case c.Status != nil:
		return trimEOL(slices.Concat(raw[c.pad:c.Status.Span.Start], raw[c.Status.Span.End:]))
	case p.b.age > 0:
		return trimEOL(bytes.Clone(raw[c.pad:]))
	}
	return trimEOL(raw[c.pad:])
}

func trimEOL(b []byte) []byte {
	n := len(b)
	for n > 0 && (b[n-1] == '\n' || b[n-1] == '\r') {
		n--
	}
	return b[:n:n]
}
