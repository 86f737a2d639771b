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
	w    *World
	find *finder
	d    *Decision
	lost map[string]int // running cards missing, by the board they were on
}

func newKeep(w *World, find *finder, d *Decision) *keep {
	k := &keep{w: w, find: find, d: d, lost: map[string]int{}}
	for _, r := range w.Runs {
		if r.Live() && len(find.run(r)) == 0 {
			k.lost[r.Board]++
		}
	}
	return k
}

func (k *keep) runs() {
	for _, r := range k.w.Runs {
		if r.Phase == PhaseReleased {
			continue
		}
		if r.Open() {
			k.clock(r)
		}
		if k.w.Busy[r.ID] {
			continue
		}
		places := k.find.run(r)
		switch {
		case len(places) > 1:
			k.doubled(r, places)
		case r.Live():
			k.live(r, places)
		case len(places) == 1:
			k.over(r, places[0])
		}
	}
	for id := range k.d.Memory.Runs {
		if !slices.ContainsFunc(k.w.Runs, func(r *Run) bool { return r.ID == id && r.Live() }) {
			delete(k.d.Memory.Runs, id)
		}
	}
}

func (k *keep) do(a Action) { k.d.Actions = append(k.d.Actions, a) }

func (k *keep) note(r *Run, text, hint string) {
	k.d.Notes = append(k.d.Notes, Note{Run: r.ID, Text: text, Hint: hint})
}

// clock ends what has lasted too long: the turn, and questions that the agent
// answers itself after a while without telling anybody.
func (k *keep) clock(r *Run) {
	if limit := k.w.Set.Longest; limit > 0 && r.Phase != PhaseStopping && r.Phase != PhaseClaimed {
		if end := r.Turn.Add(limit); !k.w.Now.Before(end) {
			k.do(Action{Do: DoStop, Run: r.ID, By: "limit", Reason: "it ran longer than " + Short(limit) + ", the longest run allowed"})
		} else {
			k.d.wake(end)
		}
	}
	for _, ask := range r.Asks {
		switch at := ask.Deadline(); {
		case at.IsZero():
		case k.w.Now.Before(at):
			k.d.wake(at)
		default:
			k.do(Action{Do: DoTimeout, Run: r.ID, Ask: ask.ID, Reason: "nobody answered within " + Short(ask.Timeout)})
		}
	}
}

func (k *keep) doubled(r *Run, places []place) {
	var at []string
	for _, p := range places {
		at = append(at, p.at())
	}
	k.note(r, "its card stands more than once ("+strings.Join(at, ", ")+"): nothing is written on either", "delete one of the two")
}

// live looks at a run that has, or is about to have, a process.
func (k *keep) live(r *Run, places []place) {
	sight := k.d.Memory.Runs[r.ID]
	defer func() {
		if sight != (RunSight{}) {
			k.d.Memory.Runs[r.ID] = sight
		} else {
			delete(k.d.Memory.Runs, r.ID)
		}
	}()
	if len(places) == 0 {
		k.missing(r, &sight)
		return
	}
	sight.Gone = time.Time{}
	p := places[0]
	if p.seen.Gone != "" || p.seen.Board.Inactive != "" {
		sight.Away = time.Time{}
		return // a board in conflict decides nothing
	}
	if r.Phase == PhaseClaimed && !k.mayStart(r) {
		k.do(Action{Do: DoTakeBack, Run: r.ID, Board: p.seen.Board.Path})
		return
	}
	if k.moved(r, p) {
		k.leaving(r, p, &sight)
		return
	}
	sight.Away = time.Time{}
	stale := r.InSync && r.Phase != PhaseEnding && (!p.item || p.card.Status.Word != r.Want.Word || p.lane.Role == board.Ready)
	if k.show(r, p, stale) {
		return
	}
	if r.Phase == PhaseClaimed && r.InSync {
		k.do(Action{Do: DoStart, Run: r.ID})
	}
}

// mayStart looks once more at the grants before an agent is started: they can
// have gone since the claim.
func (k *keep) mayStart(r *Run) bool {
	return k.w.Set.Held.Text == "" && k.w.Set.Agents[r.Agent].Ready && k.w.Set.Projects[r.Project].Why.Text == "" &&
		k.w.Set.Projects[r.Project].Folder == r.Folder
}

// moved reports whether a person took the card of a running agent away: it has
// the run's line with it, so it is no old copy.
func (k *keep) moved(r *Run, p place) bool {
	shown := r.InSync && r.Want.Word == r.Word() // else the board is yet to say that it works
	if !p.item || !shown || r.Phase == PhaseStopping || r.Phase == PhaseEnding {
		return false
	}
	return p.card.Ticked() || p.lane.Role != board.Working
}

func (k *keep) leaving(r *Run, p place, sight *RunSight) {
	if sight.Away.IsZero() {
		sight.Away = k.w.Now
	}
	by, what := "moved", "the card was moved to "+p.lane.Title
	if p.card.Ticked() {
		by, what = "ticked", "the card was ticked"
	}
	if at := sight.Away.Add(away); k.w.Now.Before(at) && !k.w.Set.Once {
		k.d.wake(at)
		return
	}
	k.do(Action{Do: DoStop, Run: r.ID, By: by, Reason: what})
}

