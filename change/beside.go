package change

import (
	"maps"
	"strings"

	"deckhand/board"
)

// A board changes while a proposal for it waits, and nobody has touched it:
// deckhand writes the line below a card that a run has, and takes that card from
// lane to lane. A proposal is made for the rest of the board. So what is compared
// is the board beside those cards, and what is written leaves them as they stand.

// Stands reports whether cur is want, but for what deckhand keeps on a board.
func (f Folder) Stands(file, want, cur string) bool {
	if want == cur {
		return true
	}
	w, c, ok := f.both(file, want, cur)
	return ok && (w.plain == c.plain || w.beside(c))
}

// Rebase is what a file becomes by the change from before to after when it is cur
// now. It is false when somebody else has changed it, or when the change is of
// the very things that deckhand keeps.
func (f Folder) Rebase(file, before, after, cur string) (string, bool) {
	if cur == before {
		return after, true
	}
	b, c, ok := f.both(file, before, cur)
	if !ok || f.Stands(file, before, after) {
		return "", false
	}
	a, fine := f.kept(file, after)
	switch {
	case !fine:
		return "", false
	case b.plain == c.plain:
		return a.with(b, c)
	case b.beside(c) && maps.Equal(a.cards, b.cards):
		return c.patched(Compare(b.rest(), a.rest()).Rows), true
	}
	return "", false
}

// both reads two states of a board that holds items of runs.
func (f Folder) both(file, x, y string) (a, b keptBoard, ok bool) {
	if !strings.Contains(x, "^r-") && !strings.Contains(y, "^r-") {
		return a, b, false
	}
	a, fine := f.kept(file, x)
	b, ok = f.kept(file, y)
	return a, b, ok && fine
}

// keptBoard is a board, and what deckhand keeps on it.
type keptBoard struct {
	text  string
	plain string            // without the items
	items map[string]string // by run
	spots []keptSpot        // where they stand
	cards map[string]string // the cards that carry one, without it
	lines []keptLine
}

type keptSpot struct {
	run      string
	from, to int // in text
}

type keptLine struct {
	text string
	own  bool // of a card that carries an item
}

func (l keptLine) counts() bool { return !l.own && strings.TrimSpace(l.text) != "" }

// kept reads a board. It is false when a run has two items on it.
func (f Folder) kept(file, text string) (k keptBoard, ok bool) {
	k = keptBoard{text: text, items: map[string]string{}, cards: map[string]string{}}
	b := board.Parse(file, []byte(text), f.options(file))
	owned := map[int]bool{} // offsets of lines
	at := 0
	var plain strings.Builder
	for _, c := range b.All() {
		if c.Status == nil {
			continue
		}
		if _, twice := k.items[c.Status.Run]; twice {
			return k, false
		}
		s := keptSpot{c.Status.Run, c.Span.Start + c.Status.Span.Start, c.Span.Start + c.Status.Span.End}
		if s.from < at {
			return k, false
		}
		plain.WriteString(text[at:s.from])
		at = s.to
		k.spots = append(k.spots, s)
		k.items[s.run] = text[s.from:s.to]
		k.cards[s.run] = strings.TrimRight(text[c.Span.Start:s.from]+text[s.to:c.Span.End], "\r\n")
		for i := c.Span.Start; i < c.Span.End; i++ {
			if i == c.Span.Start || text[i-1] == '\n' {
				owned[i] = true
			}
		}
	}
	plain.WriteString(text[at:])
	k.plain = plain.String()
	offset := 0
	for line := range strings.Lines(text) {
		k.lines = append(k.lines, keptLine{line, owned[offset]})
		offset += len(line)
	}
	return k, true
}

// rest are the lines that count.
func (k keptBoard) rest() string {
	var b strings.Builder
	for _, l := range k.lines {
		if l.counts() {
			b.WriteString(strings.TrimRight(l.text, "\r\n") + "\n")
		}
	}
	return b.String()
}

// beside reports whether two states of a board are the same beside the cards of
// runs, and those cards the same but for where they stand.
func (k keptBoard) beside(o keptBoard) bool {
	return len(k.cards) > 0 && maps.Equal(k.cards, o.cards) && k.rest() == o.rest()
}

// with is the text with the items as they stand in cur, for which was has them
// as they were.
func (k keptBoard) with(was, cur keptBoard) (string, bool) {
	for run := range cur.items {
		if _, known := was.items[run]; !known {
			return "", false // on which of the cards of the new text?
		}
	}
	var b strings.Builder
	at := 0
	for _, s := range k.spots {
		b.WriteString(k.text[at:s.from] + cur.items[s.run])
		at = s.to
	}
	b.WriteString(k.text[at:])
	return b.String(), true
}

// patched is the board with a change of the lines that count: the others stay
// where they are.
func (k keptBoard) patched(rows []Row) string {
	var b strings.Builder
	at := 0
	others := func() { // that stand before the next line that counts
		for at < len(k.lines) && !k.lines[at].counts() {
			b.WriteString(k.lines[at].text)
			at++
		}
	}
	eol := k.eol()
	add := func(l Line) {
		if n := b.Len(); n > 0 && b.String()[n-1] != '\n' {
			b.WriteString(eol)
		}
		b.WriteString(l.Text + eol)
	}
	for _, r := range rows {
		if r.Old.No > 0 {
			others()
			if r.Op == Same {
				b.WriteString(k.lines[at].text)
			}
			at++
		}
		if r.Op != Same && r.New.No > 0 {
			add(r.New)
		}
	}
	others()
	if !strings.HasSuffix(k.text, "\n") {
		return strings.TrimSuffix(b.String(), eol) // a file without a last line end keeps that habit
	}
	return b.String()
}

// eol is how the board's lines end: as the first one does.
func (k keptBoard) eol() string {
	if len(k.lines) == 0 || ending(k.lines[0].text) == "" {
		return "\n"
	}
	return ending(k.lines[0].text)
}
