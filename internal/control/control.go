// Package control is the control socket: what can be asked of a daemon, and the
// answers, as HTTP and JSON over a unix socket. docs/json.md lists the fields.
//
// A Server puts a Backend behind a socket, a Client is the same Backend on the
// other end. The package does not know how answers come about, it keeps no
// state, and it retries nothing: a command carries an id, so the caller can.
//
//	GET  /v1/status
//	GET  /v1/why?card=CARD      GET /v1/prompt?card=CARD
//	GET  /v1/log?run=RUN&since=N
//	GET  /v1/chat?run=RUN
//	GET  /v1/journal?since=TIME (RFC 3339; without it: everything)
//	GET  /v1/boards
//	GET  /v1/approvals
//	GET  /v1/proposals
//	GET  /v1/diff?of=ID         of a proposal, or of all those of a run
//	POST /v1/do                 a Command, answered by a Result
//	GET  /v1/events?since=N     server-sent events: id is Seq, event is Kind, data is the Event
//
// An answer that is no success is an Error. Lists are never null.
//
// Whoever can connect can start agents. So the socket is 0600 in a folder that
// is 0700 and ours, and the peer's user is asked of the kernel besides.
package control

import (
	"context"
	"time"
)

// Reader answers questions. The daemon and the state on disk (when no daemon
// runs) are both readers, and give the same answers.
type Reader interface {
	Status(ctx context.Context) (Status, error)
	Why(ctx context.Context, card string) (Why, error)
	Prompt(ctx context.Context, card string) (Prompt, error)
	Log(ctx context.Context, run string, since int64) (Log, error)
	Chat(ctx context.Context, run string) (Chat, error)
	Journal(ctx context.Context, since time.Time) ([]JournalEntry, error)
	Boards(ctx context.Context) ([]Board, error)
	Approvals(ctx context.Context) ([]Approval, error)
	Proposals(ctx context.Context) ([]Proposal, error)
	Diff(ctx context.Context, of string) (Diff, error)
}

// Backend is a Reader that can also change things: the daemon.
type Backend interface {
	Reader
	Do(ctx context.Context, c Command) (Result, error)
	// Events sends a snapshot first (Kind "snapshot"), then changes, until ctx
	// ends. A slow reader loses its connection, nothing else.
	Events(ctx context.Context, since int64) (<-chan Event, error)
}

// Command changes something. ID is made by the client; the same ID again
// returns the first result and does nothing.
type Command struct {
	ID    string `json:"id"`
	Name  string `json:"name"` // run, stop, stop_all, retry, answer, end_ask, steer, follow_up, reply, accept, send_back, revoke, add, lanes_add, apply, reject, revert, grant, probe
	Card  string `json:"card,omitempty"`
	Run   string `json:"run,omitempty"`
	Board string `json:"board,omitempty"`
	// Text is of add the card; of grant those of the words "start", "trust" and
	// "here" that are meant; of steer, follow_up, reply and send_back what the agent
	// is told; of revoke the id of the permission.
	Text  string  `json:"text,omitempty"`
	Ask   string  `json:"ask,omitempty"`   // answer, end_ask: the ask's id; empty: the only one that is open
	Value *string `json:"value,omitempty"` // answer: the option's text, the text, or Allow or Deny
	Note  string  `json:"note,omitempty"`  // answer, apply, reject: why; at most NoteMax characters
	Notes bool    `json:"notes,omitempty"` // steer, follow_up: what changed of the notes it was given goes along
	// Proposal is its id (apply, reject, revert); Files are those of its changes that
	// are meant (apply), all when none is named.
	Proposal string   `json:"proposal,omitempty"`
	Files    []string `json:"files,omitempty"`
	Scope    string   `json:"scope,omitempty"` // answer: once, session, project, always; empty: once
	From     string   `json:"from,omitempty"`  // who says it, for the records: cli, pane; empty: client
}

// NoteMax is how long a Note may be, in characters.
const NoteMax = 2000

// Values of an answer to a confirm.
const (
	Allow = "allow"
	Deny  = "deny"
)

// Result of a command.
type Result struct {
	OK      bool     `json:"ok"`
	Text    string   `json:"text"`              // for people
	Run     string   `json:"run,omitempty"`     // the run it was about
	Matches []string `json:"matches,omitempty"` // more than one matched: nothing was changed
}

// Error is a failure as a person or a script gets it. Code is the exit code.
type Error struct {
	Text    string   `json:"error"`
	Hint    string   `json:"hint,omitempty"` // what to type
	Code    int      `json:"code"`
	Matches []string `json:"matches,omitempty"` // more than one matched: nothing was done
}

