package markdown

import (
	"bytes"
	"sort"

	"deckhand/internal/span"
)

// MaskKind says why bytes are masked.
type MaskKind uint8

// The kinds of masks.
const (
	MaskFence   MaskKind = iota + 1 // a fenced code block, its fences too
	MaskCode                        // an indented code block
	MaskSpan                        // a code span, its backticks too
	MaskHTML                        // an HTML block, or a comment <!-- --> in a line
	MaskComment                     // %% comment %%
	MaskQuote                       // a block quote; other masks lie inside it
)

// Mask is a range of bytes in which nothing is looked for.
type Mask struct {
	Span span.Span
	Kind MaskKind
}

// Masks lists the masked ranges of src from the offset from, in order of
// Start. Only quotes hold other masks.
func Masks(src []byte, from int) []Mask {
	m := masker{src: src}
	for l := range Lines(src, from) {
		m.line(l)
	}
	m.endText()
	out := append(m.out, m.quotes...)
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Span.Start != out[j].Span.Start {
			return out[i].Span.Start < out[j].Span.Start
		}
		return out[i].Kind == MaskQuote && out[j].Kind != MaskQuote
	})
	return out
}

// In reports whether pos lies in a mask of one of kinds; with no kinds, of any.
func In(masks []Mask, pos int, kinds ...MaskKind) bool {
	for _, m := range masks {
		if m.Span.Start > pos {
			return false
		}
		if !m.Span.Contains(pos) {
			continue
		}
		if len(kinds) == 0 {
			return true
		}
		for _, k := range kinds {
			if m.Kind == k {
				return true
			}
		}
	}
	return false
}

// masker gathers masks line by line.
type masker struct {
	src    []byte
	out    []Mask
	quotes []Mask
	text   span.Span // the paragraph so far
}

// blockMasks maps kinds of lines to masks.
var blockMasks = [...]MaskKind{Fence: MaskFence, Code: MaskCode, HTML: MaskHTML, Comment: MaskComment}

func (m *masker) line(l Line) {
	m.quote(l)
	if l.Kind == Text && !l.First {
		m.text.End = l.End
		return
	}
	m.endText()
	switch l.Kind {
	case Text:
		m.text = span.Span{Start: l.Text, End: l.End}
	case Heading:
		m.out = append(m.out, InlineMasks(m.src, l.Title)...)
	case Fence, Code, HTML, Comment:
		m.block(l, blockMasks[l.Kind])
	}
}

func (m *masker) quote(l Line) {
	if l.Quotes == 0 {
		return
	}
	if n := len(m.quotes); n > 0 && m.quotes[n-1].Span.End == l.Start {
		m.quotes[n-1].Span.End = l.Next
		return
	}
	m.quotes = append(m.quotes, Mask{span.Span{Start: l.Start, End: l.Next}, MaskQuote})
}

// block masks whole lines, list markers before them too: nothing is looked for there.
func (m *masker) block(l Line, kind MaskKind) {
	if n := len(m.out); n > 0 && !l.First && m.out[n-1].Kind == kind {
		m.out[n-1].Span.End = l.Next
		return
	}
	m.out = append(m.out, Mask{span.Span{Start: l.Text, End: l.Next}, kind})
}

func (m *masker) endText() {
	if !m.text.Empty() {
		m.out = append(m.out, InlineMasks(m.src, m.text)...)
	}
	m.text = span.Span{}
}

// InlineMasks lists the code spans and comments inside one paragraph, heading
// or line of text, in order. An opening mark without its end masks nothing.
func InlineMasks(src []byte, text span.Span) []Mask {
	b := text.Of(src)
	if bytes.IndexByte(b, '`') < 0 && !bytes.Contains(b, []byte("<!--")) && !bytes.Contains(b, percents) {
		return nil
	}
	var out []Mask
	in := inline{text: b}
	for at := 0; at < len(b); {
		if c := b[at]; c != '`' && c != '\\' && c != '<' && c != '%' {
			at++
			continue
		}
		end, kind := in.mask(at)
		if kind == 0 {
			at = end
			continue
		}
		out = append(out, Mask{span.Span{Start: text.Start + at, End: text.Start + end}, kind})
		at = end
	}
	return out
}

// inline remembers which marks have no end further on, so that a text full of
// them costs no more than its length.
type inline struct {
	text       []byte
	noSpan     map[int]bool // by length of the run
	noHTML     bool
	noPercents bool
}

// mask reads what stands at offset at: a mask with its end, or the offset to go on at.
func (in *inline) mask(at int) (end int, kind MaskKind) {
	b := in.text
	switch {
	case b[at] == '\\':
		return min(at+2, len(b)), 0
	case b[at] == '`':
		n := runOf(b[at:], '`')
		if end := in.spanEnd(at+n, n); end > 0 {
			return end, MaskSpan
		}
		return at + n, 0
	case !in.noHTML && bytes.HasPrefix(b[at:], []byte("<!--")):
		if i := bytes.Index(b[at+4:], []byte("-->")); i >= 0 {
			return at + 4 + i + 3, MaskHTML
		}
		in.noHTML = true
	case !in.noPercents && bytes.HasPrefix(b[at:], percents):
		if i := bytes.Index(b[at+2:], percents); i >= 0 {
			return at + 2 + i + 2, MaskComment
		}
		in.noPercents = true
	}
	return at + 1, 0
}

// spanEnd finds the end of the code span whose opening run of n backticks ends at offset at; 0: none.
func (in *inline) spanEnd(at, n int) int {
	if in.noSpan[n] {
		return 0
	}
	for at < len(in.text) {
		i := bytes.IndexByte(in.text[at:], '`')
		if i < 0 {
			break
		}
		at += i
		run := runOf(in.text[at:], '`')
		at += run
		if run == n {
			return at
		}
	}
	if in.noSpan == nil {
		in.noSpan = map[int]bool{}
	}
	in.noSpan[n] = true
	return 0
}
