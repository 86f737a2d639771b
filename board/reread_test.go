package board

import (
	"reflect"
	"testing"

	"deckhand/internal/span"
)

// sameBoard fails when two boards read differently. Only the numbers of lists
// may differ: they tell lists apart and mean nothing else.
func sameBoard(t *testing.T, got, want *Board) {
	t.Helper()
	g, w := comparable(got), comparable(want)
	if !reflect.DeepEqual(g, w) {
		t.Fatalf("%q reads as\n%+v\nwant\n%+v", got.Src, g, w)
	}
}

// comparable is a board with lists numbered from 1, and without its age.
func comparable(b *Board) Board {
	c := *b
	c.age = 0
	c.items = append([]item{}, b.items...)
	list, last := int32(0), int32(-1)
	for i := range c.items {
		if c.items[i].list != last {
			last = c.items[i].list
			list++
		}
		c.items[i].list = list
	}
	return c
}

// FuzzReread changes a board in two places: read again there, it is the board
// that a parse of everything gives.
func FuzzReread(f *testing.F) {
	seed(f, func(src []byte) {
		f.Add(src, uint16(30), uint16(0), []byte("- [ ] x @pi\n"), uint16(80), uint16(20), []byte(""))
		f.Add(src, uint16(100), uint16(10), []byte("\n## Done\n"), uint16(40), uint16(2), []byte("```"))
	})
	f.Fuzz(func(t *testing.T, src []byte, at1, n1 uint16, text1 []byte, at2, n2 uint16, text2 []byte) {
		b := Parse("b.md", src, Options{Agents: []string{"pi"}})
		first := cutOut(src, 0, at1, n1, text1)
		edits := []span.Edit{first, cutOut(src, first.Span.End, at2, n2, text2)}
		out, err := span.Apply(src, edits...)
		if err != nil {
			t.Fatal(err)
		}
		want := Parse("b.md", out, b.options)
		sameBoard(t, b.reread(out, edits), want)
		sameBoard(t, b.Reread(out, b.options), want)
	})
}

func cutOut(src []byte, from int, at, n uint16, text []byte) span.Edit {
	start := min(from+int(at), len(src))
	return span.Edit{Span: span.Span{Start: start, End: min(start+int(n), len(src))}, Text: text}
}

func TestRereadTakesOverWhatDidNotChange(t *testing.T) {
	src := bigBoard(400)
	b := Parse("b.md", src, Options{})
	if n := b.Reread(append([]byte{}, src...), Options{}); n != b {
		t.Error("the same bytes gave another board")
	}
	c := &b.Lanes[1].Cards[50]
	e := span.Insert(c.Span.End, []byte("- [ ] New @pi\n"))
	out, _ := span.Apply(src, e)
	n := b.Reread(out, Options{})
	sameBoard(t, n, Parse("b.md", out, Options{}))
	if n.age != 1 {
		t.Errorf("the board was read as a whole")
	}
	if was, is := &b.Lanes[3].Cards[7], &n.Lanes[3].Cards[7]; is.Content != was.Content || is.Line != was.Line+1 {
		t.Errorf("a card below the change was read again, or stands on line %d, not %d", is.Line, was.Line+1)
	}
	if n = b.Reread(out, Options{Agents: []string{"claude"}}); len(n.Lanes[1].Cards[51].Unknown) != 1 {
		t.Errorf("other agents: %+v", n.Lanes[1].Cards[51])
	}
}

func TestRereadManyTimes(t *testing.T) {
	b := Parse("b.md", bigBoard(40), Options{})
	for i := range 3 * maxAge {
		c := &b.Lanes[i%4].Cards[i%10]
		e := span.Edit{Span: span.Span{Start: c.Span.Start + c.pad, End: c.Span.Start + c.pad + 3}, Text: []byte("[x]")}
		if c.Box == "x" {
			e.Text = []byte("[ ] again")
		}
		out, _ := span.Apply(b.Src, e)
		b = b.Reread(out, Options{})
		sameBoard(t, b, Parse("b.md", out, Options{}))
		if b.age > maxAge {
			t.Fatalf("read in parts %d times", b.age)
		}
	}
}

// TestCostsDoNotGrowByTheCard counts what can be counted on any machine.
func TestCostsDoNotGrowByTheCard(t *testing.T) {
	costs := func(n int) (parse, move, typed float64) {
		src := bigBoard(n)
		b := Parse("b.md", src, Options{})
		u := Update{Key: b.Lanes[0].Cards[n/8].Key, To: Working, Put: works()}
		after := append(append([]byte{}, src[:len(src)/2]...), src[len(src)/2-1:]...)
		return testing.AllocsPerRun(5, func() { Parse("b.md", src, Options{}) }),
			testing.AllocsPerRun(5, func() { _, _ = b.Apply(u) }),
			testing.AllocsPerRun(5, func() { b.Reread(after, Options{}) })
	}
	parse, move, typed := costs(400)
	parse2, move2, typed2 := costs(4000)
	if parse2-parse > 4000/8 {
		t.Errorf("reading ten times the cards costs %v allocations, not %v", parse2, parse)
	}
	if move2-move > 8 || typed2-typed > 8 {
		t.Errorf("on ten times the cards a move costs %v allocations, not %v, a letter %v, not %v", move2, move, typed2, typed)
	}
}
