package change

import (
	"slices"
	"sort"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Which lines changed is go-diff's to say, on lines as numbers and never on
// text: on text it cuts inside of characters. What it is given is made small
// first, because its time grows with the square of the differences and it is
// given no limit in time: the same two texts differ in the same way on every
// machine. So common ends are left out, and lines that the other side does not
// have at all; and where still too much differs, lines that are there once on
// both sides divide the rest.

// maxCost bounds the lines that may differ in what go-diff is given.
const maxCost = 1000

// maxLines is what go-diff can tell apart: it writes lines as characters.
const maxLines = 1_000_000

// maxDepth bounds how often the rest is divided.
const maxDepth = 24

// aligner finds the lines that changed between a and b: lines as numbers.
type aligner struct {
	a, b       []int32
	gone, came []bool  // which lines of a, of b, changed
	inA, inB   []int32 // how often a number stands in the ranges at hand
	lastB      []int32 // where it stands last in b
}

// align reports which lines of a and of b changed. Equal lines have equal
// numbers, all below n.
func align(a, b []int32, n int) (gone, came []bool) {
	s := aligner{
		a: a, b: b, gone: make([]bool, len(a)), came: make([]bool, len(b)),
		inA: make([]int32, n), inB: make([]int32, n), lastB: make([]int32, n),
	}
	s.between(pair{0, 0}, pair{len(a), len(b)}, 0)
	return s.gone, s.came
}

// pair is a place in a and one in b.
type pair struct{ a, b int }

// between aligns a[from.a:to.a] and b[from.b:to.b].
func (s *aligner) between(from, to pair, depth int) {
	for from.a < to.a && from.b < to.b && s.a[from.a] == s.b[from.b] {
		from.a, from.b = from.a+1, from.b+1
	}
	for from.a < to.a && from.b < to.b && s.a[to.a-1] == s.b[to.b-1] {
		to.a, to.b = to.a-1, to.b-1
	}
	as, bs := s.shared(from, to)
	anchors := s.anchors(as, bs)
	s.forget(from, to)
	switch lines := len(as) + len(bs); {
	case lines == 0:
		return
	case lines-2*len(anchors) <= maxCost && lines <= maxLines:
		s.exact(as, bs)
		return
	case depth == maxDepth || len(anchors) == 0:
		s.keep(as, bs, anchors)
		return
	}
	at := from
	for _, p := range append(anchors, to) {
		s.between(at, p, depth+1)
		at = pair{p.a + 1, p.b + 1}
	}
}

// shared lists the lines of both ranges that the other one has too, and marks
// all others as changed.
func (s *aligner) shared(from, to pair) (as, bs []int) {
	for i := from.a; i < to.a; i++ {
		s.inA[s.a[i]]++
	}
	for i := from.b; i < to.b; i++ {
		s.inB[s.b[i]], s.lastB[s.b[i]] = s.inB[s.b[i]]+1, int32(i)
	}
	for i := from.a; i < to.a; i++ {
		if s.inB[s.a[i]] > 0 {
			as = append(as, i)
		} else {
			s.gone[i] = true
		}
	}
	for i := from.b; i < to.b; i++ {
		if s.inA[s.b[i]] > 0 {
			bs = append(bs, i)
		} else {
			s.came[i] = true
		}
	}
	return as, bs
}

// forget sets the counts of shared to zero.
func (s *aligner) forget(from, to pair) {
	for _, id := range s.a[from.a:to.a] {
		s.inA[id] = 0
	}
	for _, id := range s.b[from.b:to.b] {
		s.inB[id] = 0
	}
}

// anchors are pairs of equal lines that follow each other on both sides: those
// that are there once on both, as many of them as can be, and the equal lines
// next to them.
func (s *aligner) anchors(as, bs []int) []pair {
	var once []pair // places in as and bs
	for k, i := range as {
		if id := s.a[i]; s.inA[id] == 1 && s.inB[id] == 1 {
			once = append(once, pair{k, sort.SearchInts(bs, int(s.lastB[id]))})
		}
	}
	var all []pair
	at := pair{0, 0}
	for _, p := range longest(once) {
		if p.a < at.a || p.b < at.b {
			continue // taken as the neighbour of one before
		}
		first := p
		for first.a > at.a && first.b > at.b && s.a[as[first.a-1]] == s.b[bs[first.b-1]] {
			first.a, first.b = first.a-1, first.b-1
		}
		for at = first; at.a < len(as) && at.b < len(bs) && s.a[as[at.a]] == s.b[bs[at.b]]; at.a, at.b = at.a+1, at.b+1 {
			all = append(all, pair{as[at.a], bs[at.b]})
		}
	}
	return all
}

// longest is a longest run of pairs, in order of a, in which b rises too.
func longest(pairs []pair) []pair {
	var ends []int // ends[k]: the pair with the least b that ends a run of k+1
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(ends, p.b, func(e, b int) int { return pairs[e].b - b })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	out := make([]pair, len(ends))
	if len(ends) > 0 {
		for i, k := ends[len(ends)-1], len(ends)-1; k >= 0; i, k = before[i], k-1 {
			out[k] = pairs[i]
		}
	}
	return out
}

// keep marks all lines as changed but the anchors.
func (s *aligner) keep(as, bs []int, anchors []pair) {
	mark(s.gone, as)
	mark(s.came, bs)
	for _, p := range anchors {
		s.gone[p.a], s.came[p.b] = false, false
	}
}

// exact marks as few lines as can be.
func (s *aligner) exact(as, bs []int) {
	names := map[int32]rune{}
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0
	var i, j int
	for _, d := range dmp.DiffMainRunes(runesOf(s.a, as, names), runesOf(s.b, bs, names), false) {
		for range d.Text {
			switch d.Type {
			case diffmatchpatch.DiffDelete:
				s.gone[as[i]], i = true, i+1
			case diffmatchpatch.DiffInsert:
				s.came[bs[j]], j = true, j+1
			case diffmatchpatch.DiffEqual:
				i, j = i+1, j+1
			}
		}
	}
}

// runesOf writes lines as characters; surrogates are none.
func runesOf(ids []int32, at []int, names map[int32]rune) []rune {
	const surrogates, how = 0xd800, 0x800
	out := make([]rune, len(at))
	for k, i := range at {
		r, known := names[ids[i]]
		if !known {
			if r = rune(len(names) + 1); r >= surrogates {
				r += how
			}
			names[ids[i]] = r
		}
		out[k] = r
	}
	return out
}

func mark(changed []bool, at []int) {
	for _, i := range at {
		changed[i] = true
	}
}