// Error is the text alone; the hint stands on a line of its own.
func (e *Error) Error() string { return e.Text }

// The exit codes, which are the codes of an Error too.
const (
	CodeOK          = 0
	CodeError       = 1
	CodeUsage       = 2
	CodeNeedsPerson = 3
	CodeConflict    = 4
	CodeNoDaemon    = 5
	CodeInterrupted = 130
)

// Event is one server-sent event.
type Event struct {
	Seq  int64  `json:"seq"`
	Kind string `json:"kind"` // snapshot, status, run
	Run  string `json:"run,omitempty"`
	Data any    `json:"data"`
}

// Status is `status --json`.
type Status struct {
	Dir       string     `json:"dir"`
	Daemon    bool       `json:"daemon"`
	PID       int        `json:"pid,omitempty"`
	Watch     string     `json:"watch,omitempty"` // events, poll, and what is polled
	Runs      []Run      `json:"runs"`
	Held      []Held     `json:"held"`
	Queued    []Queued   `json:"queued"`
	Proposals []Proposal `json:"proposals"` // that wait for a decision
	Problems  []Problem  `json:"problems"`
}

// Run is a run that is open, or was over today.
type Run struct {
	ID      string     `json:"id"`
	Card    string     `json:"card"`
	Board   string     `json:"board"`
	Line    int        `json:"line"`
	Lane    string     `json:"lane"`
	Agent   string     `json:"agent"`
	Project string     `json:"project"`
	Folder  string     `json:"folder"`
	Status  string     `json:"status"` // queued, working, waiting, done, failed, stopped, interrupted
	Reason  string     `json:"reason,omitempty"`
	Next    string     `json:"next,omitempty"` // what to type
	Chat    string     `json:"chat"`
	Asks    []Ask      `json:"asks"`
	Changed []string   `json:"changed"` // notes that it was given and that are others now
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended"`
	Tokens  int64      `json:"tokens"`
	Cost    *float64   `json:"cost"`
	// Accepted: a person ticked the card or moved it to a done lane.
	Accepted bool `json:"accepted,omitempty"`
}

// Ask is an open question.
type Ask struct {
	ID          string     `json:"id"`
	Kind        string     `json:"kind"`
	Title       string     `json:"title"`
	Message     string     `json:"message"`
	Options     []string   `json:"options"`
	Prefill     *string    `json:"prefill"`
	Placeholder *string    `json:"placeholder"`
	Scopes      []string   `json:"scopes"`
	Since       time.Time  `json:"since"`
	Timeout     *time.Time `json:"timeout"`
}

// Proposal is changes of notes that an agent wants.
type Proposal struct {
	ID      string           `json:"id"`
	Run     string           `json:"run"`
	Card    string           `json:"card"`
	Agent   string           `json:"agent"`
	Reason  string           `json:"reason"`
	Created time.Time        `json:"created"`
	Path    string           `json:"path"`              // of the page that shows it
	Status  string           `json:"status"`            // waiting, applying, applied, rejected, failed, reverted, interrupted
	Outcome string           `json:"outcome,omitempty"` // what became of it
	Changes []ProposalChange `json:"changes"`
}

