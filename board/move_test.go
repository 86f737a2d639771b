package board

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func sampleNames(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(boardsDir, "*.md"))
	if err != nil || len(files) != 25 {
		t.Fatalf("%d sample boards: %v", len(files), err)
	}
	return files
}

// moveTo moves one card without looking it up, as Update does.
func moveTo(b *Board, c *Card, to *Lane, at int) ([]byte, bool) {
	ok := false
	n, _ := b.withLastLine(func(w *Board) (*Board, error) {
		wc := cardAt(w, c.Span.Start)
		wl := w.LaneNamed(to.Title)
		for i := range b.Lanes {
			if &b.Lanes[i] == to {
				wl = &w.Lanes[i]
			}
		}
		n, placed := w.place(change{card: wc, text: wc.Span.Of(w.Src), to: wl, at: at})
		if ok = placed; !ok {
			return w, nil
		}
		return n, nil
	})
	return n.Src, ok
}

func cardAt(b *Board, start int) *Card {
	for _, c := range b.All() {
		if c.Span.Start == start {
			return c
		}
	}
	return nil
}

// lineCount counts lines that are not blank, with their ends; the last line of
// a file without final newline counts as having one.
func lineCount(src []byte, but []byte) map[string]int {
	n := map[string]int{}
	for l := range bytes.Lines(src) {
		n[string(bytes.TrimRight(l, "\r\n"))]++
	}
	for l := range bytes.Lines(but) {
		n[string(bytes.TrimRight(l, "\r\n"))]--
	}
	maps.DeleteFunc(n, func(k string, c int) bool { return strings.TrimSpace(k) == "" || c == 0 })
	return n
}

// TestMoveEveryCardToEveryLaneAndBack checks that a move changes the place of
// one card, with its bytes, and at most one blank line; and that the way back
// gives the same board.
func TestMoveEveryCardToEveryLaneAndBack(t *testing.T) {
	for _, file := range sampleNames(t) {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			src := read(t, file)
			b := Parse(name, src, optionsFor(name))
			if b.Inactive != "" {
				t.Skip("never written")
			}
			most := 20
			if len(src) > 100_000 {
				most = 1 // the last card of a long list is tried by the benchmark
			}
			for i := range b.Lanes {
				for j := range min(len(b.Lanes[i].Cards), most) {
					for k := range b.Lanes {
						if k != i {
							moveThereAndBack(t, b, i, j, k)
						}
					}
				}
			}
		})
	}
}

func moveThereAndBack(t *testing.T, b *Board, i, j, k int) {
	t.Helper()
	c := &b.Lanes[i].Cards[j]
	raw := trimEOL(c.Span.Of(b.Src))
	out, ok := moveTo(b, c, &b.Lanes[k], 0)
	if !ok {
		t.Errorf("line %d cannot move to lane %d", c.Line, k)
		return
	}
	n := Parse(b.Path, out, b.options)
	moved := n.Lanes[k].Cards[slices.IndexFunc(n.Lanes[k].Cards, func(m Card) bool {
		return m.Key == c.Key && bytes.Equal(m.Text, c.Text)
	})]
	now := trimEOL(moved.Span.Of(out))
	if !b.Kanban && !bytes.Equal(now, raw) {
		t.Errorf("line %d: bytes of the card changed to %q", c.Line, now)
	}
	was, is := lineCount(b.Src, raw), lineCount(out, now)
	if !maps.Equal(was, is) {
		t.Errorf("line %d to lane %d: other lines changed: %q", c.Line, k, out)
	}
	if d := bytes.Count(out, []byte("\n")) - bytes.Count(b.Src, []byte("\n")); d < -1 || d > 1 {
		t.Errorf("line %d to lane %d: %d blank lines more", c.Line, k, d)
	}
	back, ok := moveTo(n, &moved, &n.Lanes[i], j+1)
	if !ok {
		t.Errorf("line %d cannot move back from lane %d", c.Line, k)
		return
	}
	if !bytes.Equal(noBlanks(back), noBlanks(b.Src)) && besideCard(b, c) {
		t.Errorf("line %d to lane %d and back: %q\nwant %q", c.Line, k, back, b.Src)
	}
	if !slices.Equal(keys(Parse(b.Path, back, b.options)), keys(b)) {
		t.Errorf("line %d to lane %d and back: the cards are in another order", c.Line, k)
	}
	if d := bytes.Count(back, []byte("\n")) - bytes.Count(b.Src, []byte("\n")); d < -2 || d > 2 {
		t.Errorf("line %d to lane %d and back: %d blank lines more", c.Line, k, d)
	}
}

func keys(b *Board) []string {
	var out []string
	for l, c := range b.All() {
		out = append(out, l.Title+"\x00"+c.Key)
	}
	return out
}

// noBlanks leaves out blank lines and the end of the last line.
func noBlanks(src []byte) []byte {
	var out [][]byte
	for l := range bytes.Lines(src) {
		if l = bytes.TrimRight(l, "\r\n"); len(bytes.TrimSpace(l)) > 0 {
			out = append(out, l)
		}
	}
	return bytes.Join(out, []byte("\n"))
}

// besideCard reports whether a card's place is told by its index alone: it
// stands next to another card of its list, or alone in its lane.
func besideCard(b *Board, c *Card) bool {
	it := b.itemOf(c)
	if prev := b.neighbour(it, -1); prev != nil {
		return prev.card >= 0
	}
	next := b.neighbour(it, 1)
	body := b.LaneOf(c).Body.Of(b.Src)
	return next != nil && next.card >= 0 && it.card == 0 || len(noBlanks(body)) == len(noBlanks(c.Span.Of(b.Src)))
}
