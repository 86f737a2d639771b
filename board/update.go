package board

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"deckhand/internal/span"
)

// Update makes the change u and returns the board's new bytes: Src itself when
// there is nothing to change, as after the same update before.
func (b *Board) Update(u Update) ([]byte, error) {
	n, err := b.Apply(u)
	if err != nil {
		return nil, err
	}
	return n.Src, nil
}

// Apply makes the change u and returns the board as it then is; b itself when
// there is nothing to change.
func (b *Board) Apply(u Update) (*Board, error) {
	if b.Inactive != "" {
		return nil, fmt.Errorf("%s: %w: %s", b.Path, ErrInactive, b.Inactive)
	}
	return b.withLastLine(func(b *Board) (*Board, error) { return b.apply(u) })
}

// withLastLine lets op work on a board whose last line has a line end, as far
// as an operation can come: the settings footer is none of its business. A
// file without one keeps that habit.
func (b *Board) withLastLine(op func(*Board) (*Board, error)) (*Board, error) {
	n := len(b.Src)
	if n == 0 || b.Src[n-1] == '\n' || b.footer < n {
		return op(b)
	}
	eol := []byte(span.EOL(b.Src, n))
	whole := b.reread(slices.Concat(b.Src, eol), []span.Edit{span.Insert(n, eol)})
	out, err := op(whole)
	if err != nil {
		return nil, err
	}
	if out == whole {
		return b, nil
	}
	end := bytes.TrimSuffix(bytes.TrimSuffix(out.Src, []byte("\n")), []byte("\r"))
	return out.reread(end, []span.Edit{span.Delete(span.Span{Start: len(end), End: len(out.Src)})}), nil
}

