package change

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"deckhand/notes"
)

// folded is a text as an agent sees it, with LF at the end of every line, and
// where each byte of it stands in the file.
type folded struct {
	src  string // the file
	text string
	crs  []int // offsets in text of the line ends that lost a CR
}

func fold(src string) folded {
	f := folded{src: src, text: src}
	if !strings.Contains(src, "\r\n") {
		return f
	}
	var b strings.Builder
	b.Grow(len(src))
	for rest := src; ; {
		line, more, found := strings.Cut(rest, "\r\n")
		b.WriteString(line)
		if !found {
			break
		}
		f.crs = append(f.crs, b.Len())
		b.WriteByte('\n')
		rest = more
	}
	f.text = b.String()
	return f
}

// at is where the byte at offset i of the text stands in the file.
func (f folded) at(i int) int { return i + sort.SearchInts(f.crs, i) }

// eol is how the line at offset i of the text ends, or lines near it do: the
// line before it, else the next one that ends at all.
func (f folded) eol(i int) string {
	end := strings.LastIndexByte(f.text[:i], '\n')
	if end < 0 {
		end = strings.IndexByte(f.text, '\n')
	}
	if k := sort.SearchInts(f.crs, end); end >= 0 && k < len(f.crs) && f.crs[k] == end {
		return "\r\n"
	}
	return "\n"
}

// maxPlaces bounds how often a text is looked for that should be there once.
const maxPlaces = 100

// places lists where old stands in the text, overlaps too, but no more than
// maxPlaces.
func (f folded) places(old string) []int {
	var found []int
	for from := 0; len(found) < maxPlaces; {
		i := strings.Index(f.text[from:], old)
		if i < 0 {
			break
		}
		found = append(found, from+i)
		_, n := utf8.DecodeRuneInString(f.text[from+i:])
		from += i + n
	}
	return found
}

// line is the 1-based number of the line at offset i.
func (f folded) line(i int) int { return 1 + strings.Count(f.text[:i], "\n") }

func foldLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// editOnce replaces old, which has to stand in src exactly once. The first line
// of src is the file's line with that number.
func editOnce(src, old, text string, first int) (string, error) {
	if old == "" {
		return "", errors.New("the old text is empty; copy the lines to change, or insert")
	}
	f := fold(src)
	old, text = foldLines(old), foldLines(text)
	places := f.places(old)
	switch len(places) {
	case 0:
		return "", errors.New("the old text is not there; read the file first and copy the lines exactly, without line numbers")
	case 1:
		var b strings.Builder
		at := f.splice(&b, 0, places[0], old, text)
		b.WriteString(src[at:])
		return b.String(), nil
	}
	times := fmt.Sprint(len(places))
	if len(places) == maxPlaces {
		times += " or more"
	}
	return "", fmt.Errorf("the old text is there %s times (%s); add surrounding lines so that it is there once", times, f.lines(places, first))
}

// lines names the first few lines of places.
func (f folded) lines(places []int, first int) string {
	const most = 5
	var out []string
	for _, p := range places[:min(most, len(places))] {
		out = append(out, fmt.Sprint(first-1+f.line(p)))
	}
	if len(places) > most {
		out = append(out, "…")
	}
	return "lines " + strings.Join(out, ", ")
}

// replaceAll replaces old wherever it stands in src.
func replaceAll(src, old, text string) (string, error) {
	if old == "" {
		return "", errors.New("the old text is empty")
	}
	f := fold(src)
	old, text = foldLines(old), foldLines(text)
	var b strings.Builder
	at, next := 0, 0
	for {
		i := strings.Index(f.text[next:], old)
		if i < 0 {
			break
		}
		at, next = f.splice(&b, at, next+i, old, text), next+i+len(old)
	}
	if next == 0 {
		return "", errors.New("the old text is not there; read the file first and copy it exactly")
	}
	b.WriteString(src[at:])
	return b.String(), nil
}

