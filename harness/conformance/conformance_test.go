package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deckhand/harness"
	"deckhand/harness/conformance"
)

// toy is a driver for a protocol of one word and a text a line, with one fault
// at most: the number of the rule it breaks. It proves that each rule can fail,
// and that it fails alone.
type toy struct{ bug int }

func (toy) Name() string { return "toy" }

func (d toy) Probe(context.Context, harness.Agent) harness.Probe {
	if d.bug == conformance.ProbeBounded {
		return harness.Probe{State: "ready"}
	}
	return harness.Probe{State: "unavailable", Reason: "it is a toy"}
}

func (toy) Files(harness.Agent) []harness.File                 { return nil }
func (toy) Terminal(harness.Agent, string) ([]string, error)   { return nil, errors.New("a toy") }
func (toy) Argv(harness.Agent, harness.Spec) ([]string, error) { return nil, errors.New("a toy") }

func (d toy) Open(_ harness.Agent, s harness.Spec) harness.Session {
	return &play{bug: d.bug, spec: s, busy: true}
}

// twoDones is a second way to break TextOnce.
const twoDones = 100 + conformance.TextOnce

// play is a session of the toy.
type play struct {
	bug     int
	spec    harness.Spec
	ready   bool
	broken  bool
	sent    bool // a prompt that is not done
	busy    bool // a turn is open
	aborted bool
	text    strings.Builder
	tools   []string
	asks    []string
	rows    []string
	waiting []harness.Command
	count   int
	events  []harness.Event
	sends   []harness.Send
	at      harness.Line
}

// is says whether the toy has this bug.
func (p *play) is(bug int) bool { return p.bug == bug }

func (p *play) say(e harness.Event) {
	e.Seq, e.Time = p.at.Seq, p.at.Time
	p.events = append(p.events, e)
}

func (p *play) Start() []harness.Send { return []harness.Send{{ID: "hello", Line: "hello"}} }

func (p *play) Encode(c harness.Command) ([]harness.Send, error) {
	switch c.Kind {
	case "prompt":
		return p.prompt(c), nil
	case "answer":
		if !slices.Contains(p.asks, c.Ask) && !p.is(conformance.NoLateAnswer) {
			return nil, nil
		}
		return []harness.Send{{ID: c.ID, Line: "answer " + c.Ask}}, nil
	case "abort":
		var sends []harness.Send
		for _, a := range p.asks {
			if !p.is(conformance.AsksWithdrawn) {
				sends = append(sends, harness.Send{ID: c.ID + a, Line: "cancel " + a})
			}
		}
		return append(sends, harness.Send{ID: c.ID, Line: "abort"}), nil
	}
	return nil, errors.New("unknown command")
}

func (p *play) prompt(c harness.Command) []harness.Send {
	send := []harness.Send{{ID: c.ID, Line: "prompt " + c.Text}}
	if slices.Contains(p.rows, c.ID) {
		if p.is(conformance.NothingTwice) {
			send[0].ID += "-again"
		}
		return send
	}
	if p.ready && !p.broken && (!p.sent || p.is(conformance.PromptsOneByOne)) {
		p.sent = true
		return send
	}
	p.waiting = append(p.waiting, c)
	return nil
}

func (p *play) Decode(l harness.Line) ([]harness.Event, []harness.Send) {
	p.events, p.sends, p.at = nil, nil, l
	switch l.Stream {
	case harness.In:
		p.row(l.Data)
	case harness.Out:
		word, rest, _ := strings.Cut(string(l.Data), " ")
		p.out(word, rest)
	}
	for p.ready && !p.sent && !p.broken && len(p.waiting) > 0 {
		c := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.sends = append(p.sends, p.prompt(c)...)
	}
	return p.events, p.sends
}

func (p *play) row(data []byte) {
	var s harness.Send
	if json.Unmarshal(data, &s) != nil {
		return
	}
	p.rows = append(p.rows, s.ID)
	word, rest, _ := strings.Cut(s.Line, " ")
	switch word {
	case "prompt":
		p.busy, p.sent = true, true
	case "abort":
		p.aborted = p.busy
	case "answer", "cancel":
		p.gone(rest)
	}
}

func (p *play) gone(ask string) {
	i := slices.Index(p.asks, ask)
	if i >= 0 {
		p.asks = slices.Delete(p.asks, i, i+1)
		p.say(harness.Event{Kind: harness.AskGone, AskID: ask})
	}
}

func (p *play) out(word, rest string) {
	if word == "hello" {
		p.hello()
		return
	}
	if !p.busy {
		return
	}
	switch word {
	case "text":
		p.delta(rest)
	case "begin":
		p.begin(rest)
	case "end":
		p.end(rest)
	case "ask":
		p.asks = append(p.asks, rest)
		p.say(harness.Event{Kind: harness.AskOpen, Ask: &harness.Ask{ID: rest, Kind: "confirm"}})
	case "done":
		p.finish(rest)
	case "fail":
		p.failed(rest)
	default:
		if p.is(conformance.NoiseIgnored) {
			p.say(harness.Event{Kind: harness.Thought, Text: word})
		}
	}
}

func (p *play) hello() {
	p.ready = true
	p.say(harness.Event{Kind: harness.Bound, Session: "s"})
	if p.is(conformance.SessionFirst) {
		p.say(harness.Event{Kind: harness.Bound, Session: "s2"})
	}
	if p.spec.Resume && !p.is(conformance.NoNewSession) {
		p.broken = true
		p.done(harness.Failed, "no such session")
	}
}

