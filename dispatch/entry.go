// Package dispatch decides: which card starts, which waits and why, what a
// running card's board should show, and what a restart makes of an open run.
//
// It is a pure function of boards, runs, settings and the time it is given. It
// reads no clock and no disk and starts nothing: the same input gives the same
// decision, so a missed event, a restart and normal work take the same path.
//
// Not for: how a board is read or changed (package board), how an action is
// carried out (package internal/daemon).
//
// The pieces: an Entry is one record of a run's log, a Run is what its entries
// add up to (Fold), a World is all that is known at one moment, a Decision is
// what follows from it (Reconcile). Of a World it is asked: where does each
// run's card stand (finder), what does that mean for the run (keep), which
// cards may start or go on (judge), and whose turn is it (pull). What must be
// remembered from one moment to the next is in a Memory. Recover is the table
// for runs that were open when the daemon died.
//
// A card belongs to a run by the run's item on it, wherever it stands; without
// an item, by its first line, to the newest run of that line. A person's move
// carries the item along and an old copy of the file does not: that is how the
// two are told apart. A Decision asks at most one thing of a run, and when its
// actions are carried out and nothing else happens, nothing more is asked.
package dispatch

import "time"

// Kind is the kind of an Entry.
type Kind string

// The kinds of log entries. An entry is written, and synced, before the side
// effect it announces; a second one says that the effect is done.
const (
	Claimed     Kind = "claimed"      // a card was chosen; its board is changed next
	Released    Kind = "released"     // the claim was taken back; nothing ran
	Show        Kind = "show"         // the board is about to be changed to these lines
	Shown       Kind = "shown"        // it was
	Started     Kind = "started"      // a keeper was started for a life
	Bound       Kind = "bound"        // the agent named its session
	Asked       Kind = "asked"        // the agent wants something of a person
	AskGone     Kind = "ask_gone"     // and no longer does
	Finished    Kind = "finished"     // a turn is over
	Stopping    Kind = "stopping"     // the agent is being ended before its turn is over
	Ended       Kind = "ended"        // the agent's process and its keeper are gone
	Interrupted Kind = "interrupted"  // the keeper died: what the agent did last is not known
	Resumed     Kind = "resumed"      // another turn in the same session was asked for
	Accepted    Kind = "accepted"     // a person ticked the card or moved it to a done lane
	Chat        Kind = "chat"         // the chat file is about to get what the capture says up to Seq
	Chatted     Kind = "chatted"      // it has it
	Said        Kind = "said"         // something worth a line in the log, without an effect
	Answered    Kind = "answered"     // a person answered an ask; the agent gets it next
	Steered     Kind = "steered"      // a person has something to say to an agent at work; it gets it next
	Delivered   Kind = "delivered"    // what was answered or said is on its way to the agent, whatever comes
	Unread      Kind = "unread"       // it did not read that before its turn was over: the next one begins with it
	Renoted     Kind = "notes"        // which notes that it was given are others now; Lines names them, none: as it was told
	Proposed    Kind = "proposed"     // the agent wants notes changed; with a reason: it was refused
	Decided     Kind = "decided"      // a person decided it; the files are written next
	RollingBack Kind = "rolling_back" // one of them could not be written: what was done is taken back next
	Applied     Kind = "applied"      // they were written
	NotApplied  Kind = "not_applied"  // none was, or a file is neither what it was nor what it should be
	Undo        Kind = "undo"         // what was applied is taken back next
	Reverted    Kind = "reverted"     // it was
	NotReverted Kind = "not_reverted" // and could not be
	Offered     Kind = "offered"      // a person may write something into the chat, and tick it by this id
)

