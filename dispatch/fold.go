package dispatch

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Fold adds up the entries of one run's log, in order. Entries of an unknown
// kind change nothing. It returns nil when no claim is among them.
func Fold(entries []Entry) *Run {
	var r *Run
	for _, e := range entries {
		if e.Kind == Claimed && r == nil {
			r = &Run{ID: e.Run}
		}
		if r != nil {
			r.Apply(e)
		}
	}
	return r
}

// Apply adds one entry.
func (r *Run) Apply(e Entry) {
	r.LastID, r.LastTime = e.ID, e.Time
	r.apply(e)
}

// apply says what each kind of entry does to a run. What an entry of this kind
// should hold and does not is taken for empty.
func (r *Run) apply(e Entry) {
	switch e.Kind {
	case Claimed:
		r.claimed(e)
	case Released:
		r.Phase, r.Reason, r.Ended = PhaseReleased, e.Reason, e.Time
	case Show:
		r.show(e)
	case Shown:
		r.shown(e)
	case Started:
		r.started(e)
	case Bound:
		r.Session = e.Session
	case Asked:
		r.asked(e)
	case AskGone:
		r.askGone(e)
	case Stopping:
		r.stopping(e)
	case Accepted:
		if !r.Open() {
			r.Outcome, r.By, r.Offer = Accept, e.By, ""
		}
	default:
		r.applyMore(e)
	}
}

func (r *Run) applyMore(e Entry) {
	switch e.Kind {
	case Finished:
		r.finished(e)
	case Ended:
		r.ended(e)
	case Interrupted:
		r.interrupted(e)
	case Resumed:
		r.resumed(e)
	case Chat:
		if e.Life != r.ChatLife {
			r.ChatLife, r.ChatSeq = e.Life, -1
		}
		r.ChatOpen, r.ChatFrom, r.ChatSeq = true, r.ChatSeq, e.Seq
		r.ChatToldFrom, r.ChatTold = r.ChatTold, max(r.ChatTold, e.Said)
		r.offered(e)
	case Chatted:
		r.ChatOpen = false
	default:
		r.applyTalk(e)
	}
}

func (r *Run) claimed(e Entry) {
	r.Agent, r.Project, r.Folder, r.Nonce, r.Chat = e.Agent, e.Project, e.Folder, e.Nonce, e.Chat
	if e.Card != nil {
		r.Card = *e.Card
	}
	r.Board, r.Lane, r.Key, r.Lines = r.Card.Board, r.Card.Lane, r.Card.Key, r.Card.Lines
	if e.Earlier != nil {
		r.Earlier = e.Earlier
		r.write(e.Earlier.Wrote)
	}
	r.Claimed, r.Turn = e.Time, e.Time
	r.Phase = PhaseClaimed
}

// show announces what the card is to show. The same again is another attempt
// at the same transition.
func (r *Run) show(e Entry) {
	want := Shows{Word: e.Word, To: e.To, Lines: e.Lines}
	if !r.Want.equal(want) {
		r.Tries = 0
	}
	r.write(want.Lines)
	r.Want, r.InSync, r.Meant = want, false, e.Card
}

// shown says that the card shows it. Where a person moved it to and what they
// added is counted from the first announcement on: neither a save that fell into
// the write nor an old copy that is put right must swallow it.
func (r *Run) shown(e Entry) {
	r.Tries++
	r.InSync, r.Shown, r.Took, r.TookNote = true, e.Time, nil, nil
	if e.Board != "" {
		r.Board = e.Board
	}
	if e.Card == nil {
		return
	}
	r.Key = e.Card.Key
	meant := cmp.Or(r.Meant, e.Card)
	r.Lane, r.Meant = meant.Lane, nil
	if r.Tries == 1 {
		r.Lines = meant.Lines
	}
}

func (r *Run) write(lines []string) {
	r.Wrote = slices.Clone(r.Wrote)
	for _, l := range lines {
		if !slices.Contains(r.Wrote, l) {
			r.Wrote = append(r.Wrote, l)
		}
	}
}

// started is the begin of a life. A stop can come while it is being started:
// then there is a process that has still to be ended.
func (r *Run) started(e Entry) {
	r.Life, r.Turn, r.Waited = e.Life, e.Time, 0
	switch {
	case r.Phase == PhaseClaimed:
		r.Phase = PhaseWorking
	case r.Phase == PhaseOver && r.Outcome == Stopped:
		r.Phase, r.Outcome, r.Ended = PhaseStopping, "", time.Time{}
	}
}

