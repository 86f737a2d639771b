package notes

import (
	"bytes"
	"cmp"
	"container/heap"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"deckhand/internal/span"
)

// The constants of BM25 (Robertson, Zaragoza 2009), and of what it ranks.
const (
	bm25K1 = 1.5
	bm25B  = 0.75

	headWeight  = 2    // a word of a heading counts as so many
	longSection = 1800 // characters; a longer section is split at blank lines
)

// Search finds sections of notes by their words. It holds words and places, no
// text. It is used by one goroutine at a time.
//
// The words of a document are known, so that what it held can be taken out
// exactly, and a document that is saved costs what it is long, not what the
// folder is.
type Search struct {
	forms    map[string]int32 // a word as written → its number, by its stem
	stems    map[string]int32
	postings [][]posting // by a word's number: sections that have it, in their order
	sections []section   // by their number; those of documents that went stay as gaps
	lengths  []int32     // words of each
	docs     map[string]document
	live     int // sections that are no gaps
	length   int // words in them

	// While a document is put: what is counted of each word by its number, the
	// words of the section, and those of the document.
	tally []tally
	here  []int32
	met   []int32
}

type tally struct {
	count uint32 // in the section
	met   bool   // in the document
}

type posting struct {
	section int32
	count   uint32
}

type section struct {
	path    string // empty: a gap
	heading string
	text    span.Span
	line    int32
}

// document is what has to be taken out with it.
type document struct {
	first, last int32 // its sections: [first,last)
	words       []int32
}

// NewSearch returns a search over nothing.
func NewSearch() *Search {
	return &Search{forms: map[string]int32{}, stems: map[string]int32{}, docs: map[string]document{}}
}

// Len is the number of documents.
func (s *Search) Len() int { return len(s.docs) }

// Put adds a document, in place of the one that was at path.
func (s *Search) Put(path string, src []byte) {
	s.Drop(path)
	d := document{first: int32(len(s.sections))}
	for i, p := range parts(src) {
		name := ""
		if i == 0 {
			name = nameOf(path)
		}
		s.section(section{path: path, heading: p.heading, text: p.span, line: int32(p.line)}, name, p.body.Of(src))
	}
	d.last = int32(len(s.sections))
	d.words = make([]int32, 0, len(s.met))
	for _, word := range s.met {
		d.words = append(d.words, word)
		s.tally[word].met = false
	}
	s.met = s.met[:0]
	s.docs[path] = d
}

// section adds one section, of a document with a name if it is the first.
func (s *Search) section(sec section, name string, body []byte) {
	n := 0
	count := func(text []byte, weight uint32) {
		words(text, func(word []byte) {
			no := s.number(word)
			t := &s.tally[no]
			if t.count == 0 {
				s.here = append(s.here, no)
			}
			t.count += weight
			n += int(weight)
		})
	}
	count([]byte(name), headWeight)
	count([]byte(sec.heading), headWeight)
	count(body, 1)
	at := int32(len(s.sections))
	for _, no := range s.here {
		t := &s.tally[no]
		s.postings[no] = append(s.postings[no], posting{at, min(t.count, math.MaxUint16)})
		if !t.met {
			t.met = true
			s.met = append(s.met, no)
		}
		t.count = 0
	}
	s.here = s.here[:0]
	s.sections = append(s.sections, sec)
	s.lengths = append(s.lengths, int32(n))
	s.live++
	s.length += n
}

// nameOf is what people call a note.
func nameOf(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// Drop takes a document out; one that is not there is no error.
func (s *Search) Drop(path string) {
	d, ok := s.docs[path]
	if !ok {
		return
	}
	delete(s.docs, path)
	for _, word := range d.words {
		list := s.postings[word]
		from, _ := slices.BinarySearchFunc(list, d.first, bySection)
		to, _ := slices.BinarySearchFunc(list, d.last, bySection)
		s.postings[word] = slices.Delete(list, from, to)
	}
	for i := d.first; i < d.last; i++ {
		s.live--
		s.length -= int(s.lengths[i])
		s.sections[i], s.lengths[i] = section{}, 0
	}
	if gaps := len(s.sections) - s.live; gaps > s.live+minGaps {
		s.compact()
	}
}

func bySection(p posting, section int32) int { return cmp.Compare(p.section, section) }

// minGaps keeps a small search from being put in order all the time.
const minGaps = 4096

// compact numbers the sections anew, without the gaps.
func (s *Search) compact() {
	to := make([]int32, len(s.sections)+1)
	kept, lengths := make([]section, 0, s.live), make([]int32, 0, s.live)
	for i, sec := range s.sections {
		to[i] = int32(len(kept))
		if sec.path != "" {
			kept, lengths = append(kept, sec), append(lengths, s.lengths[i])
		}
	}
	to[len(s.sections)] = int32(len(kept))
	for _, list := range s.postings {
		for i := range list {
			list[i].section = to[list[i].section]
		}
	}
	for path, d := range s.docs {
		d.first, d.last = to[d.first], to[d.last]
		s.docs[path] = d
	}
	s.sections, s.lengths = kept, lengths
}

// number is a word's; a word that was never seen gets one.
func (s *Search) number(word []byte) int32 {
	if n, ok := s.forms[string(word)]; ok {
		return n
	}
	form := string(word)
	root := rootOf(form)
	n, ok := s.stems[root]
	if !ok {
		n = int32(len(s.postings))
		s.stems[strings.Clone(root)] = n
		s.postings = append(s.postings, nil)
		s.tally = append(s.tally, tally{})
	}
	s.forms[form] = n
	return n
}

// rootOf is what the forms of a word have in common, however its letters are
// written.
func rootOf(form string) string { return stem(fold(form)) }

// Asked is a text that is searched with, and how much its words count.
type Asked struct {
	Text   string
	Weight float64
}

// Hit is a section that was found.
type Hit struct {
	Path    string
	Heading string    // the one it stands below; empty: none
	Span    span.Span // in the document's bytes
	Line    int       // its first one, 1-based
	Score   float64
}

// Find gives the sections that fit best, at most so many, the best one first.
// Those that fit equally well come in the order in which they were put.
func (s *Search) Find(asked []Asked, most int) []Hit {
	scores := make([]float64, len(s.sections))
	for word, weight := range s.weights(asked) {
		s.score(scores, s.postings[word], weight)
	}
	best := top{}
	for i, score := range scores {
		if score > 0 {
			best.offer(ranked{int32(i), score}, most)
		}
	}
	slices.SortFunc(best, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.section, b.section))
	})
	hits := make([]Hit, len(best))
	for i, r := range best {
		sec := s.sections[r.section]
		hits[i] = Hit{Path: sec.path, Heading: sec.heading, Span: sec.text, Line: int(sec.line), Score: r.score}
	}
	return hits
}

