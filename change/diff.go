package change

import (
	"slices"
	"strconv"
	"strings"
)

// Op is what became of a line.
type Op uint8

// What became of a line.
const (
	Same    Op = iota
	Removed    // it is in the old text only
	Added      // it is in the new text only
	Changed    // a line of the old text stands in the new one with other words
)

// Line is one line of a text.
type Line struct {
	No    int    // from 1; 0: there is no line on this side
	Text  string // without its end, and as it is: whoever shows it makes control characters harmless
	End   string // "\n", "\r\n", or nothing at the end of a file
	Moved int    // of a removed or added line that stands elsewhere on the other side: the line there; else 0
}

// Row is a line of the old text and the line of the new one beside it.
type Row struct {
	Op       Op
	Old, New Line
}

// Diff is two texts side by side, whole.
type Diff struct {
	Rows           []Row
	Added, Removed int // lines, a changed one counts in both
}

// Compare compares two texts line by line. It takes time in proportion to the
// texts, not to how much differs, and gives the same for the same texts.
func Compare(before, after string) Diff {
	old, new := splitLines(before), splitLines(after)
	var d Diff
	d.Rows = make([]Row, 0, max(len(old), len(new)))
	i, j := 0, 0
	same := func(to int) {
		for ; i < to; i, j = i+1, j+1 {
			d.Rows = append(d.Rows, Row{Same, line(old, i), line(new, j)})
		}
	}
	all := blocksOf(old, new)
	for _, b := range all {
		same(b.old.from)
		d.Rows = appendRows(d.Rows, old, new, b)
		d.Removed += b.old.len()
		d.Added += b.new.len()
		i, j = b.old.to, b.new.to
	}
	same(len(old))
	d.markMoved()
	return d
}

// Count is how many lines a change adds and takes away, as its Diff has them.
func (c Change) Count() (added, removed int) {
	for _, b := range blocksOf(splitLines(c.Before), splitLines(c.After)) {
		added += b.new.len()
		removed += b.old.len()
	}
	return added, removed
}

// Diff compares the contents before and after a change.
func (c Change) Diff() Diff { return Compare(c.Before, c.After) }

// blocksOf lists what changed between two texts, by their lines.
func blocksOf(old, new []string) []block {
	ids := map[string]int32{}
	a, b := number(old, ids), number(new, ids)
	gone, came := align(a, b, len(ids))
	s := slider{old: a, new: b, text: old, other: new, blocks: blocks(gone, came)}
	return s.slide()
}

// number gives equal lines equal numbers.
func number(text []string, ids map[string]int32) []int32 {
	out := make([]int32, len(text))
	for i, l := range text {
		id, known := ids[l]
		if !known {
			id = int32(len(ids))
			ids[l] = id
		}
		out[i] = id
	}
	return out
}

// run is lines that are the same in two texts, or that changed.
type run struct {
	same     bool
	old, new []string
}

// runsOf divides two texts into what is the same and what changed.
func runsOf(old, new []string) []run {
	var out []run
	i, j := 0, 0
	same := func(to int) {
		if to > i {
			out = append(out, run{true, old[i:to], new[j : j+to-i]})
		}
	}
	for _, b := range blocksOf(old, new) {
		same(b.old.from)
		out = append(out, run{false, old[b.old.from:b.old.to], new[b.new.from:b.new.to]})
		i, j = b.old.to, b.new.to
	}
	same(len(old))
	return out
}

func line(text []string, i int) Line {
	end := ending(text[i])
	return Line{No: i + 1, Text: text[i][:len(text[i])-len(end)], End: end}
}

// Hunk is rows around changes, with some that are the same around them.
type Hunk struct {
	Rows               []Row
	From, To           int // which of the diff's rows these are: Rows[From:To]
	OldStart, OldLines int
	NewStart, NewLines int
}

// Hunks are the changes with up to context unchanged rows before and after;
// what is between hunks is folded. Changes that are nearer than that are one.
func (d Diff) Hunks(context int) []Hunk {
	var out []Hunk
	for at := 0; ; {
		from := d.next(at)
		if from == len(d.Rows) {
			return out
		}
		to := from
		for next := from; next < len(d.Rows) && next-to <= 2*context; next = d.next(to) {
			for to = next; to < len(d.Rows) && d.Rows[to].Op != Same; {
				to++
			}
		}
		at = to
		out = append(out, d.hunk(max(from-context, 0), min(to+context, len(d.Rows))))
	}
}

// next is the first row from at on that changed.
func (d Diff) next(at int) int {
	for at < len(d.Rows) && d.Rows[at].Op == Same {
		at++
	}
	return at
}

func (d Diff) hunk(from, to int) Hunk {
	h := Hunk{Rows: d.Rows[from:to], From: from, To: to}
	for _, r := range h.Rows {
		if r.Old.No > 0 {
			h.OldLines++
		}
		if r.New.No > 0 {
			h.NewLines++
		}
	}
	h.OldStart = start(d.Rows, h, func(r Row) int { return r.Old.No })
	h.NewStart = start(d.Rows, h, func(r Row) int { return r.New.No })
	return h
}

// start is the first line of a hunk on one side; where it has none there, the
// line before it.
func start(rows []Row, h Hunk, no func(Row) int) int {
	for _, r := range h.Rows {
		if no(r) > 0 {
			return no(r)
		}
	}
	for _, r := range slices.Backward(rows[:h.From]) {
		if no(r) > 0 {
			return no(r)
		}
	}
	return 0
}

// Header is the hunk's line in a unified diff.
func (h Hunk) Header() string {
	return "@@ -" + extent(h.OldStart, h.OldLines) + " +" + extent(h.NewStart, h.NewLines) + " @@"
}

func extent(start, n int) string {
	if n == 1 {
		return strconv.Itoa(start)
	}
	return strconv.Itoa(start) + "," + strconv.Itoa(n)
}

// Unified is the hunks as the text that diff -u, git and patch have, without the
// names of the files.
func (d Diff) Unified(context int) string {
	var b strings.Builder
	for _, h := range d.Hunks(context) {
		b.WriteString(h.Header() + "\n")
		for rows := h.Rows; len(rows) > 0; {
			n := 0
			for n < len(rows) && rows[n].Op != Same {
				n++
			}
			for _, r := range rows[:n] {
				r.Old.write(&b, '-')
			}
			for _, r := range rows[:n] {
				r.New.write(&b, '+')
			}
			if rows = rows[n:]; len(rows) > 0 {
				rows[0].Old.write(&b, ' ')
				rows = rows[1:]
			}
		}
	}
	return b.String()
}

func (l Line) write(b *strings.Builder, mark byte) {
	if l.No == 0 {
		return
	}
	b.WriteByte(mark)
	b.WriteString(l.Text)
	if b.WriteString(l.End); l.End == "" {
		b.WriteString("\n\\ No newline at end of file\n")
	}
}
