package dispatch

import (
	"fmt"
	"strings"
	"time"

	"deckhand/board"
)

// judge says of every card that asks for an agent whether it may start. The
// rules that need the others' turn (limits) are added by pull.
type judge struct {
	w      *World
	find   *finder
	mem    Memory
	latest map[CardID]*Run // newest run of a card by board and first line
	runs   map[string]*Run
}

func newJudge(w *World, find *finder, mem Memory) *judge {
	j := &judge{w: w, find: find, mem: mem, latest: map[CardID]*Run{}, runs: make(map[string]*Run, len(w.Runs))}
	for _, r := range w.Runs {
		j.runs[r.ID] = r
		if r.Phase != PhaseReleased {
			j.latest[CardID{r.Board, r.Card.Key}] = r
			j.latest[CardID{r.Card.Board, r.Card.Key}] = r
		}
	}
	return j
}

// card applies every rule that concerns the card alone.
func (j *judge) card(seen *Seen, lane *board.Lane, c *board.Card) Verdict {
	v := Verdict{Board: seen.Board, Lane: lane, Card: c}
	v.Asks = c.Open() && lane.Role == board.Ready && (len(c.Agents) > 0 || c.NoteAgent != "")
	v.Run = runOf(c)
	id := CardID{seen.Board.Path, c.Key}
	forced := j.w.Set.Forced[id]
	for _, rule := range []func(*Seen, *board.Lane, *board.Card) Rule{
		j.open, j.ready, j.agent, j.active, j.lanes, j.folder, j.project, j.unique, j.equal, j.ran, j.after, j.budget,
	} {
		v.Rules = append(v.Rules, rule(seen, lane, c))
	}
	v.Rules = append(v.Rules, j.before(id, c, forced), j.settled(id, forced), j.started())
	return v
}

func pass(name string) Rule { return Rule{Name: name, OK: true} }

func fail(name, hint, format string, args ...any) Rule {
	return Rule{Name: name, Why: Reason{fmt.Sprintf(format, args...), hint}}
}

func (j *judge) open(_ *Seen, _ *board.Lane, c *board.Card) Rule {
	if c.Open() {
		return pass("open")
	}
	return fail("open", "", "its box holds %q", c.Box)
}

func (j *judge) ready(seen *Seen, lane *board.Lane, _ *board.Card) Rule {
	if lane.Role == board.Ready {
		return pass("in a ready lane")
	}
	var names []string
	for _, l := range seen.Board.Lanes {
		if l.Role == board.Ready {
			names = append(names, l.Title)
		}
	}
	if len(names) == 0 {
		return fail("in a ready lane", "", "the board has no ready lane (lanes: in deckhand.yaml names them)")
	}
	return fail("in a ready lane", "", "lane %q starts nothing; ready: %s", lane.Title, strings.Join(names, ", "))
}

func (j *judge) agent(_ *Seen, _ *board.Lane, c *board.Card) Rule {
	const name = "one agent that is ready"
	switch {
	case len(c.Agents) > 1:
		return fail(name, "", "it names two agents: @%s", strings.Join(c.Agents, ", @"))
	case len(c.Agents) == 0 && c.NoteAgent != "":
		return fail(name, "", "@%s stands only in the note: name it in the first line", c.NoteAgent)
	case len(c.Agents) == 0 && len(c.Unknown) > 0:
		return fail(name, "deckhand agents", "no agent is called @%s", strings.Join(c.Unknown, ", @"))
	case len(c.Agents) == 0:
		return fail(name, "", "it names no agent")
	}
	a, ok := j.w.Set.Agents[c.Agents[0]]
	if !ok {
		return fail(name, "deckhand agents", "no agent is called @%s", c.Agents[0])
	}
	return Rule{Name: name, OK: a.Ready, Why: a.Why, Turn: a.Pending}
}

func (j *judge) active(seen *Seen, _ *board.Lane, _ *board.Card) Rule {
	const name = "the board can be read and written"
	for _, why := range []string{seen.Gone, seen.Board.Inactive, seen.Board.Problem} {
		if why != "" {
			return fail(name, "", "%s", why)
		}
	}
	return pass(name)
}

func (j *judge) lanes(seen *Seen, _ *board.Lane, _ *board.Card) Rule {
	const name = "the board has a working and a review lane"
	missing := seen.Board.Missing()
	if len(missing) == 0 {
		return pass(name)
	}
	words := make([]string, len(missing))
	for i, r := range missing {
		words[i] = r.String()
	}
	return fail(name, fmt.Sprintf("deckhand lanes add %q", seen.Board.Path), "the board has no %s lane", strings.Join(words, " and no "))
}

func (j *judge) folder(*Seen, *board.Lane, *board.Card) Rule {
	return Rule{Name: "the work folder is trusted on this machine", OK: j.w.Set.Held.Text == "", Why: j.w.Set.Held}
}

func (j *judge) project(seen *Seen, _ *board.Lane, c *board.Card) Rule {
	const name = "a registered project"
	project := projectOf(c, seen.Board, j.w)
	if project == "" {
		return fail(name, fmt.Sprintf("deckhand project add NAME FOLDER --board %q", seen.Board.Path), "the board names no project")
	}
	p, ok := j.w.Set.Projects[project]
	if !ok {
		return fail(name, fmt.Sprintf("deckhand project add %s FOLDER", project), "project %q is not registered", project)
	}
	return Rule{Name: name, OK: p.Why.Text == "", Why: p.Why}
}

