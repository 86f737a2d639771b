package daemon

import (
	"fmt"
	"strconv"
	"strings"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/internal/control"
)

// where is `Shop.md:12:3`, without what is not known.
func where(file string, line, col int) string {
	if line == 0 {
		return file
	}
	if col == 0 {
		return file + ":" + strconv.Itoa(line)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, col)
}

// spot is a card on a board.
type spot struct {
	path string
	lane *board.Lane
	card *board.Card
}

func (s spot) String() string { return where(s.path, s.card.Line, 0) + ": " + s.card.Title }

// card finds a card by place (`Shop.md:12`), block id, run, whole title, or a
// part of the title that only one card has.
func (m *model) card(name string) (spot, *control.Error) {
	if name == "" {
		return spot{}, &control.Error{Text: "no card is named", Code: control.CodeUsage}
	}
	var exact, part []spot
	for _, path := range m.paths() {
		for lane, c := range m.boards[path].board.All() {
			s := spot{path, lane, c}
			switch {
			case isCard(s, name):
				exact = append(exact, s)
			case strings.Contains(strings.ToLower(c.Title), strings.ToLower(name)):
				part = append(part, s)
			}
		}
	}
	found := exact
	if len(found) == 0 {
		found = part
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) == 0 {
		return spot{}, &control.Error{Text: fmt.Sprintf("no card reads %q", name), Hint: "deckhand status", Code: control.CodeError}
	}
	var matches []string
	for _, s := range found {
		matches = append(matches, s.String())
	}
	return spot{}, &control.Error{Text: fmt.Sprintf("%d cards match %q", len(found), name), Code: control.CodeError, Matches: matches}
}

func isCard(s spot, name string) bool {
	c := s.card
	return where(s.path, c.Line, 0) == name || c.BlockID != "" && "^"+strings.TrimPrefix(name, "^") == "^"+c.BlockID ||
		strings.EqualFold(c.Title, name) || strings.EqualFold(c.Key, name) ||
		c.Status != nil && strings.EqualFold(c.Status.Run, name)
}

// run finds a run by its id, a unique beginning of it, or a unique part of its
// card's title; of several runs of one card the newest counts.
func (m *model) run(name string) (*run, *control.Error) {
	if name == "" {
		return nil, &control.Error{Text: "no run is named", Code: control.CodeUsage}
	}
	var found []*run
	byCard := map[string]int{}
	for _, r := range m.sorted() {
		if r.Phase == dispatch.PhaseReleased {
			continue
		}
		if strings.EqualFold(r.ID, name) {
			return r, nil
		}
		if strings.HasPrefix(r.ID, strings.ToUpper(name)) {
			found = append(found, r)
			continue
		}
		if !strings.Contains(strings.ToLower(r.Card.Title), strings.ToLower(name)) {
			continue
		}
		key := r.Card.Board + "\x00" + r.Card.Key
		if i, ok := byCard[key]; ok {
			found[i] = r
			continue
		}
		byCard[key] = len(found)
		found = append(found, r)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, &control.Error{Text: fmt.Sprintf("no run matches %q", name), Hint: "deckhand status", Code: control.CodeError}
	}
	var matches []string
	for _, r := range found {
		matches = append(matches, r.ID+" "+r.Card.Title)
	}
	return nil, &control.Error{Text: fmt.Sprintf("%d runs match %q", len(found), name), Code: control.CodeError, Matches: matches}
}

// why is every rule for one card.
func (m *model) why(name string, w dispatch.World) (control.Why, error) {
	s, fault := m.card(name)
	if fault != nil {
		return control.Why{}, fault
	}
	v, ok := dispatch.Judge(w, s.path, s.card.Line)
	if !ok {
		return control.Why{}, &control.Error{Text: "the card is gone", Code: control.CodeError}
	}
	out := control.Why{Card: v.Card.Title, Board: s.path, Line: v.Card.Line, Start: v.Start() && v.Asks, Rules: []control.Rule{}}
	for _, r := range v.Rules {
		out.Rules = append(out.Rules, control.Rule{Rule: r.Name, OK: r.OK, Reason: r.Why.Text, Hint: r.Why.Hint})
	}
	if r := m.runs[strings.ToUpper(v.Run)]; r != nil && r.Live() && len(r.Renoted) > 0 {
		out.Rules = append(out.Rules, control.Rule{
			Rule: "its notes are as it was told", Reason: "not as it was told: " + strings.Join(r.Renoted, ", "),
			Hint: "deckhand steer " + strings.ToLower(r.ID) + " --notes",
		})
	}
	for _, h := range s.card.Hints {
		out.Rules = append(out.Rules, control.Rule{Rule: "hint", OK: true, Reason: h})
	}
	return out, nil
}
