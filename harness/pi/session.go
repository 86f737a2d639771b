package pi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"deckhand/harness"
)

// phase is where the agent loop of pi stands in a turn.
type phase int

const (
	idle     phase = iota // prompted or about to be; nothing runs yet
	running               // between agent_start and agent_end
	ended                 // agent_end seen; perhaps the end of the turn
	retrying              // pi waits before it tries the model again
	resuming              // pi compacted its session and will go on by itself
)

// session is a harness.Session. Whatever events depend on comes from the lines
// of the capture alone; what Encode was given decides only what is sent.
type session struct {
	spec harness.Spec

	ready      bool // the handshake is answered
	spoke      bool // pi has answered anything at all
	settles    bool // this process says agent_settled
	bound      bool // Bound was said
	broken     bool // the session is not the one that was asked for: no prompt goes out
	stopping   bool // a row told the process to end
	compacts   bool // a compaction is going on
	queued     int  // messages pi holds back, by its last queue_update
	stderr     []string
	notStarted string            // why there was no process at all
	sent       map[string]string // request id → type; unanswered
	rows       map[string]bool   // row ids seen in the capture
	asks       []openAsk         // in the order they came
	proposals  []string          // ids of those that nobody has decided
	waiting    []harness.Command // prompts not sent yet
	unread     []harness.Command // steering and follow-ups that were sent and that pi has not taken up
	prompting  bool              // a prompt was handed out and its turn is not done

	gated    bool   // the permission gate has said that it is there
	gateAsks bool   // the next dialog is the gate's
	why      string // why a person said no to the gate's last ask

	turn *turn // nil: no turn is open

	events []harness.Event // of the line being decoded
	sends  []harness.Send
	at     harness.Line
}

// openAsk is a dialog nobody has answered.
type openAsk struct {
	harness.Ask
	since time.Time
	gate  bool // it is the permission gate's
}

// turn is what is known of the turn that is open. A new one starts clean.
type turn struct {
	phase   phase
	asked   bool  // its prompt is in the capture
	aborted bool  // we told pi to stop
	endSeq  int64 // line of the last agent_end or compaction_end
	fence   int64 // line of the get_state row that counts; 0: none sent
	fenceID string
	nudges  int // prompts of ours that only deliver messages pi held back

	answer   string // text of the last assistant message
	stop     string // its stop reason
	rawStop  string
	failure  string // its error
	answered bool   // there was one

	streamed strings.Builder // text deltas of the message being written
	tools    []openTool      // in the order they began
}

// openTool is a tool call that has begun and not ended.
type openTool struct {
	harness.Tool
	since time.Time
}

func newSession(s harness.Spec) *session {
	return &session{
		spec: s,
		sent: map[string]string{},
		rows: map[string]bool{},
		// A life exists for a turn: a process that dies before its prompt
		// has failed that turn.
		turn: &turn{},
	}
}

// Start implements harness.Session: pi is asked for its state before anything
// else, and its session is known before the first prompt.
func (s *session) Start() []harness.Send {
	return []harness.Send{request("state", Request{Type: GetState})}
}

// Errors of Encode.
var (
	ErrNoTurn = harness.ErrNoTurn
	ErrKind   = errors.New("unknown kind of command")
)

// Encode implements harness.Session. A prompt is held until the handshake is
// answered and the turn before is done; Decode hands it out then. The same
// command again gives the same rows or none, before and after a new attach.
func (s *session) Encode(c harness.Command) ([]harness.Send, error) {
	switch c.Kind {
	case "prompt":
		return s.prompt(c), nil
	case "steer", "follow_up":
		if idle := s.turn == nil || s.turn.phase == idle; idle && !s.rows[c.ID] {
			// pi would say yes and keep it for its next prompt.
			return nil, fmt.Errorf("pi: %s: %w", c.Kind, ErrNoTurn)
		}
		return []harness.Send{request(c.ID, Request{Type: c.Kind, Message: asText(c.Text)})}, nil
	case "answer":
		return s.answer(c)
	case "decide":
		return s.decide(c), nil
	case "abort":
		return s.abort(c.ID), nil
	}
	return nil, fmt.Errorf("pi: %q: %w", c.Kind, ErrKind)
}

// prompt hands out a prompt or keeps it for later. Two prompts in a row would
// lose the second: pi takes both and runs one.
func (s *session) prompt(c harness.Command) []harness.Send {
	row := request(c.ID, Request{Type: Prompt, Message: asText(c.Text)})
	switch {
	case s.rows[c.ID]:
		return []harness.Send{row}
	case s.ready && !s.prompting && !s.broken && !s.stopping:
		s.prompting = true
		return []harness.Send{row}
	case !slices.ContainsFunc(s.waiting, func(w harness.Command) bool { return w.ID == c.ID }):
		s.waiting = append(s.waiting, c)
	}
	return nil
}

