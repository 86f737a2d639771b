package board

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const reworded = "## Plan\r\n- [ ] one @pi\r\n\tbelow\r\n- [ ] two\r\n\r\n## Done\r\n- [x] three\r\n\t- 🟢 pi: accepted ^r-01kb7x2m000000000000000000"

func TestReword(t *testing.T) {
	for name, test := range map[string]struct {
		line             int
		text, lane, want string
	}{
		"text":            {2, "- [ ] eins @pi\r\n\tbelow\r\n", "", strings.Replace(reworded, "one", "eins", 1)},
		"nothing":         {2, "- [ ] one @pi\r\n\tbelow\r\n", "", reworded},
		"lane":            {4, "- [ ] two\r\n", "Done", strings.Replace(reworded, "- [ ] two\r\n", "", 1) + "\r\n- [ ] two"},
		"lane it is in":   {4, "- [ ] two\r\n", "Plan", reworded},
		"last line":       {7, "- [ ] drei\r\n\t- 🟢 pi: accepted ^r-01kb7x2m000000000000000000", "", strings.Replace(reworded, "[x] three", "[ ] drei", 1)},
		"last line moves": {7, "- [x] three\r\n\t- 🟢 pi: accepted ^r-01kb7x2m000000000000000000", "Plan", "## Plan\r\n- [ ] one @pi\r\n\tbelow\r\n- [ ] two\r\n- [x] three\r\n\t- 🟢 pi: accepted ^r-01kb7x2m000000000000000000\r\n\r\n## Done"},
	} {
		b := Parse("Shop.md", []byte(reworded), Options{})
		got, err := b.Reword(test.line, []byte(test.text), test.lane)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestRewordStaysOneCard(t *testing.T) {
	for name, test := range map[string]struct {
		line       int
		text, lane string
		want       error
	}{
		"no card there":       {3, "- [ ] one\r\n", "", ErrGone},
		"no lane":             {2, "- [ ] one @pi\r\n\tbelow\r\n", "Nowhere", ErrNoLane},
		"another card":        {2, "- [ ] one @pi\r\n- [ ] more @pi\r\n", "", ErrPlace},
		"another lane":        {2, "- [ ] one @pi\r\n## Review\r\n", "", ErrPlace},
		"an open fence":       {2, "- [ ] one @pi\r\n```\r\n", "", ErrPlace},
		"an open comment":     {2, "- [ ] one @pi\r\n\r\n%%\r\n", "", ErrPlace},
		"no box":              {2, "- one @pi\r\n", "", ErrPlace},
		"nothing":             {2, "", "", ErrPlace},
		"a status item":       {2, "- [ ] one @pi\r\n\t- 🔵 pi works ^r-01kb7x2m000000000000000000\r\n", "", ErrPlace},
		"another status item": {7, "- [x] three\r\n\t- 🔵 pi works ^r-01kb7x2m000000000000000000", "", ErrPlace},
		"no status item":      {7, "- [x] three\r\n", "", ErrPlace},
		"text in it":          {7, "- [x] three\r\n\t- 🟢 pi: accepted ^r-01kb7x2m000000000000000000\r\n\t\t- [x] Allow once ^a7k2m-1\r\n", "", ErrPlace},
	} {
		b := Parse("Shop.md", []byte(reworded), Options{})
		if got, err := b.Reword(test.line, []byte(test.text), test.lane); !errors.Is(err, test.want) {
			t.Errorf("%s: got %q, %v, want %v", name, got, err, test.want)
		}
	}
}

func TestTakeOff(t *testing.T) {
	for src, want := range map[string]string{
		"## Plan\n- [ ] a\n- [ ] b\n\tbelow\n- [ ] c\n":         "## Plan\n- [ ] a\n- [ ] c\n",
		"## Plan\n\n- [ ] a\n\n- [ ] b\n\n- [ ] c\n\n## Done\n": "## Plan\n\n- [ ] a\n\n- [ ] c\n\n## Done\n",
		"## Plan\n\n- [ ] b\n\n## Done\n":                       "## Plan\n\n## Done\n",
		"## Plan\n- [ ] a\n- [ ] b":                             "## Plan\n- [ ] a",
	} {
		b := Parse("Shop.md", []byte(src), Options{})
		var line int
		for _, c := range b.All() {
			if c.Key == "b" {
				line = c.Line
			}
		}
		if got, err := b.TakeOff(line); err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v, want %q", src, got, err, want)
		}
	}
}

// Each card of the samples can be taken off, and every other one stays as it is.
func TestTakeOffSamples(t *testing.T) {
	taken := 0
	for _, file := range sampleNames(t) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b := Parse(filepath.Base(file), src, Options{})
		if b.Inactive != "" || len(src) > 100_000 {
			continue
		}
		var all []string
		for _, c := range b.All() {
			all = append(all, string(trimEOL(c.Span.Of(src))))
		}
		i := 0
		for _, c := range b.All() {
			got, err := b.TakeOff(c.Line)
			if err != nil {
				t.Errorf("%s:%d: %v", filepath.Base(file), c.Line, err)
				continue
			}
			taken++
			var left []string
			for _, c := range Parse(b.Path, got, Options{}).All() {
				left = append(left, string(trimEOL(c.Span.Of(got))))
			}
			want := append(append([]string{}, all[:i]...), all[i+1:]...)
			if strings.Join(left, "\x00") != strings.Join(want, "\x00") {
				t.Errorf("%s:%d: other cards changed", filepath.Base(file), c.Line)
			}
			i++
		}
	}
	if taken < 100 {
		t.Errorf("%d cards only", taken)
	}
}

