package board

import "strings"

// window gives parts of a source as strings that share one copy of it: of all,
// or of the part that is read again.
type window struct {
	src  []byte
	text string // src[at:at+len(text)]
	at   int
}

// windowAhead is how much more than what is asked for is copied at a time.
const windowAhead = 4096

// str is src[from:to]. What lies before the window is copied for itself.
func (w *window) str(from, to int) string {
	if to-w.at > len(w.text) {
		w.text, w.at = string(w.src[from:min(len(w.src), to+windowAhead)]), from
	}
	if from < w.at {
		return string(w.src[from:to])
	}
	return w.text[from-w.at : to-w.at]
}

// pools hold what many cards share memory for, so that a board of thousands
// costs few allocations.
type pools struct {
	cards    []Card     // of all lanes, in order
	contents []Content  // room for those of cards to come
	from     []int      // index of each lane's first card
	texts    []string   // lines of cards
	fromLine int        // where the lines of the card at hand begin
	alone    [][]string // lists of one agent
	kept     titles
	scratch  []byte
}

func newPools() pools { return pools{alone: make([][]string, 0, 16)} }

// Room for cards: how many at first, and how many times as many at most when
// there is none left, whatever a file begins with.
const (
	firstCards = 16
	moreCards  = 8
)

// newCard adds an empty card. Where room is missing, the part of the source
// that is read says how much more will be needed.
func (p *parser) newCard() *Card {
	n := len(p.cards)
	if n == cap(p.cards) {
		likely := int(1.05 * float64(n) * float64(len(p.b.Src)) / float64(max(p.item.span.Start, 1)))
		size := max(firstCards, 2*n, min(likely, moreCards*n))
		p.room(size)
		p.contents = make([]Content, size-n)
	}
	if len(p.contents) == 0 {
		p.contents = make([]Content, firstCards)
	}
	p.cards = append(p.cards, Card{Content: &p.contents[0]})
	p.contents = p.contents[1:]
	return &p.cards[n]
}

// room makes room for size cards and as many items.
func (p *parser) room(size int) {
	p.cards = append(make([]Card, 0, size), p.cards...)
	if cap(p.b.items) < size {
		p.b.items = append(make([]item, 0, size), p.b.items...)
	}
}

// roomForLines makes room for the lines of the item at hand; cards already
// read keep theirs.
func (p *parser) roomForLines() {
	const chunk = 256
	if need := len(p.lines); cap(p.texts)-len(p.texts) < need {
		p.texts = make([]string, 0, max(chunk, need))
	}
	p.fromLine = len(p.texts)
}

// handOver gives each lane its cards.
func (s *pools) handOver(b *Board) {
	for i := range b.Lanes {
		to := len(s.cards)
		if i+1 < len(s.from) {
			to = s.from[i+1]
		}
		if from := s.from[i]; from < to {
			b.Lanes[i].Cards = s.cards[from:to:to]
		}
	}
}

// titles keeps short texts in few pieces of memory.
type titles struct{ b strings.Builder }

// keep is text as a string.
func (t *titles) keep(text []byte) string {
	const chunk = 4096
	if t.b.Cap()-t.b.Len() < len(text) {
		t.b = strings.Builder{}
		t.b.Grow(max(chunk, len(text)))
	}
	at := t.b.Len()
	t.b.Write(text)
	return t.b.String()[at:]
}
