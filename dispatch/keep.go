package dispatch

import (
	"slices"
	"strings"
	"time"

	"deckhand/board"
)

// away is how long a running card may stand outside the working lane before
// its run is stopped; gone is the same for a card that is on no board.
const (
	away = 10 * time.Second
	gone = 2 * time.Minute
)

// keep compares every run with its card.
type keep struct {
	w     *World
	find  *finder
	judge *judge
	d     *Decision
	was   map[string]RunSight
	at    map[*board.Card]*Run // cards of runs that are not over
	where map[string]string    // the board each live run's card is on
	back  []place              // cards of stopped runs that are back in the working lane
}

// runs looks at each run. What it remembers of them is made anew.
func (k *keep) runs() {
	k.was, k.d.Memory.Runs = k.d.Memory.Runs, make(map[string]RunSight, len(k.d.Memory.Runs))
	for _, r := range k.w.Runs {
		if k.find.next[r.ID] != nil && r.Phase == PhaseOver {
			continue // its card is another agent's now
		}
		st := k.find.run(r)
		k.own(r, st)
		if k.w.Busy[r.ID] {
			k.remember(r, k.was[r.ID])
			continue
		}
		k.run(r, st)
	}
	k.alone()
}

// own notes down which cards are taken.
func (k *keep) own(r *Run, st standing) {
	if !r.Live() {
		return
	}
	k.where[r.ID] = r.Board
	for _, p := range st.places {
		k.at[p.card], k.where[r.ID] = r, p.seen.Board.Path
	}
}

func (k *keep) run(r *Run, st standing) {
	sight := k.was[r.ID]
	switch {
	case r.Phase == PhaseReleased:
		k.released(r, st)
		return
	case k.clock(r):
	case k.said(r, st, &sight):
	case st.blind != "":
		k.unreadable(r, st, &sight)
	case len(st.places) > 1:
		k.doubled(r, st.places, &sight)
	case len(st.places) == 0:
		k.missing(r, &sight)
	case r.Open():
		k.open(r, st.places[0], &sight)
	default:
		k.over(r, st.places[0])
	}
	if len(st.places) == 1 {
		sight.One, sight.Twin = st.places[0].item && st.places[0].card.Open(), false
	}
	k.remember(r, sight)
}

func (k *keep) remember(r *Run, s RunSight) {
	if s != (RunSight{}) {
		k.d.Memory.Runs[r.ID] = s
	}
}

func (k *keep) do(a Action) { k.d.Actions = append(k.d.Actions, a) }

func (k *keep) note(r *Run, text, hint string) {
	k.d.Notes = append(k.d.Notes, Note{Run: r.ID, Text: text, Hint: hint})
}

func stopHint(r *Run) string { return "deckhand stop " + short(r) }

// released is a claim that was taken back. A board that was away then can
// bring its item back.
func (k *keep) released(r *Run, st standing) {
	if len(st.places) == 1 && st.places[0].item {
		k.takeBack(r, st.places[0])
	}
}

// clock ends what has lasted too long: the turn, and questions that the agent
// answers itself after a while without telling anybody.
func (k *keep) clock(r *Run) bool {
	if !r.Open() || r.Phase == PhaseStopping || r.Phase == PhaseClaimed {
		return false
	}
	if limit := k.w.Set.Longest; limit > 0 && r.Phase != PhaseWaiting { // waiting for a person is no work
		if k.due(r.Turn.Add(limit + r.Waited)) {
			k.do(Action{Do: DoStop, Run: r.ID, By: ByLimit, Reason: "it ran longer than " + Short(limit) + ", the longest run allowed"})
			return true
		}
	}
	for _, ask := range r.Asks {
		if at := ask.Deadline(); !at.IsZero() && k.due(at) {
			k.do(Action{Do: DoTimeout, Run: r.ID, Ask: ask.ID, Reason: "nobody answered within " + Short(ask.Timeout)})
			return true
		}
	}
	return false
}

// due reports whether a time has come; until then it is waited for.
func (k *keep) due(at time.Time) bool {
	if k.w.Now.Before(at) {
		k.d.wake(at)
		return false
	}
	return true
}

func (k *keep) unreadable(r *Run, st standing, sight *RunSight) {
	sight.Away, sight.Gone, sight.Crowd = time.Time{}, time.Time{}, false
	if r.Live() {
		k.note(r, "its board is left alone at the moment ("+st.blind+"); the run goes on", "")
	}
}

