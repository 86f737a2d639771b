package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"deckhand/harness"
)

// Rules that need more than one life, or commands at the right moment.
const (
	NothingTwice    = 25 // the same command again makes no other rows
	PromptsOneByOne = 26 // no second prompt before the first one's turn is done
	DeathHasCause   = 12 // each way to die has a reason of its own
	NoNewSession    = 15 // a session that is gone is a failure
	ProbeBounded    = 17 // a look at the program ends, and says why not
	NoiseIgnored    = 19 // what is no protocol changes nothing
	BurstComplete   = 20 // many updates at once arrive in order
)

// A Script is the agent's side of a protocol: how it says things.
type Script struct {
	// Answer is what the agent says to a row of ours: handshake, prompt, abort,
	// fence. The agent takes everything.
	Answer func(harness.Send) []string
	// IsPrompt and IsCancel tell rows apart.
	IsPrompt func(harness.Send) bool
	IsCancel func(s harness.Send, ask string) bool

	Text      func(delta string) []string
	ToolBegin func(id string) []string
	ToolEnd   func(id string) []string
	Ask       func(id string) []string     // one that is answered with yes or no
	End       func(answer string) []string // the turn is over and it went well
	Failed    func(why string) []string    // the turn is over and the model failed
	Noise     []string                     // lines that mean nothing
}

// A Suite runs every rule against a driver with a scripted agent.
type Suite struct {
	Driver func() harness.Driver
	Agent  harness.Agent
	Spec   harness.Spec
	Script Script
	// Broken is what a test of the suite does to a session; nil for real ones.
	Broken func(harness.Session) harness.Session
}

// Run returns the faults of all scenarios, each once.
func (s *Suite) Run() []Fault {
	var faults []Fault
	for _, scenario := range []func(*Suite) []Fault{
		(*Suite).plain, (*Suite).tools, (*Suite).interrupt, (*Suite).asks, (*Suite).failures,
		(*Suite).deaths, (*Suite).resume, (*Suite).prompts, (*Suite).noise, (*Suite).burst,
	} {
		for _, f := range scenario(s) {
			if !slices.Contains(faults, f) {
				faults = append(faults, f)
			}
		}
	}
	return faults
}

func (s *Suite) open(spec harness.Spec) harness.Session {
	session := s.Driver().Open(s.Agent, spec)
	if s.Broken != nil {
		session = s.Broken(session)
	}
	return session
}

// scene is one life being played.
type scene struct {
	suite *Suite
	spec  harness.Spec
	s     harness.Session
	life  Life
	seen  map[string]bool
	at    time.Time
}

func (s *Suite) scene(spec harness.Spec) *scene {
	c := &scene{suite: s, spec: spec, s: s.open(spec), seen: map[string]bool{}, at: epoch()}
	c.write(c.s.Start())
	return c
}

// ready is a scene with a prompt sent.
func (s *Suite) ready() *scene {
	c := s.scene(s.Spec)
	c.do(harness.Command{ID: "p", Kind: "prompt", Text: "go"})
	return c
}

// decode feeds one line, and what the session wants sent after it.
func (c *scene) decode(stream harness.Stream, data []byte) {
	c.at = c.at.Add(time.Millisecond)
	c.life.add(stream, c.at, data)
	events, sends := c.s.Decode(c.life.Lines[len(c.life.Lines)-1])
	c.life.Events = append(c.life.Events, events...)
	c.write(sends)
}

// write writes rows down, each id once, and lets the agent answer.
func (c *scene) write(sends []harness.Send) {
	for _, s := range sends {
		if c.seen[s.ID] {
			continue
		}
		c.seen[s.ID] = true
		c.life.Sends = append(c.life.Sends, s)
		row, err := json.Marshal(s)
		if err != nil {
			panic("conformance: " + err.Error()) // three strings
		}
		c.decode(harness.In, row)
		c.say(c.suite.Script.Answer(s))
	}
}

func (c *scene) say(groups ...[]string) {
	for _, lines := range groups {
		for _, l := range lines {
			c.decode(harness.Out, []byte(l))
		}
	}
}

// do gives a command; one that is refused sends nothing.
func (c *scene) do(cmd harness.Command) []harness.Send {
	sends, err := c.s.Encode(cmd)
	if err != nil {
		return nil
	}
	c.write(sends)
	return sends
}

// end is the end of the process, and the checks every life has.
func (c *scene) end(code int, signal string) []Fault {
	c.life.Code, c.life.Signal = code, signal
	at := c.at
	c.life.Events = append(c.life.Events, c.s.Exit(code, signal, at)...)
	return Check(c.life, func() harness.Session { return c.suite.open(c.spec) })
}

