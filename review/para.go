package review

import (
	"strings"
	"unicode/utf8"
)

// para is a piece of a document that ends in a line end. It does not know how
// wide the pane is: its rows are made when they are seen, so that the first
// picture, a key and a new width cost the same in a document of ten lines and
// in one of ten thousand.
type para struct {
	head  line   // one row, cut at the edge; nil: text it is
	right line   // at the right end of head
	lead  span   // before the text, whose further rows stand below themselves
	each  bool   // lead stands before those, too
	text  string // of others
	role  role
	when  fold
}

// fold says when a para is shown.
type fold uint8

// The folds.
const (
	always fold = iota
	folded
	unfolded
)

func (p para) blank() bool { return p.head == nil && p.lead.text == "" && p.text == "" }

// rows are a para in n cells.
func (p para) rows(n int) []line {
	if p.head != nil {
		if len(p.right) > 0 {
			return []line{spread(p.head, p.right, n)}
		}
		return []line{fitLine(p.head, n)}
	}
	lead, text := p.lead, p.text
	if width(lead.text) > n/2 {
		lead, text = span{}, lead.text+text
	}
	rows := paragraph(text, n-width(lead.text), p.role)
	switch {
	case lead.text == "":
		return rows
	case !p.each:
		return indented(lead, rows)
	}
	for k := range rows {
		rows[k] = append(line{lead}, rows[k]...)
	}
	return rows
}

// paraMost is how long a para of others gets: what a tool has put out in one
// line is shown as several.
const paraMost = 4096

// paras are text of others, line by line; the first has lead before it.
func paras(lead span, text string, r role, when fold) []para {
	var out []para
	for part := range strings.SplitSeq(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n") {
		for first := true; first || part != ""; first = false {
			n := paraEnd(part)
			out = append(out, para{lead: lead, text: part[:n], role: r, when: when})
			lead = span{strings.Repeat(" ", width(lead.text)), plain}
			part = part[n:]
		}
	}
	return out
}

// paraEnd is where a para ends, between two characters.
func paraEnd(s string) int {
	if len(s) <= paraMost {
		return len(s)
	}
	for n := paraMost; n > paraMost-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return n
		}
	}
	return paraMost
}

// made are rows that are there already, as paras.
func made(rows []line) []para {
	out := make([]para, len(rows))
	for k, l := range rows {
		if len(l) > 0 {
			out[k].head = l
		}
	}
	return out
}

// doc is what a view shows: paras, and those that go on below them.
type doc struct {
	paras, tail []para
	n           int // cells
	details     bool
}

// spot is a row of a doc.
type spot struct{ para, row int }

func (s spot) before(o spot) bool { return s.para < o.para || s.para == o.para && s.row < o.row }

func (d *doc) len() int { return len(d.paras) + len(d.tail) }

func (d *doc) end() spot { return spot{d.len(), 0} }

func (d *doc) at(i int) para {
	if i < len(d.paras) {
		return d.paras[i]
	}
	return d.tail[i-len(d.paras)]
}

func (d *doc) hidden(p para) bool {
	return p.when == folded && d.details || p.when == unfolded && !d.details
}

// rows are those of a para; none when it is folded away. Of several blank ones
// one is seen, and none at the top.
func (d *doc) rows(i int) []line {
	p := d.at(i)
	if d.hidden(p) {
		return nil
	}
	if !p.blank() {
		return p.rows(d.n)
	}
	for i--; i >= 0; i-- {
		if above := d.at(i); !d.hidden(above) {
			if above.blank() {
				return nil
			}
			return []line{nil}
		}
	}
	return nil
}

// back is the row so many rows above s, or the first.
func (d *doc) back(s spot, rows int) spot {
	if rows <= s.row {
		return spot{s.para, s.row - rows}
	}
	rows -= s.row
	for i := s.para - 1; i >= 0; i-- {
		n := len(d.rows(i))
		if n >= rows {
			return spot{i, n - rows}
		}
		rows -= n
	}
	return spot{}
}

// from are the rows from s on, at most so many, and the row below them.
func (d *doc) from(s spot, rows int) ([]line, spot) {
	out := make([]line, 0, rows)
	for ; s.para < d.len(); s = (spot{s.para + 1, 0}) {
		all := d.rows(s.para)
		all = all[min(s.row, len(all)):]
		if left := rows - len(out); len(all) > left {
			return append(out, all[:left]...), spot{s.para, s.row + left}
		}
		out = append(out, all...)
	}
	return out, d.end()
}