// weights are those of the words of what is asked, a word of a text once.
func (s *Search) weights(asked []Asked) map[int32]float64 {
	all := map[int32]float64{}
	for _, a := range asked {
		once := map[int32]bool{}
		words([]byte(a.Text), func(word []byte) {
			n, ok := s.stems[rootOf(string(word))]
			if ok && !once[n] {
				once[n] = true
				all[n] += a.Weight
			}
		})
	}
	return all
}

// score adds what one word is worth to the sections that have it.
func (s *Search) score(scores []float64, list []posting, weight float64) {
	if len(list) == 0 {
		return
	}
	have := float64(len(list))
	idf := math.Log(1 + (float64(s.live)-have+0.5)/(have+0.5))
	perWord := bm25K1 * bm25B * float64(s.live) / float64(s.length) // of a section's length over the mean one
	for _, p := range list {
		tf, length := float64(p.count), float64(s.lengths[p.section])
		scores[p.section] += weight * idf * (bm25K1 + 1) * tf / (tf + bm25K1*(1-bm25B) + perWord*length)
	}
}

type ranked struct {
	section int32
	score   float64
}

// top is a heap of the best, the worst of them first.
type top []ranked

func (t top) Len() int { return len(t) }
func (t top) Less(i, j int) bool {
	if t[i].score != t[j].score {
		return t[i].score < t[j].score
	}
	return t[i].section > t[j].section
}
func (t top) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *top) Push(x any)   { *t = append(*t, x.(ranked)) }
func (t *top) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

func (t *top) offer(r ranked, most int) {
	switch {
	case len(*t) < most:
		heap.Push(t, r)
	case most > 0 && r.score > (*t)[0].score:
		(*t)[0] = r
		heap.Fix(t, 0)
	}
}

// part is a section of a document, or a piece of a long one.
type part struct {
	heading string
	span    span.Span // with its heading
	body    span.Span // without
	line    int
}

// parts cuts a document at its headings, and what is long between them at blank
// lines. A document without a word has one part all the same: its name is found.
func parts(src []byte) []part {
	heads := scan(src, false).Headings
	var out []part
	at := 0
	open := part{line: 1}
	end := func(to int) {
		open.span.End, open.body.End = to, to
		if len(bytes.TrimSpace(open.span.Of(src))) > 0 {
			out = append(out, split(src, open)...)
		}
	}
	for _, h := range heads {
		end(h.Span.Start)
		open = part{heading: h.Text, line: h.Line}
		open.span.Start, open.body.Start = h.Span.Start, h.Span.End
		at = h.Span.End
	}
	end(len(src))
	if len(out) == 0 {
		out = append(out, part{span: span.Span{Start: at, End: len(src)}, body: span.Span{Start: at, End: len(src)}, line: 1})
	}
	return out
}

// split cuts a long section into pieces of whole paragraphs. A paragraph that
// is longer than a piece stays whole.
func split(src []byte, p part) []part {
	if p.span.Len() <= longSection || utf8.RuneCount(p.span.Of(src)) <= longSection {
		return []part{p}
	}
	var out []part
	end := p.span.End
	runes, start, line := utf8.RuneCount(src[p.span.Start:p.body.Start]), p.span.Start, p.line
	for at := p.body.Start; at < end; {
		next := paragraph(src[:end], at)
		n := utf8.RuneCount(src[at:next])
		if runes > 0 && runes+n > longSection {
			p.span.End, p.body.End = at, at
			out = append(out, p)
			line += bytes.Count(src[start:at], []byte("\n"))
			p = part{heading: p.heading, line: line}
			p.span.Start, p.body.Start, start, runes = at, at, at, 0
		}
		runes += n
		at = next
	}
	p.span.End, p.body.End = end, end
	return append(out, p)
}

// paragraph is where the paragraph at a place ends, with the blank lines after it.
func paragraph(src []byte, at int) int {
	blank := false
	for at < len(src) {
		next := len(src)
		if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		empty := len(bytes.TrimSpace(src[at:next])) == 0
		if blank && !empty {
			return at
		}
		blank = blank || empty
		at = next
	}
	return at
}