func (c *scene) last(kind harness.Kind) harness.Event {
	for _, e := range slices.Backward(c.life.Events) {
		if e.Kind == kind {
			return e
		}
	}
	return harness.Event{}
}

// deltas is all text so far.
func (c *scene) deltas() string {
	var b strings.Builder
	for _, e := range c.life.Events {
		if e.Kind == harness.Text {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

func fault(rule int, format string, args ...any) []Fault {
	return []Fault{{rule, fmt.Sprintf(format, args...)}}
}

// expect adds a fault when the last Done is not as it should be.
func (c *scene) expect(rule int, outcome string) []Fault {
	if done := c.last(harness.Done); done.Outcome != outcome {
		return fault(rule, "the turn is %q, want %q", done.Outcome, outcome)
	}
	return nil
}

// plain is one turn of text; the session is known before the prompt.
func (s *Suite) plain() []Fault {
	c := s.ready()
	var faults []Fault
	for _, e := range c.life.Events {
		if e.Kind == harness.Done {
			faults = append(faults, Fault{TextOnce, "done before it began"})
		}
	}
	if c.last(harness.Bound).Session == "" {
		faults = append(faults, Fault{SessionFirst, "the session is not known before the prompt"})
	}
	c.say(s.Script.Text("Hello "), s.Script.Text("there."), s.Script.End("Hello there."))
	if got := c.deltas(); got != "Hello there." {
		faults = append(faults, Fault{TextOnce, fmt.Sprintf("the deltas are %q", got)})
	}
	faults = append(faults, c.expect(NoHalfAnswer, harness.Completed)...)
	return append(faults, c.end(0, "")...)
}

// tools are two at once, one without an end and one without a begin.
func (s *Suite) tools() []Fault {
	c := s.ready()
	t := s.Script
	c.say(t.ToolBegin("a"), t.ToolBegin("b"), t.ToolEnd("b"), t.ToolEnd("a"), t.ToolEnd("only"), t.ToolBegin("open"))
	c.say(t.Text("Done."), t.End("Done."))
	return c.end(0, "")
}

// interrupt aborts a turn that the agent then calls complete.
func (s *Suite) interrupt() []Fault {
	c := s.ready()
	c.say(s.Script.Text("Half"))
	c.do(harness.Command{ID: "x", Kind: "abort"})
	c.do(harness.Command{ID: "x2", Kind: "abort"})
	c.say(s.Script.End("Half"), s.Script.Text("after the end"))
	faults := c.expect(OurInterrupt, harness.Interrupted)
	return append(faults, c.end(0, "")...)
}

// asks are answered once, and withdrawn by an abort before the agent is told to
// stop: it may not listen while it asks.
func (s *Suite) asks() []Fault {
	var faults []Fault
	yes := true
	c := s.ready()
	c.say(s.Script.Ask("q1"))
	answer := harness.Command{ID: "a1", Kind: "answer", Ask: "q1", Answer: harness.Answer{Confirmed: &yes}}
	if sends := c.do(answer); len(sends) == 0 {
		faults = append(faults, Fault{NoLateAnswer, "an open ask takes no answer"})
	}
	for _, late := range []string{"q1", "never"} {
		answer.ID, answer.Ask = "late-"+late, late
		if sends := c.do(answer); len(sends) != 0 {
			faults = append(faults, Fault{NoLateAnswer, "an answer to nothing is sent"})
		}
	}
	c.say(s.Script.Ask("q2"))
	from := len(c.life.Sends)
	c.do(harness.Command{ID: "x", Kind: "abort"})
	if sent := c.life.Sends[from:]; len(sent) == 0 || !s.Script.IsCancel(sent[0], "q2") {
		faults = append(faults, Fault{AsksWithdrawn, "an abort does not cancel the open ask first"})
	}
	c.say(s.Script.Text("Fine."), s.Script.End("Fine."))
	return append(faults, c.end(0, "")...)
}

// failures are the ends that look like success to somebody.
func (s *Suite) failures() []Fault {
	c := s.ready()
	c.say(s.Script.Text("Half"), s.Script.Failed("the model broke"))
	faults := c.expect(NoHalfAnswer, harness.Failed)
	if done := c.last(harness.Done); done.Reason != "" && !strings.Contains(done.Reason, "the model broke") {
		faults = append(faults, Fault{EndHasReason, fmt.Sprintf("the agent's reason is lost: %q", done.Reason)})
	}
	// The next turn starts clean.
	c.do(harness.Command{ID: "p2", Kind: "prompt", Text: "again"})
	c.say(s.Script.Text("Fine."), s.Script.End("Fine."))
	faults = append(faults, c.expect(NoHalfAnswer, harness.Completed)...)
	faults = append(faults, c.end(0, "")...)

	c = s.ready()
	c.say(s.Script.End(""))
	faults = append(faults, c.expect(NoHalfAnswer, harness.Failed)...)
	return append(faults, c.end(0, "")...)
}

// deaths in a turn: by a signal, with a code, and as if all were well.
func (s *Suite) deaths() []Fault {
	var faults []Fault
	reasons := map[string]bool{}
	for _, d := range []struct {
		code   int
		signal string
	}{{0, ""}, {1, ""}, {-1, "SIGKILL"}} {
		c := s.ready()
		c.say(s.Script.Text("Half"), s.Script.ToolBegin("a"))
		faults = append(faults, c.end(d.code, d.signal)...)
		faults = append(faults, c.expect(DeathHasCause, harness.Failed)...)
		reasons[c.last(harness.Done).Reason] = true
	}
	if len(reasons) != 3 {
		faults = append(faults, Fault{DeathHasCause, "three ways to die have not three reasons"})
	}
	return faults
}

// resume asks for a session that the agent, which always starts anew, has not.
func (s *Suite) resume() []Fault {
	spec := s.Spec
	spec.Resume = true
	c := s.scene(spec)
	c.do(harness.Command{ID: "p", Kind: "prompt", Text: "go on"})
	var faults []Fault
	if slices.ContainsFunc(c.life.Sends, s.Script.IsPrompt) {
		faults = append(faults, Fault{NoNewSession, "a prompt was sent to another session"})
	}
	faults = append(faults, c.expect(NoNewSession, harness.Failed)...)
	return append(faults, c.end(0, "")...)
}

// prompts are sent one at a time, and the same one once.
func (s *Suite) prompts() []Fault {
	c := s.ready()
	count := func() (n int) {
		for _, sent := range c.life.Sends {
			if s.Script.IsPrompt(sent) {
				n++
			}
		}
		return n
	}
	var faults []Fault
	for range 2 {
		c.do(harness.Command{ID: "p", Kind: "prompt", Text: "go"})
		if count() != 1 {
			faults = append(faults, Fault{NothingTwice, "the same prompt is sent again"})
		}
	}
	before := count()
	c.do(harness.Command{ID: "p2", Kind: "prompt", Text: "and then"})
	if count() != before {
		faults = append(faults, Fault{PromptsOneByOne, "two prompts at once"})
	}
	c.say(s.Script.Text("One."), s.Script.End("One."))
	if count() != before+1 {
		faults = append(faults, Fault{PromptsOneByOne, "the second prompt is never sent"})
	}
	c.say(s.Script.Text("Two."), s.Script.End("Two."))
	return append(faults, c.end(0, "")...)
}

// noise changes nothing but notes.
func (s *Suite) noise() []Fault {
	c := s.ready()
	for _, l := range append([]string{"", "\r", "not a protocol", "null", "[]", "{", strings.Repeat("x", 5<<20)}, s.Script.Noise...) {
		c.say(s.Script.Text("a"), []string{l})
	}
	n := 7 + len(s.Script.Noise)
	c.say(s.Script.End(strings.Repeat("a", n)))
	var faults []Fault
	for _, e := range c.life.Events {
		switch e.Kind {
		case harness.Bound, harness.Text, harness.Note, harness.Done, harness.UsageSeen:
		default:
			faults = append(faults, Fault{NoiseIgnored, fmt.Sprintf("noise became %s", e.Kind)})
		}
	}
	faults = append(faults, c.expect(NoiseIgnored, harness.Completed)...)
	return append(faults, c.end(0, "")...)
}

// burst is 5,000 updates at once.
func (s *Suite) burst() []Fault {
	c := s.ready()
	var want strings.Builder
	for i := range 5000 {
		word := fmt.Sprintf("%d ", i)
		want.WriteString(word)
		c.say(s.Script.Text(word))
	}
	var faults []Fault
	if got := c.deltas(); got != want.String() {
		faults = fault(BurstComplete, "%d bytes of %d arrived in order", len(got), want.Len())
	}
	c.say(s.Script.End(want.String()))
	return append(faults, c.end(0, "")...)
}

// Missing checks the look at programs that are not there, or do not answer. Each
// command must give a reason before ctx ends.
func Missing(ctx context.Context, d harness.Driver, commands ...[]string) []Fault {
	var faults []Fault
	for _, command := range commands {
		p := d.Probe(ctx, harness.Agent{Command: command})
		if p.State != "unavailable" || p.Reason == "" {
			faults = append(faults, Fault{ProbeBounded, fmt.Sprintf("%q is %s (%s)", command, p.State, p.Reason)})
		}
	}
	return faults
}
