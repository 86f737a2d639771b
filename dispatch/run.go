package dispatch

import (
	"slices"
	"time"
)

// Phase is how far a run has come.
type Phase string

// The phases. Claimed to Stopping have, or are about to have, a process.
const (
	PhaseClaimed  Phase = "claimed"  // no agent yet
	PhaseWorking  Phase = "working"  // an agent works
	PhaseWaiting  Phase = "waiting"  // an agent waits for a person
	PhaseStopping Phase = "stopping" // an agent is being ended
	PhaseEnding   Phase = "ending"   // its turn is over, its process not yet
	PhaseOver     Phase = "over"
	PhaseReleased Phase = "released" // as if it had never been
)

// Outcomes of a run that is over; the words on the card.
const (
	Review  = "review"
	Accept  = "accepted"
	Failed  = "failed"
	Stopped = "stopped"
	Broken  = "interrupted"
)

// MaxTries is how often one transition of a card is written: once, and twice
// again when somebody's old copy undid it. Then it is only reported.
const MaxTries = 3

// Run is what the entries of one log add up to.
type Run struct {
	ID      string
	Agent   string
	Project string
	Folder  string
	Nonce   string
	Card    Card
	Chat    string // path of the chat file
	Phase   Phase
	Outcome string // when the phase is ending or over
	Reason  string // one sentence for people
	By      string // who stopped it: command, moved, ticked, gone, limit
	Asks    []Ask
	Life    int // of the latest turn; 0: none was started
	Session string
	Answer  string   // the last answer's text
	Extra   []string // lines a person added for the turn that comes
	Prompt  string   // resumed: the text to send

	Claimed time.Time
	Turn    time.Time // begin of the latest turn
	Ended   time.Time // when it was over; zero while it is open
	Tokens  int64
	Cost    *float64 // nil: unknown

	Want   Shows    // what its card is to show, as last announced
	Wrote  []string // every line of ours that may stand on the card: an old copy can bring back any of them
	Board  string   // where it was shown last
	Lines  []string // the person's lines when the card was shown last: what is new since is theirs
	Tries  int      // announcements of the present transition
	InSync bool     // the last announcement is done

	LastID   string    // of the newest entry
	LastTime time.Time // of the newest entry
	ChatLife int       // the chat has the capture of this life …
	ChatSeq  int64     // … up to this position
	ChatOpen bool      // announced, not confirmed
	ChatFrom int64     // where the announced piece begins; -1: with the prompt
}

// Shows is what a card shows of a run.
type Shows struct {
	Word  string
	To    string // role of the lane it is moved to; empty: it stays
	Lines []string
}

// Live reports whether the run has, or is about to have, a process.
func (r *Run) Live() bool {
	return r.Phase != PhaseOver && r.Phase != PhaseReleased
}

// Open reports whether the run's turn is not over.
func (r *Run) Open() bool {
	return r.Live() && r.Phase != PhaseEnding
}

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
	if f := apply[e.Kind]; f != nil {
		f(r, e)
	}
}

