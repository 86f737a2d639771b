package change

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"deckhand/board"
)

// onBoard is a board's text after an action on its cards.
func (f Folder) onBoard(file, text string, a Action) (string, error) {
	if !f.isBoard(file, text) {
		return "", errors.New("this is no board: edit its text")
	}
	b := board.Parse(file, []byte(text), f.options(file))
	out, err := act(b, a)
	if err != nil {
		return "", explain(b, a, err)
	}
	return string(out), nil
}

func act(b *board.Board, a Action) ([]byte, error) {
	if a.Do == AddCard {
		return b.AddCardTo(a.Lane, foldLines(a.Text))
	}
	c, err := cardOf(b, a.Card)
	if err != nil {
		return nil, err
	}
	raw := string(c.Span.Of(b.Src))
	switch a.Do {
	case MoveCard:
		if a.Lane == "" {
			return nil, errors.New("say the lane to move the card to")
		}
		return b.Reword(c.Line, []byte(raw), a.Lane)
	case EditCard:
		text, err := editOnce(raw, a.Old, a.New, c.Line)
		if err != nil {
			return nil, err
		}
		return b.Reword(c.Line, []byte(text), "")
	case TickCard:
		return b.Reword(c.Line, []byte(boxed(raw, c, "x")), "")
	case UntickCard:
		return b.Reword(c.Line, []byte(boxed(raw, c, " ")), "")
	}
	return b.TakeOff(c.Line)
}

// boxed is a card's bytes with another box. Before the box stands its marker,
// which holds no bracket.
func boxed(raw string, c *board.Card, box string) string {
	at := strings.IndexByte(raw, '[') + 1
	return raw[:at] + box + raw[at+len(c.Box):]
}

// cardOf is the card in a lane that an agent means: the one that reads so, else
// the only one that holds these words.
func cardOf(b *board.Board, text string) (*board.Card, error) {
	text = strings.TrimSpace(text)
	if len(text) > 6 && strings.HasPrefix(text, "- [") && text[4:6] == "] " {
		text = strings.TrimSpace(text[6:])
	}
	if text == "" {
		return nil, errors.New("say which card")
	}
	var same, like []*board.Card
	for _, c := range b.All() {
		if slices.Contains([]string{c.First, c.Key, c.Title}, text) {
			same = append(same, c)
		} else if strings.Contains(c.First, text) {
			like = append(like, c)
		}
	}
	if len(same) == 0 {
		same = like
	}
	switch len(same) {
	case 0:
		return nil, fmt.Errorf("no card reads %q; read the board first", text)
	case 1:
		return same[0], nil
	}
	return nil, fmt.Errorf("%d cards read %q (lines %d, %d); write more of the one you mean", len(same), text, same[0].Line, same[1].Line)
}

// explain says what a board refused to the one who asked for it.
func explain(b *board.Board, a Action, err error) error {
	switch {
	case errors.Is(err, board.ErrInactive):
		return fmt.Errorf("the board is not changed now: %s", b.Inactive)
	case errors.Is(err, board.ErrNoLane):
		var names []string
		for i := range b.Lanes {
			names = append(names, b.Lanes[i].Title)
		}
		if a.Lane == "" {
			return fmt.Errorf("the board has no ready lane: name one of its lanes: %s", strings.Join(names, ", "))
		}
		return fmt.Errorf("the board has no lane %q; its lanes are: %s", a.Lane, strings.Join(names, ", "))
	case errors.Is(err, board.ErrPlace):
		return errors.New("this would change more than the card: its text may hold no lane, no other card and no line of a run, and lines below the first are indented")
	}
	return err
}
