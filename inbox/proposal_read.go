package inbox

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
)

// Decided is what a person made of a page.
type Decided struct {
	Boxes   []Box  // those of the proposal, with their state
	Note    string // what they wrote at "note:" and below it
	Changed bool   // what is proposed is not there as it was written: a tick belongs to something else
}

// ReadProposal reads what a person made of the page of an open proposal.
func ReadProposal(src []byte, p Proposal) Decided {
	ours, cur := p.lines(), pageLines(src)
	at := align(ours, cur)
	var d Decided
	var note []string
	noting := false
	there := make([]bool, len(ours))
	for i, line := range cur {
		if at[i] < 0 {
			if noting {
				note = append(note, line)
			}
			continue
		}
		l := ours[at[i]]
		noting = l.note
		there[at[i]] = l.box || l.note || strings.TrimRight(l.text, " \t") == strings.TrimRight(line, " \t")
		if b, ok := parseBox(line); ok && l.box {
			d.Boxes = append(d.Boxes, b)
		}
		if rest, ok := noteLine(line); ok && l.note {
			note = append(note, rest)
		}
	}
	for i, l := range ours {
		if !there[i] && strings.TrimSpace(l.text) != "" {
			d.Changed = true
		}
	}
	d.Note = strings.TrimSpace(strings.Join(note, "\n"))
	return d
}

// noteLine reads the open line.
func noteLine(line string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimSpace(line), openNote)
	return strings.TrimSpace(rest), ok
}

// UpdateProposal brings a page up to date. Lines that a person wrote stay below
// the line of ours that they were put under; what it said of a decision before
// is such a line.
func UpdateProposal(cur []byte, now Proposal) ([]byte, error) {
	if bytes.IndexByte(cur, 0) >= 0 {
		return nil, errors.New("proposal: holds NUL bytes")
	}
	eol := "\n"
	if i := bytes.IndexByte(cur, '\n'); i > 0 && cur[i-1] == '\r' {
		eol = "\r\n"
	}
	next, lines := now.lines(), pageLines(cur)
	foreign, ticked := now.foreign(next, lines)
	var b strings.Builder
	for i := range foreign {
		if i > 0 {
			b.WriteString(cmp.Or(ticked[i-1], next[i-1].text) + eol)
		}
		for _, line := range foreign[i] {
			b.WriteString(line + eol)
		}
	}
	out := []byte(b.String())
	if bytes.Equal(bytes.TrimRight(out, "\r\n"), bytes.TrimRight(cur, "\r\n")) {
		return cur, nil
	}
	return out, nil
}

// foreign are the lines of a page that a person wrote, by the number of the line
// of the next page that they stand under, from 1; ticked are lines of the next
// page as they stand there, by their number.
func (p Proposal) foreign(next []pageLine, cur []string) (out [][]string, ticked map[int]string) {
	place := map[string]int{}
	for i, l := range next {
		place[l.key] = i + 1
	}
	out, ticked = make([][]string, len(next)+1), map[int]string{}
	old, under := standing(p, cur), 0
	revert := "- " + typed("deckhand revert "+p.ID)
	for i, at := range align(old, cur) {
		switch {
		case at < 0 && cur[i] != revert:
			out[under] = append(out[under], cur[i])
		case at >= 0:
			n := place[old[at].key]
			under = max(under, n)
			switch rest, _ := noteLine(cur[i]); {
			case n > 0 && (next[n-1].box || next[n-1].note):
				ticked[n-1] = cur[i]
			case old[at].note && rest != "":
				out[under] = append(out[under], cur[i])
			}
		}
	}
	return out, ticked
}

// standing is the page that stands there: that of a proposal that waits, or the
// one that is wanted.
func standing(now Proposal, cur []string) []pageLine {
	open := now
	open.Outcome = ""
	if missing(open.lines(), cur) < missing(now.lines(), cur) {
		return open.lines()
	}
	return now.lines()
}

// missing counts the lines of ours that are not there.
func missing(ours []pageLine, cur []string) int {
	n := len(ours)
	for _, at := range align(ours, cur) {
		if at >= 0 {
			n--
		}
	}
	return n
}

// pageLines are the lines of a page without their ends.
func pageLines(src []byte) []string {
	text := strings.ReplaceAll(string(bytes.TrimPrefix(src, []byte("\ufeff"))), "\r\n", "\n")
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// alignCells bounds the work of an alignment. A page that was changed more than
// that is one of which nothing is known.
const alignCells = 4 << 20

// align tells for each line of a page which of ours it is, -1: none. Ours keep
// their order.
func align(ours []pageLine, cur []string) []int {
	at := make([]int, len(cur))
	want, have := make([]string, len(ours)), make([]string, len(cur))
	for i := range ours {
		want[i] = pageSame(ours[i].text)
	}
	for i := range cur {
		at[i], have[i] = -1, pageSame(cur[i])
	}
	from := 0
	for from < len(want) && from < len(have) && want[from] == have[from] {
		at[from] = from
		from++
	}
	w, h := len(want), len(have)
	for w > from && h > from && want[w-1] == have[h-1] {
		w, h = w-1, h-1
		at[h] = w
	}
	if rows, cols := w-from, h-from; rows > 0 && cols > 0 && rows*cols <= alignCells {
		for _, pair := range common(want[from:w], have[from:h]) {
			at[from+pair[1]] = from + pair[0]
		}
	}
	return at
}

// common is a longest common subsequence, as pairs of indexes.
func common(a, b []string) (pairs [][2]int) {
	n := len(b) + 1
	long := make([]int32, (len(a)+1)*n)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				long[i*n+j] = long[(i+1)*n+j+1] + 1
			} else {
				long[i*n+j] = max(long[(i+1)*n+j], long[i*n+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case long[(i+1)*n+j] >= long[i*n+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// pageSame is what two states of a line of the page have in common: the state
// of a box, what is written at the open line, and blanks at the end do not count.
func pageSame(line string) string {
	if b, ok := parseBox(line); ok {
		return "- [ ] " + b.Text + " ^" + b.ID
	}
	if _, ok := noteLine(line); ok {
		return openNote
	}
	if strings.HasPrefix(line, "status: ") {
		return "status:"
	}
	return strings.TrimRight(line, " \t")
}
