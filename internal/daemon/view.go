package daemon

import (
	"maps"
	"slices"
	"strings"
	"time"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/internal/control"
)

// status is the answer to `status`: runs that are open, wait for review, or
// were over today; cards that are held; cards that wait for their turn.
func (m *model) status(now time.Time) control.Status {
	s := control.Status{Dir: m.f.dir, Runs: []control.Run{}, Held: []control.Held{}, Queued: []control.Queued{}, Proposals: m.proposals(), Problems: m.faults()}
	if m.daemon != nil {
		s.Daemon, s.PID, s.Watch = true, m.daemon.PID, m.daemon.Watch
	}
	for _, r := range m.sorted() {
		if m.shown(r, now) {
			s.Runs = append(s.Runs, m.runView(r))
		}
	}
	for _, v := range m.decision.Cards {
		held := v.Held()
		switch {
		case len(held) > 0:
			s.Held = append(s.Held, heldView(v, held))
		case !v.Start():
			s.Queued = append(s.Queued, control.Queued{Card: v.Card.Title, Board: v.Board.Path, Line: v.Card.Line, Reason: turn(v)})
		}
	}
	return s
}

// shown reports whether a run is of interest today.
func (m *model) shown(r *run, now time.Time) bool {
	switch {
	case r.Phase == dispatch.PhaseReleased:
		return false
	case r.Live():
		return true
	case r.Outcome != dispatch.Accept && m.onBoard(r):
		return true
	}
	y, mo, d := now.Date()
	return !r.Ended.Before(time.Date(y, mo, d, 0, 0, 0, 0, now.Location()))
}

func heldView(v dispatch.Verdict, held []dispatch.Reason) control.Held {
	h := control.Held{Card: v.Card.Title, Board: v.Board.Path, Line: v.Card.Line, Reasons: []string{}, More: v.More}
	for _, r := range held {
		h.Reasons = append(h.Reasons, r.Text)
		if r.Hint != "" {
			h.Hints = append(h.Hints, r.Hint)
		}
	}
	return h
}

func turn(v dispatch.Verdict) string {
	for _, r := range v.Rules {
		if !r.OK {
			return r.Why.Text
		}
	}
	return ""
}

func (m *model) runView(r *run) control.Run {
	v := control.Run{
		ID: r.ID, Card: r.Card.Title, Board: r.Board, Agent: r.Agent,
		Project: r.Project, Folder: r.Folder, Status: r.Status(), Reason: m.reason(r), Next: next(r),
		Chat: m.chatPath(r), Asks: []control.Ask{}, Changed: []string{}, Started: r.Turn, Tokens: r.Tokens, Cost: r.Cost, Accepted: !r.Open() && r.Outcome == dispatch.Accept,
	}
	if s, ok := m.find(r); ok {
		v.Board, v.Line, v.Lane = s.path, s.card.Line, s.lane.Title
	}
	if r.Open() {
		tokens, cost := r.uncounted()
		v.Tokens += tokens
		v.Cost = sum(r.Cost, cost)
	}
	if !r.Ended.IsZero() {
		ended := r.Ended
		v.Ended = &ended
	}
	for _, a := range r.Asks {
		v.Asks = append(v.Asks, askView(a))
	}
	if r.Live() {
		v.Changed = append(v.Changed, r.Renoted...)
	}
	return v
}

func askView(a dispatch.Ask) control.Ask {
	v := control.Ask{ID: a.ID, Kind: a.Kind, Title: a.Title, Message: a.Message, Options: a.Options, Scopes: dispatch.Scopes(a), Since: a.Since}
	if v.Options == nil {
		v.Options = []string{}
	}
	if a.Prefill != "" {
		v.Prefill = &a.Prefill
	}
	if a.Placeholder != "" {
		v.Placeholder = &a.Placeholder
	}
	if at := a.Deadline(); !at.IsZero() {
		v.Timeout = &at
	}
	return v
}

