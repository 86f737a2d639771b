package board

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"deckhand/internal/span"
)

// AddCard adds an open card at the end of the first ready lane's first list,
// with that list's marker. Further lines of text go below the card.
func (b *Board) AddCard(text string) ([]byte, error) { return b.AddCardTo("", text) }

// AddCardTo is AddCard to the lane with this name; "" is the first ready lane.
func (b *Board) AddCardTo(lane, text string) ([]byte, error) {
	return b.changed(func(b *Board) (*Board, error) {
		to, err := b.target(Update{To: Ready, ToLane: lane})
		if err != nil {
			return nil, err
		}
		return b.addCard(to, text)
	})
}

// changed are the board's bytes after an operation.
func (b *Board) changed(op func(*Board) (*Board, error)) ([]byte, error) {
	if b.Inactive != "" {
		return nil, fmt.Errorf("%s: %w: %s", b.Path, ErrInactive, b.Inactive)
	}
	n, err := b.withLastLine(op)
	if err != nil {
		return nil, err
	}
	return n.Src, nil
}

func (b *Board) addCard(to *Lane, text string) (*Board, error) {
	if text = strings.TrimSpace(strings.Map(cardRune, text)); text == "" {
		return nil, fmt.Errorf("%s: a card needs a text", b.Path)
	}
	marker, indent := []byte("-"), ""
	at := b.emptySpot(to)
	if last := b.lastItem(to); last != nil {
		marker, at = b.nextMarker(last), last.span.End
		indent = leading(string(last.span.Of(b.Src)))
	}
	first, rest, _ := strings.Cut(text, "\n")
	first = strings.TrimSpace(first)
	eol := span.EOL(b.Src, at)
	card := indent + string(marker) + " [ ] " + first + eol
	below := indent + strings.Repeat(" ", len(marker)+1)
	if unit := b.unit(); columns(unit) >= columns(below) {
		below = unit
	}
	for line := range strings.SplitSeq(rest, "\n") {
		if line = strings.TrimRight(line, " \t"); line != "" {
			card += below + line + eol
		}
	}
	if n, ok := b.place(change{text: []byte(card), to: to}); ok {
		return n, nil
	}
	return nil, fmt.Errorf("%s: %w", b.Path, ErrPlace)
}

// cardRune drops control characters from a text that becomes a card.
func cardRune(r rune) rune {
	if r == '\n' || r == '\t' || r >= ' ' && r != 0x7f {
		return r
	}
	return -1
}

// AddLanes adds the working and review lanes that the board lacks: behind the
// ready lanes, and behind the working lane. Obsidian Kanban folds lanes by
// their position, so its list-collapse entries move along.
func (b *Board) AddLanes() ([]byte, error) { return b.changed((*Board).addLanes) }

func (b *Board) addLanes() (*Board, error) {
	for _, r := range b.Missing() {
		out, err := b.addLane(r)
		if err != nil {
			return nil, err
		}
		n := Parse(b.Path, out, b.options)
		if got := n.Lane(r); got == nil || len(n.Lanes) != len(b.Lanes)+1 {
			return nil, fmt.Errorf("%s: the lane %q cannot be added", b.Path, b.written[r])
		}
		b = n
	}
	return b, nil
}

// addLane adds one lane by splices.
func (b *Board) addLane(r Role) ([]byte, error) {
	index := len(b.Lanes)
	for i := range b.Lanes {
		if role := b.Lanes[i].Role; role == Ready || r == Review && role == Working {
			index = i + 1
		}
	}
	after := "\n"
	if b.Kanban {
		after = "\n\n\n" // as Obsidian Kanban writes an empty lane
	}
	text := "## " + b.written[r] + "\n" + after
	at := b.laneSpot(index)
	if before := b.Src[:at]; len(before) > 0 && !bytes.HasSuffix(bytes.ReplaceAll(before, []byte("\r"), nil), []byte("\n\n")) {
		text = "\n" + text
	}
	if at == len(b.Src) {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	if eol := span.EOL(b.Src, at); eol != "\n" {
		text = strings.ReplaceAll(text, "\n", eol)
	}
	edits := []span.Edit{span.Insert(at, []byte(text))}
	if e, ok := b.unfolded(index); ok {
		edits = append(edits, e)
	}
	return span.Apply(b.Src, edits...)
}

// laneSpot is where the lane with this index begins or would begin.
func (b *Board) laneSpot(index int) int {
	switch {
	case index < len(b.Lanes):
		return b.Lanes[index].Head.Start
	case index > 0:
		return b.Lanes[index-1].Body.End
	}
	return b.footer
}

// listCollapse finds the positional setting in the footer's JSON.
var listCollapse = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"list-collapse"\s*:\s*\[([^\[\]]*)\]`) })

// unfolded puts an entry for a lane at index into list-collapse of the last
// settings footer, the one that Obsidian Kanban reads.
func (b *Board) unfolded(index int) (span.Edit, bool) {
	footer := b.Src[b.footer:]
	all := listCollapse().FindAllSubmatchIndex(footer, -1)
	if !b.Kanban || len(all) == 0 {
		return span.Edit{}, false
	}
	m := all[len(all)-1]
	from, to := b.footer+m[2], b.footer+m[3]
	if len(bytes.TrimSpace(b.Src[from:to])) == 0 {
		return span.Edit{}, false
	}
	entries := bytes.Split(b.Src[from:to], []byte(","))
	switch {
	case index < len(entries):
		at := from
		for _, e := range entries[:index] {
			at += len(e) + 1
		}
		return span.Insert(at, []byte("false,")), true
	case index == len(entries):
		return span.Insert(to, []byte(",false")), true
	}
	return span.Edit{}, false
}