// Entry is one line of runs/<id>/log.jsonl. Which fields are set depends on
// Kind; unknown fields of later versions are ignored.
type Entry struct {
	ID   string    `json:"id"` // rises over all runs of a work folder
	Time time.Time `json:"time"`
	Run  string    `json:"run"`
	Kind Kind      `json:"kind"`
	Life int       `json:"life,omitempty"`
	Seq  int64     `json:"seq,omitempty"` // position in the life's capture it comes from

	Card     *Card    `json:"card,omitempty"`     // claimed; show: as it is meant to stand; shown: as it stands
	Agent    string   `json:"agent,omitempty"`    // claimed
	Project  string   `json:"project,omitempty"`  // claimed
	Folder   string   `json:"folder,omitempty"`   // claimed: real path
	Nonce    string   `json:"nonce,omitempty"`    // claimed
	Session  string   `json:"session,omitempty"`  // bound
	Chat     string   `json:"chat,omitempty"`     // claimed: path of the chat file
	By       string   `json:"by,omitempty"`       // claimed, stopping, resumed, answered, steered, accepted: see the constants
	Reason   string   `json:"reason,omitempty"`   // one sentence
	Command  string   `json:"command,omitempty"`  // the client's id of the command that asked for it
	Word     string   `json:"word,omitempty"`     // show: the status word
	To       string   `json:"to,omitempty"`       // show: the lane's role, empty: it stays
	Lines    []string `json:"lines,omitempty"`    // show: what is written; resumed: what the person added
	Board    string   `json:"board,omitempty"`    // shown: where
	From     string   `json:"from,omitempty"`     // shown: the lane in which it stood before, when that is another
	Outcome  string   `json:"outcome,omitempty"`  // finished, ended
	Text     string   `json:"text,omitempty"`     // finished: the last answer; resumed: the prompt's text; steered, unread: what is said; decided: a note
	Ask      *Ask     `json:"ask,omitempty"`      // asked; ask_gone: only its id
	Tokens   int64    `json:"tokens,omitempty"`   // finished, ended: of this life
	Cost     *float64 `json:"cost,omitempty"`     // finished, ended: of this life, USD
	Exit     *Exit    `json:"exit,omitempty"`     // ended
	Earlier  *Earlier `json:"earlier,omitempty"`  // claimed: the run whose card this is now
	Answer   *Answer  `json:"answer,omitempty"`   // answered
	Row      string   `json:"row,omitempty"`      // delivered, unread: the id of the row for the agent
	Notes    []Copied `json:"notes,omitempty"`    // steered: notes as they were when it was told of their changes
	Approval string   `json:"approval,omitempty"` // answered: the permission it comes from, or that was given with it
	How      string   `json:"how,omitempty"`      // steered: steer or follow_up
	Took     []string `json:"took,omitempty"`     // answered, resumed: the person's lines that it is made of, which go from where they stood
	Said     string   `json:"said,omitempty"`     // chat: the entry of what a person said last that goes along
	Proposal *Batch   `json:"proposal,omitempty"` // proposed
	Files    []string `json:"files,omitempty"`    // decided: what is to be applied; applied
	// Offer is what a person can tick from now on (asked, finished, ended,
	// interrupted, offered, chat), or what they ticked (answered, steered, resumed,
	// accepted, stopping). Of a proposal it is the name in all its entries.
	Offer string `json:"offer,omitempty"`
}

// Copied is a note as an agent was given it.
type Copied struct {
	Path    string `json:"path"`
	Section string `json:"section,omitempty"`
	Hash    string `json:"hash"` // of the whole of it
	Text    string `json:"text"` // as much as was copied
}

// Earlier is a run of another agent on the same card: its result goes along,
// and its item on the card gives way.
type Earlier struct {
	Run    string   `json:"run"`
	Agent  string   `json:"agent"`
	Answer string   `json:"answer,omitempty"`
	Wrote  []string `json:"wrote,omitempty"` // its lines that may stand on the card
}

// Card is what is known of a card at the moment of an entry.
type Card struct {
	Board string   `json:"board"`
	Lane  string   `json:"lane"`
	Line  int      `json:"line"`
	Key   string   `json:"key"`
	Title string   `json:"title"`
	Lines []string `json:"lines,omitempty"` // the person's lines below the first
	Next  string   `json:"next,omitempty"`  // claimed: the first line of the card that followed it in its lane
}

// Ask is what a waiting run wants of a person.
type Ask struct {
	ID          string        `json:"id"`
	Kind        string        `json:"kind,omitempty"` // select, confirm, input, editor, question
	Title       string        `json:"title,omitempty"`
	Message     string        `json:"message,omitempty"`
	Options     []string      `json:"options,omitempty"`
	Prefill     string        `json:"prefill,omitempty"`
	Placeholder string        `json:"placeholder,omitempty"`
	Timeout     time.Duration `json:"timeout,omitempty"` // 0: none
	Since       time.Time     `json:"since,omitzero"`
	Offer       string        `json:"offer,omitempty"` // the id its boxes have; empty in logs of earlier versions
}

// Deadline is when the agent answers the ask itself; zero: never.
func (a Ask) Deadline() time.Time {
	if a.Timeout <= 0 {
		return time.Time{}
	}
	return a.Since.Add(a.Timeout)
}

// Exit is how an agent's process ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}
