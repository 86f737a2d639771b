package review

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// entry is a text that a person types. The cursor is a byte position between
// two characters as people see them.
type entry struct {
	text string
	at   int
}

func (e *entry) set(text string) { e.text, e.at = text, len(text) }

// insert adds what was typed or pasted. What is no text (of what was pasted) is
// left out, line ends are those of here.
func (e *entry) insert(s string) {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	s = strings.Map(func(c rune) rune {
		if c == utf8.RuneError || (c < ' ' && c != '\n' && c != '\t') || c == 0x7f {
			return -1
		}
		return c
	}, s)
	e.text = e.text[:e.at] + s + e.text[e.at:]
	e.at += len(s)
}

// stops are the positions at which the cursor can stand.
func (e *entry) stops() []int {
	out, state := []int{0}, -1
	for rest := e.text; rest != ""; {
		var g string
		g, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		out = append(out, out[len(out)-1]+len(g))
	}
	return out
}

func (e *entry) left() {
	stops := e.stops()
	i, _ := slices.BinarySearch(stops, e.at)
	e.at = stops[max(0, i-1)]
}

func (e *entry) right() {
	stops := e.stops()
	i, ok := slices.BinarySearch(stops, e.at)
	if ok {
		i++
	}
	e.at = stops[min(i, len(stops)-1)]
}

// begin and end are those of the cursor's line.
func (e *entry) begin() int { return strings.LastIndexByte(e.text[:e.at], '\n') + 1 }

func (e *entry) end() int {
	if i := strings.IndexByte(e.text[e.at:], '\n'); i >= 0 {
		return e.at + i
	}
	return len(e.text)
}

// up and down move by a line, and report whether there was one.
func (e *entry) up() bool {
	begin := e.begin()
	if begin == 0 {
		return false
	}
	column := width(e.text[begin:e.at])
	e.at = begin - 1
	e.column(column)
	return true
}

func (e *entry) down() bool {
	end := e.end()
	if end == len(e.text) {
		return false
	}
	column := width(e.text[e.begin():e.at])
	e.at = end + 1
	e.column(column)
	return true
}

// column moves within the cursor's line.
func (e *entry) column(n int) {
	begin := e.begin()
	head, _ := split(e.text[begin:e.end()], n)
	e.at = begin + len(head)
}

// cut removes what lies between the cursor and another position.
func (e *entry) cut(to int) {
	from := min(to, e.at)
	to = max(to, e.at)
	e.text = e.text[:from] + e.text[to:]
	e.at = from
}

func (e *entry) back() {
	was := e.at
	e.left()
	e.cut(was)
}

func (e *entry) remove() {
	was := e.at
	e.right()
	e.cut(was)
}

// word is where the word before the cursor begins.
func (e *entry) word() int {
	head := strings.TrimRight(e.text[:e.at], " \n\t")
	return strings.LastIndexAny(head, " \n\t") + 1
}

// layout is the text in rows of n cells, with the cursor's row and column.
func (e *entry) layout(n int) (rows []string, row, column int) {
	n, pos := max(n, 2), 0
	for part := range strings.SplitSeq(e.text, "\n") {
		for first := true; first || part != ""; first = false {
			head, rest := split(part, n)
			if head == "" && rest != "" {
				head, rest = rest, ""
			}
			if e.at >= pos && (e.at < pos+len(head) || rest == "" && e.at == pos+len(head)) {
				row, column = len(rows), width(clean(e.text[pos:e.at]))
			}
			rows, pos, part = append(rows, clean(head)), pos+len(head), rest
		}
		pos++ // the line end
	}
	return rows, row, min(column, n-1)
}
