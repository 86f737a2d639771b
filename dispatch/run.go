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

// Ways to stop a run with the card itself: it stays where the person put it,
// and goes on when it is back in the working lane.
const (
	ByMoved    = "moved"
	ByTicked   = "ticked"
	ByArchived = "archived"
	byGone     = "gone"
	// ByLimit is the longest run that is allowed.
	ByLimit = "limit"
)

// Run is what the entries of one log add up to.
type Run struct {
	ID         string
	Agent      string
	Project    string
	Folder     string
	Nonce      string
	Card       Card
	Chat       string // path of the chat file
	Phase      Phase
	Outcome    string     // when the phase is ending or over
	Reason     string     // one sentence for people
	By         string     // who stopped it: command, moved, ticked, archived, gone, limit
	Earlier    *Earlier   // the run of another agent that it takes the place of
	Asks       []Ask      // those that are open, oldest first
	Proposals  []Proposal // all of them, oldest first
	Told       []Told     // what people answered and said, oldest first
	ToldBefore int        // how many of them were before the turn at hand
	Owed       []Owed     // what the agent is to get of it
	Late       []Owed     // what was said to it and not read before its turn was over: it goes on with that
	Renoted    []string   // names of notes that it was given and that are others now
	Offer      string     // the id of what a person can tick about a run that is over
	Life       int        // of the latest turn; 0: none was started
	Session    string
	Answer     string   // the last answer's text
	Extra      []string // lines a person added for the turn that comes
	Prompt     string   // resumed: the text to send

	Claimed  time.Time
	Turn     time.Time     // begin of the latest turn
	Waits    time.Time     // since when it waits for a person; while it does
	Waited   time.Duration // how long it has waited for people in the latest turn before
	Ended    time.Time     // when it was over; zero while it is open
	Stopping time.Time     // when it was begun to be stopped
	Tokens   int64
	Cost     *float64 // nil: unknown
	Spends   []Spend  // what Cost is made of

	Want     Shows                // what its card is to show, as last announced
	Wrote    []string             // every line of ours that may stand on the card: an old copy can bring back any of them
	Board    string               // where it was shown last
	Lane     string               // and the lane it was meant to stand in: one that a person moved it to meanwhile is another
	Key      string               // and its first line then
	Shown    time.Time            // and when
	Lines    []string             // the person's lines when the present transition was announced first: what is new since is theirs
	Meant    *Card                // the card as that announcement meant it; nil: nothing is announced, or its log does not say
	Tries    int                  // how often the present transition was written
	InSync   bool                 // the last announcement is done
	Took     []string             // lines of the person on the card that were answered with: the next announcement takes them off
	TookNote []string             // the same in Needs me
	Send     string               // the id of the open send box of its chat
	Sent     map[string]time.Time // those that were used, and when

	LastID       string    // of the newest entry
	LastTime     time.Time // of the newest entry
	ChatLife     int       // the chat has the capture of this life …
	ChatSeq      int64     // … up to this position
	ChatOpen     bool      // announced, not confirmed
	ChatTold     string    // the entry of what a person said last that is in the chat
	ChatToldFrom string    // and before the announced piece
	ChatFrom     int64     // where the announced piece begins; -1: with the prompt
}

// Shows is what a card shows of a run.
type Shows struct {
	Word  string
	To    string // role of the lane it is moved to; empty: it stays
	Lines []string
}

// equal reports whether a card shows the same. The lane follows from the word,
// unless the board lacks it.
func (s Shows) equal(o Shows) bool {
	return s.Word == o.Word && slices.Equal(s.Lines, o.Lines)
}

// Spend is what one life cost, in USD.
type Spend struct {
	At  time.Time
	USD float64
}

// Live reports whether the run has, or is about to have, a process.
func (r *Run) Live() bool {
	return r.Phase != PhaseOver && r.Phase != PhaseReleased
}

// Open reports whether the run's turn is not over.
func (r *Run) Open() bool {
	return r.Live() && r.Phase != PhaseEnding
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
