package board

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/internal/markdown"
	"deckhand/internal/span"
)

func seed(f *testing.F, add func(src []byte)) {
	f.Helper()
	cases, err := filepath.Glob("testdata/cases/*/*.md")
	if err != nil || len(cases) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	for _, name := range append(sampleNames(f), cases...) {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(src) < 4096 {
			add(src)
		}
	}
}

// FuzzParse holds a parsed board to its spans: lanes and cards lie in order
// and apart, each card is what its span says, and the board is its bytes.
func FuzzParse(f *testing.F) {
	seed(f, func(src []byte) { f.Add(src) })
	f.Fuzz(func(t *testing.T, src []byte) {
		before := bytes.Clone(src)
		Recognise("b.md", src, Options{})
		b := Parse("b.md", src, Options{Agents: []string{"pi"}})
		if !bytes.Equal(b.Src, before) {
			t.Fatal("the source changed")
		}
		at := 0
		for i := range b.Lanes {
			l := &b.Lanes[i]
			if l.Head.Start < at || l.Body.Start < l.Head.End || l.Body.End < l.Body.Start || l.mark < l.Head.End || l.mark > l.Body.End {
				t.Fatalf("lane %d at %v %v", i, l.Head, l.Body)
			}
			at = l.Body.Start
			for j := range l.Cards {
				checkCard(t, b, &l.Cards[j], at)
				at = l.Cards[j].Span.End
			}
			if at > l.Body.End {
				t.Fatalf("a card of lane %d goes beyond it", i)
			}
			at = l.Body.End
		}
		if at > b.footer {
			t.Fatal("a lane goes into the footer")
		}
	})
}

func checkCard(t *testing.T, b *Board, c *Card, at int) {
	t.Helper()
	s := c.Span
	if s.Start < at || s.End <= s.Start || s.Start > 0 && b.Src[s.Start-1] != '\n' || s.End < len(b.Src) && b.Src[s.End-1] != '\n' {
		t.Fatalf("card at %v", s)
	}
	if c.Line != 1+bytes.Count(b.Src[:s.Start], []byte("\n")) {
		t.Fatalf("card at %v is said to be on line %d", s, c.Line)
	}
	if c.Status != nil && (c.Status.Span.Start < 0 || c.Status.Span.End > s.Len()) {
		t.Fatalf("status item at %v of a card at %v", c.Status.Span, s)
	}
	if key(c.Key) != c.Key && !strings.ContainsAny(c.Key, "@^") {
		t.Fatalf("the key of key %q is %q", c.Key, key(c.Key))
	}
}

// FuzzUpdate holds every change to its promise: it can be made again for
// nothing, and all lines but those of the card and of deckhand stay.
func FuzzUpdate(f *testing.F) {
	seed(f, func(src []byte) {
		f.Add(src, uint8(0), uint8(Working), true, uint8(0))
		f.Add(src, uint8(2), uint8(Review), false, uint8(1))
	})
	f.Fuzz(func(t *testing.T, src []byte, nth, to uint8, put bool, at uint8) {
		b := Parse("b.md", src, Options{Agents: []string{"pi"}})
		var cards []*Card
		for _, c := range b.All() {
			cards = append(cards, c)
		}
		if len(cards) == 0 {
			t.Skip("no card to change")
		}
		c := cards[int(nth)%len(cards)]
		u := Update{Key: c.Key, To: Role(to % 5), At: int(at % 4)}
		if c.Status != nil {
			u.Run = c.Status.Run
		}
		if put {
			u.Put = &Item{Run: "01kb7x2m", Agent: "pi", Word: "failed", Said: []string{"one", "- [ ] two"}}
			u.Run = u.Put.Run
		}
		if c.Status != nil {
			u.Wrote = []string{c.Status.Head}
		}
		n, err := b.Apply(u)
		if err != nil {
			return
		}
		out := n.Src
		sameBoard(t, n, Parse("b.md", out, b.options))
		again, err := Parse("b.md", out, b.options).Update(u)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("again: %v\n%q\nafter %q\nfrom %q", err, again, out, src)
		}
		ours := []byte(nil)
		if put {
			ours = []byte(strings.Join(u.Put.Lines(), "\n"))
		}
		was, is := trimmedLines(src, nil), trimmedLines(out, ours)
		if c.Status != nil && put && !bytes.Equal(out, src) {
			was[trimmedText(c.Status.Head)]--
		}
		maps.DeleteFunc(was, func(_ string, n int) bool { return n == 0 })
		if !maps.Equal(was, is) && !b.Kanban {
			t.Fatalf("lines changed:\n%q\n%q", src, out)
		}
	})
}

