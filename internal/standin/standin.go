// Package standin is an agent without a model: a child command that speaks the
// RPC of pi 1.x over its standard streams and does the same small work each
// time. The demo uses it, and so does every test that wants an agent and not a
// model.
//
// It is no assistant and no general fake: it knows the requests deckhand sends,
// and ends with exit code 97 and a message on any other line, so that a change
// in what deckhand says cannot go unnoticed.
//
// # Work
//
// For a prompt it looks at the folder it stands in, writes one file named after
// the card, and ends with a short report. Words in square brackets anywhere in
// the prompt steer it:
//
//	[ask]       asks for permission (confirm) before it writes the file
//	[ask:KIND]  asks a select, input or editor in place of it, and reports the answer
//	[timeout:D] answers its dialogs itself after that long, without telling anybody
//	[propose]   writes no file but proposes a note of that name, waits for the
//	            decision and reports it; [propose:FILE] proposes the changes in FILE,
//	            a JSON list of them, when that is there
//	[question]  ends with a question in place of a report
//	[slow:2s]   waits that long before each step
//	[hang]      never ends by itself; abort and closed input end it
//	[deaf]      as hang, and only KILL ends it
//	[fail]      the model answers with an error
//	[empty]     the model answers with nothing
//	[length]    the answer is cut at the model's limit
//	[flood:N]   says N lines of text (default 20000)
//	[say:FILE]  ends with the text of that file as its answer
//	[raw:FILE]  prints the bytes of that file as they are
//	[stream:N]  says N lines of text, with a tool after each hundred
//	[noise]     prints a line that is no JSON
//	[exit:N]    ends with that code after its first step
//	[record]    appends a line with the time to RECORD.log at start and end, and for
//	            each answer and message it gets
package standin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"deckhand/harness/pi"
)

// Version is what --version prints: the generation of pi it speaks like.
const Version = "1.6.0"

// Unexpected is the exit code after a line the stand-in does not know.
const Unexpected = 97

// defaultPace is the pause between two steps: enough to see the card move.
const defaultPace = 30 * time.Millisecond

// Main runs the stand-in until its input is closed; args are those behind the
// command's name. It returns the exit code.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	o, err := parse(args, errs)
	if err != nil {
		fmt.Fprintln(errs, "Error: "+err.Error())
		return 1
	}
	if o.version {
		fmt.Fprintln(out, Version+" (stand-in)")
		return 0
	}
	a := &agent{out: out, pace: o.pace, session: load(o.session), gated: pi.WantsGate(o.extensions)}
	code, err := a.serve(in)
	if err != nil {
		fmt.Fprintln(errs, "Error: stand-in: "+err.Error())
	}
	return code
}

type options struct {
	version bool
	session string
	pace    time.Duration

	extensions []string
}

// parse takes the arguments deckhand starts pi with, and a pace of its own.
func parse(args []string, errs io.Writer) (options, error) {
	var o options
	var mode, model string
	var off bool
	f := flag.NewFlagSet("standin", flag.ContinueOnError)
	f.SetOutput(errs)
	f.BoolVar(&o.version, "version", false, "print the version")
	f.StringVar(&o.session, "session", "", "session file")
	f.DurationVar(&o.pace, "pace", defaultPace, "pause between steps")
	f.StringVar(&mode, "mode", "", "rpc")
	f.Func("e", "an extension: none is loaded", func(path string) error {
		o.extensions = append(o.extensions, path)
		return nil
	})
	f.StringVar(&model, "model", "", "ignored")
	for _, name := range []string{"ne", "ns", "np", "no-themes"} {
		f.BoolVar(&off, name, false, "ignored")
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if !o.version && mode != "rpc" {
		return o, errors.New("only --mode rpc")
	}
	return o, nil
}

// agent is the process. serve owns everything but what turn documents as its
// own; out is written under the lock of emitter.
type agent struct {
	emitter
	out     io.Writer
	pace    time.Duration
	session *session
	gated   bool         // it says that deckhand's permission gate is there: nothing it does needs one
	turn    *turn        // nil when nothing runs
	aborts  []pi.Request // to be answered when the turn has ended
}

// unexpected is a line that deckhand should never send.
type unexpected struct{ line, why string }

func (u unexpected) Error() string { return fmt.Sprintf("unexpected line (%s): %.200q", u.why, u.line) }

// serve answers requests until the input ends, the process is told to end, or a
// turn wants to. A turn that runs is cut then, as pi does.
func (a *agent) serve(in io.Reader) (int, error) {
	a.emitter.w = a.out
	if a.gated {
		a.emit(status{Type: "extension_ui_request", ID: "gate", Method: "setStatus", Key: pi.GateKey, Text: pi.GateReady + "nothing"})
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	defer signal.Stop(term)

	lines, broken := read(ctx, in)
	for {
		select {
		case <-term:
			if a.turn.deaf() {
				continue
			}
			a.cut(cancel)
			return 143, nil
		case line, ok := <-lines:
			if !ok {
				if a.turn.deaf() {
					lines = nil
					continue
				}
				a.cut(cancel)
				return 0, <-broken
			}
			if a.turn.settled() { // whoever heard agent_settled may be this fast
				<-a.turn.done
				a.settled()
			}
			if err := a.request(ctx, line); err != nil {
				a.cut(cancel)
				return Unexpected, err
			}
		case <-a.turn.ended():
			if code := a.turn.exit; code >= 0 {
				a.emitter.close()
				return code, nil
			}
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
			if len(line) > 0 {
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

// request does what one line asks for.
func (a *agent) request(ctx context.Context, line []byte) error {
	var r pi.Request
	if err := json.Unmarshal(line, &r); err != nil {
		return unexpected{string(line), err.Error()}
	}
	switch r.Type {
	case pi.GetState:
		a.respond(r, a.state())
	case pi.Prompt:
		if a.turn != nil {
			return unexpected{string(line), "a turn is running"}
		}
		a.respond(r, map[string]string{"disposition": "started"})
		a.start(ctx, r.Message)
	case pi.Steer, pi.FollowUp:
		if a.turn == nil {
			return unexpected{string(line), "nothing is running"}
		}
		a.turn.enqueue(r)
		a.respond(r, map[string]string{"disposition": "queued"})
	case pi.ClearQueue:
		steering, followUp := a.turn.clear()
		a.respond(r, map[string][]string{"steering": steering, "followUp": followUp})
	case pi.Abort:
		a.abort(r)
	case pi.UIResponse:
		a.turn.answer(r)
	case pi.DecisionType:
		return a.turn.decide(line)
	default:
		return unexpected{string(line), "type"}
	}
	return nil
}

// abort stops the turn. Like pi, it is answered when the turn has ended, and a
// dialog that is open keeps the turn from ending.
func (a *agent) abort(r pi.Request) {
	if a.turn == nil {
		a.respond(r, nil)
		return
	}
	a.aborts = append(a.aborts, r)
	if !a.turn.deaf() {
		a.turn.abort()
	}
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

func (a *agent) state() pi.State {
	return pi.State{
		Model:         &pi.Model{ID: "stand-in", Name: "Stand-in", Provider: "deckhand"},
		ThinkingLevel: "off",
		IsStreaming:   a.turn != nil,
		SteeringMode:  "one-at-a-time",
		FollowUpMode:  "one-at-a-time",
		SessionFile:   a.session.path,
		SessionID:     a.session.id,
		AutoCompact:   true,
		Messages:      a.session.count(),
		Pending:       a.turn.pending(),
	}
}
