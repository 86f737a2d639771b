package inbox

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"
)

// Update brings a page up to date. Wrote are the lines that deckhand wrote into
// it, see Wrote: those are replaced. Every other line stays, below the line it
// was put under when that is still there, else at the end of its section; a
// section that is over stays as long as such lines stand in it. A box that is
// ticked stays so. The same bytes come back when there is nothing to change.
func Update(cur, wrote []byte, needs []Need, now time.Time) ([]byte, error) {
	if err := check(cur); err != nil {
		return nil, err
	}
	want := NeedsMe(needs, now)
	if len(bytes.TrimSpace(cur)) == 0 {
		return want, nil
	}
	m := merger{ours: linesOf(wrote, want), page: pageOf(needs, now)}
	if i := bytes.IndexByte(cur, '\n'); i > 0 && cur[i-1] == '\r' {
		m.cr = "\r"
	}
	ended := cur
	if cur[len(cur)-1] != '\n' {
		ended = append(slices.Clone(cur), m.cr+"\n"...)
	}
	old := cutSections(ended)
	out := m.merge(old)
	if slices.Equal(filled(out), filled(slices.Concat(old...))) {
		return cur, nil
	}
	text := strings.Join(out, "\n") + "\n"
	if bytes.HasPrefix(cur, []byte("\ufeff")) {
		text = "\ufeff" + text
	}
	return []byte(text), nil
}

// filled are the lines that are not blank. A person who is about to write makes
// room first; that alone is no reason to write the page anew.
func filled(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// Wrote are the lines of a page, as Update left it, that are deckhand's: what
// to hand to the next Update and to ReadNeedsMe. It is kept with the machine's
// state; without it every line that is not wanted now counts as a person's.
func Wrote(page, wrote []byte, needs []Need, now time.Time) []byte {
	set := linesOf(wrote, NeedsMe(needs, now))
	var b bytes.Buffer
	for _, lines := range cutSections(page) {
		for _, line := range lines {
			if set.ours(line) {
				b.WriteString(line + "\n")
			}
		}
	}
	return b.Bytes()
}

// check refuses a page that is not one text.
func check(cur []byte) error {
	if bytes.IndexByte(cur, 0) >= 0 {
		return errors.New("needs me: holds NUL bytes")
	}
	for line := range bytes.Lines(cur) {
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			return errors.New("needs me: holds merge markers")
		}
	}
	return nil
}

// merger puts what a person wrote into a new page.
type merger struct {
	ours lineSet
	page page
	cr   string // before the LF of new lines: what the page's first line has
}

// block are lines of a person and the line of ours they stand under.
type block struct {
	under string
	lines []string
}

func (m merger) merge(cur [][]string) []string {
	out := m.opening(cur[0])
	rest := cur[1:]
	for _, section := range m.page.sections {
		section = slices.Clone(section)
		for i := range section {
			section[i] += m.cr
		}
		var blocks []block
		rest = slices.DeleteFunc(slices.Clone(rest), func(old []string) bool {
			if !m.ours.ours(old[0]) || m.identity(old) != m.identity(section) {
				return false
			}
			section = keepTicks(section, old)
			blocks = append(blocks, m.foreign(old)...)
			return true
		})
		out = append(append(out, m.cr), place(section, blocks)...)
	}
	for _, old := range rest {
		blocks := m.foreign(old)
		if len(blocks) == 0 && m.ours.ours(old[0]) {
			continue
		}
		kept := old[:1]
		if !m.ours.ours(old[0]) {
			kept = nil // the heading is in the first block
		}
		out = append(append(out, m.cr), place(kept, blocks)...)
	}
	return out
}

// opening is the title with what stands around it.
func (m merger) opening(cur []string) []string {
	at := slices.IndexFunc(cur, isTitle)
	above, below := cur[:max(at, 0)], cur[at+1:]
	var out []string
	for _, b := range m.foreign(above) {
		out = append(out, b.lines...)
	}
	if len(out) > 0 {
		out = append(out, m.cr)
	}
	out = append(out, m.page.title+m.cr)
	for _, b := range m.foreign(below) {
		out = append(append(out, m.cr), b.lines...)
	}
	return out
}

// foreign are the lines of a section that a person wrote, with the blank lines
// between them.
func (m merger) foreign(lines []string) []block {
	var blocks []block
	under, open, blanks := "", false, 0
	for _, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
			blanks++
			continue
		case m.ours.ours(line):
			under, open = sameLine(line), false
		case open:
			b := &blocks[len(blocks)-1]
			for range blanks {
				b.lines = append(b.lines, m.cr)
			}
			b.lines = append(b.lines, line)
		default:
			blocks = append(blocks, block{under: under, lines: []string{line}})
			open = true
		}
		blanks = 0
	}
	return blocks
}

// identity is what a section is about, whatever state that is in: its links,
// else its heading.
func (m merger) identity(section []string) string {
	if len(section) > 1 && strings.HasPrefix(section[1], "[") && m.ours.ours(section[1]) {
		links, _, _ := strings.Cut(section[1], " · since ")
		return strings.TrimSpace(links)
	}
	return strings.TrimSpace(section[0])
}

// keepTicks takes over the boxes that a person ticked.
func keepTicks(section, old []string) []string {
	section = slices.Clone(section)
	for i, line := range section {
		if _, ok := parseBox(line); !ok {
			continue
		}
		for _, was := range old {
			if b, ok := parseBox(was); ok && b.Ticked && sameLine(was) == sameLine(line) {
				section[i] = was
			}
		}
	}
	return section
}

// place puts blocks back into a section. Of several that fill an open line the
// last one has it, as it had before.
func place(section []string, blocks []block) []string {
	out := slices.Clone(section)
	for i := range slices.Backward(blocks) {
		out = blocks[i].fill(out)
	}
	for _, b := range blocks {
		if len(b.lines) > 0 {
			out = b.into(out)
		}
	}
	return out
}

// fill puts a block, from the line that fills an open one on, in its place. What
// is before that line is left of the block.
func (b *block) fill(section []string) []string {
	for i, line := range b.lines {
		field, _, ok := parseField(line)
		empty := func(line string) bool { return ok && strings.TrimSpace(line) == "- "+field+":" }
		if at := slices.IndexFunc(section, empty); at >= 0 {
			section = slices.Replace(section, at, at+1, b.lines[i:]...)
			b.lines = b.lines[:i]
			break
		}
	}
	return section
}

// into puts a block into a section: below the line it stood under, or at the end.
func (b block) into(section []string) []string {
	at := slices.IndexFunc(section, func(line string) bool { return b.under != "" && sameLine(line) == b.under })
	if at < 0 {
		return append(section, b.lines...)
	}
	return slices.Insert(section, at+1, b.lines...)
}