func TestAddCardTo(t *testing.T) {
	b := Parse("Shop.md", []byte("## Plan\n- [ ] a\n\n## Later\n\n## Done\n"), Options{})
	got, err := b.AddCardTo("later", "b\nbelow")
	if want := "## Plan\n- [ ] a\n\n## Later\n\n- [ ] b\n  below\n\n## Done\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := b.AddCardTo("Nowhere", "b"); !errors.Is(err, ErrNoLane) {
		t.Errorf("got %v", err)
	}
}

// FuzzReword holds every rewording to its promise: whatever an agent writes, all
// other cards keep their bytes and their order, and no run's line changes.
func FuzzReword(f *testing.F) {
	for _, text := range []string{" more", "\n\tbelow", "\n- [ ] next", "\n## Lane", "\n```", "\n\n%%", "\n<!--", "\n\t- 🔵 pi works ^r-01kb7x2m000000000000000000", "\r\n", "\n\n***\n\n## Archive"} {
		f.Add([]byte(reworded), uint8(0), uint16(9), text, "", false)
		f.Add([]byte(reworded), uint8(1), uint16(3), text, "Done", false)
		f.Add([]byte(strings.ReplaceAll(reworded, "\r\n", "\n")), uint8(2), uint16(60), text, "Plan", true)
	}
	seed(f, func(src []byte) { f.Add(src, uint8(1), uint16(6), " x", "", false) })
	f.Fuzz(func(t *testing.T, src []byte, nth uint8, at uint16, text, lane string, gone bool) {
		b := Parse("b.md", src, Options{})
		cards := everyCard(b)
		if len(cards) == 0 {
			t.Skip("no card to change")
		}
		i := int(nth) % len(cards)
		c := cards[i]
		raw := c.Span.Of(src)
		cut := int(at) % (len(raw) + 1)
		out, err := []byte(nil), error(nil)
		if gone {
			out, err = b.TakeOff(c.Line)
		} else {
			out, err = b.Reword(c.Line, slices.Concat(raw[:cut], []byte(text), raw[cut:]), lane)
		}
		if err != nil {
			return
		}
		n := Parse("b.md", out, Options{})
		now := everyCard(n)
		if want := len(cards); gone && len(now) != want-1 || !gone && len(now) != want {
			t.Fatalf("%d cards became %d\nfrom %q\nto   %q", want, len(now), src, out)
		}
		runs := map[string]int{}
		for _, c := range now {
			if c.Status != nil {
				runs[c.Status.Head+"\n"+strings.Join(c.Status.Lines, "\n")]++
			}
		}
		next := 0 // the others follow each other as they did
		for k, c := range cards {
			if c.Status != nil && !(gone && k == i) {
				runs[c.Status.Head+"\n"+strings.Join(c.Status.Lines, "\n")]--
			}
			if k == i {
				continue
			}
			for next < len(now) && !bytes.Equal(trimEOL(now[next].Span.Of(out)), trimEOL(c.Span.Of(src))) {
				next++
			}
			if next++; next > len(now) {
				t.Fatalf("card %d changed\nfrom %q\nto   %q", k, src, out)
			}
		}
		for line, left := range runs {
			if left != 0 {
				t.Fatalf("the line of a run changed: %q", line)
			}
		}
	})
}

func everyCard(b *Board) []*Card {
	var cards []*Card
	for _, c := range b.All() {
		cards = append(cards, c)
	}
	return cards
}
