package board

import (
	"bytes"
	"fmt"
	"slices"

	"deckhand/internal/span"
)

// Reword gives the card that begins on a line other bytes, and moves it to the
// end of the first list of a lane: "" leaves it where it is. The bytes are the
// whole card's, from its marker to its last line's end. They may say anything
// that stays one card: what would add a card or a lane, or change its status
// item, fails with ErrPlace.
func (b *Board) Reword(line int, text []byte, lane string) ([]byte, error) {
	return b.changed(func(b *Board) (*Board, error) {
		c, err := b.cardOn(line)
		if err != nil {
			return nil, err
		}
		ch := change{card: c, text: text, reword: true}
		if !bytes.HasSuffix(text, []byte("\n")) {
			ch.text = slices.Concat(text, []byte(span.EOL(b.Src, c.Span.End)))
		}
		if lane != "" {
			if ch.to, err = b.target(Update{ToLane: lane}); err != nil {
				return nil, err
			}
		}
		if ch.to == b.LaneOf(c) {
			ch.to = nil
		}
		if ch.to == nil && bytes.Equal(ch.text, c.Span.Of(b.Src)) {
			return b, nil
		}
		return b.placed(ch)
	})
}

// TakeOff takes the card that begins on a line off the board.
func (b *Board) TakeOff(line int) ([]byte, error) {
	return b.changed(func(b *Board) (*Board, error) {
		c, err := b.cardOn(line)
		if err != nil {
			return nil, err
		}
		return b.placed(change{card: c, gone: true})
	})
}

// cardOn is the card that begins on a line, in a lane.
func (b *Board) cardOn(line int) (*Card, error) {
	for _, c := range b.All() {
		if c.Line == line {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%s:%d: %w", b.Path, line, ErrGone)
}

func (b *Board) placed(ch change) (*Board, error) {
	if n, ok := b.place(ch); ok {
		return n, nil
	}
	return nil, fmt.Errorf("%s:%d: %w", b.Path, ch.card.Line, ErrPlace)
}

// sameStatus reports whether a card has the status item it had.
func sameStatus(is, was *Status) bool {
	if is == nil || was == nil {
		return is == was
	}
	return is.Head == was.Head && slices.Equal(is.Lines, was.Lines)
}
