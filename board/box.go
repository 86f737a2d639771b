package board

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"deckhand/internal/markdown"
)

// Box is a line that a person can tick: an item with a box, and an id at its end.
type Box struct {
	Text   string
	ID     string
	Ticked bool
}

// ReadBox reads a line as a box with an id. What the Tasks plugin and Dataview
// append when it is ticked stands before the id or behind it, and is no part of
// the text.
func ReadBox(line string) (Box, bool) {
	line = strings.TrimSpace(line)
	content := cutMarker(line)
	if content == line {
		return Box{}, false
	}
	state, rest, ok := cutBox(content)
	if !ok {
		return Box{}, false
	}
	rest, id := cutBlockID(rest)
	rest = dropTrailingFields(rest)
	if rest2, early := cutBlockID(rest); id == "" {
		rest, id = rest2, early
	}
	return Box{Text: strings.TrimSpace(rest), ID: id, Ticked: state == "x" || state == "X"}, id != ""
}

// ReadField reads a line that a person writes behind: "- why: because".
func ReadField(line string) (field, said string, ok bool) {
	content := cutMarker(strings.TrimSpace(line))
	for _, name := range [...]string{"why", "reply"} {
		if rest, ok := strings.CutPrefix(content, name+":"); ok {
			return name, strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}

// Lines that Obsidian Kanban may take for one with a box, and that none is.
var (
	boxLike  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s>]*(?:[-*+]|\d+[.)])\s+\[.\]`) })
	numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s>]*\d+[.)]\s+\[.\]`) })
)

// Clickable reports whether a click on a box in the card ticks that box. A
// Kanban file is shown by Obsidian Kanban, which finds the line by counting
// boxes: one in code or behind a number, which it shows and does not count or
// counts and does not show, and those of an embedded note, shift the count.
func (b *Board) Clickable(c *Card) bool {
	if !b.Kanban {
		return true
	}
	raw := c.Span.Of(b.Src)
	if bytes.Contains(raw, []byte("![[")) {
		return false
	}
	for l := range markdown.Lines(raw, 0) {
		line := raw[l.Start:l.End]
		if !boxLike().Match(line) {
			continue
		}
		if l.Kind != markdown.Text || l.Quotes > 0 || numbered().Match(line) {
			return false
		}
	}
	return true
}
