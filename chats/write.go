package chats

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"deckhand/internal/span"
)

// ErrNoDraft is returned when a chat does not end in the send box meant.
var ErrNoDraft = errors.New("the chat has no such send box")

// New is a chat with these properties and items.
func New(p Props, items []Item) []byte {
	d := parse(header(p))
	return append(d.src, d.render(d.lastOf(len(d.parts)), items)...)
}

// Append adds items at the end, or before the draft at the end. It touches
// nothing else. A chat that is not there is refused: it would have no header.
func Append(cur []byte, items []Item) ([]byte, error) {
	d := parse(cur)
	if err := d.check(); err != nil {
		return nil, err
	}
	return d.insert(items)
}

// check refuses what cannot be a chat of ours.
func (d document) check() error {
	if len(bytes.TrimSpace(d.src)) == 0 {
		return errors.New("the chat is empty")
	}
	if bytes.IndexByte(d.src, 0) >= 0 {
		return errors.New("the chat holds NUL bytes")
	}
	return nil
}

// insert adds items before the draft.
func (d document) insert(items []Item) ([]byte, error) {
	at := len(d.src)
	if d.draft < len(d.parts) {
		at = blankBefore(d.src, d.parts[d.draft].start)
	}
	add := d.render(d.lastOf(d.draft), items)
	if len(add) == 0 {
		return d.src, nil
	}
	if at > 0 && d.src[at-1] != '\n' {
		add = append([]byte("\n"), add...)
	}
	if at < len(d.src) && leadingEnd(d.src[at:]) == 0 {
		add = append(add, '\n')
	}
	return span.Apply(d.src, span.Insert(at, add))
}

// blankBefore is the start of the blank line that ends at pos, else pos.
func blankBefore(src []byte, pos int) int {
	for _, blank := range []string{"\r\n", "\n"} {
		if at := pos - len(blank); at > 0 && string(src[at:pos]) == blank && src[at-1] == '\n' {
			return at
		}
	}
	return pos
}

// cursor is what the next block follows.
type cursor struct {
	role string
	open bool // only a heading tells where the block before ends
}

// lastOf is the cursor after the parts before end.
func (d document) lastOf(end int) cursor {
	if end == 0 {
		return cursor{}
	}
	p := d.parts[end-1]
	return cursor{role: p.role, open: p.kind == text || p.field != ""}
}

// render writes items as they follow c, each block after a blank line.
func (d document) render(c cursor, items []Item) []byte {
	var b bytes.Buffer
	for _, item := range items {
		block, kind := d.block(item)
		if block == "" {
			continue
		}
		role := d.role(item.Role)
		starts := kind == Text || kind == Ask && item.Text != ""
		if role != c.role || c.open && starts {
			fmt.Fprintf(&b, "\n## %s\n", role)
		}
		b.WriteString("\n")
		b.WriteString(block)
		c = cursor{role: role, open: kind == Text || kind == Ask && item.Field != ""}
	}
	return b.Bytes()
}

// role is the heading an item stands under.
func (d document) role(name string) string {
	switch {
	case name == You || name == Assistant:
		return name
	case d.agent != "":
		return d.agent
	}
	return Assistant
}

// block writes one item, with the kind it is read back as.
func (d document) block(item Item) (block, kind string) {
	switch {
	case item.Kind == ToolUse && item.Tool != nil:
		return item.Tool.head() + item.Tool.output(), ToolUse
	case item.Kind == Sent:
		return sentMark + item.Time.Format(clock) + "\n", Sent
	case item.Kind == Ask && len(item.Boxes) > 0:
		return d.ask(item), Ask
	case item.Text != "":
		return escapeText(item.Text, d.special) + "\n", Text
	}
	return "", ""
}

func (d document) ask(item Item) string {
	var b strings.Builder
	if item.Text != "" {
		fmt.Fprintf(&b, "%s\n\n", escapeText(item.Text, d.special))
	}
	for _, box := range item.Boxes {
		mark := " "
		if box.Ticked {
			mark = "x"
		}
		fmt.Fprintf(&b, "- [%s] %s ^%s\n", mark, escapeControls(box.Text, oneLine), box.ID)
	}
	if item.Field != "" {
		fmt.Fprintf(&b, "- %s:\n", item.Field)
	}
	return b.String()
}

// head is the first line of a tool.
func (t Tool) head() string {
	name := strings.TrimSpace(strings.ReplaceAll(escapeControls(t.Name, oneLine), "·", "-"))
	if name == "" {
		name = "tool"
	}
	parts := []string{name}
	if t.Title != "" {
		parts = append(parts, code(escapeControls(cut(t.Title, 200), oneLine)))
	}
	switch {
	case t.State == OK || t.State == Failed:
		parts = append(parts, t.State, duration(t.Millis))
	case t.Since.IsZero():
		parts = append(parts, Running)
	default:
		parts = append(parts, Running, "since "+t.Since.Format(clock))
	}
	return toolMark + strings.Join(parts, " · ") + "\n"
}

