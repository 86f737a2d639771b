// Package harness drives agent programs: what they are sent, what they say, and
// how they outlive the daemon.
//
// A run is a folder; each process of an agent in it, a life, has a folder of its
// own (Dir, Life). A life is started through a keeper, a child of nobody that
// owns the agent's pipes: it stores what the agent says in a capture and passes
// on the rows of in.jsonl. Whoever follows a capture, at once or after a restart
// of the daemon, sees the same lines, and a Driver makes the same events of them.
//
//	RUN/log.jsonl      what was intended and done     daemon, synced
//	RUN/N/run.json     how the life is started        daemon, once
//	RUN/N/prompt.md    the prompt with its receipt    daemon, once
//	RUN/N/in.jsonl     { {"id":…,"line":…} | {"id":…,"do":"eof"|"term"|"kill"} }   daemon, synced
//	RUN/N/lock         flock: the kernel says whether a keeper lives; its pid
//	RUN/N/out.000001 … the capture, see capture.go    keeper
//	RUN/N/out.idx
//	RUN/N/exit.json    how it ended                   keeper, last
//
// The two facts that recovery is built on: without out.000001 nothing ran, and
// a life that has one is never started again; a row of the stream "in" means
// perhaps delivered, no such row means not delivered.
//
// The package does not know boards, notes or the screen, decides nothing about
// runs, and keeps no state between calls but on the disk.
package harness

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Stream says where a line of a capture comes from.
type Stream string

// The streams of a capture.
const (
	Out  Stream = "out"  // the agent's standard output
	Err  Stream = "err"  // its standard error
	In   Stream = "in"   // a row {id,line|do} of in.jsonl, synced before it is written to the agent
	Meta Stream = "meta" // the keeper's own words: started, too long a line, exit
)

// Line is one line of a capture, without its line end.
type Line struct {
	Seq    int64     // 1, 2, 3 … over all streams of a life
	Time   time.Time // when the keeper saw it
	Stream Stream
	Data   []byte
}

// Send is one row of in.jsonl: a line for the agent, or something to do to it.
// A row with an id that is already there is not added again.
type Send struct {
	ID   string `json:"id"`
	Line string `json:"line,omitempty"` // without line end
	Do   string `json:"do,omitempty"`   // eof, term, kill
}

// Command is what deckhand wants of an agent.
type Command struct {
	ID     string // unique in the life; becomes the ids of the rows sent
	Kind   string // prompt, steer, follow_up, answer, decide, abort
	Text   string // prompt, steer, follow_up
	Ask    string // answer: the ask's id; decide: the proposal's
	Answer Answer // answer

	Decision Decision // decide
}

// ErrNoTurn is what Encode wraps for a command that needs a turn that is running.
var ErrNoTurn = errors.New("no turn is running: send a prompt instead")

// Answer answers an ask; exactly one of the three is meant.
type Answer struct {
	Value     *string
	Confirmed *bool
	Cancelled bool
	Note      string
}

// Event is one thing an agent did or wants. Seq and Time are of the line it
// comes from, live or read back.
type Event struct {
	Kind     Kind
	Seq      int64
	Time     time.Time
	Session  string    // Bound: the agent's own session id or file
	Text     string    // Text, Thought: a delta. Note: one sentence. Late: what was said. Done: the last answer's whole text
	Tool     *Tool     // ToolBegin, ToolUpdate, ToolEnd
	Ask      *Ask      // Ask
	AskID    string    // AskGone
	Row      string    // Late: the id of the command it was
	Plan     []Step    // Plan: the whole list
	Proposal *Proposal // Propose
	Usage    *Usage    // Usage: of one message, to be added up; Done: nil
	Outcome  string    // Done: completed, interrupted, failed, refused, limit
	Reason   string    // Done, AskGone: one sentence for people
	Question bool      // Done: the last answer ends in a question
}

// Kind is the kind of an Event.
type Kind string

// The kinds of events. There is exactly one Done a turn.
const (
	Bound      Kind = "bound"
	Text       Kind = "text"
	Thought    Kind = "thought"
	ToolBegin  Kind = "tool_begin"
	ToolUpdate Kind = "tool_update"
	ToolEnd    Kind = "tool_end"
	AskOpen    Kind = "ask"
	AskGone    Kind = "ask_gone"
	Plan       Kind = "plan"
	Propose    Kind = "propose"
	UsageSeen  Kind = "usage"
	Note       Kind = "note"
	Late       Kind = "late" // the agent ends, or ended, without having read what was said to it
	Done       Kind = "done"
)

