package dispatch

import (
	"cmp"
	"fmt"
	"slices"

	"deckhand/board"
)

// pull takes cards from the ready lanes as long as there is room: the top card
// of the ready lane nearest to the working lane first, then by board. A run
// that goes on takes its turn like a card that starts.
type pull struct {
	w       *World
	running []*Run
	onBoard map[string]int // agents at work, by the board their card is on
	claims  []Action
	queue   map[string]string // who has a folder; forgotten with each claim
}

func newPull(w *World, where map[string]string) *pull {
	p := &pull{w: w, onBoard: map[string]int{}, queue: map[string]string{}}
	for _, r := range w.Runs {
		if r.Live() {
			p.running = append(p.running, r)
			p.onBoard[where[r.ID]]++
		}
	}
	return p
}

// order sorts verdicts by whose turn it is.
func order(cards []Verdict) []int {
	idx := make([]int, len(cards))
	far := make([]int, len(cards))
	for i := range idx {
		idx[i], far[i] = i, distance(&cards[i])
	}
	slices.SortStableFunc(idx, func(a, b int) int {
		return cmp.Or(cmp.Compare(far[a], far[b]), cmp.Compare(cards[a].Board.Path, cards[b].Board.Path))
	})
	return idx
}

// distance is how many lanes lie between a ready lane and the working lane:
// first those before it, from right to left, then those behind it.
func distance(v *Verdict) int {
	lane, working := 0, -1
	for i := range v.Board.Lanes {
		l := &v.Board.Lanes[i]
		if l == v.Lane {
			lane = i
		}
		if l.Role == board.Working && working < 0 {
			working = i
		}
	}
	if d := working - lane; d >= 0 {
		return d
	}
	return lane - working + len(v.Board.Lanes)
}

// take adds the limits' rules to each verdict and takes those that may start.
func (p *pull) take(cards []Verdict) {
	for _, i := range order(cards) {
		v := &cards[i]
		ready := v.Start() && v.Asks && !(v.over != nil && p.w.Busy[v.over.ID])
		p.limits(v)
		if ready && v.Start() {
			p.start(v)
		}
	}
}

// folderOf is where an agent would work.
func (p *pull) folderOf(v *Verdict) string {
	if v.resumes() {
		return v.over.Folder
	}
	project, _ := p.w.Set.Project(projectOf(v.Card, v.Board, p.w), v.agent())
	return project.Folder
}

func (p *pull) limits(v *Verdict) {
	v.add(p.lane(v), p.folder(p.folderOf(v)), p.machine())
}

func (p *pull) lane(v *Verdict) Rule {
	const name = "room in the working lane"
	lane := v.Board.Lane(board.Working)
	if lane == nil || lane.Limit == 0 || p.onBoard[v.Board.Path] < lane.Limit {
		return pass(name)
	}
	return later(name, "lane %q has room for %d at work", lane.Title, lane.Limit)
}

func (p *pull) folder(folder string) Rule {
	const name = "the project folder is free"
	if folder == "" {
		return pass(name)
	}
	if why := p.taken(folder); why != "" {
		return later(name, "waits for the folder: %s", why)
	}
	return pass(name)
}

// taken says who has a folder, or one in it or around it; empty: nobody.
func (p *pull) taken(folder string) string {
	if why, known := p.queue[folder]; known {
		return why
	}
	why := ""
	for _, r := range p.running {
		if nested(folder, r.Folder) {
			why = fmt.Sprintf("%q is %s there", r.Card.Title, r.Status())
			break
		}
	}
	for _, c := range p.claims {
		if nested(folder, c.Folder) && why == "" {
			why = fmt.Sprintf("%q goes first", c.Card.Title)
		}
	}
	p.queue[folder] = why
	return why
}

func (p *pull) machine() Rule {
	const name = "room on this machine"
	if n := p.w.Set.MaxRunning; n > 0 && len(p.running)+len(p.claims) >= n {
		return later(name, "waits for room on this machine: max_running is %d", n)
	}
	return pass(name)
}

// following is the first line of the card behind one in its lane.
func following(l *board.Lane, c *board.Card) string {
	for i := range l.Cards[:max(0, len(l.Cards)-1)] {
		if &l.Cards[i] == c {
			return l.Cards[i+1].Key
		}
	}
	return ""
}

func (p *pull) start(v *Verdict) {
	p.onBoard[v.Board.Path]++
	c := v.Card
	a := Action{
		Do: DoClaim, By: "board", Board: v.Board.Path, Agent: v.agent(), Project: projectOf(c, v.Board, p.w), Folder: p.folderOf(v),
		Card: Card{Board: v.Board.Path, Lane: v.Lane.Title, Line: c.Line, Key: c.Key, Title: c.Title, Lines: c.Lines, Next: following(v.Lane, c)},
	}
	switch r := v.over; {
	case v.resumes():
		a.Do, a.Run, a.By, a.Lines = DoResume, r.ID, ByMoved, slices.Concat(r.Unsaid(), added(r, c))
	case r != nil:
		a.Earlier = &Earlier{Run: r.ID, Agent: r.Agent, Answer: r.Answer, Wrote: r.Wrote}
	}
	p.claims = append(p.claims, a)
	clear(p.queue)
}