func (r *Run) asked(e Entry) {
	if e.Ask == nil || !r.Open() || slices.ContainsFunc(r.Asks, func(a Ask) bool { return a.ID == e.Ask.ID }) {
		return
	}
	ask := *e.Ask
	ask.Since, ask.Offer = e.Time, e.Offer
	r.Asks = append(slices.Clone(r.Asks), ask)
	r.wait(e.Time)
}

func (r *Run) askGone(e Entry) {
	if e.Ask == nil {
		return
	}
	r.close(e.Ask.ID, e.Time)
}

// close takes an ask off the list: it is over.
func (r *Run) close(ask string, at time.Time) {
	r.Asks = slices.DeleteFunc(slices.Clone(r.Asks), func(a Ask) bool { return a.ID == ask })
	r.goesOn(at)
}

// finished is the end of a turn. A turn that was being stopped stays stopped,
// whatever the agent says of its end.
func (r *Run) finished(e Entry) {
	r.add(e)
	r.Answer = e.Text
	r.Asks, r.Offer = nil, e.Offer
	r.withdraw()
	if !r.Open() || r.Phase == PhaseStopping {
		return
	}
	r.Phase, r.Outcome, r.Reason, r.Ended = PhaseEnding, e.Outcome, e.Reason, e.Time
}

// ended is the end of the process.
func (r *Run) ended(e Entry) { r.left(e, Failed) }

// interrupted is a keeper that died.
func (r *Run) interrupted(e Entry) { r.left(e, Broken) }

// stopping is the begin of a stop. A run that was interrupted has nothing to be
// ended: it is stopped.
func (r *Run) stopping(e Entry) {
	if e.By != ByLimit && e.By != byGone { // else it is nobody's word
		r.told(e, "", "stop: "+e.Reason)
	}
	switch {
	case r.Live():
		r.Phase, r.By, r.Reason, r.Stopping = PhaseStopping, e.By, e.Reason, e.Time
	case r.Phase == PhaseOver && r.Outcome == Broken:
		r.Outcome, r.By, r.Reason = Stopped, e.By, e.Reason
	}
}

// left is a process that is gone. A turn that was over before, or was being
// stopped, ends as it would have; one in the middle has this outcome.
func (r *Run) left(e Entry, outcome string) {
	r.add(e)
	if r.Phase != PhaseEnding {
		r.Offer = e.Offer
	}
	switch r.Phase {
	case PhaseEnding:
		r.Phase = PhaseOver
		r.keepOwed()
	case PhaseStopping:
		r.stopped(e)
	case PhaseClaimed, PhaseWorking, PhaseWaiting:
		r.over(e, outcome, e.Reason)
	}
}

func (r *Run) stopped(e Entry) {
	outcome := Stopped
	if r.By == ByLimit {
		outcome = Failed
	}
	r.over(e, outcome, r.Reason)
}

// resumed is another turn of a run that was over.
func (r *Run) resumed(e Entry) {
	unsaid := r.Unsaid()
	r.Phase, r.Outcome, r.Reason, r.By, r.Ended, r.Stopping = PhaseClaimed, "", "", "", time.Time{}, time.Time{}
	r.withdraw()
	r.Extra, r.Prompt, r.Turn, r.Waited = e.Lines, e.Text, e.Time, 0
	r.Asks, r.Owed, r.Late, r.InSync, r.Tries, r.Offer = nil, nil, nil, false, 0, ""
	r.take(e)
	now := e.Lines
	if n := len(unsaid); n > 0 && n <= len(now) && slices.Equal(now[:n], unsaid) {
		if now = now[n:]; len(now) == 0 {
			return // it goes on with what was told before
		}
	}
	r.ToldBefore = len(r.Told)
	if e.By != ByMoved && len(now) > 0 {
		r.Told = append(slices.Clone(r.Told), Told{What: strings.Join(now, "\n"), By: e.By, At: e.Time, Offer: e.Offer, Prompt: true})
	}
}

func (r *Run) over(e Entry, outcome, reason string) {
	r.withdraw()
	r.Phase, r.Outcome, r.Reason, r.Ended, r.Asks = PhaseOver, outcome, reason, e.Time, nil
	r.keepOwed()
}

func (r *Run) add(e Entry) {
	r.Tokens += e.Tokens
	if e.Cost == nil {
		return
	}
	sum := *e.Cost
	if r.Cost != nil {
		sum += *r.Cost
	}
	r.Cost = &sum
	r.Spends = append(slices.Clone(r.Spends), Spend{e.Time, *e.Cost})
}