// output are the lines below the first: none while the tool runs, so that its
// end state can be put in place without removing a line.
func (t Tool) output() string {
	if t.Output == "" || t.State != OK && t.State != Failed {
		return ""
	}
	var b strings.Builder
	for line := range strings.SplitSeq(escapeControls(t.Output, ""), "\n") {
		b.WriteString(">")
		if line != "" {
			b.WriteString(" " + line)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// duration shows milliseconds as people read them.
func duration(ms int64) string {
	switch d := time.Duration(max(ms, 0)) * time.Millisecond; {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%d.%d s", d.Milliseconds()/1000, d.Milliseconds()%1000/100)
	default:
		return d.Truncate(time.Second).String()
	}
}

// code is a code span that shows s.
func code(s string) string {
	run, longest := 0, 0
	for i := range len(s) {
		run++
		if s[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if strings.ContainsAny(s[:1]+s[len(s)-1:], "` ") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// cut is s with at most n characters.
func cut(s string, n int) string {
	count := 0
	for i := range s {
		if count++; count == n && utf8.RuneCountInString(s[i:]) > 1 {
			return s[:i] + "…"
		}
	}
	return s
}

// Ends reports whether the chat ends in these items: after a crash between the
// write and the log of it they are not to be added again. What a person wrote
// below the last of them does not count.
func Ends(cur []byte, items []Item) bool {
	d := parse(cur)
	want := d.asRead(items)
	have := d.items(d.draft)
	if len(want) > len(have) {
		return false
	}
	have = have[len(have)-len(want):]
	for i, w := range want {
		if h := have[i]; !same(h, w, i == len(want)-1) {
			return false
		}
	}
	return true
}

// asRead is what items are read back as.
func (d document) asRead(items []Item) []Item {
	written := parse(append(header(Props{Agent: d.agent}), d.render(cursor{}, items)...))
	return written.items(len(written.parts))
}

// same compares an item of a chat with one of ours. Trailing blanks, which
// editors take off, boxes that were ticked and what was said do not count.
func same(have, want Item, last bool) bool {
	h, w := trimEnds(have.Text), trimEnds(want.Text)
	if h != w && !(last && want.Kind == Text && strings.HasPrefix(h, w+"\n")) {
		return false
	}
	have.Text, want.Text = "", ""
	have.Said, want.Said = "", ""
	have.Boxes, want.Boxes = unticked(have.Boxes), unticked(want.Boxes)
	return reflect.DeepEqual(have, want)
}

func unticked(boxes []Box) []Box {
	var out []Box
	for _, b := range boxes {
		b.Ticked = false
		out = append(out, b)
	}
	return out
}

// Extend makes the last text of the chat, which is old so far, whole:
// an agent's answer is written while it comes. Done twice it changes nothing.
// Where a person wrote below old, what whole adds to it becomes a text of its own.
func Extend(cur []byte, role, old, whole string) ([]byte, error) {
	d := parse(cur)
	if err := d.check(); err != nil {
		return nil, err
	}
	more, ok := strings.CutPrefix(whole, old)
	if !ok {
		return nil, errors.New("the text does not begin with what was written of it")
	}
	have, p := "", part{}
	if last := d.draft - 1; last >= 0 && d.parts[last].kind == text && d.parts[last].role == d.role(role) {
		p, have = d.parts[last], d.text(d.parts[last])
	}
	switch {
	case more == "" || have == whole || strings.HasPrefix(have, whole+"\n"):
		return cur, nil
	case old != "" && trimEnds(have) == trimEnds(old):
		return span.Apply(cur, span.Edit{Span: span.Span{Start: p.start, End: p.end}, Text: []byte(escapeText(whole, d.special))})
	case old != "" && have == more:
		return cur, nil
	}
	return d.insert([]Item{{Role: role, Kind: Text, Text: more}})
}

// trimEnds takes off what editors take off.
func trimEnds(s string) string { return strings.TrimRight(s, " \t\r\n") }

// SetTool replaces a running tool among the last ones by its end state. It
// reports false, and changes nothing, where no such tool stands: the caller
// appends it then.
func SetTool(cur []byte, t Tool) ([]byte, bool) {
	d := parse(cur)
	for i := d.draft - 1; i >= 0 && d.parts[i].kind == tool; i-- {
		p := d.parts[i]
		running := t
		running.State = Running
		have, _ := parseTool(strings.TrimSuffix(running.head(), "\n"))
		if p.tool.State != Running || p.tool.Name != have.Name || p.tool.Title != have.Title {
			continue
		}
		head := span.Span{Start: p.start, End: nextLine(cur, p.start)}
		out, err := span.Apply(cur, span.Edit{Span: head, Text: []byte(t.head() + t.output())})
		return out, err == nil
	}
	return cur, false
}

// Offer ends the chat in a draft with a send box. A chat that ends in one is
// left as it is.
func Offer(cur []byte, id string) ([]byte, error) {
	d := parse(cur)
	if err := d.check(); err != nil {
		return nil, err
	}
	if d.draft < len(d.parts) {
		return cur, nil
	}
	add := "\n## " + You + "\n\n- [ ] send ^" + id + "\n"
	if cur[len(cur)-1] != '\n' {
		add = "\n" + add
	}
	return span.Apply(cur, span.Insert(len(cur), []byte(add)))
}

// MarkSent replaces the send box by the time at which the draft was sent.
func MarkSent(cur []byte, id string, at time.Time) ([]byte, error) {
	box, _, err := findSend(cur, id)
	if err != nil {
		return nil, err
	}
	return span.Apply(cur, span.Edit{Span: box, Text: []byte(sentMark + at.Format(clock) + "\n")})
}

// Withdraw removes the send box, and the heading above it when nothing was
// written there.
func Withdraw(cur []byte, id string) ([]byte, error) {
	box, d, err := findSend(cur, id)
	if err != nil {
		return nil, err
	}
	if d.readDraft().Text == "" {
		box.Start = blankBefore(cur, d.parts[d.draft].start)
		box.End = len(cur)
	}
	return span.Apply(cur, span.Delete(box))
}

// findSend is the line of the send box with this id.
func findSend(cur []byte, id string) (span.Span, document, error) {
	d := parse(cur)
	if d.draft == len(d.parts) || d.readDraft().ID != id {
		return span.Span{}, d, fmt.Errorf("%w: ^%s", ErrNoDraft, id)
	}
	draft := d.parts[d.draft:]
	p := draft[sendBox(draft)]
	return span.Span{Start: p.start, End: nextLine(cur, p.start)}, d, nil
}
