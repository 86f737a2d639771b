package inbox

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// boxLine is an item with a box, and not one in the indented block of a command;
// boxID the id at the end of one of ours, before or behind what the Tasks plugin
// and Dataview append to a ticked line.
var (
	boxLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}[-*+] \[(.)\] (.*)$`) })
	boxID   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.*?)( [✅❌] \d{4}-\d{2}-\d{2})? \^([A-Za-z0-9-]+)( +[✅❌].*| +[\[(]completion::.*)?$`)
	})
)

// parseBox reads a box of ours.
func parseBox(line string) (Box, bool) {
	if !strings.Contains(line, "] ") || !strings.Contains(line, " ^") {
		return Box{}, false // most lines of a page: not worth an expression
	}
	m := boxLine().FindStringSubmatch(strings.TrimRight(line, " \t\r"))
	if m == nil {
		return Box{}, false
	}
	id := boxID().FindStringSubmatch(m[2])
	if id == nil {
		return Box{}, false
	}
	return Box{Text: id[1], ID: id[3], Ticked: m[1] == "x" || m[1] == "X"}, true
}

// parseField reads an open line.
func parseField(line string) (field, rest string, ok bool) {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
		return "", "", false
	}
	for _, field := range []string{"why", "reply"} {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "- "+field+":"); ok {
			return field, strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}

// sameLine is what two states of a line have in common: indentation, trailing
// blanks, the state of a box and what other tools append do not count.
func sameLine(line string) string {
	if b, ok := parseBox(line); ok {
		return "- [ ] " + b.Text + " ^" + b.ID
	}
	return strings.TrimSpace(line)
}

func isTitle(line string) bool {
	line = strings.TrimSpace(line)
	n, ok := strings.CutPrefix(line, counted)
	return line == nothing || ok && strings.Trim(n, "0123456789") == ""
}

// lineSet is what deckhand wrote, as sameLine has it.
type lineSet map[string]bool

func linesOf(texts ...[]byte) lineSet {
	set := lineSet{}
	for _, text := range texts {
		for line := range strings.SplitSeq(string(text), "\n") {
			set[sameLine(line)] = true
		}
	}
	return set
}

// ours reports whether a line is deckhand's. Blank lines are anybody's.
func (s lineSet) ours(line string) bool {
	return strings.TrimSpace(line) == "" || isTitle(line) || s[sameLine(line)]
}

// cutSections parts a page at its headings. The first part has none. Lines keep
// their CR.
func cutSections(src []byte) [][]string {
	parts := [][]string{nil}
	text := strings.TrimPrefix(string(src), "\ufeff")
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, "## ") {
			parts = append(parts, nil)
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], line)
	}
	return parts
}

// ReadNeedsMe reads what a person made of the page. Wrote are the lines that
// deckhand wrote, see Wrote; a line that is not among them is the person's.
func ReadNeedsMe(src, wrote []byte) []Section {
	set := linesOf(wrote)
	var sections []Section
	for i, lines := range cutSections(src) {
		s := Section{}
		if i > 0 {
			s.Title, s.Ours = strings.TrimSpace(lines[0][len("## "):]), set.ours(lines[0])
			lines = lines[1:]
		}
		s.read(lines, set)
		if i > 0 || len(s.Foreign) > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

func (s *Section) read(lines []string, set lineSet) {
	var text []string
	for _, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		ours := set.ours(line)
		if !ours {
			s.Foreign = append(s.Foreign, line)
		}
		b, isBox := parseBox(line)
		field, rest, isField := parseField(line)
		blank := strings.TrimSpace(line) == ""
		switch {
		case isBox && ours:
			s.Boxes = append(s.Boxes, b)
		case isField && s.Field == "":
			s.Field, text = field, append(text, rest)
			s.take(line, !ours)
		case s.Field != "" && (!ours || blank):
			text = append(text, strings.TrimRight(line, " \t"))
			s.take(line, !ours)
		case ours && !blank && !isTitle(line):
			s.Lines = append(s.Lines, strings.TrimSpace(line))
		}
	}
	s.Said = strings.TrimSpace(strings.Join(text, "\n"))
}

func (s *Section) take(line string, foreign bool) {
	if foreign {
		s.Taken = append(s.Taken, line)
	}
}

// Stands reports whether the section still says what this need says: all that is
// asked, as it was asked.
func (n Need) Stands(s Section) bool {
	for _, line := range append(said(n.Text), code(n.Code)...) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(s.Lines, line) {
			return false
		}
	}
	return true
}