// splice writes the file's bytes from at on up to the place p, and there text
// for old, and returns where the file goes on. Lines that old and text share
// keep their bytes; a line in place of another ends like it.
func (f folded) splice(b *strings.Builder, at, p int, old, text string) int {
	b.WriteString(f.src[at:f.at(p)])
	if !strings.Contains(old, "\n") && !strings.Contains(text, "\n") {
		b.WriteString(text)
		return f.at(p + len(old))
	}
	was, is := splitLines(old), splitLines(text)
	start := p
	for _, e := range runsOf(was, is) {
		for i := range max(len(e.old), len(e.new)) {
			var line string
			end := start
			if i < len(e.old) {
				end += len(e.old[i])
			}
			if i < len(e.new) {
				line = e.new[i]
			}
			had := f.src[f.at(start):f.at(end)]
			switch body, ends := strings.CutSuffix(line, "\n"); {
			case e.same:
				b.WriteString(had)
			case ends:
				b.WriteString(body + cmp.Or(ending(had), f.eol(start)))
			default:
				b.WriteString(line)
			}
			start = end
		}
	}
	return f.at(p + len(old))
}

// ending is how a line ends: "\n", "\r\n" or not at all.
func ending(line string) string {
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return "\r\n"
	case strings.HasSuffix(line, "\n"):
		return "\n"
	}
	return ""
}

// insert puts lines into a text.
func insert(src string, a Action) (string, error) {
	text := strings.TrimSuffix(foldLines(a.Text), "\n")
	if a.Text == "" {
		return "", errors.New("the text to insert is empty")
	}
	f := fold(src)
	at, err := f.spot(a)
	if err != nil {
		return "", err
	}
	eol := f.eol(at)
	lines := strings.ReplaceAll(text, "\n", eol) + eol
	if a.Heading != "" {
		lines = f.spaced(at, lines, eol)
	}
	if at > 0 && f.text[at-1] != '\n' && !f.onlyBOM(at) {
		// the file's last line has no end, and keeps that habit
		lines = eol + strings.TrimSuffix(lines, eol)
	}
	i := f.at(at)
	return src[:i] + lines + src[i:], nil
}

const bom = "\ufeff"

func (f folded) onlyBOM(at int) bool { return f.text[:at] == bom }

// spot is the offset in the text at which the lines of an action go.
func (f folded) spot(a Action) (int, error) {
	if (a.Line == 0) == (a.Heading == "") {
		return 0, errors.New("say where to insert: a line or a heading")
	}
	if a.Heading != "" {
		return f.below(a.Heading)
	}
	lines := splitLines(f.text)
	if a.Line < 1 || a.Line > len(lines)+1 {
		return 0, fmt.Errorf("there is no line %d: the file has %d", a.Line, len(lines))
	}
	at := 0
	for _, l := range lines[:a.Line-1] {
		at += len(l)
	}
	if at == 0 && strings.HasPrefix(f.text, bom) {
		at = len(bom)
	}
	return at, nil
}

// below is the offset below a heading, and below one blank line after it.
func (f folded) below(heading string) (int, error) {
	want := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(heading), "#"))
	var found []notes.Heading
	for _, h := range notes.Scan([]byte(f.text)).Headings {
		if strings.TrimSpace(h.Text) == want {
			found = append(found, h)
		}
	}
	switch len(found) {
	case 0:
		return 0, fmt.Errorf("there is no heading %q; read the file first", want)
	case 1:
	default:
		return 0, fmt.Errorf("the heading %q is there %d times (lines %d, %d); insert at a line", want, len(found), found[0].Line, found[1].Line)
	}
	at := found[0].Span.End
	if line, _, ok := strings.Cut(f.text[at:], "\n"); ok && strings.TrimSpace(line) == "" {
		at += len(line) + 1
	}
	return at, nil
}

// spaced parts lines that go below a heading from the paragraph after them: by
// a blank line, unless both are items of a list.
func (f folded) spaced(at int, lines, eol string) string {
	next, _, _ := strings.Cut(f.text[at:], "\n")
	last := lines[strings.LastIndex(strings.TrimSuffix(lines, eol), eol)+1:]
	if strings.TrimSpace(next) == "" || listLike(next) && listLike(strings.TrimLeft(last, "\r\n")) {
		return lines
	}
	return lines + eol
}

func listLike(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return line != "" && strings.IndexByte("-*+", line[0]) >= 0 && len(line) > 1 && line[1] == ' '
}

// splitLines parts a text into its lines, each with its end; the last may have
// none. Nothing has no lines.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := make([]string, 0, strings.Count(s, "\n")+1)
	for line := range strings.SplitAfterSeq(s, "\n") {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