// next hands out the prompt that waited for the line just decoded.
func (s *session) next() {
	s.waiting = slices.DeleteFunc(s.waiting, func(c harness.Command) bool { return s.rows[c.ID] })
	if !s.ready || s.prompting || s.broken || len(s.waiting) == 0 {
		return
	}
	c := s.waiting[0]
	s.waiting = s.waiting[1:]
	s.sends = append(s.sends, s.prompt(c)...)
}

// answer is the answer to a dialog. One that is over, or never was, takes none:
// an answer that comes late does nothing.
func (s *session) answer(c harness.Command) ([]harness.Send, error) {
	i := slices.IndexFunc(s.asks, func(a openAsk) bool { return a.ID == c.Ask })
	if i < 0 {
		return nil, nil
	}
	r, err := response(s.asks[i].Ask, c.Answer)
	if err != nil {
		return nil, err
	}
	note := strings.TrimSpace(c.Answer.Note)
	if s.asks[i].gate && r.Confirmed != nil && !*r.Confirmed {
		r.Note, note = note, "" // the gate will ask for it
	}
	sends := []harness.Send{{ID: c.ID, Line: r.Line()}}
	if note != "" {
		// A dialog has no room for a reason; pi reads it before its next step.
		sends = append(sends, request(c.ID+"-note", Request{Type: Steer, Message: asText(note)}))
	}
	return sends, nil
}

// response checks that the answer is one the dialog can take.
func response(a harness.Ask, w harness.Answer) (Request, error) {
	r := Request{ID: a.ID, Type: UIResponse}
	switch {
	case w.Cancelled:
		r.Cancelled = true
	case a.Kind == "confirm":
		if w.Confirmed == nil {
			return r, fmt.Errorf("pi: %s takes yes or no", a.Kind)
		}
		r.Confirmed = w.Confirmed
	case w.Value == nil:
		return r, fmt.Errorf("pi: %s takes a value", a.Kind)
	case a.Kind == "select" && !slices.Contains(a.Options, *w.Value):
		return r, fmt.Errorf("pi: %q is not one of its options", *w.Value)
	default:
		r.Value = w.Value
	}
	return r, nil
}

// abort stops the turn. pi does not abort while a dialog is open, and would keep
// queued messages for the next prompt.
func (s *session) abort(id string) []harness.Send {
	var sends []harness.Send
	for _, a := range s.asks {
		sends = append(sends, harness.Send{
			ID:   id + "-cancel-" + a.ID,
			Line: Request{ID: a.ID, Type: UIResponse, Cancelled: true}.Line(),
		})
	}
	for _, p := range s.proposals {
		sends = append(sends, decision(id+"-decide-"+p, p, harness.Decision{Failed: "the turn is being stopped"}))
	}
	if s.settles { // 0.73 has no clear_queue
		sends = append(sends, request(id+"-clear", Request{Type: ClearQueue}))
	}
	return append(sends, request(id, Request{Type: Abort}))
}

// patience is how long each step of the stop order waits for pi to end.
const patience = 3 * time.Second

// Stop implements harness.Session: abort, then close its input, then TERM, then
// KILL. Prompts that waited are dropped.
func (s *session) Stop(n int) (sends []harness.Send, wait time.Duration, ok bool) {
	s.waiting = nil
	switch n {
	case 0:
		return s.abort("stop"), patience, true
	case 1:
		return s.Finish(), patience, true
	case 2:
		return []harness.Send{{ID: "stop-term", Do: "term"}}, patience, true
	case 3:
		return []harness.Send{{ID: "stop-kill", Do: "kill"}}, patience, true
	}
	return nil, 0, false
}

// Finish implements harness.Session: pi ends when its input is closed.
func (s *session) Finish() []harness.Send {
	return []harness.Send{{ID: "eof", Do: "eof"}}
}

// request is a row whose id is the request's id too.
func request(id string, r Request) harness.Send {
	r.ID = id
	return harness.Send{ID: id, Line: r.Line()}
}

// derived is the id of a row that line seq led to.
func derived(what string, seq int64) string {
	return what + "-" + strconv.FormatInt(seq, 10)
}

// asText keeps pi from taking a person's text for one of its commands: it runs
// "/name" only at the very start of a message.
func asText(s string) string {
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "!") {
		return " " + s
	}
	return s
}

// fromText is what a person said, of a message that asText made.
func fromText(s string) string {
	if strings.HasPrefix(s, " /") || strings.HasPrefix(s, " !") {
		return s[1:]
	}
	return s
}