func (b *Board) apply(u Update) (*Board, error) {
	to, err := b.target(u)
	if err != nil {
		return nil, err
	}
	c, err := b.find(u, to)
	if err != nil {
		return nil, err
	}
	from := b.LaneOf(c)
	if to != nil && from != nil && (from == to || u.ToLane == "" && from.Role == u.To) {
		to = nil
	}
	for _, text := range b.rewritten(c, u) {
		if to == nil && bytes.Equal(text, c.Span.Of(b.Src)) {
			return b, nil
		}
		if n, ok := b.place(change{card: c, text: text, to: to, at: u.At, put: u.Put}); ok {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s:%d: %w", b.Path, c.Line, ErrPlace)
}

// target is the lane u moves to, or nil.
func (b *Board) target(u Update) (*Lane, error) {
	var to *Lane
	switch {
	case u.ToLane != "":
		if to = b.LaneNamed(u.ToLane); to == nil {
			return nil, fmt.Errorf("%s: %w: %q", b.Path, ErrNoLane, u.ToLane)
		}
	case u.To != NoRole:
		if to = b.Lane(u.To); to == nil {
			return nil, fmt.Errorf("%s: %w: %s", b.Path, ErrNoLane, u.To)
		}
	}
	return to, nil
}

// find is the card u means: by run, else by key among the open cards, else by
// key in the lane it was to go to, where it then is already.
func (b *Board) find(u Update, to *Lane) (*Card, error) {
	var found []*Card
	if u.Run != "" {
		found = b.ByRun(u.Run)
	}
	if len(found) == 0 && u.Key != "" {
		found = b.ByKey(u.Key)
	}
	if len(found) == 0 && u.Key != "" && to != nil {
		for i := range to.Cards {
			if to.Cards[i].Key == u.Key {
				found = append(found, &to.Cards[i])
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%s: %w", b.Path, ErrGone)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%s:%d: %w, line %d too", b.Path, found[0].Line, ErrAmbiguous, found[1].Line)
}

// rewritten gives the card's bytes with the status item that u asks for, best
// way first. A way can fail where the card's end is inside a fence that nobody
// closed; then the item goes below the first paragraph.
func (b *Board) rewritten(c *Card, u Update) [][]byte {
	whole := c.Span.Of(b.Src)
	switch {
	case u.Put == nil && (!u.Remove || c.Status == nil):
		return [][]byte{whole}
	case u.Put == nil:
		return [][]byte{b.replaced(c, c.Status.Span, b.personLines(c, u))}
	case c.Status != nil:
		if b.stands(c.Status, u.Put) {
			return [][]byte{whole}
		}
		lines := b.itemBytes(c, u.Put.Lines(), c.Status.indent, c.Span.Start+c.Status.Span.Start)
		lines = append(lines, b.personLines(c, u)...)
		return [][]byte{b.replaced(c, c.Status.Span, lines)}
	}
	var out [][]byte
	for _, at := range [...]int{c.Span.Len(), c.para} {
		for _, indent := range b.indents(c) {
			out = append(out, b.replaced(c, span.Span{Start: at, End: at}, b.itemBytes(c, u.Put.Lines(), indent, c.Span.Start+at)))
		}
	}
	return out
}

// replaced is the card's bytes with those of s, a part of them, changed.
func (b *Board) replaced(c *Card, s span.Span, text []byte) []byte {
	raw := c.Span.Of(b.Src)
	return slices.Concat(raw[:s.Start], text, raw[s.End:])
}

// stands reports whether the item is already there, whatever a person added
// to it or ticked in it.
func (b *Board) stands(s *Status, put *Item) bool {
	want := put.Lines()
	had := countLines(want[1:])
	var ours []string
	for _, l := range s.Lines {
		if k := sameLine(l); had[k] > 0 {
			had[k]--
			ours = append(ours, k)
		}
	}
	if s.Head != want[0] || len(ours) != len(want)-1 {
		return false
	}
	for i, k := range ours {
		if k != sameLine(want[i+1]) {
			return false
		}
	}
	return true
}

// personLines are the lines of a status item that deckhand did not write, as
// they are, and then what a person wrote into its first line. Without an item
// to put, those of u.Wrote alone are deckhand's.
func (b *Board) personLines(c *Card, u Update) []byte {
	s := c.Status
	ours := countLines(u.Wrote)
	heads := u.Wrote
	if u.Put != nil {
		lines := u.Put.Lines()
		for k, n := range countLines(lines) {
			ours[k] = max(ours[k], n)
		}
		heads = append(slices.Clone(heads), lines[0])
	}
	var out []byte
	for _, raw := range s.kept {
		if k := sameLine(raw); ours[k] > 0 {
			ours[k]--
			continue
		}
		out = append(out, raw...)
	}
	if words := personWords(s.Head, heads); words != "" {
		out = append(out, s.indent+"- "+words+span.EOL(b.Src, c.Span.Start+s.Span.End)...)
	}
	return out
}

// personWords is what a person wrote into a status item's first line: what is
// left of it without the words it begins and ends with like the nearest of
// those that deckhand wrote. The id is no word, so that this is no second item.
func personWords(head string, wrote []string) string {
	own := headWords(head)
	least := own
	for _, line := range wrote {
		if readStatus(line) == nil {
			continue
		}
		if left := differentWords(own, headWords(line)); len(left) < len(least) {
			least = left
		}
	}
	return strings.Join(least, " ")
}

// headWords are the words of a status item's first line, marker and ids off.
func headWords(head string) []string {
	words := strings.Fields(cutMarker(head))
	for n := len(words); n > 0 && strings.HasPrefix(words[n-1], runMark); n-- {
		words = words[:n-1]
	}
	return words
}

// differentWords is what is left of words without what it begins and ends with like other.
func differentWords(words, other []string) []string {
	for len(words) > 0 && len(other) > 0 && words[0] == other[0] {
		words, other = words[1:], other[1:]
	}
	for len(words) > 0 && len(other) > 0 && words[len(words)-1] == other[len(other)-1] {
		words, other = words[:len(words)-1], other[:len(other)-1]
	}
	return words
}

// itemBytes writes a status item's lines with the line end of the line before at.
func (b *Board) itemBytes(c *Card, lines []string, indent string, at int) []byte {
	eol := span.EOL(b.Src, at)
	deeper := indent + "\t"
	if indent != "" && indent[len(indent)-1] == ' ' {
		base := columns(leading(string(c.Span.Of(b.Src))))
		deeper = indent + string(bytes.Repeat([]byte(" "), max(columns(indent)-base, 2)))
	}
	var out []byte
	for i, l := range lines {
		if i == 0 {
			out = append(out, indent...)
		} else {
			out = append(out, deeper...)
		}
		out = append(append(out, l...), eol...)
	}
	return out
}

// indents are the indentations to try for a status item: as the card's lines
// are, else a tab in a Kanban file and the file's own unit elsewhere; at last
// the width of the card's marker.
func (b *Board) indents(c *Card) []string {
	line := b.Src[c.Span.Start : c.Span.Start+c.pad]
	width := columns(leading(string(line))) + len(bytes.TrimLeft(line, " \t"))
	out := make([]string, 0, 3)
	if c.unit != "" {
		out = append(out, c.unit)
	}
	if own := b.unit(); own != "" {
		out = append(out, own)
	}
	out = append(out, "\t", string(bytes.Repeat([]byte(" "), width)))
	kept := out[:0]
	for _, u := range out {
		if columns(u) >= width {
			kept = append(kept, u)
		}
	}
	return kept
}

// unit is what the file indents the lines of its cards by; "" when it does not say.
func (b *Board) unit() string {
	if b.Kanban {
		return "\t"
	}
	for _, c := range b.All() {
		if c.unit != "" {
			return c.unit
		}
	}
	return ""
}