func trimmedText(s string) string { return strings.Trim(s, " \t\r") }

// trimmedLines counts lines that are not blank, without indentation, but for those of ours.
func trimmedLines(src, ours []byte) map[string]int {
	n := map[string]int{}
	for l := range bytes.SplitSeq(src, []byte("\n")) {
		n[trimmedText(string(l))]++
	}
	for l := range bytes.SplitSeq(ours, []byte("\n")) {
		n[trimmedText(string(l))]--
	}
	delete(n, "")
	maps.DeleteFunc(n, func(_ string, c int) bool { return c == 0 })
	return n
}

// FuzzSaid is case 40: no text of an agent adds a lane, card, mention, fence,
// comment or box, or is taken for anything but lines of its status item.
func FuzzSaid(f *testing.F) {
	answer, err := os.ReadFile("testdata/cases/40.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{string(answer), "%% x", "<!-- x", "```\n## y", "1. [ ] z", "\\`` \\[[a]] ^r-01kb7x2m", "- pi works ^r-01kb7x2m", "a\u2028## b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, said string) {
		src := "## Plan\n- [ ] Write @pi\n## In Progress\n## Review\n- [ ] Last\n\nend of the board\n"
		item := &Item{Run: "01kb7x2m", Agent: "pi", Word: "failed", Details: []string{said}, Link: "[[x|chat]]", Said: []string{said}}
		out, err := Parse("b.md", []byte(src), Options{}).Update(Update{Key: "Write @pi", To: Review, Put: item})
		if err != nil {
			t.Fatal(err)
		}
		b := Parse("b.md", out, Options{})
		if outlineOf(b) != "Plan:0 In Progress:0 Review:2" {
			t.Fatalf("lanes %s from %q", outlineOf(b), out)
		}
		c := b.Lanes[2].Cards[1]
		if c.Status == nil || c.Status.Word != "failed" || c.Status.Run != item.Run || len(c.Lines) != 0 || c.NoteAgent != "" ||
			!slices.Equal(c.Status.Lines, item.Lines()[1:]) {
			t.Fatalf("read back from %q", out)
		}
		onlyText(t, out)
		for i, l := range item.Lines() {
			onlyWords(t, l, i == 0)
		}
	})
}

// onlyText fails when a board of headings and items holds anything else.
func onlyText(t *testing.T, src []byte) {
	t.Helper()
	for l := range markdown.Lines(src, 0) {
		if l.Kind != markdown.Text && l.Kind != markdown.Blank && l.Level != 2 {
			t.Fatalf("line of kind %d in %q", l.Kind, src)
		}
	}
}

// onlyWords fails when a line has a box, a comment or, but for the first, a block id.
func onlyWords(t *testing.T, line string, first bool) {
	t.Helper()
	text := cutMarker(line)
	if _, _, ok := cutBox(text); ok {
		t.Fatalf("a box: %q", line)
	}
	for _, m := range markdown.InlineMasks([]byte(text), span.Span{End: len(text)}) {
		if m.Kind != markdown.MaskSpan {
			t.Fatalf("a comment: %q", line)
		}
	}
	if _, id := cutBlockID(text); id != "" && !first {
		t.Fatalf("a block id: %q", line)
	}
}