// apply says what each kind of entry does to a run.
var apply = map[Kind]func(*Run, Entry){
	Claimed: func(r *Run, e Entry) {
		r.Agent, r.Project, r.Folder, r.Nonce, r.Chat = e.Agent, e.Project, e.Folder, e.Nonce, e.Chat
		r.Card, r.Board, r.Lines = *e.Card, e.Card.Board, e.Card.Lines
		r.Claimed, r.Turn = e.Time, e.Time
		r.Phase = PhaseClaimed
	},
	Released: func(r *Run, e Entry) { r.Phase, r.Reason, r.Ended = PhaseReleased, e.Reason, e.Time },
	Show: func(r *Run, e Entry) {
		if e.Word != r.Want.Word || e.To != r.Want.To {
			r.Tries = 0
		}
		r.Tries++
		r.wrote(e.Lines)
		r.Want = Shows{Word: e.Word, To: e.To, Lines: e.Lines}
		r.InSync = false
	},
	Shown: func(r *Run, e Entry) {
		r.InSync = true
		if e.Board != "" {
			r.Board = e.Board
		}
		if e.Card != nil {
			r.Lines = e.Card.Lines
		}
	},
	Started: func(r *Run, e Entry) {
		r.Life, r.Turn = e.Life, e.Time
		if r.Phase == PhaseClaimed { // a stop can come while it is being started
			r.Phase = PhaseWorking
		}
	},
	Bound:   func(r *Run, e Entry) { r.Session = e.Session },
	Asked:   (*Run).asked,
	AskGone: (*Run).askGone,
	Stopping: func(r *Run, e Entry) {
		if r.Live() {
			r.Phase, r.By, r.Reason = PhaseStopping, e.By, e.Reason
		}
	},
	Finished: (*Run).finished,
	Ended:    (*Run).ended,
	Interrupted: func(r *Run, e Entry) {
		r.add(e)
		r.over(e, Broken, e.Reason)
	},
	Resumed: func(r *Run, e Entry) {
		r.Phase, r.Outcome, r.Reason, r.By, r.Ended = PhaseClaimed, "", "", "", time.Time{}
		r.Extra, r.Prompt, r.Turn = e.Lines, e.Text, e.Time
		r.Asks = nil
	},
	Accepted: func(r *Run, e Entry) { r.Outcome = Accept },
	Chat: func(r *Run, e Entry) {
		if e.Life != r.ChatLife {
			r.ChatLife, r.ChatSeq = e.Life, -1
		}
		r.ChatOpen, r.ChatFrom, r.ChatSeq = true, r.ChatSeq, e.Seq
	},
	Chatted: func(r *Run, e Entry) { r.ChatOpen = false },
}

func (r *Run) wrote(lines []string) {
	r.Wrote = slices.Clone(r.Wrote)
	for _, l := range lines {
		if !slices.Contains(r.Wrote, l) {
			r.Wrote = append(r.Wrote, l)
		}
	}
}

func (r *Run) asked(e Entry) {
	if slices.ContainsFunc(r.Asks, func(a Ask) bool { return a.ID == e.Ask.ID }) {
		return
	}
	ask := *e.Ask
	ask.Since = e.Time
	r.Asks = append(slices.Clone(r.Asks), ask)
	if r.Phase == PhaseWorking {
		r.Phase = PhaseWaiting
	}
}

func (r *Run) askGone(e Entry) {
	r.Asks = slices.DeleteFunc(slices.Clone(r.Asks), func(a Ask) bool { return a.ID == e.Ask.ID })
	if len(r.Asks) == 0 && r.Phase == PhaseWaiting {
		r.Phase = PhaseWorking
	}
}

// finished is the end of a turn. A turn that was being stopped stays stopped,
// whatever the agent says of its end.
func (r *Run) finished(e Entry) {
	r.add(e)
	r.Answer = e.Text
	r.Asks = nil
	if r.Phase == PhaseStopping {
		return
	}
	r.Phase, r.Outcome, r.Reason, r.Ended = PhaseEnding, e.Outcome, e.Reason, e.Time
}

// ended is the end of the process.
func (r *Run) ended(e Entry) {
	r.add(e)
	switch r.Phase {
	case PhaseEnding:
		r.Phase = PhaseOver
	case PhaseStopping:
		outcome := Stopped
		if r.By == "limit" {
			outcome = Failed
		}
		r.over(e, outcome, r.Reason)
	case PhaseClaimed, PhaseWorking, PhaseWaiting:
		r.over(e, Failed, e.Reason)
	}
}

func (r *Run) over(e Entry, outcome, reason string) {
	r.Phase, r.Outcome, r.Reason, r.Ended, r.Asks = PhaseOver, outcome, reason, e.Time, nil
}

func (r *Run) add(e Entry) {
	r.Tokens += e.Tokens
	if e.Cost != nil {
		sum := *e.Cost
		if r.Cost != nil {
			sum += *r.Cost
		}
		r.Cost = &sum
	}
}

// Status is the word for --json: working, waiting, done, failed, stopped, interrupted.
func (r *Run) Status() string {
	switch r.Phase {
	case PhaseClaimed, PhaseWorking, PhaseStopping:
		return "working"
	case PhaseWaiting:
		return "waiting"
	}
	switch r.Outcome {
	case Review, Accept:
		return "done"
	}
	return r.Outcome
}

// Word is the status word on the card and in the chat.
func (r *Run) Word() string {
	switch r.Phase {
	case PhaseClaimed, PhaseWorking, PhaseStopping:
		return "works"
	case PhaseWaiting:
		return "asks"
	}
	return r.Outcome
}
