package dispatch

import "deckhand/board"

// again holds a card that has run: it starts again only by a person's word,
// and one whose status item is gone may be an old copy. When its run may go
// on, or goes to another agent, the verdict is told.
func (j *judge) again(v *Verdict) Rule {
	if v.Card.Status == nil {
		return j.bare(v)
	}
	const name = "its run may go on"
	r := j.find.runs[v.Run]
	if r == nil {
		return fail(name, "delete its status line: it is a new card then", "its run is not known on this machine")
	}
	if why := j.barred(v, r); why != nil {
		why.Name = name
		return *why
	}
	v.over = r
	return pass(name)
}

// bare is a card without a status item.
func (j *judge) bare(v *Verdict) Rule {
	const name = "it has not run before"
	r := j.find.newest[v.id()]
	switch {
	case r == nil, j.forced(v) && !r.Live():
		return pass(name)
	case len(readable(j.find.byRun[r.ID]).places) > 0:
		return pass(name) // the run's own card is elsewhere: this one is new
	case r.Live():
		return fail(name, "deckhand stop "+short(r), "its run is not over")
	}
	return fail(name, runHint(v),
		"ran on %s, its line is gone: an old copy may have been saved", r.Claimed.Format("2 January"))
}

// barred says why the run whose item a card carries does not go on; nil when it may.
func (j *judge) barred(v *Verdict, r *Run) *Rule {
	if why := j.unsure(v, r); why != nil {
		return why
	}
	content := r.Outcome == Review || r.Outcome == Accept
	switch {
	case v.Lane.Role == board.Working:
		return j.notBack(v, r)
	case v.Lane.Role != board.Ready, v.agent() != "" && v.agent() != r.Agent:
		return nil
	case !j.cameSince(v, r):
		return no("deckhand retry "+short(r), "its run was over when the card was here already: move it away and back, or deckhand retry")
	case content && len(added(r, v.Card)) == 0:
		return no("deckhand retry "+short(r), "nothing was added since its run was over: write below it what is still to be done")
	}
	return nil
}

func no(hint, format string, args ...any) *Rule {
	rule := fail("", hint, format, args...)
	return &rule
}

func wait(text string) *Rule {
	rule := later("", "%s", text)
	return &rule
}

// unsure says why a card's item is not to be relied on: its run is not over,
// or the item is not what its run wrote last.
func (j *judge) unsure(v *Verdict, r *Run) *Rule {
	st := j.find.run(r)
	switch {
	case r.Phase == PhaseReleased:
		return wait("its claim is being taken back")
	case len(st.places) > 1:
		return no("delete one of the two", "its run's line stands more than once: %s", atOf(st.places))
	case r.Live():
		return no("deckhand stop "+short(r), "its run is not over")
	case j.find.next[r.ID] != nil:
		return no("delete this copy", "@%s has taken over since: an old copy may have been saved", j.find.next[r.ID].Agent)
	case !r.InSync || r.Want.Word != r.Outcome || v.Card.Status.Word != r.Outcome && r.Tries < MaxTries:
		return wait("its line is being brought up to date")
	case v.Card.Status.Word != r.Outcome:
		return no("deckhand retry "+short(r), "its line is out of date: an old copy may have been saved")
	}
	return nil
}

// cameSince reports whether a person moved the card here after its run was
// shown to be over.
func (j *judge) cameSince(v *Verdict, r *Run) bool {
	return v.Board.Path != r.Board || v.Lane.Title != r.Lane || j.sight(v).Came.After(r.Shown)
}

// notBack says why a card in the working lane does not go on by itself; nil
// when a person stopped its run with the card and has put it back by hand.
func (j *judge) notBack(v *Verdict, r *Run) *Rule {
	came := j.sight(v).Came
	meanwhile := came.After(r.Stopping) && !came.After(r.Ended) // while it was being stopped
	byCard := r.By == ByMoved || r.By == ByTicked || r.By == ByArchived
	if byCard && r.Outcome == Stopped && v.agent() == r.Agent && (meanwhile || j.cameSince(v, r)) {
		return nil
	}
	return no("deckhand retry "+short(r), "it goes on when it is moved to a ready lane, or by deckhand retry")
}

// back is the same for a place.
func (j *judge) back(r *Run, p place) bool {
	v := Verdict{Board: p.seen.Board, Lane: p.lane, Card: p.card, Run: r.ID, seen: p.seen}
	return p.card.Open() && j.barred(&v, r) == nil
}