// doubled is a run whose line, or whose first line, stands more than once.
func (k *keep) doubled(r *Run, places []place, sight *RunSight) {
	if sight.Twin = twins(places) && (sight.Twin || sight.One); sight.Twin {
		_, open := ticked(places)
		k.do(Action{Do: DoClear, Run: r.ID, Board: open.seen.Board.Path, Key: open.card.Key})
		return
	}
	sight.One = false
	if r.Phase == PhaseClaimed && !r.InSync && !places[0].item {
		k.do(Action{Do: DoTakeBack, Run: r.ID}) // nothing was written yet
		return
	}
	k.note(r, "its card stands more than once ("+atOf(places)+"): nothing is written on either", "delete one of the two")
}

// twins reports whether two places are what the Tasks plugin makes of a
// recurring card that is ticked: the card, and beside it an open copy of it,
// which is a new card in spite of the item that was copied with it.
func twins(places []place) bool {
	if len(places) != 2 || !places[0].item || places[0].lane == nil || places[0].lane != places[1].lane || places[0].lane.Role == board.Done {
		return false
	}
	done, open := ticked(places)
	if done.card == nil || open.card == nil || !done.card.Recurring || !open.card.Recurring {
		return false
	}
	cards := places[0].lane.Cards
	for i := range cards[1:] {
		if &cards[i] == places[0].card && &cards[i+1] == places[1].card {
			return len(open.seen.Board.ByKey(open.card.Key)) == 1
		}
	}
	return false
}

func ticked(places []place) (done, open place) {
	for _, p := range places {
		switch {
		case p.card.Ticked():
			done = p
		case p.card.Open():
			open = p
		}
	}
	return done, open
}

// open looks at a run whose turn is not over.
func (k *keep) open(r *Run, p place, sight *RunSight) {
	sight.Gone, sight.Crowd = time.Time{}, false
	if r.Phase == PhaseStopping {
		return // its end is written
	}
	if p.lane == nil {
		k.do(Action{Do: DoStop, Run: r.ID, By: ByArchived, Reason: "the card was archived"})
		return
	}
	if r.Phase == PhaseClaimed && k.void(r, p) {
		k.takeBack(r, p)
		return
	}
	if k.moved(r, p) {
		k.leaving(r, p, sight)
		return
	}
	sight.Away = time.Time{}
	if k.show(r, p, !p.item || outdated(r, p.card.Status)) {
		return
	}
	if r.Phase == PhaseClaimed && r.InSync && !k.w.Set.Agents[r.Agent].Pending {
		k.do(Action{Do: DoStart, Run: r.ID})
	}
}

// void reports whether what allowed a claim is gone. It is looked at once more
// before the agent is started: after a restart that can be days later. A turn
// that a person asked for needs only the grants.
func (k *keep) void(r *Run, p place) bool {
	if !granted(&k.w.Set, r) {
		return true
	}
	if r.Life > 0 {
		return false
	}
	c := p.card
	return len(c.Agents) != 1 || c.Agents[0] != r.Agent || projectOf(c, p.seen.Board, k.w) != r.Project ||
		!k.judge.budget().OK || !k.judge.after(p.seen, p.lane, c).OK
}

// granted reports whether a run may have an agent at all.
func granted(set *Settings, r *Run) bool {
	a := set.Agents[r.Agent]
	p, _ := set.Project(r.Project, r.Agent)
	return set.Held.Text == "" && (a.Ready || a.Pending) && p.Why.Text == "" && p.Folder == r.Folder
}

// takeBack undoes a claim; on the board only when something can stand there.
func (k *keep) takeBack(r *Run, p place) {
	a := Action{Do: DoTakeBack, Run: r.ID}
	if r.Want.Word != "" {
		a.Board, a.Key = p.seen.Board.Path, p.card.Key
	}
	k.do(a)
}

// moved reports whether a person took the card of a running agent away: it has
// the run's line with it, so it is no old copy. On a board that has no working
// lane any more its heading was changed, and not the card moved.
func (k *keep) moved(r *Run, p place) bool {
	if !p.item || !r.InSync {
		return false
	}
	if p.card.Ticked() {
		return true
	}
	if p.seen.Board.Path == r.Board && p.seen.Board.Lane(board.Working) == nil {
		k.note(r, "its board has no working lane now; the run goes on", stopHint(r))
		return false
	}
	return p.lane.Role != board.Working
}

func (k *keep) leaving(r *Run, p place, sight *RunSight) {
	if sight.Away.IsZero() {
		sight.Away = k.w.Now
	}
	by, what := ByMoved, "the card was moved to "+p.lane.Title
	if p.card.Ticked() {
		by, what = ByTicked, "the card was ticked"
	}
	at := sight.Away.Add(away)
	if !k.w.Set.Once && !k.due(at) {
		k.note(r, what+"; its run is stopped at "+at.Format("15:04:05")+" unless that is undone", "")
		return
	}
	k.do(Action{Do: DoStop, Run: r.ID, By: by, Reason: what})
}

