package change

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"deckhand/internal/span"

	"pgregory.net/rapid"
)

// applied is a folder with changes made, as one who applies them does it.
func (m memory) applied(t *rapid.T, changes []Change) memory {
	if problems := Preflight(changes, m.read); problems != nil {
		t.Fatalf("preflight: %v", problems)
	}
	m = maps.Clone(m)
	for _, c := range changes {
		delete(m, c.File)
		if c.Kind != Delete {
			m[c.Path()] = c.After
		}
	}
	return m
}

var texts = rapid.SampledFrom([]string{"", "one", "one\ntwo", "two\r\n", "\ufeff", "three\n", "\n", "ü", "## Plan\n- [ ] one\n", "- [x] two\n", "## Done\n"})

func someText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(texts, 0, 5).Draw(t, "text"), "")
}

var someFile = rapid.SampledFrom([]string{"A.md", "B.md", "C.md", "D/A.md", "D/B.md"})

func someAction(t *rapid.T) Action {
	return Action{
		Do: rapid.SampledFrom([]Verb{
			CreateFile, EditText, InsertText, ReplaceAll, DeleteFile, MoveFile, AddCard, MoveCard, EditCard, TickCard, UntickCard, RemoveCard,
		}).Draw(t, "do"),
		File:    someFile.Draw(t, "file"),
		To:      someFile.Draw(t, "to"),
		Text:    someText(t),
		Old:     texts.Draw(t, "old"),
		New:     texts.Draw(t, "new"),
		Line:    rapid.IntRange(0, 3).Draw(t, "line"),
		Heading: rapid.SampledFrom([]string{"", "", "Plan", "## Done"}).Draw(t, "heading"),
		Card:    rapid.SampledFrom([]string{"one", "two"}).Draw(t, "card"),
		Lane:    rapid.SampledFrom([]string{"Plan", "Done"}).Draw(t, "lane"),
		Reason:  "why",
	}
}

// A batch does what its actions do one after the other, in one change a file,
// and undoing it gives back every byte.
func TestBatchesAreTheirActions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := memory{}
		for _, file := range rapid.SliceOfNDistinct(someFile, 1, 4, rapid.ID[string]).Draw(t, "files") {
			start[file] = someText(t)
		}
		one := start
		var done []Action
		for range rapid.IntRange(1, 12).Draw(t, "actions") {
			a := someAction(t)
			changes, err := Plan(one.folder(), []Action{a})
			if err != nil {
				continue
			}
			if _, err := Plan(start.folder(), append(slices.Clone(done), a)); err != nil && !strings.Contains(err.Error(), "nothing would change") {
				if !strings.Contains(err.Error(), "in this batch") {
					t.Fatalf("%+v is refused after %+v: %v", a, done, err)
				}
				continue
			}
			one, done = one.applied(t, changes), append(done, a)
		}
		if len(done) == 0 {
			t.Skip("nothing could be done")
		}
		changes, err := Plan(start.folder(), done)
		if err != nil && !maps.Equal(one, start) {
			t.Fatalf("%+v: %v", done, err)
		}
		for _, c := range changes {
			if n := len(touches([]Change{c})); c.Kind != Move && n != 1 || c.Reason == "" {
				t.Errorf("%+v", c)
			}
		}
		after := start.applied(t, changes)
		if !maps.Equal(after, one) {
			t.Fatalf("%+v\nin one batch: %q\none by one:   %q", done, after, one)
		}
		if lost := Lost(changes, after.read); lost != nil {
			t.Errorf("lost right after: %v", lost)
		}
		if back := after.applied(t, Undo(changes)); !maps.Equal(back, start) {
			t.Errorf("undone: %q, was %q", back, start)
		}
		for _, c := range changes {
			if twice := c.Invert().Invert(); twice != c {
				t.Errorf("inverted twice: %+v, was %+v", twice, c)
			}
		}
	})
}

