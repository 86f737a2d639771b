package change

import (
	"strings"
	"unicode"
)

// maxPairs bounds the pairs of lines that are compared in one block. Where more
// was rewritten, nobody looks for the words.
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
	if n == 0 || m == 0 || n*m > maxPairs {
		return nil
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

// bag is the words of a line, without order, and how long they are together.
type bag struct {
	words map[string]int
	size  int
}

func bagOf(line string) bag {
	b := bag{words: map[string]int{}}
	for _, w := range strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.words[w]++
		b.size += len(w)
	}
	return b
}

// likeness is how much of two lines is the same words, of 1000.
func (b bag) likeness(c bag) int {
	if b.size+c.size == 0 {
		return 1000
	}
	common := 0
	for w, n := range b.words {
		common += min(n, c.words[w]) * len(w)
	}
	return 2000 * common / (b.size + c.size)
}

// minMoved is how many letters and digits a block that moved has at least: less
// is there twice by chance.
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

// maxPlaces bounds the places that are looked at for where a line came from.
const maxPlaces = 16

// movedTo is the longest run of removed rows, beginning at one of places, whose
// lines are those added from row j on; none where it is too short to tell.
func (d *Diff) movedTo(j int, places []int) (from, n int) {
	for _, i := range places[:min(len(places), maxPlaces)] {
		k, weight := 0, 0
		for i+k < len(d.Rows) && j+k < len(d.Rows) && d.moves(i+k, j+k) {
			weight += bagOf(d.Rows[j+k].New.Text).size
			k++
		}
		if k > n && weight >= minMoved {
			from, n = i, k
		}
	}
	return from, n
}

func (d *Diff) moves(i, j int) bool {
	was, is := d.Rows[i], d.Rows[j]
	return was.Op == Removed && is.Op == Added && was.Old.Moved == 0 && was.Old.Text == is.New.Text
}