// missing is a run whose card is on no board. Of one that is over nothing
// follows.
func (k *keep) missing(r *Run, sight *RunSight) {
	sight.Away, sight.One = time.Time{}, false
	if !r.Open() {
		sight.Gone, sight.Crowd = time.Time{}, false
		return
	}
	if r.Phase == PhaseClaimed && !r.InSync {
		k.do(Action{Do: DoTakeBack, Run: r.ID})
		return
	}
	if !k.find.there(r.Board) {
		sight.Gone, sight.Crowd = time.Time{}, false
		k.note(r, "its board is not there; the run goes on", stopHint(r))
		return
	}
	if sight.Gone.IsZero() {
		sight.Gone = k.w.Now
	}
}

// alone stops runs whose card was deleted: only when its board is there and
// lost this card alone is that a person's word. A checkout, a stash or a sync
// takes several away at once.
func (k *keep) alone() {
	type loss struct {
		board string
		at    time.Time
	}
	lost := map[loss]int{}
	for _, r := range k.w.Runs {
		if s := k.d.Memory.Runs[r.ID]; !s.Gone.IsZero() {
			lost[loss{r.Board, s.Gone}]++
		}
	}
	for _, r := range k.w.Runs {
		s := k.d.Memory.Runs[r.ID]
		if lost[loss{r.Board, s.Gone}] > 1 && !s.Crowd {
			s.Crowd = true
			k.remember(r, s)
		}
		if s.Gone.IsZero() || k.w.Busy[r.ID] || r.Phase == PhaseStopping || k.asked(r) {
			continue
		}
		if s.Crowd {
			k.note(r, "its card is on no board, and others went at the same time; the run goes on", stopHint(r))
			continue
		}
		at := s.Gone.Add(gone)
		if !k.due(at) {
			k.note(r, "its card is on no board; its run is stopped at "+at.Format("15:04:05")+" unless it comes back", stopHint(r))
			continue
		}
		k.do(Action{Do: DoStop, Run: r.ID, By: byGone, Reason: "its card was deleted"})
	}
}

// asked reports whether something is asked of the run in this decision already.
func (k *keep) asked(r *Run) bool {
	for _, a := range k.d.Actions {
		if a.Run == r.ID {
			return true
		}
	}
	return false
}

// show brings the card to what the run wants it to show; stale says that an
// old copy has undone what was shown. It reports whether the card does not
// show it yet.
func (k *keep) show(r *Run, p place, stale bool) bool {
	item, to := shows(r, &k.w.Set, p.seen.Board, p.card)
	if p.lane == nil {
		to = "" // nothing comes out of the archive
	}
	want := Shows{Word: item.Word, To: to, Lines: item.Lines()}
	same := r.Want.equal(want)
	if same && r.InSync && !stale {
		return false
	}
	if same && r.InSync && r.Tries >= MaxTries {
		k.note(r, "an old copy of its board was saved over ours again after its card was put back twice: it is left as it is; reload the board in your editor", stopHint(r))
		return true
	}
	a := Action{Do: DoShow, Run: r.ID, Board: p.seen.Board.Path, Item: &item, Shows: want, Find: strings.ToLower(r.ID), Key: p.card.Key}
	if p.lane != nil {
		a.From = p.lane.Title
	}
	if !p.item && p.card.Status != nil {
		a.Find = p.card.Status.Run
	}
	k.do(a)
	return true
}

// outdated reports whether an item is one that the run wrote before: an old copy
// has brought it back, with boxes that are over.
func outdated(r *Run, s *board.Status) bool {
	if s.Word != r.Want.Word {
		return true
	}
	for _, line := range s.Lines {
		box, ok := board.ReadBox(line)
		if !ok {
			continue
		}
		has := func(l string) bool { return strings.HasSuffix(l, " ^"+box.ID) }
		if slices.ContainsFunc(r.Wrote, has) && !slices.ContainsFunc(r.Want.Lines, has) {
			return true
		}
	}
	return false
}

// over looks at a run whose turn is over.
func (k *keep) over(r *Run, p place) {
	switch {
	case !r.InSync || r.Want.Word != r.Outcome:
		k.show(r, p, false)
	case !p.item:
		// A person may take our line away when the work is done. Whatever
		// else lost it, nothing starts from a card without it.
	case p.card.Status.Word != r.Outcome || outdated(r, p.card.Status):
		k.show(r, p, true)
	case p.card.Ticked() || p.lane != nil && p.lane.Role == board.Done:
		if r.Outcome == Review {
			k.do(Action{Do: DoAccept, Run: r.ID})
		}
	case p.lane != nil && p.lane.Role == board.Working && k.judge.back(r, p):
		k.back = append(k.back, p)
	}
}
