package notes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func found(s *Search, query string) (names []string) {
	for _, h := range s.Find([]Asked{{query, 1}}, 10) {
		names = append(names, h.Path+"#"+h.Heading)
	}
	return names
}

func TestFind(t *testing.T) {
	s := NewSearch()
	s.Put("Spec.md", []byte("---\ntags: [shop]\n---\n# Payment\nQRIS goes first.\n\n# Delivery\nby ship\n"))
	s.Put("Rapat.md", []byte("Rapatnya dipindahkan ke Juni.\n"))
	s.Put("Meeting.md", []byte("## Launch\nWe planned the launch; the decisions are below.\n"))
	s.Put("Küche.md", []byte("Öfen und Kühlschränke\n"))
	s.Put("日本.md", []byte("会議は六月に\n"))
	s.Put("Empty.md", nil)
	for query, want := range map[string]string{
		"payment":        "Spec.md#Payment",
		"ships":          "Spec.md#Delivery",
		"rapat":          "Rapat.md#",
		"pindah? rapat!": "Rapat.md#",
		"PLANNING":       "Meeting.md#Launch",
		"decision":       "Meeting.md#Launch",
		"öfen":           "Küche.md#",
		"O\u0308FEN":     "Küche.md#",
		"六月":             "日本.md#",
		"shop":           "Spec.md#",
		"empty":          "Empty.md#",
		"nothing":        "",
		"":               "",
	} {
		if got := strings.Join(found(s, query), " "); got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

// TestHeadingsCountTwice holds the score to the formula, worked out by hand.
func TestHeadingsCountTwice(t *testing.T) {
	s := NewSearch()
	s.Put("a.md", []byte("# ocean\nb c\n"))
	s.Put("d.md", []byte("ocean e f g\n"))
	hits := s.Find([]Asked{{"ocean", 1}}, 10)
	if len(hits) != 2 || hits[0].Path != "a.md" {
		t.Fatalf("got %+v", hits)
	}
	// Both have the word; the names count twice in the first section of a note.
	idf := math.Log(1 + 0.5/2.5) // of two sections, both have it
	score := func(tf, length float64) float64 { return idf * tf * 2.5 / (tf + 1.5*(0.25+0.75*length/6)) }
	if want := score(2, 6); math.Abs(hits[0].Score-want) > 1e-12 {
		t.Errorf("heading: %v, want %v", hits[0].Score, want)
	}
	if want := score(1, 6); math.Abs(hits[1].Score-want) > 1e-12 {
		t.Errorf("text: %v, want %v", hits[1].Score, want)
	}
}

func TestWeights(t *testing.T) {
	s := NewSearch()
	s.Put("one.md", []byte("apples\n"))
	s.Put("two.md", []byte("pears\n"))
	got := s.Find([]Asked{{"pears", 1}, {"apples apples", 0.5}}, 10)
	if len(got) != 2 || got[0].Path != "two.md" || math.Abs(got[0].Score-2*got[1].Score) > 1e-12 {
		t.Errorf("got %+v", got)
	}
	if got := s.Find([]Asked{{"pears apples", 1}}, 1); len(got) != 1 || got[0].Path != "one.md" {
		t.Errorf("the first of equals: %+v", got)
	}
	if got := s.Find([]Asked{{"pears", 1}}, 0); len(got) != 0 {
		t.Errorf("none asked for: %+v", got)
	}
}

// TestPartsAreWhole: the pieces of a document are all of it, in order, at the
// lines they say, and no longer than they may be.
func TestPartsAreWhole(t *testing.T) {
	block := strings.Repeat("wörter ", 60) + "\n"
	src := "intro\n\n# A\n" + strings.Repeat(block+"\n\n", 12) + "Under\n=====\nlast\n" + strings.Repeat("x", 4000) + "\n"
	at := 0
	for _, p := range parts([]byte(src)) {
		if p.span.Start != at {
			t.Errorf("a part starts at %d, want %d", p.span.Start, at)
		}
		at = p.span.End
		if line := 1 + strings.Count(src[:p.span.Start], "\n"); p.line != line {
			t.Errorf("line %d, want %d", p.line, line)
		}
		text := src[p.span.Start:p.span.End]
		if n := len([]rune(text)); n > longSection && strings.Contains(strings.TrimSpace(text), "\n\n") {
			t.Errorf("%d characters in a piece that could be cut", n)
		}
	}
	if at != len(src) {
		t.Errorf("the parts end at %d of %d", at, len(src))
	}
}

// TestPutAgainIsPutAnew: after any puts and drops a search finds what one finds
// that was made of what is left.
func TestPutAgainIsPutAnew(t *testing.T) {
	vocabulary := strings.Fields("alpha beta gamma delta epsilon zeta eta theta")
	rapid.Check(t, func(t *rapid.T) {
		s, now := NewSearch(), map[string]string{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			path := fmt.Sprintf("n%d.md", rapid.IntRange(0, 5).Draw(t, "note"))
			if rapid.Bool().Draw(t, "drop") {
				s.Drop(path)
				delete(now, path)
				continue
			}
			text := "# " + strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 3).Draw(t, "head"), " ") + "\n" +
				strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 9).Draw(t, "words"), " ") + "\n# x\ny\n"
			s.Put(path, []byte(text))
			now[path] = text
			if rapid.Bool().Draw(t, "compact") {
				s.compact()
			}
		}
		fresh := NewSearch()
		for path, text := range now {
			fresh.Put(path, []byte(text))
		}
		if s.Len() != fresh.Len() || s.live != fresh.live || s.length != fresh.length {
			t.Fatalf("%d documents, %d sections, %d words; want %d, %d, %d", s.Len(), s.live, s.length, fresh.Len(), fresh.live, fresh.length)
		}
		for _, word := range vocabulary {
			if got, want := inOrder(s, word), inOrder(fresh, word); !slices.Equal(got, want) {
				t.Fatalf("%s: got %q, want %q", word, got, want)
			}
		}
	})
}