// reason is why a run stands as it does, in one line.
func (m *model) reason(r *run) string {
	for _, n := range m.decision.Notes {
		if n.Run == r.ID {
			return n.Text
		}
	}
	switch {
	case r.fault.text != "":
		return r.fault.String()
	case len(r.Asks) > 0:
		return strings.TrimSpace(r.Asks[0].Title + " " + r.Asks[0].Message)
	}
	for _, p := range r.Undecided() {
		return strings.TrimSpace(p.Asks() + " " + oneLine(p.Reason))
	}
	return r.Reason
}

// unreadMost is how many notes that cannot be read are named.
const unreadMost = 10

// faults is what is wrong with the folder or the configuration.
func (m *model) faults() []control.Problem {
	out := []control.Problem{}
	for _, p := range m.problems {
		out = append(out, control.Problem{Where: where(p.File, p.Line, p.Col), Text: p.Text, Hint: p.Hint})
	}
	if why := m.held(); why.Text != "" {
		out = append(out, control.Problem{Where: tilde(m.f.dir), Text: why.Text, Hint: why.Hint})
	}
	if p, ok := m.approvalFault(); ok {
		out = append(out, p)
	}
	for _, text := range m.broken {
		out = append(out, control.Problem{Where: tilde(m.f.path("runs")), Text: text, Hint: "deckhand doctor"})
	}
	for _, rel := range slices.Sorted(maps.Keys(m.links)) {
		out = append(out, control.Problem{Where: rel, Text: "a symbolic link that leaves the work folder: what is behind it is not read"})
	}
	for i, rel := range slices.Sorted(maps.Keys(m.unread)) {
		if i == unreadMost {
			out = append(out, control.Problem{Where: tilde(m.f.dir), Text: plural(len(m.unread)-i, "more note", "more notes") + " cannot be read"})
			break
		}
		out = append(out, control.Problem{Where: rel, Text: m.unread[rel], Hint: "make it readable for deckhand, or name it in ignore: of deckhand.yaml"})
	}
	for _, path := range m.paths() {
		s := m.boards[path]
		for _, why := range []string{s.gone, s.lanes.String(), s.board.Inactive, s.board.Problem} {
			if why != "" {
				out = append(out, control.Problem{Where: path, Text: why, Hint: dispatch.Mend(&dispatch.Seen{Board: s.board, Gone: s.gone})})
			}
		}
		for _, h := range s.board.Hints {
			out = append(out, control.Problem{Where: where(path, h.Line, 0), Text: h.Text})
		}
	}
	return out
}

func (m *model) boardViews() []control.Board {
	out := []control.Board{}
	for _, path := range m.paths() {
		b := m.boards[path].board
		v := control.Board{Path: path, Kanban: b.Kanban, Project: b.Project, Inactive: b.Inactive, Lanes: []control.Lane{}}
		for i := range b.Lanes {
			v.Lanes = append(v.Lanes, laneView(&b.Lanes[i]))
		}
		out = append(out, v)
	}
	return out
}

func laneView(l *board.Lane) control.Lane {
	v := control.Lane{Title: l.Title, Role: l.Role.String(), Limit: l.Limit, Cards: len(l.Cards), Items: make([]control.Card, 0, len(l.Cards))}
	if l.Role == board.NoRole {
		v.Role = ""
	}
	for i := range l.Cards {
		c := &l.Cards[i]
		if c.Open() && len(c.Agents) > 0 {
			v.Ready++
		}
		v.Items = append(v.Items, cardView(c))
	}
	return v
}

func cardView(c *board.Card) control.Card {
	v := control.Card{Title: c.Title, Line: c.Line, Done: !c.Open()}
	if len(c.Agents) > 0 {
		v.Agent = c.Agents[0]
	}
	if c.Status != nil {
		v.Run = strings.ToUpper(c.Status.Run)
	}
	return v
}
