package dispatch

import (
	"time"

	"deckhand/board"
)

// World is all that is known at one moment.
type World struct {
	Now    time.Time
	Boards []Seen // every file taken for a board, sorted by path
	Runs   []*Run // every run, sorted by id
	Set    Settings
	Memory Memory
	// Busy are the runs whose card is being written, or whose agent is being
	// started, right now; nothing is asked of them a second time.
	Busy map[string]bool
	Made []Made // what people ticked in Needs me and in chats
}

// Seen is one board as it was last read.
type Seen struct {
	Board *board.Board
	// Gone: the file is not there, or cannot be read, and why. Board is what
	// it last was; nothing on it starts.
	Gone    string
	Changed time.Time // ctime of the file when it was read
}

// CardID names a card that has no run yet.
type CardID struct{ Board, Key string }

// Settings are what the folder prefers and the machine allows.
type Settings struct {
	Settle, Typing time.Duration
	Once           bool   // every card counts as settled
	Held           Reason // not empty: nothing starts in this folder at all (trust, another machine)
	Agents         map[string]Agent
	Projects       map[string]Project
	Copy           Project // of the notes: where an agent that writes files works on them
	AddLanes       bool
	MaxRunning     int
	Longest        time.Duration // longest turn; 0: none
	Day            float64       // USD a day; 0: no budget
	Wiki           bool          // links are wikilinks (the folder has .obsidian), else Markdown links
	Text           bool          // marks: text
	Terminal       bool          // answers: terminal; permissions are not asked for in notes
	Approvals      []Approval    // permissions that were given for more than once
	// Before are the cards that were there before a grant, as they were then.
	Before map[CardID]Was
	// Forced are the cards a person asked for by command: no typing pause, no Before.
	Forced map[CardID]bool
}

// Was is how a card stood when a grant came.
type Was struct {
	Lane string `json:"lane"`
	Hash string `json:"hash"`
}

// Agent is what is known of a configured agent.
type Agent struct {
	Ready   bool
	Pending bool   // not known yet: nothing starts, and no claim is taken back for it
	Why     Reason // when it is not ready
	Notes   bool   // it works on the work folder itself, whatever project a card names, and writes nothing there
}

// Project is a registered folder.
type Project struct {
	Folder  string // real path; empty when Why is set
	Pending bool   // not known yet: it is being looked at
	Why     Reason
	Boards  []string // boards the configuration gives it
}

// Project is a project as an agent works in it.
func (s *Settings) Project(name, agent string) (Project, bool) {
	if name == Notes && !s.Agents[agent].Notes {
		return s.Copy, s.Copy.Folder != ""
	}
	p, ok := s.Projects[name]
	return p, ok
}

// Reason says why something does not start, and what to type about it.
type Reason struct{ Text, Hint string }

// Rule is one condition of a start.
type Rule struct {
	Name string
	OK   bool
	Why  Reason
	// Turn: nothing is wrong, it is only not this card's turn (limits, settling).
	Turn bool
}

// Verdict is what the rules say of one card.
type Verdict struct {
	Board *board.Board
	Lane  *board.Lane
	Card  *board.Card
	Rules []Rule // those that do not hold; from Judge, all
	// Asks reports whether the card asks for an agent at all: open, in a ready
	// lane, with a mention. Other cards are nobody's concern.
	Asks bool
	Run  string // the run it belongs to, if any
	More int    // of a board with a fault: how many other cards ask, and have the same reason

	seen  *Seen
	whole bool // rules that hold are named too
	over  *Run // its run is over and may go on: in its session, or as another agent's
}

// Start reports whether every rule holds.
func (v Verdict) Start() bool {
	for _, r := range v.Rules {
		if !r.OK {
			return false
		}
	}
	return true
}

// Held are the reasons that a person has to do something about. A card that
// asks, does not start and is not held is queued.
func (v Verdict) Held() []Reason {
	var out []Reason
	for _, r := range v.Rules {
		if !r.OK && !r.Turn {
			out = append(out, r.Why)
		}
	}
	return out
}

// Do is the kind of an Action.
type Do string

// The actions.
const (
	DoClaim    Do = "claim"     // make a run for the card and log it
	DoShow     Do = "show"      // write what the card shows
	DoStart    Do = "start"     // the claim stands on the board: start the agent
	DoTakeBack Do = "take_back" // a claim that may not start any more
	DoStop     Do = "stop"
	DoResume   Do = "resume"  // another turn in the same session
	DoAccept   Do = "accept"  // a person is content
	DoTimeout  Do = "timeout" // the agent has answered its own question
	DoAddLanes Do = "add_lanes"
	DoAnswer   Do = "answer" // a person has answered an ask
	DoSteer    Do = "steer"  // a person has something to say to an agent at work
	DoDecide   Do = "decide" // a person has decided a proposal
	DoClear    Do = "clear"  // take the copied item off the new card of a task that recurs
)

// Action is one thing to do. The caller logs it before it does it. A Reconcile
// asks at most one thing of a run.
type Action struct {
	Do      Do
	Run     string
	Board   string // claim, show, take_back, clear, add_lanes
	Card    Card   // claim
	Agent   string // claim
	Project string // claim
	Folder  string // claim: real path
	// Earlier is the run of another agent whose result goes along (claim).
	Earlier *Earlier
	Item    *board.Item // show
	Shows   Shows       // show
	// Find is the run whose item the card carries now: the run's own, or the
	// earlier one that it takes the place of (show).
	Find string
	// Key is the first line by which a card without item is found (show,
	// take_back); the one card that is meant (clear).
	Key string
	// From is the lane the card stands in. Found elsewhere when it is written,
	// a person has moved it meanwhile: it is not moved then, and a first claim
	// is void (show).
	From     string
	By       string
	Reason   string
	Ask      string   // timeout, answer
	Lines    []string // resume: what the person added
	Took     []string // answer, resume: their lines that it is made of
	Answer   *Answer  // answer
	Text     string   // steer; decide: a note
	Offer    string   // what they ticked: answer, steer, resume, accept, stop, decide
	Files    []string // decide: what is to be applied
	Approval string   // answer: the permission that covers it
}

// Decision is what follows from a World.
type Decision struct {
	Actions []Action
	Cards   []Verdict // of every card that asks, in board order; of a board with a fault only the first
	Notes   []Note    // of runs: something a person should know
	Memory  Memory
	Wake    time.Time // look again at this time at the latest; zero: only when something changes
}

// Note is something to say about a run that is not in its log.
type Note struct {
	Run  string
	Text string
	Hint string
	// Along: it stands beside what the run wants of a person, not in its place.
	Along bool
}

func (d *Decision) wake(at time.Time) {
	if !at.IsZero() && (d.Wake.IsZero() || at.Before(d.Wake)) {
		d.Wake = at
	}
}