func (j *judge) unique(seen *Seen, _ *board.Lane, c *board.Card) Rule {
	const name = "its first line is the only one of its kind"
	same := j.find.byKey[CardID{seen.Board.Path, c.Key}]
	if len(same) <= 1 {
		return pass(name)
	}
	return fail(name, "make the titles differ", "%d cards read %q: lines %s", len(same), c.Title, linesOf(same))
}

func (j *judge) equal(seen *Seen, _ *board.Lane, c *board.Card) Rule {
	const name = "no other board has the same card"
	if len(c.Agents) == 0 {
		return pass(name)
	}
	for _, p := range j.find.equal[equalKey(c, seen.Board, j.w)] {
		if p.seen != seen && p.seen.Board.Inactive == "" && p.seen.Gone == "" {
			return fail(name, "make the titles differ", "the same card stands at %s", p.at())
		}
	}
	return pass(name)
}

func linesOf(places []place) string {
	var words []string
	for _, p := range places {
		words = append(words, fmt.Sprint(p.card.Line))
	}
	return strings.Join(words, ", ")
}

// ran holds a card that has run: it starts again only by a person's word, and
// one whose status item is gone may be an old copy.
func (j *judge) ran(seen *Seen, _ *board.Lane, c *board.Card) Rule {
	const name = "it has not run before"
	if c.Status != nil {
		r, known := j.runs[runOf(c)]
		switch {
		case !known:
			return fail(name, "", "its run is not known on this machine")
		case r.Live():
			return fail(name, "", "its run is not over")
		}
		return fail(name, "deckhand retry "+r.ID, "it has run, and nothing was added since")
	}
	r := j.latest[CardID{seen.Board.Path, c.Key}]
	if r == nil || j.w.Set.Forced[CardID{seen.Board.Path, c.Key}] {
		return pass(name)
	}
	if len(j.find.byRun[r.ID]) > 0 {
		return pass(name) // the run's own card is elsewhere: this one is new
	}
	if r.Live() {
		return fail(name, "", "its run is not over")
	}
	return fail(name, fmt.Sprintf("deckhand run %q", c.Title), "ran on %s, its line is gone: an old copy may have been saved", r.Claimed.Format("2 January"))
}

// after holds a card until the cards it names are done. A target is a card's
// block id or its first line, on this board or (`Board#^id`) another.
func (j *judge) after(seen *Seen, _ *board.Lane, c *board.Card) Rule {
	const name = "what it waits for is done"
	for _, target := range c.After {
		found, done := j.target(seen, target)
		switch {
		case !found:
			return fail(name, "", "after: no card reads %q", target)
		case !done:
			return Rule{Name: name, Why: Reason{Text: fmt.Sprintf("after %q, which is not done", target)}, Turn: true}
		}
	}
	return pass(name)
}

func (j *judge) target(seen *Seen, target string) (found, done bool) {
	file, part, cut := strings.Cut(target, "#")
	if !cut {
		file, part = "", target
	}
	part = strings.TrimPrefix(strings.TrimSpace(part), "^")
	for i := range j.w.Boards {
		s := &j.w.Boards[i]
		if file == "" && s != seen || file != "" && !names(s.Board.Path, file) {
			continue
		}
		for lane, card := range s.Board.All() {
			if card.BlockID == part || strings.EqualFold(card.Key, part) || strings.EqualFold(card.Title, part) {
				return true, card.Ticked() || lane.Role == board.Done
			}
		}
	}
	return false, false
}

// names reports whether a link's file part means this path.
func names(path, file string) bool {
	path, file = strings.TrimSuffix(path, ".md"), strings.TrimSuffix(file, ".md")
	return strings.EqualFold(path, file) || strings.HasSuffix(strings.ToLower(path), "/"+strings.ToLower(file))
}

func (j *judge) budget(*Seen, *board.Lane, *board.Card) Rule {
	const name = "the day's budget"
	day := j.w.Set.Day
	if day <= 0 {
		return pass(name)
	}
	if spent := Spent(j.w.Runs, j.w.Now); spent >= day {
		return fail(name, "day: in config.yaml sets it", "the day's budget of %.2f USD is spent (%.2f)", day, spent)
	}
	return pass(name)
}

// Spent is what the runs of the day of now have cost, by the agents' own figures.
func Spent(runs []*Run, now time.Time) float64 {
	y, m, d := now.Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, now.Location())
	sum := 0.0
	for _, r := range runs {
		if r.Cost != nil && !r.Turn.Before(midnight) {
			sum += *r.Cost
		}
	}
	return sum
}

func (j *judge) before(id CardID, c *board.Card, forced bool) Rule {
	const name = "it is newer than the grants"
	was, marked := j.w.Set.Before[id]
	if !marked || forced || was.Hash != Hash(c) || was.Lane != j.mem.Cards[id].Lane {
		return pass(name)
	}
	return fail(name, fmt.Sprintf("deckhand run %q", c.Title), "was here before; edit or move it, or deckhand run")
}

func (j *judge) settled(id CardID, forced bool) Rule {
	const name = "nobody is typing"
	at := j.mem.Cards[id].settled(j.w.Set)
	if forced || j.w.Set.Once || !j.w.Now.Before(at) {
		return pass(name)
	}
	return Rule{Name: name, Why: Reason{Text: "changed a moment ago"}, Turn: true}
}

func (j *judge) started() Rule {
	const name = "the boards were quiet after the start"
	if j.mem.Open || j.w.Set.Once {
		return pass(name)
	}
	return Rule{Name: name, Why: Reason{Text: "deckhand has just started"}, Turn: true}
}