// missing is a running card that is on no board. Only when its board is there
// and lost this card alone is that a person's word; a checkout or a sync loses
// several at once.
func (k *keep) missing(r *Run, sight *RunSight) {
	if r.Phase == PhaseClaimed && !r.InSync {
		k.do(Action{Do: DoTakeBack, Run: r.ID})
		return
	}
	if sight.Gone.IsZero() {
		sight.Gone = k.w.Now
	}
	alone := k.lost[r.Board] == 1 && k.there(r.Board)
	if !alone || r.Phase == PhaseStopping || r.Phase == PhaseEnding {
		k.note(r, "its card is on no board; the run goes on", "deckhand stop "+r.ID)
		return
	}
	at := sight.Gone.Add(gone)
	if k.w.Now.Before(at) {
		k.note(r, "its card is on no board; it is stopped at "+at.Format("15:04")+" unless the card comes back", "deckhand stop "+r.ID)
		k.d.wake(at)
		return
	}
	k.do(Action{Do: DoStop, Run: r.ID, By: "gone", Reason: "its card was deleted"})
}

func (k *keep) there(path string) bool {
	for _, s := range k.w.Boards {
		if s.Board.Path == path {
			return s.Gone == "" && s.Board.Inactive == ""
		}
	}
	return false
}

// show brings the card to what the run wants it to show; stale says that an
// old copy has undone what was shown. It reports whether something is to be
// written first.
func (k *keep) show(r *Run, p place, stale bool) bool {
	item, to := shows(r, &k.w.Set, p.seen.Board.Path)
	want := Shows{Word: item.Word, To: to, Lines: item.Lines()}
	same := want.Word == r.Want.Word && slices.Equal(want.Lines, r.Want.Lines)
	if same && r.InSync && !stale {
		return false
	}
	if same && r.Tries >= MaxTries {
		k.note(r, "its card was put back "+times(MaxTries)+" by an old copy: it is left where it is now", "reload the board in your editor")
		return r.Phase == PhaseClaimed
	}
	k.do(Action{Do: DoShow, Run: r.ID, Board: p.seen.Board.Path, Item: &item, Shows: want})
	return true
}

func times(n int) string { return map[int]string{2: "twice", 3: "three times"}[n] }

// over looks at a run whose process is gone, or about to go.
func (k *keep) over(r *Run, p place) {
	if p.seen.Gone != "" || p.seen.Board.Inactive != "" {
		return
	}
	if !r.InSync || r.Want.Word != r.Outcome {
		k.show(r, p, false)
		return
	}
	if !p.item {
		// A person may take our line away from a card that is done; only a
		// card back among those at work is an old copy.
		if p.lane.Role == board.Working {
			k.show(r, p, true)
		}
		return
	}
	switch {
	case p.card.Status.Word != r.Outcome && p.lane.Role == board.Working:
		k.show(r, p, true)
	case p.card.Ticked() || p.lane.Role == board.Done:
		if r.Outcome == Review {
			k.do(Action{Do: DoAccept, Run: r.ID})
		}
	case p.lane.Role == board.Ready && p.card.Status.Word == r.Outcome:
		k.again(r, p)
	case p.lane.Role == board.Working && r.Outcome == Stopped && (r.By == "moved" || r.By == "ticked"):
		k.resume(r, p)
	}
}

// again is a card that a person moved back to a ready lane with its line.
func (k *keep) again(r *Run, p place) {
	if r.Outcome == Review && len(k.added(r, p)) == 0 {
		return // the verdict of the card says so
	}
	if len(p.card.Agents) != 1 || p.card.Agents[0] != r.Agent {
		return
	}
	k.resume(r, p)
}

func (k *keep) resume(r *Run, p place) {
	id := CardID{p.seen.Board.Path, p.card.Key}
	if at := k.d.Memory.Cards[id].settled(k.w.Set); k.w.Now.Before(at) && !k.w.Set.Once {
		k.d.wake(at)
		return
	}
	if !k.mayStart(r) || !k.d.Memory.Open && !k.w.Set.Once || k.busy(r) {
		return
	}
	k.do(Action{Do: DoResume, Run: r.ID, By: "moved", Lines: k.added(r, p)})
}

// busy reports whether another run is at work in the folder of r.
func (k *keep) busy(r *Run) bool {
	return slices.ContainsFunc(k.w.Runs, func(o *Run) bool { return o != r && o.Live() && nested(o.Folder, r.Folder) })
}

// added are the lines a person wrote since the card was shown last: below the
// card or inside our item.
func (k *keep) added(r *Run, p place) []string {
	now := slices.Clone(p.card.Lines)
	if p.card.Status != nil {
		now = append(now, board.Added(r.Wrote, p.card.Status.Lines)...)
	}
	return board.Added(r.Lines, now)
}
