package dispatch

import (
	"cmp"
	"fmt"
	"slices"

	"deckhand/board"
)

// pull takes cards from the ready lanes as long as there is room: the top card
// of the ready lane nearest to the working lane first, then by board.
type pull struct {
	w       *World
	find    *finder
	running []*Run
	onBoard map[string]int // agents at work, by board
	claims  []Action
}

func newPull(w *World, find *finder) *pull {
	p := &pull{w: w, find: find, onBoard: map[string]int{}}
	for _, r := range w.Runs {
		if r.Live() {
			p.running = append(p.running, r)
			p.onBoard[r.Board]++
		}
	}
	return p
}

// order sorts verdicts by whose turn it is.
func order(cards []Verdict) []int {
	idx := make([]int, len(cards))
	for i := range idx {
		idx[i] = i
	}
	slices.SortStableFunc(idx, func(a, b int) int {
		x, y := cards[a], cards[b]
		return cmp.Or(cmp.Compare(distance(x), distance(y)), cmp.Compare(x.Board.Path, y.Board.Path))
	})
	return idx
}

// distance is how many lanes lie between a ready lane and the working lane.
func distance(v Verdict) int {
	lane, working := 0, 0
	for i := range v.Board.Lanes {
		l := &v.Board.Lanes[i]
		if l == v.Lane {
			lane = i
		}
		if l.Role == board.Working {
			working = i
		}
	}
	if d := working - lane; d > 0 {
		return d
	}
	return lane - working + len(v.Board.Lanes)
}

// take adds the limits' rules to each verdict and claims those that may start.
func (p *pull) take(cards []Verdict) {
	for _, i := range order(cards) {
		v := &cards[i]
		if !v.Asks {
			continue
		}
		startable := v.Start()
		project := projectOf(v.Card, v.Board, p.w)
		folder := p.w.Set.Projects[project].Folder
		v.Rules = append(v.Rules, p.limits(v, folder)...)
		if !startable || !v.Start() {
			continue
		}
		p.claim(v, project, folder)
	}
}

func (p *pull) limits(v *Verdict, folder string) []Rule {
	return []Rule{p.lane(v), p.folder(folder), p.machine()}
}

func (p *pull) lane(v *Verdict) Rule {
	const name = "room in the working lane"
	lane := v.Board.Lane(board.Working)
	if lane == nil || lane.Limit == 0 || p.onBoard[v.Board.Path] < lane.Limit {
		return pass(name)
	}
	return Rule{Name: name, Turn: true, Why: Reason{Text: fmt.Sprintf("%q has room for %d at work", lane.Title, lane.Limit)}}
}

func (p *pull) folder(folder string) Rule {
	const name = "the project folder is free"
	if folder == "" {
		return pass(name)
	}
	for _, r := range p.running {
		if nested(folder, r.Folder) {
			return Rule{Name: name, Turn: true, Why: Reason{Text: fmt.Sprintf("%q is %s there", r.Card.Title, r.Status())}}
		}
	}
	for _, c := range p.claims {
		if nested(folder, c.Folder) {
			return Rule{Name: name, Turn: true, Why: Reason{Text: fmt.Sprintf("%q goes first", c.Card.Title)}}
		}
	}
	return pass(name)
}

func (p *pull) machine() Rule {
	const name = "room on this machine"
	if n := p.w.Set.MaxRunning; n > 0 && len(p.running)+len(p.claims) >= n {
		return Rule{Name: name, Turn: true, Why: Reason{Text: fmt.Sprintf("max_running: %d", n)}}
	}
	return pass(name)
}

func (p *pull) claim(v *Verdict, project, folder string) {
	p.onBoard[v.Board.Path]++
	p.claims = append(p.claims, Action{
		Do: DoClaim, Board: v.Board.Path, Agent: v.Card.Agents[0], Project: project, Folder: folder, By: "board",
		Card: cardOf(v.Board, v.Lane, v.Card),
	})
}

func cardOf(b *board.Board, lane *board.Lane, c *board.Card) Card {
	return Card{Board: b.Path, Lane: lane.Title, Line: c.Line, Key: c.Key, Title: c.Title, Lines: c.Lines}
}
