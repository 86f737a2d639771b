package cli

import (
	"fmt"
	"strings"
)

// most is how many of what is alike are shown to people; --json has them all.
const most = 10

// few counts what stands on one board for one reason. Two reasons are one when
// only their numbers differ. The zero value has counted nothing.
type few struct {
	n     map[[2]string]int
	first [][2]string // board and reason as they came first
}

// shows counts one more, and reports whether it is still to be shown.
func (f *few) shows(board, reason string) bool {
	key := alike(board, reason)
	if f.n == nil {
		f.n = map[[2]string]int{}
	}
	if f.n[key]++; f.n[key] == 1 {
		f.first = append(f.first, [2]string{board, reason})
	}
	return f.n[key] <= most
}

// rest are rows about what was not shown.
func (f *few) rest(word string) (rows [][]string) {
	for _, first := range f.first {
		if more := f.n[alike(first[0], first[1])] - most; more > 0 {
			rows = append(rows, []string{place(first[0], 0), word, fmt.Sprintf("and %d more", more), first[1]})
		}
	}
	return rows
}

func alike(board, reason string) [2]string {
	return [2]string{board, strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, reason)}
}
