package change

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// maxPairs bounds the pairs of lines that are compared in one block.
const maxPairs = 2500

// alike is how much two lines have in common, of 1000, for one to stand beside
// the other.
const alike = 400

// appendRows adds the rows of a block: lines that are alike stand side by side,
// as many as can, in order.
func appendRows(rows []Row, old, new []string, b block) []Row {
	i, j := b.old.from, b.new.from
	for _, p := range append(alikes(old[b.old.from:b.old.to], new[b.new.from:b.new.to]), pair{b.old.len(), b.new.len()}) {
		for ; i < b.old.from+p.a; i++ {
			rows = append(rows, Row{Op: Removed, Old: line(old, i)})
		}
		for ; j < b.new.from+p.b; j++ {
			rows = append(rows, Row{Op: Added, New: line(new, j)})
		}
		if i < b.old.to && j < b.new.to {
			rows = append(rows, Row{Changed, line(old, i), line(new, j)})
			i, j = i+1, j+1
		}
	}
	return rows
}

// alikes pairs lines that are alike: those pairs whose likeness is most in sum.
func alikes(old, new []string) []pair {
	n, m := len(old), len(new)
	if n == 0 || m == 0 {
		return nil
	}
	if n*m > maxPairs {
		return inStep(old, new)
	}
	was, is := make([]bag, n), make([]bag, m)
	for i := range old {
		was[i] = bagOf(old[i])
	}
	for j := range new {
		is[j] = bagOf(new[j])
	}
	sums := make([]int, (n+1)*(m+1)) // of the lines from i and from j on
	at := func(i, j int) *int { return &sums[i*(m+1)+j] }
	like := make([]int, n*m)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			if l := was[i].likeness(is[j]); l >= alike {
				like[i*m+j] = l
				*at(i, j) = max(*at(i, j), l+*at(i+1, j+1))
			}
		}
	}
	var out []pair
	for i, j := 0, 0; i < n && j < m; {
		switch l := like[i*m+j]; {
		case l > 0 && *at(i, j) == l+*at(i+1, j+1):
			out = append(out, pair{i, j})
			i, j = i+1, j+1
		case *at(i, j) == *at(i+1, j):
			i++
		default:
			j++
		}
	}
	return out
}

// inStep pairs lines of blocks too large to compare each with each, where both
// have as many: the rows of a long table, a file whose lines end in another way.
func inStep(old, new []string) []pair {
	if len(old) != len(new) {
		return nil
	}
	var out []pair
	for i := range old {
		if bagOf(old[i]).likeness(bagOf(new[i])) >= alike {
			out = append(out, pair{i, i})
		}
	}
	return out
}

// bag is the words of a line, without order.
type bag struct {
	words []word // in order of sum
	size  int    // bytes of all
}

type word struct {
	sum  uint64
	size int
}

func bagOf(line string) bag {
	const basis, prime = 14695981039346656037, 1099511628211 // FNV-1a
	b := bag{words: make([]word, 0, 1+len(line)/6)}
	w := word{sum: basis}
	for i := 0; i <= len(line); i++ {
		if i < len(line) && wordly(line[i]) {
			w.sum, w.size = (w.sum^uint64(line[i]))*prime, w.size+1
			continue
		}
		if w.size > 0 {
			b.words, b.size = append(b.words, w), b.size+w.size
		}
		w = word{sum: basis}
	}
	slices.SortFunc(b.words, func(v, w word) int { return cmp.Compare(v.sum, w.sum) })
	return b
}

// wordly is what words are made of: letters and digits, and all that is beyond
// ASCII, which is nearly always the same.
func wordly(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c >= utf8.RuneSelf
}

// likeness is how much of two lines is the same words, of 1000.
func (b bag) likeness(c bag) int {
	if b.size+c.size == 0 {
		return 1000
	}
	common := 0
	for i, j := 0, 0; i < len(b.words) && j < len(c.words); {
		switch v, w := b.words[i], c.words[j]; {
		case v.sum == w.sum:
			common += v.size
			i, j = i+1, j+1
		case v.sum < w.sum:
			i++
		default:
			j++
		}
	}
	return 2000 * common / (b.size + c.size)
}

// minMoved is how many bytes of letters and digits a block that moved has at
// least: less is there twice by chance.
const minMoved = 20

// markMoved finds lines that were removed in one place and added in another,
// several after each other counted together.
func (d *Diff) markMoved() {
	gone := map[string][]int{} // rows by the line they lose
	for i, r := range d.Rows {
		if r.Op == Removed {
			gone[r.Old.Text] = append(gone[r.Old.Text], i)
		}
	}
	for j := 0; j < len(d.Rows); j++ {
		if d.Rows[j].Op != Added {
			continue
		}
		if from, n := d.movedTo(j, gone[d.Rows[j].New.Text]); n > 0 {
			for k := range n {
				d.Rows[from+k].Old.Moved = d.Rows[j+k].New.No
				d.Rows[j+k].New.Moved = d.Rows[from+k].Old.No
			}
			j += n - 1
		}
	}
}

// maxSources bounds the places that are looked at for where a line came from.
const maxSources = 16

// movedTo is the longest run of removed rows, beginning at one of places, whose
// lines are those added from row j on; none where it is too short to tell.
func (d *Diff) movedTo(j int, places []int) (from, n int) {
	for _, i := range places[:min(len(places), maxSources)] {
		k, weight := 0, 0
		for i+k < len(d.Rows) && j+k < len(d.Rows) && d.moves(i+k, j+k) {
			for i := 0; weight < minMoved && i < len(d.Rows[j+k].New.Text); i++ {
				if wordly(d.Rows[j+k].New.Text[i]) {
					weight++
				}
			}
			k++
		}
		if k > n && weight >= minMoved {
			from, n = i, k
		}
	}
	return from, n
}

func (d *Diff) moves(i, j int) bool {
	was, is := &d.Rows[i], &d.Rows[j]
	return was.Op == Removed && is.Op == Added && was.Old.Moved == 0 && was.Old.Text == is.New.Text
}
