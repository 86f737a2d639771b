package chats

import (
	"strings"
	"time"

	"deckhand/internal/markdown"
)

const (
	toolMark = "> [!note]- "
	sentMark = "> sent "
	clock    = "15:04"
)

// part is a run of lines of one kind. The lines of all parts, with the blank
// lines between them, are the body.
type part struct {
	kind       partKind
	role       string // of the section
	start, end int    // text: without the line end that closes it
	crlf       bool   // text: the line before it ends in CR LF, so an editor made them all so
	tool       Tool
	at         time.Time
	boxes      []Box
	field      string
}

type partKind uint8

const (
	heading partKind = iota
	text
	tool
	sent
	boxes
)

// document is a parsed chat.
type document struct {
	src   []byte
	agent string
	body  int // offset
	parts []part
	draft int // index of the heading of the draft, len(parts) where there is none
}

// reader collects parts line by line. Lines that are none of ours gather in a
// zone, which becomes a text when the next part begins.
type reader struct {
	document
	zone int // start of the open zone
	crlf bool
	role string
}

func parse(src []byte) document {
	r := reader{document: document{src: src, agent: headerField(src, "agent")}}
	_, r.body = markdown.CutHeader(src)
	r.zone, r.crlf = r.body, endsCRLF(src[:r.body])
	for pos := r.body; pos < len(src); {
		pos = r.line(pos)
	}
	r.closeZone(len(src), true)
	r.document.draft = r.findDraft()
	return r.document
}

// line takes the line at pos, and those that belong to it, and returns where
// the next one starts.
func (r *reader) line(pos int) int {
	next := nextLine(r.src, pos)
	if strings.IndexByte("#>-", r.src[pos]) < 0 {
		return next
	}
	line := trimEnd(r.src[pos:next])
	p := part{start: pos, end: next, role: r.role}
	if name, ok := r.roleOf(line); ok {
		p.kind, p.role = heading, name
	} else if t, ok := parseTool(line); ok {
		p.kind, p.tool = tool, t
		p.end = r.output(pos, next, &p.tool)
	} else if at, ok := parseSent(line); ok {
		p.kind, p.at = sent, at
	} else if _, ok := parseBox(line); ok {
		p.kind = boxes
		p.end = r.boxes(pos, &p)
	} else {
		return next
	}
	r.closeZone(pos, false)
	r.parts = append(r.parts, p)
	r.zone, r.role, r.crlf = p.end, p.role, endsCRLF(r.src[pos:next])
	return p.end
}

// closeZone makes a text of the zone that ends at end: LF text LF, and one LF
// more when something follows.
func (r *reader) closeZone(end int, last bool) {
	z := r.src[r.zone:end]
	start := r.zone
	if !last {
		z = cutEnd(z, r.crlf)
	}
	if len(z) == 0 {
		return
	}
	if n := leadingEnd(z); n > 0 && r.blankBefore() {
		z, start = z[n:], start+n
	}
	z = cutEnd(z, r.crlf)
	if len(z) == 0 {
		return
	}
	r.parts = append(r.parts, part{kind: text, role: r.role, start: start, end: start + len(z), crlf: r.crlf})
}

// blankBefore reports whether the zone follows something that ends in a blank
// line of ours: everything but an open line below boxes.
func (r *reader) blankBefore() bool {
	return len(r.parts) == 0 || r.parts[len(r.parts)-1].field == ""
}

// output reads the lines of a callout below its first line, which starts at head.
func (r *reader) output(head, pos int, t *Tool) int {
	var lines []string
	crlf := endsCRLF(r.src[head:pos])
	for pos < len(r.src) && r.src[pos] == '>' {
		next := nextLine(r.src, pos)
		line := string(cutEnd(r.src[pos+1:next], crlf))
		lines = append(lines, strings.TrimPrefix(line, " "))
		pos = next
	}
	t.Output = unescapeControls(strings.Join(lines, "\n"))
	return pos
}

// boxes reads consecutive boxes and the open line below them.
func (r *reader) boxes(pos int, p *part) int {
	for pos < len(r.src) {
		next := nextLine(r.src, pos)
		line := trimEnd(r.src[pos:next])
		if b, ok := parseBox(line); ok {
			p.boxes = append(p.boxes, b)
			pos = next
			continue
		}
		for _, field := range []string{"why", "reply"} {
			if mark := "- " + field + ":"; strings.HasPrefix(line, mark) {
				p.field = field
				return pos + len(mark) // what follows is said
			}
		}
		break
	}
	return pos
}

// findDraft finds the last section when it is a person's and holds a send box.
func (r *reader) findDraft() int {
	for i := len(r.parts) - 1; i >= 0; i-- {
		if r.parts[i].kind != heading {
			continue
		}
		if r.parts[i].role == You && sendBox(r.parts[i:]) >= 0 {
			return i
		}
		break
	}
	return len(r.parts)
}

// sendBox is the index of the send box in parts, or -1.
func sendBox(parts []part) int {
	for i, p := range parts {
		if p.kind == boxes && len(p.boxes) == 1 && p.boxes[0].Text == "send" && strings.HasPrefix(p.boxes[0].ID, "s") {
			return i
		}
	}
	return -1
}

// readDraft is what a person wrote into the last section. Nothing of it was
// escaped by us, so nothing is unescaped.
func (d document) readDraft() *Draft {
	parts := d.parts[d.draft:]
	box := parts[sendBox(parts)]
	above := d.src[nextLine(d.src, parts[0].start):box.start]
	below := d.src[box.end:]
	said := strings.TrimSpace(string(above))
	if more := strings.TrimSpace(string(below)); more != "" {
		said = strings.TrimSpace(said + "\n\n" + more)
	}
	said = strings.ReplaceAll(said, "\r\n", "\n")
	return &Draft{Text: said, ID: box.boxes[0].ID, Ticked: box.boxes[0].Ticked}
}

// items are what the parts before end say.
func (d document) items(end int) []Item {
	var items []Item
	for i := 0; i < end; i++ {
		p := d.parts[i]
		item := Item{Role: p.role}
		switch p.kind {
		case heading:
			continue
		case text:
			item.Kind, item.Text = Text, d.text(p)
			if i+1 < end && d.parts[i+1].kind == boxes {
				continue // the question of the ask that follows
			}
		case tool:
			t := p.tool
			item.Kind, item.Tool = ToolUse, &t
		case sent:
			item.Kind, item.Time = Sent, p.at
		case boxes:
			item.Kind, item.Boxes, item.Field = Ask, p.boxes, p.field
			if i > 0 && d.parts[i-1].kind == text {
				item.Text = d.text(d.parts[i-1])
			}
			if p.field != "" && i+1 < end && d.parts[i+1].kind == text {
				i++
				item.Said = strings.TrimSpace(d.text(d.parts[i]))
			}
		}
		items = append(items, item)
	}
	return items
}

// text is what a text part says.
func (d document) text(p part) string {
	s := string(d.src[p.start:p.end])
	if p.crlf {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return unescapeText(s, d.special)
}