// inOrder is what is found, in an order that does not depend on when it was put.
func inOrder(s *Search, word string) (out []string) {
	for _, h := range s.Find([]Asked{{word, 1}}, 1000) {
		out = append(out, fmt.Sprintf("%.9f %s %v %d", h.Score, h.Path, h.Span, h.Line))
	}
	slices.Sort(out)
	return out
}

func TestStem(t *testing.T) {
	for _, same := range [][]string{
		{"rapat", "rapatnya", "rapatlah"},
		{"meeting", "meetings"},
		{"plan", "plans", "planned", "planning"},
		{"release", "released", "releases", "releasing"},
		{"company", "companies"},
		{"box", "boxes"},
		{"keputus", "keputusan", "keputusannya"},
		{"jalan", "jalankan"},
	} {
		for _, form := range same[1:] {
			if stem(form) != stem(same[0]) {
				t.Errorf("%s is %q, %s is %q", form, stem(form), same[0], stem(same[0]))
			}
		}
	}
	for _, apart := range [][2]string{{"class", "clay"}, {"status", "state"}, {"2026", "202"}, {"thing", "the"}, {"bulan", "bule"}} {
		if stem(apart[0]) == stem(apart[1]) {
			t.Errorf("%s and %s are both %q", apart[0], apart[1], stem(apart[0]))
		}
	}
}

// FuzzSearch: any bytes can be put, found again by a word of theirs, and dropped.
func FuzzSearch(f *testing.F) {
	f.Add([]byte("# a\n\nb c\n"), "b")
	f.Add([]byte("\xff\xfe\x00"), "x")
	f.Fuzz(func(t *testing.T, src []byte, query string) {
		s := NewSearch()
		s.Put("n.md", src)
		for _, h := range s.Find([]Asked{{query, 1}}, 5) {
			if h.Span.End > len(src) || h.Span.Start > h.Span.End || h.Line < 1 {
				t.Errorf("out of the document: %+v", h)
			}
		}
		s.Drop("n.md")
		if s.live != 0 || s.length != 0 || s.Len() != 0 {
			t.Errorf("something is left: %d sections, %d words", s.live, s.length)
		}
	})
}

// BenchmarkFindMany is a search over more words than notes have.
func BenchmarkFindMany(b *testing.B) {
	s, r := NewSearch(), rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		var text strings.Builder
		for range 300 {
			fmt.Fprintf(&text, "word%d ", r.IntN(5000))
		}
		s.Put(fmt.Sprintf("n%d.md", i), []byte(text.String()))
	}
	for b.Loop() {
		s.Find([]Asked{{"word1 word2 word3 word4 word5 word6 word7", 1}}, 20)
	}
}
