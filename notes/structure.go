package notes

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"deckhand/internal/markdown"
)

// Flaw is something in a note's structure that most readers will show in
// another way than it was meant.
type Flaw struct {
	Line int    // 1-based, of the file
	Text string // for people
	Key  string // says the same of the same words wherever they stand
}

// Structure lists the flaws of a note, in one pass: tables whose rows have
// another number of cells than the header, fences that nobody closed, headings
// without text or more than one level below the one before, and links to notes
// that are not there, which missing tells.
func Structure(src []byte, missing func(Link) bool) []Flaw {
	_, body := markdown.CutHeader(src)
	s := scanner{src: src, body: body, no: bytes.Count(src[:body], []byte("\n"))}
	k := linker{src: src}
	c := checker{src: src}
	for l := range markdown.Lines(src, body) {
		k.text(s.line(l))
		c.line(l, s.no)
	}
	k.text(s.para)
	c.fenceEnds()
	c.headings(s.out.Headings)
	c.links(k.sorted(), missing)
	return c.flaws
}

// checker gathers flaws.
type checker struct {
	src   []byte
	flaws []Flaw

	fence int    // line on which the open fence began; 0: none
	info  string // that line

	above []byte // the line before, of the same paragraph
	width int    // cells of the open table; 0: none
}

func (c *checker) add(line int, kind, words, text string) {
	c.flaws = append(c.flaws, Flaw{Line: line, Text: text, Key: kind + ": " + words})
}

func (c *checker) line(l markdown.Line, no int) {
	if l.Kind != markdown.Fence || l.First {
		c.fenceEnds()
	}
	switch l.Kind {
	case markdown.Fence:
		if l.First {
			c.fence, c.info = no, string(c.src[l.Text:l.End])
		}
		if l.Last {
			c.fence = 0
		}
	case markdown.Text:
		if l.First {
			c.above, c.width = nil, 0
		}
		row := c.src[l.Text:l.End]
		c.row(row, no)
		c.above = row
		return
	}
	c.above, c.width = nil, 0
}

// fenceEnds notes a fence that ends without having been closed.
func (c *checker) fenceEnds() {
	if c.fence > 0 {
		c.add(c.fence, "fence", c.info, fmt.Sprintf("the code block %q is not closed", c.info))
	}
	c.fence = 0
}

// row reads a line of a paragraph, which may be one of a table.
func (c *checker) row(row []byte, no int) {
	switch {
	case c.width > 0:
		if n := cells(row); n != c.width {
			c.add(no, "table", string(row), fmt.Sprintf("a table row has %d instead of %d cells", n, c.width))
		}
	case bytes.IndexByte(c.above, '|') >= 0 && divides(row):
		c.width = cells(c.above)
		if n := cells(row); n != c.width {
			c.add(no, "table", string(c.above)+"\n"+string(row), fmt.Sprintf("the line below a table's header has %d instead of %d cells", n, c.width))
			c.width = 0
		}
	}
}

// cells counts the cells of a table row: a "|" parts two of them, but not one
// behind a backslash nor those at the ends of the row.
func cells(row []byte) int {
	row = bytes.TrimSpace(row)
	n := 1
	for i := 0; i < len(row); i++ {
		switch row[i] {
		case '\\':
			i++
		case '|':
			if i > 0 && i < len(row)-1 {
				n++
			}
		}
	}
	return n
}

// divides reports whether a line is the one below a table's header.
func divides(row []byte) bool {
	row = bytes.TrimSpace(row)
	if bytes.IndexByte(row, '|') < 0 || len(bytes.TrimLeft(row, "|:- \t")) > 0 {
		return false
	}
	row = bytes.TrimSuffix(bytes.TrimPrefix(row, []byte("|")), []byte("|"))
	for cell := range bytes.SplitSeq(row, []byte("|")) {
		cell = bytes.TrimSpace(cell)
		cell = bytes.TrimSuffix(bytes.TrimPrefix(cell, []byte(":")), []byte(":"))
		if len(cell) == 0 || len(bytes.Trim(cell, "-")) > 0 {
			return false
		}
	}
	return true
}

func (c *checker) headings(list []Heading) {
	before := 0
	for _, h := range list {
		marks := strings.Repeat("#", h.Level)
		switch {
		case strings.TrimSpace(h.Text) == "":
			c.add(h.Line, "empty heading", marks, "a heading has no text")
		case before > 0 && h.Level > before+1:
			c.add(h.Line, "heading level", strings.Repeat("#", before)+" "+marks+" "+h.Text,
				fmt.Sprintf("the heading %q skips a level: %d after %d", h.Text, h.Level, before))
		}
		before = h.Level
	}
}

func (c *checker) links(list []Link, missing func(Link) bool) {
	line, at := 1, 0
	for _, l := range list {
		if !missing(l) {
			continue
		}
		line += bytes.Count(c.src[at:l.Span.Start], []byte("\n"))
		at = l.Span.Start
		c.add(line, "link", l.Target, fmt.Sprintf("there is no note %q", l.Target))
	}
}

// Missing reports whether a link in the file from leads to a note that is not
// there. Links to files of other kinds are not looked at, nor those that lead
// out of the work folder.
func (ix *Index) Missing(from string, l Link) bool {
	return l.toNote() && ix.Find(from, l).Problem == NotFound
}

// toNote reports whether a link means a note. In a wikilink the extension may
// be left out, and what is behind the last dot of "v1.2" is none.
func (l Link) toNote() bool {
	ext := path.Ext(l.Target)
	switch {
	case l.Target == "", strings.HasSuffix(l.Target, "/"):
		return false
	case strings.EqualFold(ext, ".md"), strings.EqualFold(ext, ".markdown"):
		return true
	}
	return l.wiki() && (len(ext) < 2 || len(ext) > 6 || !strings.ContainsFunc(ext, func(r rune) bool { return r < 0x80 && isLetter(byte(r)) }) || strings.ContainsAny(ext, " _-"))
}