func (p *play) delta(text string) {
	p.count++
	if p.is(conformance.BurstComplete) && p.count > 4000 {
		return
	}
	p.text.WriteString(text)
	p.say(harness.Event{Kind: harness.Text, Text: text})
}

func (p *play) begin(id string) {
	p.tools = append(p.tools, id)
	p.say(harness.Event{Kind: harness.ToolBegin, Tool: &harness.Tool{ID: id}})
}

func (p *play) end(id string) {
	i := slices.Index(p.tools, id)
	if i < 0 {
		if p.is(conformance.ToolsPaired) {
			p.say(harness.Event{Kind: harness.ToolEnd, Tool: &harness.Tool{ID: id}})
			return
		}
		p.begin(id)
		i = len(p.tools) - 1
	}
	p.tools = slices.Delete(p.tools, i, i+1)
	p.say(harness.Event{Kind: harness.ToolEnd, Tool: &harness.Tool{ID: id, OK: true}})
}

// finish is an end that the agent calls good.
func (p *play) finish(answer string) {
	tokens := int64(7)
	if p.is(conformance.UsageKnown) {
		tokens = -1
	}
	p.say(harness.Event{Kind: harness.UsageSeen, Usage: &harness.Usage{Message: fmt.Sprint(p.at.Seq), Tokens: tokens}})
	if p.is(conformance.TextOnce) {
		p.say(harness.Event{Kind: harness.Text, Text: p.text.String()})
	}
	switch {
	case p.aborted && !p.is(conformance.OurInterrupt):
		p.done(harness.Interrupted, "")
	case answer == "" && !p.is(conformance.NoHalfAnswer):
		p.done(harness.Failed, "no answer")
	default:
		p.done(harness.Completed, "")
		if p.is(twoDones) {
			p.say(harness.Event{Kind: harness.Done, Outcome: harness.Completed, Text: answer})
		}
	}
}

func (p *play) failed(why string) {
	if p.is(conformance.EndHasReason) {
		why = ""
	}
	p.done(harness.Failed, why)
}

func (p *play) done(outcome, reason string) {
	for len(p.asks) > 0 {
		p.gone(p.asks[0])
	}
	for len(p.tools) > 0 {
		p.end(p.tools[0])
	}
	text := p.text.String()
	p.text.Reset()
	p.busy, p.sent, p.aborted = false, false, false
	p.say(harness.Event{Kind: harness.Done, Outcome: outcome, Reason: reason, Text: text})
}

func (p *play) Exit(code int, signal string, at time.Time) []harness.Event {
	p.events = nil
	p.at.Time = at
	if p.is(conformance.SameAgain) && len(p.waiting)+p.count > 0 && code == 0 {
		// Something that only the session knows to which commands were given.
		p.say(harness.Event{Kind: harness.Note, Text: fmt.Sprintf("%p", p)})
	}
	if p.busy {
		reason := fmt.Sprintf("code %d %s", code, signal)
		if p.is(conformance.DeathHasCause) {
			reason = "it died"
		}
		p.done(harness.Failed, reason)
	}
	return p.events
}

func (p *play) Stop(int) ([]harness.Send, time.Duration, bool) { return nil, 0, false }
func (p *play) Finish() []harness.Send                         { return nil }

func suite(bug int) *conformance.Suite {
	word := func(w string) func(string) []string {
		return func(s string) []string { return []string{w + " " + s} }
	}
	return &conformance.Suite{
		Driver: func() harness.Driver { return toy{bug} },
		Script: conformance.Script{
			Answer: func(s harness.Send) []string {
				if s.Line == "hello" {
					return []string{"hello"}
				}
				return nil
			},
			IsPrompt:  func(s harness.Send) bool { return strings.HasPrefix(s.Line, "prompt ") },
			IsCancel:  func(s harness.Send, ask string) bool { return s.Line == "cancel "+ask },
			Text:      word("text"),
			ToolBegin: word("begin"), ToolEnd: word("end"), Ask: word("ask"),
			End: word("done"), Failed: word("fail"),
			Noise: []string{"blah blah"},
		},
	}
}

func faults(bug int) []conformance.Fault {
	return append(suite(bug).Run(), conformance.Missing(context.Background(), toy{bug}, nil)...)
}

// TestEachRuleCanFail: a driver with one fault breaks one rule, and one without
// breaks none.
func TestEachRuleCanFail(t *testing.T) {
	if got := faults(0); got != nil {
		t.Fatalf("a good driver: %v", got)
	}
	for _, rule := range []int{
		conformance.SessionFirst, conformance.TextOnce, conformance.ToolsPaired, conformance.AsksWithdrawn,
		conformance.NoLateAnswer, conformance.NothingTwice, conformance.OurInterrupt, conformance.PromptsOneByOne,
		conformance.DeathHasCause, conformance.EndHasReason, conformance.SameAgain, conformance.NoNewSession,
		conformance.NoHalfAnswer, conformance.ProbeBounded, conformance.NoiseIgnored, conformance.BurstComplete,
		conformance.UsageKnown, twoDones,
	} {
		var broken []int
		got := faults(rule)
		for _, f := range got {
			if !slices.Contains(broken, f.Rule) {
				broken = append(broken, f.Rule)
			}
		}
		if !reflect.DeepEqual(broken, []int{rule % 100}) {
			t.Errorf("a driver that breaks rule %d breaks %v: %v", rule, broken, got)
		}
	}
}
