package assistant

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"deckhand/harness/pi"
)

// agent is the process. serve owns everything but what turn documents as its
// own; lines are written under the lock of emitter.
type agent struct {
	emitter
	o       Options
	session *session
	folder  *folder
	model   *model
	turn    *turn        // nil when nothing runs
	aborts  []pi.Request // to be answered when the turn has ended
}

// serve answers requests until the input ends or the process is told to end. A
// turn that runs is cut then, as pi does.
func (a *agent) serve(in io.Reader, out io.Writer) (int, error) {
	a.emitter.w = out
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	defer signal.Stop(term)

	lines, broken := read(ctx, in)
	for {
		select {
		case <-term:
			a.cut(cancel)
			return 143, nil
		case line, ok := <-lines:
			if !ok {
				a.cut(cancel)
				return 0, <-broken
			}
			if a.turn.settled() { // whoever heard agent_settled may be this fast
				<-a.turn.done
				a.settled()
			}
			a.request(ctx, line)
		case <-a.turn.ended():
			a.settled()
		}
	}
}

// cut ends a turn without a word.
func (a *agent) cut(cancel context.CancelFunc) {
	a.emitter.close()
	cancel()
	if a.turn != nil {
		<-a.turn.done
	}
}

// read sends the lines of in until it ends.
func read(ctx context.Context, in io.Reader) (<-chan []byte, <-chan error) {
	lines, broken := make(chan []byte), make(chan error, 1)
	go func() {
		defer close(lines)
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadBytes('\n')
			if len(bytes.TrimSpace(line)) > 0 {
				select {
				case lines <- line:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				broken <- err
				return
			}
		}
	}()
	return lines, broken
}

// asked is a line of deckhand: a request of pi's, or a decision.
type asked struct {
	pi.Request

	Applied  []string `json:"applied"`
	Rejected []string `json:"rejected"`
	Failed   string   `json:"failed"`
}

// request does what one line asks for. A line that is not understood is refused,
// as pi does, and changes nothing.
func (a *agent) request(ctx context.Context, line []byte) {
	var r asked
	if err := json.Unmarshal(line, &r); err != nil {
		a.refuse(pi.Request{Type: "parse"}, "not a request: "+err.Error())
		return
	}
	switch r.Type {
	case pi.GetState:
		a.respond(r.Request, a.state())
	case pi.Prompt:
		a.prompt(ctx, r.Request)
	case pi.Steer, pi.FollowUp:
		if a.turn == nil {
			a.refuse(r.Request, "nothing is running")
			return
		}
		a.turn.enqueue(r.Request)
		a.respond(r.Request, map[string]string{"disposition": "queued"})
	case pi.ClearQueue:
		steering, followUp := a.turn.clear()
		a.respond(r.Request, map[string][]string{"steering": steering, "followUp": followUp})
	case pi.Abort:
		a.abort(r.Request)
	case pi.DecisionType:
		a.decide(decision{ID: r.ID, Applied: r.Applied, Rejected: r.Rejected, Failed: r.Failed, Note: r.Note})
	case pi.UIResponse: // it opens no dialog
	default:
		a.refuse(r.Request, fmt.Sprintf("unknown request %q", r.Type))
	}
}

func (a *agent) prompt(ctx context.Context, r pi.Request) {
	if a.turn != nil {
		a.refuse(r, "a turn is running")
		return
	}
	a.respond(r, map[string]string{"disposition": "started"})
	a.start(ctx, r.Message)
}

// decide hands a decision to the turn that waits for it, or keeps the one about
// a proposal of an earlier life.
func (a *agent) decide(d decision) {
	d.Note = cutRunes(d.Note, noteMost)
	if a.turn.decide(d) {
		return
	}
	if err := a.session.decided(d); err != nil {
		fmt.Fprintln(os.Stderr, "Warning: the decision about "+d.ID+" could not be kept: "+err.Error())
	}
}

// noteMost is how long a note of a person may be, in characters.
const noteMost = 2000

// abort stops the turn. Like pi, it is answered when the turn has ended.
func (a *agent) abort(r pi.Request) {
	if a.turn == nil {
		a.respond(r, nil)
		return
	}
	a.aborts = append(a.aborts, r)
	a.turn.abort()
}

func (a *agent) settled() {
	a.turn = nil
	for _, r := range a.aborts {
		a.respond(r, nil)
	}
	a.aborts = nil
}

func (a *agent) respond(r pi.Request, data any) {
	a.emit(pi.Response{ID: r.ID, Type: "response", Command: r.Type, Success: true, Data: data})
}

func (a *agent) refuse(r pi.Request, why string) {
	a.emit(pi.Response{ID: r.ID, Type: "response", Command: r.Type, Error: why})
}

func (a *agent) state() pi.State {
	return pi.State{
		Model:         &pi.Model{ID: a.o.Model, Name: a.o.Model, Provider: provider},
		ThinkingLevel: "off",
		IsStreaming:   a.turn != nil,
		SteeringMode:  "one-at-a-time",
		FollowUpMode:  "one-at-a-time",
		SessionFile:   a.session.path,
		SessionID:     a.session.id,
		Messages:      a.session.count(),
		Pending:       a.turn.pending(),
	}
}

// provider stands before the model's name in what a message cost.
const provider = "assistant"

// emitter writes one JSON object a line; once closed, nothing.
type emitter struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu; nil when closed
}

func (e *emitter) emit(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("assistant: " + err.Error()) // only our own types come here
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.w == nil {
		return
	}
	if _, err := e.w.Write(b.Bytes()); err != nil {
		e.w = nil // nobody reads any more; the closed input ends the process
	}
}

func (e *emitter) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.w = nil
}
