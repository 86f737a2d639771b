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
	again := Parse(b.Path, back, b.options)
	if !slices.Equal(keys(again), keys(b)) {
		t.Errorf("line %d to lane %d and back: the cards are in another order", c.Line, k)
	}
	if to := &b.Lanes[k]; b.gapOnly(to, b.emptySpot(to)) && !sameBody(b, again, k) {
		t.Errorf("line %d to lane %d and back: the empty lane is %q", c.Line, k, again.Lanes[k].Body.Of(back))
	}
	if b.filled(b.itemOf(c)) && !sameBody(b, again, i) {
		t.Errorf("line %d to lane %d and back: its lane is %q", c.Line, k, again.Lanes[i].Body.Of(back))
	}
	if d := bytes.Count(back, []byte("\n")) - bytes.Count(b.Src, []byte("\n")); d < -2 || d > 2 {
		t.Errorf("line %d to lane %d and back: %d blank lines more", c.Line, k, d)
	}
}

func sameBody(a, b *Board, lane int) bool {
	return bytes.Equal(a.Lanes[lane].Body.Of(a.Src), b.Lanes[lane].Body.Of(b.Src))
}

// A card in a lane that was empty has a blank line on both sides, where people
// put one on one side; the second goes with it.
func TestBlankLinesOfEmptyLanes(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"blank lines", "## Plan\n\n- [ ] a\n\n## Review\n\n## Done\n", "## Plan\n\n## Review\n\n- [ ] a\n\n## Done\n"},
		{"no blank lines", "## Plan\n- [ ] a\n## Review\n## Done\n", "## Plan\n## Review\n- [ ] a\n## Done\n"},
		{"CR LF", "## Plan\r\n\r\n- [ ] a\r\n\r\n## Review\r\n\r\n## Done\r\n", "## Plan\r\n\r\n## Review\r\n\r\n- [ ] a\r\n\r\n## Done\r\n"},
		{"underlined", "Plan\n---\n\n- [ ] a\n\nReview\n---\n\nDone\n---\n", "Plan\n---\n\nReview\n---\n\n- [ ] a\n\nDone\n---\n"},
		{"a part behind it", "## Plan\n\n- [ ] a\n\n## Review\n\n# Notes\n", "## Plan\n\n## Review\n\n- [ ] a\n\n# Notes\n"},
		{"several lines", "## Plan\n\n- [ ] a\n\n  note\n\n## Review\n\n## Done\n", "## Plan\n\n## Review\n\n- [ ] a\n\n  note\n\n## Done\n"},
		{"the last lane", "## Plan\n\n- [ ] a\n\n## Review\n\n", "## Plan\n\n## Review\n\n- [ ] a\n"},
		{"a bullet stays", "## Plan\n\n- b\n- [ ] a\n\n## Review\n\n## Done\n", "## Plan\n\n- b\n\n## Review\n\n- [ ] a\n\n## Done\n"},
		{"two blank lines below", "## Plan\n\n- [ ] a\n\n\n## Review\n\n## Done\n", "## Plan\n\n\n\n## Review\n\n- [ ] a\n\n## Done\n"},
		{"not only a line end", "## Plan\n\n- [ ] a\n  \n## Review\n\n## Done\n", "## Plan\n\n  \n## Review\n\n- [ ] a\n\n## Done\n"},
		{"the plugin's file", "---\nkanban-plugin: board\n---\n## Plan\n\n- [ ] a\n\n## Review\n\n## Done\n", "---\nkanban-plugin: board\n---\n## Plan\n\n\n## Review\n\n- [ ] a\n## Done\n"},
	} {
		b := Parse("b.md", []byte(tt.src), Options{})
		there := mustUpdate(t, b, Update{Key: "a", ToLane: "Review"})
		if there != tt.want {
			t.Errorf("%s: %q\nwant %q", tt.name, there, tt.want)
		}
		back := mustUpdate(t, Parse("b.md", []byte(there), Options{}), Update{Key: "a", ToLane: "Plan", At: 1})
		if back != tt.src {
			t.Errorf("%s, and back: %q\nwant %q", tt.name, back, tt.src)
		}
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