// An edit changes the bytes it names, whatever lines end with, and no others.
func TestEditsLeaveTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := someText(t), someText(t)
		old := strings.Join(rapid.SliceOfN(texts, 1, 3).Draw(t, "old"), "") + "here"
		text := someText(t)
		end := rapid.SampledFrom([]string{"\n", "\r\n"})
		asked := strings.ReplaceAll(foldLines(old), "\n", end.Draw(t, "end of the old text"))
		written := strings.ReplaceAll(foldLines(text), "\n", end.Draw(t, "end of the new text"))
		if strings.HasSuffix(before, "\r") {
			t.Skip("what follows may be one line end with it")
		}
		got, err := editOnce(before+old+after, asked, written, 1)
		if err != nil {
			t.Fatalf("%q in %q: %v", asked, before+old+after, err)
		}
		if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
			t.Fatalf("got %q of %q", got, before+old+after)
		}
		if middle := got[len(before) : len(got)-len(after)]; foldLines(middle) != foldLines(text) {
			t.Errorf("got %q, want %q", middle, text)
		}
	})
}

// A diff shows both texts whole, in order; its words stand between characters.
func TestDiffsShowBothTexts(t *testing.T) {
	line := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "", "a b c d", "a b x d", "## H"}), rapid.StringN(0, 12, -1))
	ends := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n"})
	some := rapid.Custom(func(t *rapid.T) string {
		var out strings.Builder
		for range rapid.IntRange(0, 30).Draw(t, "lines") {
			out.WriteString(strings.ReplaceAll(line.Draw(t, "line"), "\n", " ") + ends.Draw(t, "end"))
		}
		if rapid.Bool().Draw(t, "no last end") {
			return strings.TrimRight(out.String(), "\r\n")
		}
		return out.String()
	})
	rapid.Check(t, func(t *rapid.T) {
		old, new := some.Draw(t, "old"), some.Draw(t, "new")
		d := Compare(old, new)
		var was, is strings.Builder
		var added, removed int
		for _, r := range d.Rows {
			was.WriteString(r.Old.Text + r.Old.End)
			is.WriteString(r.New.Text + r.New.End)
			if err := r.holds(); err != nil {
				t.Fatal(err)
			}
			if r.Op != Same && r.Old.No > 0 {
				removed++
			}
			if r.Op != Same && r.New.No > 0 {
				added++
			}
		}
		if was.String() != old || is.String() != new || added != d.Added || removed != d.Removed {
			t.Fatalf("+%d -%d, shown are\n%q\n%q", d.Added, d.Removed, was.String(), is.String())
		}
		at := 0
		for _, h := range d.Hunks(rapid.IntRange(0, 3).Draw(t, "context")) {
			for ; at < h.From; at++ {
				if d.Rows[at].Op != Same {
					t.Fatalf("row %d is in no hunk", at)
				}
			}
			at = h.To
		}
	})
}

// holds reports what is wrong with a row.
func (r Row) holds() error {
	both := r.Old.Text+r.Old.End == r.New.Text+r.New.End
	switch {
	case (r.Old.No == 0) != (r.Op == Added), (r.New.No == 0) != (r.Op == Removed), (r.Op == Same) != both:
		return fmt.Errorf("%+v", r)
	case r.Op != Changed:
		return nil
	}
	was, is := Words(r.Old.Text, r.New.Text)
	var left [2]string
	for i, side := range []struct {
		text  string
		spans []span.Span
	}{{r.Old.Text, was}, {r.New.Text, is}} {
		at := 0
		for _, s := range side.spans {
			if s.Start < at || s.Empty() || s.End > len(side.text) || !utf8.ValidString(side.text[s.Start:s.End]) {
				return fmt.Errorf("words at %v of %q", s, side.text)
			}
			left[i] += side.text[at:s.Start]
			at = s.End
		}
		left[i] += side.text[at:]
	}
	if blankless(left[0]) != blankless(left[1]) && (was != nil || is != nil) {
		return fmt.Errorf("what is left of %q and %q differs: %q", r.Old.Text, r.New.Text, left)
	}
	return nil
}

// blankless is a text without blanks, which are one with the words around them.
func blankless(s string) string { return strings.Join(strings.Fields(s), "") }