// Outcomes of a turn.
const (
	Completed   = "completed"
	Interrupted = "interrupted"
	Failed      = "failed"
	Refused     = "refused"
	Limit       = "limit"
)

// Tool is one tool call of an agent.
type Tool struct {
	ID     string
	Name   string
	Title  string // one line for people: the command, the file
	Output string // ToolUpdate: all so far; ToolEnd: the result
	OK     bool   // ToolEnd
	Millis int64  // ToolEnd: how long it took
}

// Ask is what a waiting agent wants of a person.
type Ask struct {
	ID          string
	Kind        string // select, confirm, input, editor, question
	Title       string
	Message     string
	Options     []string
	Prefill     string
	Placeholder string
	Timeout     time.Duration // 0: none. The agent answers itself after it
}

// Step is one step of an agent's plan.
type Step struct{ Text, State string }

// Proposal is changes of notes that an agent wants, as it said them. Nothing in
// it is checked: paths and contents are whatever it sent.
type Proposal struct {
	ID      string
	Reason  string
	Changes []Change
}

// Change is what would become of one note.
type Change struct {
	Kind   string // create, edit, delete, move
	File   string
	To     string // move
	Before string // contents, as the agent read them
	After  string // and as they are to be
	Reason string
}

// Decision is what became of a proposal.
type Decision struct {
	Applied  []string // files
	Rejected []string
	Failed   string // why nothing was written
	Note     string // of the person
}

// Usage is what one message cost. A nil Cost is unknown, never 0.
type Usage struct {
	Message string // its id, to count it once
	Tokens  int64
	Cost    *float64 // USD
	Model   string
}

// Agent is a row of the machine's configuration, as a driver sees it.
type Agent struct {
	Name    string
	Driver  string
	Command []string // resolved: Command[0] is absolute or was looked up on PATH
	Model   string
	Ask     string   // risky, all, none: what it is made to ask before; empty is none
	Env     []string // the environment a life gets, without DECKHAND_RUN
	Files   string   // the folder in which what Driver.Files says is put
}

// Probe is what is known of an agent's program without asking anybody.
type Probe struct {
	State   string // unavailable, installed, needs_login, ready
	Version string
	Path    string
	Reason  string   // for people, when not ready
	Hint    string   // what to type
	Asks    string   // what it asks before: risky commands, everything, nothing
	Tried   []string // places looked at
}

// Spec is how a life of an agent is started; it is run.json.
type Spec struct {
	Format  int      `json:"format"` // 1
	Run     string   `json:"run"`
	Life    int      `json:"life"`
	Agent   string   `json:"agent"`
	Driver  string   `json:"driver"`
	Argv    []string `json:"argv"`
	Dir     string   `json:"dir"`     // the project folder
	Session string   `json:"session"` // session file or id chosen by us; empty when the agent has none
	Resume  bool     `json:"resume"`  // the session has a turn already

	// Receipt says what of which note went into the prompt; opaque here.
	Receipt json.RawMessage `json:"receipt,omitempty"`
}

// Driver knows one agent protocol.
type Driver interface {
	// Name is the driver's name in the configuration.
	Name() string
	// Probe looks at the program; bounded by ctx, never prompts, no side effect.
	Probe(ctx context.Context, a Agent) Probe
	// Files are what must stand in a.Files before the program is started.
	Files(a Agent) []File
	// Argv completes a spec: the arguments that start the program for this life.
	Argv(a Agent, s Spec) ([]string, error)
	// Terminal is the program as a person uses it, on a session that is there.
	Terminal(a Agent, session string) ([]string, error)
	// Open starts the protocol's state for one life.
	Open(a Agent, s Spec) Session
}

// Session is the protocol's state in one life. It is deterministic: the same
// lines give the same events and sends, so replay, attach and fuzzing use the
// same code. It is used by one goroutine.
type Session interface {
	// Start is what is sent first, before any prompt (handshake).
	Start() []Send
	// Encode turns a command into rows for the agent.
	Encode(c Command) ([]Send, error)
	// Decode takes the next line of the capture. Sends it returns have ids
	// derived from the line, so that sending them again is harmless.
	Decode(l Line) ([]Event, []Send)
	// Exit is told that the process has ended; it closes an open turn with a Done.
	Exit(code int, signal string, at time.Time) []Event
	// Stop is step n (0, 1, 2 …) of the driver's stop order and how long to
	// wait for the end before the next one. ok is false after the last.
	Stop(n int) (sends []Send, wait time.Duration, ok bool)
	// Finish is what ends the process when the turn is done and nothing is queued.
	Finish() []Send
}
