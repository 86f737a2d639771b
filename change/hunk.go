package change

import "strings"

// block is lines of the old text in place of which stand lines of the new one;
// one of both may be empty.
type block struct{ old, new lines }

// lines is a range of line numbers, from 0, half open.
type lines struct{ from, to int }

func (l lines) len() int { return l.to - l.from }

// blocks gathers changed lines.
func blocks(gone, came []bool) []block {
	var out []block
	for i, j := 0, 0; i < len(gone) || j < len(came); {
		b := block{lines{i, i}, lines{j, j}}
		for b.old.to < len(gone) && gone[b.old.to] {
			b.old.to++
		}
		for b.new.to < len(came) && came[b.new.to] {
			b.new.to++
		}
		i, j = b.old.to, b.new.to
		if b.old.len()+b.new.len() > 0 {
			out = append(out, b)
			continue
		}
		i, j = i+1, j+1
	}
	return out
}

// Lines that were only added, or only removed, can often be said to be others:
// where "b, a" was added after "a", "a, b" was added before it just as well.
// Which of these is shown makes the difference between a section that was added
// and the end of one and the beginning of another. slider moves such blocks:
// into the next block or the one before, where they come so far, because one
// change in one place is read at a glance; else to where a person would have
// cut the text.
type slider struct {
	old, new []int32  // lines as numbers
	text     []string // of the old and of the new text
	other    []string
	blocks   []block
}

func (s *slider) slide() []block {
	for i := 0; i < len(s.blocks); i++ {
		b := &s.blocks[i]
		if b.old.len() > 0 && b.new.len() > 0 {
			continue
		}
		up, down := s.reach(i)
		switch {
		case i+1 < len(s.blocks) && b.old.to+down == s.blocks[i+1].old.from:
			s.shift(i, down)
			s.join(i)
			i-- // what both became may slide on
		case i > 0 && b.old.from-up == s.blocks[i-1].old.to:
			s.shift(i, -up)
			s.join(i - 1)
			i -= 2
		default:
			s.shift(i, s.best(i, up, down))
		}
		i = max(i, -1)
	}
	return s.blocks
}

// side is the side of a block that has lines, with those lines.
func (s *slider) side(i int) (ids []int32, text []string, l lines) {
	if b := s.blocks[i]; b.old.len() == 0 {
		return s.new, s.other, b.new
	}
	return s.old, s.text, s.blocks[i].old
}

// reach is by how many lines a block can move up and down.
func (s *slider) reach(i int) (up, down int) {
	ids, _, l := s.side(i)
	low, high := 0, len(ids)
	b := s.blocks[i]
	if i > 0 {
		low = l.from - (b.old.from - s.blocks[i-1].old.to)
	}
	if i+1 < len(s.blocks) {
		high = l.to + (s.blocks[i+1].old.from - b.old.to)
	}
	for l.from-up > low && ids[l.from-up-1] == ids[l.to-up-1] {
		up++
	}
	for l.to+down < high && ids[l.from+down] == ids[l.to+down] {
		down++
	}
	return up, down
}

func (s *slider) shift(i, by int) {
	b := &s.blocks[i]
	b.old.from, b.old.to, b.new.from, b.new.to = b.old.from+by, b.old.to+by, b.new.from+by, b.new.to+by
}

// join makes one block of i and the next, which touch.
func (s *slider) join(i int) {
	s.blocks[i].old.to, s.blocks[i].new.to = s.blocks[i+1].old.to, s.blocks[i+1].new.to
	s.blocks = append(s.blocks[:i+1], s.blocks[i+2:]...)
}

// best is the shift after which a block begins and ends best; of equal ones the
// lowest.
func (s *slider) best(i, up, down int) int {
	_, text, l := s.side(i)
	best, most := 0, -1
	for by := down; by >= -up; by-- {
		if q := cut(text, l.from+by) + cut(text, l.to+by); q > most {
			best, most = by, q
		}
	}
	return best
}

// cut says how well a text can be cut before a line: at its ends best, then at
// a heading, after a blank line, before one, and elsewhere the less the deeper
// the line is indented.
func cut(text []string, at int) int {
	const class = 100
	if at == 0 || at == len(text) {
		return 6 * class
	}
	line := strings.TrimLeft(text[at], " \t")
	indent := min(len(text[at])-len(line), class-1)
	blank := strings.TrimSpace(line) == ""
	after := strings.TrimSpace(text[at-1]) == ""
	switch {
	case blank && after:
		return 0
	case blank:
		return class
	case line[0] == '#':
		return 4*class - 1 - indent
	case after:
		return 3*class - 1 - indent
	}
	return class - 1 - indent
}
