package review

import (
	"strings"
	"time"

	"deckhand/internal/control"
)

// group is a part of the list.
type group uint8

// The groups, in their order.
const (
	needsYou group = iota
	working
	queued
	held
	inReview
	doneToday
	problems
	groups
)

func (g group) String() string {
	return [groups]string{"Needs you", "Working", "Queued", "Held", "Review", "Done today", "Problems"}[g]
}

// item is one row of the list: a run, a card that has not run, or a problem.
type item struct {
	group    group
	key      string // the same as long as it is the same thing
	title    string
	agent    string
	mark     string // one cell
	word     string // the state as a word
	role     role
	place    string // where its card stands
	card     string // what the daemon knows the card by
	since    time.Time
	run      *control.Run
	held     *control.Held
	proposal *control.Proposal
	text     string // why it waits, or what the problem is
	hints    []string
}

// state is how a run's state is shown: never by colour alone.
type state struct {
	mark, word string
	role       role
	group      group
}

func stateOf(r *control.Run) state {
	switch r.Status {
	case "queued":
		return state{"○", "queued", quiet, queued}
	case "working":
		return state{"●", "works", works, working}
	case "waiting":
		if len(r.Asks) == 0 { // for what became of a proposal
			return state{"◆", "waits", needs, needsYou}
		}
		return state{"◆", "asks", needs, needsYou}
	case "interrupted":
		return state{"!", "interrupted", needs, needsYou}
	case "failed":
		return state{"×", "failed", bad, inReview}
	case "stopped":
		return state{"■", "stopped", quiet, inReview}
	case "done":
		if r.Accepted {
			return state{"✓", "accepted", good, doneToday}
		}
		return state{"✓", "review", good, inReview}
	}
	return state{"?", r.Status, quiet, working}
}

// itemsOf is the list of a status, in groups. Within a group the daemon's order
// stays.
func itemsOf(s control.Status) []item {
	var by [groups][]item
	add := func(i item) { by[i.group] = append(by[i.group], i) }
	for i := range s.Runs {
		add(runItem(&s.Runs[i]))
	}
	for i := range s.Proposals {
		add(proposalItem(&s.Proposals[i]))
	}
	for i := range s.Queued {
		q := s.Queued[i]
		add(item{group: queued, key: "card " + q.Board + " " + q.Card, title: q.Card, mark: "○", word: "queued", role: quiet, place: place(q.Board, q.Line), card: q.Card, text: q.Reason})
	}
	for i := range s.Held {
		h := &s.Held[i]
		add(item{
			group: held, key: "card " + h.Board + " " + h.Card, title: h.Card, mark: "–", word: "held", role: quiet, place: place(h.Board, h.Line), card: h.Card,
			held: h, text: strings.Join(h.Reasons, "\n"), hints: h.Hints,
		})
	}
	for _, p := range s.Problems {
		i := item{group: problems, key: "problem " + p.Where + " " + p.Text, title: p.Text, mark: "!", word: "problem", role: bad, place: p.Where, text: p.Text}
		if p.Hint != "" {
			i.hints = []string{p.Hint}
		}
		add(i)
	}
	var out []item
	for _, list := range by {
		out = append(out, list...)
	}
	return out
}

func runItem(r *control.Run) item {
	s := stateOf(r)
	i := item{
		group: s.group, key: "run " + r.ID, title: r.Card, agent: r.Agent, mark: s.mark, word: s.word, role: s.role,
		place: place(r.Board, r.Line), card: r.ID, since: r.Started, run: r, text: r.Reason,
	}
	switch {
	case len(r.Asks) > 0:
		i.since = r.Asks[0].Since
	case r.Ended != nil:
		i.since = *r.Ended
	}
	if r.Next != "" {
		i.hints = []string{r.Next}
	}
	return i
}

// place is where a card stands, as editors and people write it.
func place(board string, n int) string {
	if n == 0 {
		return board
	}
	return board + ":" + itoa(n)
}

// counts are those of the header: what needs a person first.
func (m *Model) counts() line {
	var n [groups]int
	for _, i := range m.items {
		n[i.group]++
	}
	var out line
	for _, c := range []struct {
		n    int
		word string
		role role
	}{
		{n[needsYou], "needs you", needs},
		{n[working], "working", works},
		{n[queued], "queued", dim},
		{n[inReview], "to review", good},
		{n[held], "held", dim},
		{n[problems], "problems", bad},
	} {
		if c.n == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, span{" · ", dim})
		}
		if c.word == "problems" && c.n == 1 {
			c.word = "problem"
		}
		out = append(out, span{itoa(c.n) + " " + c.word, c.role})
	}
	return out
}