// ProposalChange is the change of one note.
type ProposalChange struct {
	Kind    string `json:"kind"` // create, edit, delete, move
	File    string `json:"file"`
	To      string `json:"to,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
}

// Proposals is `proposals --json`.
type Proposals struct {
	Proposals []Proposal `json:"proposals"`
}

// Diff is what proposals do to notes, as a unified diff with the names of files.
type Diff struct {
	Run  string `json:"run"`
	Text string `json:"text"`
}

// Held is a card that would start but for its reasons.
type Held struct {
	Card    string   `json:"card"`
	Board   string   `json:"board"`
	Line    int      `json:"line"`
	Reasons []string `json:"reasons"`
	Hints   []string `json:"hints,omitempty"`
	More    int      `json:"more,omitempty"` // other cards of its board that are held by the same, which is the board's
}

// Queued is a card that waits for its turn only.
type Queued struct {
	Card   string `json:"card"`
	Board  string `json:"board"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// Problem is something wrong with the folder or the configuration.
type Problem struct {
	Where string `json:"where"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// Why is every rule for one card.
type Why struct {
	Card  string `json:"card"`
	Board string `json:"board"`
	Line  int    `json:"line"`
	Start bool   `json:"start"` // would start now
	Rules []Rule `json:"rules"`
}

// Rule is one condition of a start.
type Rule struct {
	Rule   string `json:"rule"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// Prompt is what would be sent, with its receipt.
type Prompt struct {
	Card  string  `json:"card"`
	Agent string  `json:"agent"`
	Text  string  `json:"text"`
	Hash  string  `json:"hash"`
	Notes []Piece `json:"notes"`
}

// Piece is one linked note in a receipt.
type Piece struct {
	Link    string   `json:"link"`
	Path    string   `json:"path"`
	Section string   `json:"section,omitempty"`
	Bytes   int      `json:"bytes"`
	Used    int      `json:"used"`
	Cut     bool     `json:"cut"`
	Hash    string   `json:"hash,omitempty"`
	Others  []string `json:"others,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

// Log is a run's trace.
type Log struct {
	Run    string     `json:"run"`
	Events []LogEvent `json:"events"`
	Next   int64      `json:"next"` // ask with since=Next for more
	Open   bool       `json:"open"` // more may come
}

// LogEvent is one line of a trace.
type LogEvent struct {
	N      int64     `json:"n"`
	Time   time.Time `json:"time"`
	Kind   string    `json:"kind"` // claimed, started, text, tool, ask, usage, note, done, …
	Text   string    `json:"text"`
	State  string    `json:"state,omitempty"` // tool: running, ok, failed
	Millis int64     `json:"millis,omitempty"`
	Steps  []Step    `json:"steps,omitempty"` // plan: the whole of it
}

// Step is one step of an agent's plan.
type Step struct {
	Text  string `json:"text"`
	State string `json:"state"` // pending, in_progress, completed, or what else the agent says
}

// Chat is a run's chat file.
type Chat struct {
	Run  string `json:"run"`
	Path string `json:"path"`
	Text string `json:"text"`
}

// JournalEntry is one entry of the journal.
type JournalEntry struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"`
	Run    string    `json:"run,omitempty"`
	Status string    `json:"status"`
	Object string    `json:"object"`
	Reason string    `json:"reason,omitempty"`
}

// Board is one board as `init`, `trust` and `doctor` list it.
type Board struct {
	Path     string `json:"path"`
	Kanban   bool   `json:"kanban"`
	Project  string `json:"project,omitempty"`
	Inactive string `json:"inactive,omitempty"`
	Lanes    []Lane `json:"lanes"`
}

// Lane of a Board.
type Lane struct {
	Title string `json:"title"`
	Role  string `json:"role,omitempty"`
	Limit int    `json:"limit,omitempty"`
	Cards int    `json:"cards"`
	Ready int    `json:"ready,omitempty"` // open cards with a configured agent
	Items []Card `json:"items"`
}

// Card is one card in a Lane.
type Card struct {
	Title string `json:"title"`
	Line  int    `json:"line"`
	Done  bool   `json:"done,omitempty"`  // ticked
	Agent string `json:"agent,omitempty"` // that it names first
	Run   string `json:"run,omitempty"`   // that stands under it
}

// Journal is `journal --json`.
type Journal struct {
	Entries []JournalEntry `json:"entries"`
}

// Boards is the answer that lists all boards.
type Boards struct {
	Boards []Board `json:"boards"`
}

// Agent is one configured agent as `agents` lists it.
type Agent struct {
	Name    string   `json:"name"`
	Driver  string   `json:"driver"`
	State   string   `json:"state"` // unavailable, installed, needs_login, ready
	Version string   `json:"version,omitempty"`
	Path    string   `json:"path,omitempty"`
	Asks    string   `json:"asks"` // what it asks before: nothing, …
	Reason  string   `json:"reason,omitempty"`
	Hint    string   `json:"hint,omitempty"`
	Tried   []string `json:"tried,omitempty"` // places looked at
}

// Agents is `agents --json`.
type Agents struct {
	Agents []Agent `json:"agents"`
}

// Check is one line of `doctor`.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// Checks is `doctor --json`.
type Checks struct {
	Checks []Check `json:"checks"`
}

// Project is one registered folder as `project list` shows it.
type Project struct {
	Name   string   `json:"name"`
	Folder string   `json:"folder"`
	Boards []string `json:"boards"`
}

// Projects is `project list --json`.
type Projects struct {
	Projects []Project `json:"projects"`
}

// Approvals is `approvals --json`.
type Approvals struct {
	Approvals []Approval `json:"approvals"`
}

// Approval is a permission that was given for more than once.
type Approval struct {
	ID      string     `json:"id"`
	Scope   string     `json:"scope"` // session, project, always
	Agent   string     `json:"agent"`
	Project string     `json:"project"`
	Folder  string     `json:"folder"`
	Run     string     `json:"run"`
	Title   string     `json:"title"`
	Message string     `json:"message"`
	Given   time.Time  `json:"given"`
	By      string     `json:"by"`
	Used    int        `json:"used"`
	Last    *time.Time `json:"last"`
}
