package dispatch

import (
	"fmt"
	"strings"
	"time"

	"deckhand/board"
)

// judge says of every card that asks for an agent whether it may start. The
// rules about whose turn it is (limits) are added by pull.
type judge struct {
	w      *World
	find   *finder
	mem    *Memory
	whole  *board.Card        // the card whose verdict names the rules that hold, too
	titles map[string][]place // cards by title and first line, made when an after: asks for it
	blocks map[string][]place // the same by block id
}

// add keeps rules that do not hold; of thousands of cards that wait, the others
// would be most of the memory of a decision.
func (v *Verdict) add(rules ...Rule) {
	for _, r := range rules {
		if !r.OK || v.whole {
			v.Rules = append(v.Rules, r)
		}
	}
}

// Names of rules that are looked for by others.
const (
	ruleQuiet  = "nobody is typing"
	ruleBudget = "the day's budget"
)

// card applies every rule that concerns the card alone.
func (j *judge) card(seen *Seen, lane *board.Lane, c *board.Card) Verdict {
	v := Verdict{Board: seen.Board, Lane: lane, Card: c, Run: runOf(c), seen: seen, whole: c == j.whole}
	again := j.again(&v)
	v.Asks = c.Open() && (len(c.Agents) > 0 || c.NoteAgent != "") && (lane.Role == board.Ready || j.returned(&v))
	v.add(j.open(c), j.ready(&v), j.active(seen))
	if seen.fault() != "" {
		return v // what is read of such a board is no ground for a second reason
	}
	v.add(
		j.lanes(seen), j.folder(), j.agent(&v), j.project(&v),
		j.unique(&v), j.equal(&v), again, j.after(seen, lane, c), j.budget(), j.before(&v), j.settled(&v), j.started(),
	)
	return v
}

// returned reports whether the card of a stopped run is back in the working lane.
func (j *judge) returned(v *Verdict) bool {
	return v.over != nil && v.Lane.Role == board.Working
}

func (v *Verdict) id() CardID { return CardID{v.Board.Path, v.Card.Key} }

// sight is what is remembered of the card.
func (j *judge) sight(v *Verdict) Sight { return j.mem.boards[v.Board.Path].cards[v.Card.Key] }

func (j *judge) forced(v *Verdict) bool { return j.w.Set.Forced[v.id()] }

func pass(name string) Rule { return Rule{Name: name, OK: true} }

// fail is a reason that a person has to do something about.
func fail(name, hint, format string, args ...any) Rule {
	return Rule{Name: name, Why: Reason{fmt.Sprintf(format, args...), hint}}
}

// later is a reason that goes away by itself, or with another card.
func later(name, format string, args ...any) Rule {
	return Rule{Name: name, Turn: true, Why: Reason{Text: fmt.Sprintf(format, args...)}}
}

func (j *judge) open(c *board.Card) Rule {
	const name = "open"
	switch {
	case c.Open():
		return pass(name)
	case c.Ticked():
		return fail(name, "untick it", "it is ticked")
	}
	return fail(name, "empty its box", "its box holds %q, and only an empty one is open", c.Box)
}

func (j *judge) ready(v *Verdict) Rule {
	const name = "in a ready lane"
	if v.Lane.Role == board.Ready || j.returned(v) {
		return pass(name)
	}
	var names []string
	for _, l := range v.Board.Lanes {
		if l.Role == board.Ready {
			names = append(names, l.Title)
		}
	}
	if len(names) == 0 {
		return fail(name, "name one of its lanes under lanes: in deckhand.yaml", "no lane of the board is a ready lane")
	}
	return fail(name, "move it to a ready lane", "nothing starts in lane %q; the ready lanes are: %s", v.Lane.Title, strings.Join(names, ", "))
}

// ungranted reports whether nothing that the machine grants counts here: then
// it is no second reason that some of it is missing. Asked for every rule, it is.
func (j *judge) ungranted(v *Verdict) bool { return j.w.Set.Held.Text != "" && !v.whole }

func (j *judge) agent(v *Verdict) Rule {
	const name = "one agent that is ready"
	c := v.Card
	switch {
	case len(c.Agents) > 1:
		return fail(name, "leave one of them", "it names %d agents: @%s", len(c.Agents), strings.Join(c.Agents, ", @"))
	case len(c.Agents) == 0 && c.NoteAgent != "":
		return fail(name, "name it in the first line", "@%s stands only in the note", c.NoteAgent)
	case len(c.Agents) == 0 && len(c.Unknown) > 0:
		return fail(name, "deckhand agents", "no agent is called @%s", strings.Join(c.Unknown, ", @"))
	case len(c.Agents) == 0:
		return fail(name, "name one in the first line, like @pi", "it names no agent")
	}
	a, ok := j.w.Set.Agents[c.Agents[0]]
	switch {
	case j.ungranted(v):
		return pass(name)
	case !ok:
		return fail(name, "deckhand agents", "no agent is called @%s", c.Agents[0])
	case a.Pending:
		return later(name, "@%s is being looked at", c.Agents[0])
	}
	return Rule{Name: name, OK: a.Ready, Why: a.Why}
}

func (j *judge) active(seen *Seen) Rule {
	const name = "the board can be read and written"
	if why := seen.fault(); why != "" {
		return fail(name, Mend(seen), "%s: %s", seen.Board.Path, why)
	}
	return pass(name)
}

func (j *judge) lanes(seen *Seen) Rule {
	const name = "the board has a working and a review lane"
	missing := seen.Board.Missing()
	if len(missing) == 0 {
		return pass(name)
	}
	words := make([]string, len(missing))
	for i, r := range missing {
		words[i] = r.String()
	}
	return fail(name, lanesHint(seen.Board.Path), "the board has no %s lane", strings.Join(words, " and no "))
}

func (j *judge) folder() Rule {
	return Rule{Name: "the work folder is trusted on this machine", OK: j.w.Set.Held.Text == "", Why: j.w.Set.Held}
}

func (j *judge) project(v *Verdict) Rule {
	const name = "a registered project"
	project := projectOf(v.Card, v.Board, j.w)
	if j.ungranted(v) {
		return pass(name)
	}
	if project == "" {
		return fail(name, boardHint(v.Board.Path), "neither the card nor its board names a project")
	}
	p, ok := j.w.Set.Project(project, v.agent())
	switch {
	case !ok:
		return fail(name, projectHint(project), "project %q is not registered", project)
	case p.Why.Text != "":
		return Rule{Name: name, Why: p.Why, Turn: p.Pending}
	case v.resumes() && project != v.over.Project:
		return fail(name, apart, "it ran in project %q and cannot go on in project %q", v.over.Project, project)
	case v.resumes() && p.Folder != v.over.Folder:
		return fail(name, apart, "it ran in %s and project %q is another folder now", v.over.Folder, project)
	}
	return pass(name)
}

// resumes reports whether a start would be another turn of the card's own run.
func (v *Verdict) resumes() bool { return v.over != nil && v.over.Agent == v.agent() }

func (v *Verdict) agent() string {
	if len(v.Card.Agents) != 1 {
		return ""
	}
	return v.Card.Agents[0]
}

func (j *judge) unique(v *Verdict) Rule {
	const name = "its first line is the only one of its kind"
	same := j.find.index(v.seen).open[v.Card.Key]
	if len(same) <= 1 || v.over != nil { // a card that has run is known by its item
		return pass(name)
	}
	lines := some(same, func(s spot) string { return fmt.Sprint(s.card.Line) })
	return fail(name, "make the titles differ", "%d cards read %q: lines %s", len(same), v.Card.Title, lines)
}

func (j *judge) equal(v *Verdict) Rule {
	const name = "no other board has the same card"
	if len(v.Card.Agents) == 0 || v.over != nil {
		return pass(name)
	}
	if p, ok := j.find.equal(v.seen, v.Card); ok {
		return fail(name, "make the titles differ", "the same card stands at %s:%d and %s", v.Board.Path, v.Card.Line, p.at())
	}
	return pass(name)
}

func (j *judge) budget() Rule {
	day := j.w.Set.Day
	if day <= 0 {
		return pass(ruleBudget)
	}
	if spent := Spent(j.w.Runs, j.w.Now); spent >= day {
		return fail(ruleBudget, "wait for tomorrow, or raise day: in config.yaml", "the day's budget of %s is spent (%s)", Money(day), Money(spent))
	}
	return pass(ruleBudget)
}

// Spent is what the runs have cost on the day of now, by the agents' own figures.
func Spent(runs []*Run, now time.Time) float64 {
	from := midnight(now, 0)
	sum := 0.0
	for _, r := range runs {
		for _, s := range r.Spends {
			if !s.At.Before(from) {
				sum += s.USD
			}
		}
	}
	return sum
}

// midnight begins the day that is some days after that of now.
func midnight(now time.Time, days int) time.Time {
	y, m, d := now.Date()
	return time.Date(y, m, d+days, 0, 0, 0, 0, now.Location())
}

func (j *judge) before(v *Verdict) Rule {
	const name = "it is newer than the grants"
	was, marked := j.w.Set.Before[v.id()]
	if !marked || j.forced(v) || was.Hash != Hash(v.Card) || was.Lane != v.Lane.Title {
		return pass(name)
	}
	return fail(name, runHint(v), "was here before; edit or move it, or deckhand run")
}

func (j *judge) settled(v *Verdict) Rule {
	at := j.sight(v).settled(&j.w.Set)
	if r := j.find.runs[v.Run]; r != nil && r.Live() {
		return pass(ruleQuiet) // its lane and text are ours to change
	}
	if j.forced(v) || j.w.Set.Once || !j.w.Now.Before(at) {
		return pass(ruleQuiet)
	}
	return later(ruleQuiet, "%s in %s", v.starts(), seconds(at.Sub(j.w.Now)))
}

func (v *Verdict) starts() string {
	if v.resumes() {
		return "goes on"
	}
	return "starts"
}

func (j *judge) started() Rule {
	const name = "the boards were quiet after the start"
	if j.mem.Open || j.w.Set.Once {
		return pass(name)
	}
	return later(name, "deckhand has just started, and waits until the boards are quiet")
}

// seconds is a time to wait, in whole seconds and never too short.
func seconds(d time.Duration) string {
	if whole := d.Truncate(time.Second); whole < d {
		d = whole + time.Second
	}
	return Short(d)
}
