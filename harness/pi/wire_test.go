package pi

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deckhand/harness"
)

// talk feeds a session the lines of a process that is ready.
type talk struct {
	t   *testing.T
	s   harness.Session
	seq int64
	at  time.Time
}

func newTalk(t *testing.T, spec harness.Spec) *talk {
	return &talk{t: t, s: New().Open(harness.Agent{}, spec), at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
}

func (k *talk) feed(stream harness.Stream, data string) ([]harness.Event, []harness.Send) {
	k.seq++
	k.at = k.at.Add(time.Millisecond)
	return k.s.Decode(harness.Line{Seq: k.seq, Time: k.at, Stream: stream, Data: []byte(data)})
}

func (k *talk) out(data string) ([]harness.Event, []harness.Send) {
	return k.feed(harness.Out, data)
}

// wrote is the keeper writing rows down.
func (k *talk) wrote(sends []harness.Send) (events []harness.Event) {
	for _, s := range sends {
		more, _ := k.feed(harness.In, line(s))
		events = append(events, more...)
	}
	return events
}

func (k *talk) encode(c harness.Command) []harness.Send {
	k.t.Helper()
	sends, err := k.s.Encode(c)
	if err != nil {
		k.t.Fatal(err)
	}
	return sends
}

const (
	stateOf  = `{"id":"state","type":"response","command":"get_state","success":true,"data":{"isStreaming":false,"isCompacting":false,"sessionFile":"/s/card.jsonl","messageCount":0,"pendingMessageCount":0}}`
	started  = `{"id":"p1","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}`
	answered = `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Fine."}],"stopReason":"stop","timestamp":7,"responseId":"r","usage":{"totalTokens":9,"cost":{"total":0.5}}}}`
)

// ready is a talk after the handshake.
func ready(t *testing.T) *talk {
	k := newTalk(t, harness.Spec{})
	k.wrote(k.s.Start())
	k.out(stateOf)
	return k
}

// busy is a talk with a turn that runs.
func busy(t *testing.T) *talk {
	k := ready(t)
	k.wrote(k.encode(harness.Command{ID: "p1", Kind: "prompt", Text: "go"}))
	k.out(started)
	k.out(`{"type":"agent_start"}`)
	return k
}

func rows(sends []harness.Send) string {
	var b strings.Builder
	for _, s := range sends {
		b.WriteString(line(s) + "\n")
	}
	return b.String()
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func ptr[T any](v T) *T { return &v }

// TestWire holds the exact bytes pi gets for each command and answer.
func TestWire(t *testing.T) {
	equal(t, "start", rows(newTalk(t, harness.Spec{}).s.Start()), `{"id":"state","line":"{\"id\":\"state\",\"type\":\"get_state\"}"}`)

	texts := []struct{ kind, text, want string }{
		{"prompt", "a <b> & \"c\"\nd", `{"id":"c","type":"prompt","message":"a <b> & \"c\"\nd"}`},
		{"prompt", "/name runs", `{"id":"c","type":"prompt","message":" /name runs"}`},
		{"prompt", "!ls", `{"id":"c","type":"prompt","message":" !ls"}`},
		{"steer", "/stop", `{"id":"c","type":"steer","message":" /stop"}`},
		{"steer", "!rm -rf x", `{"id":"c","type":"steer","message":" !rm -rf x"}`},
		{"follow_up", "/skill:x", `{"id":"c","type":"follow_up","message":" /skill:x"}`},
		{"follow_up", "then this", `{"id":"c","type":"follow_up","message":"then this"}`},
	}
	for _, c := range texts {
		k := busy(t)
		if c.kind == "prompt" {
			k = ready(t)
		}
		sends := k.encode(harness.Command{ID: "c", Kind: c.kind, Text: c.text})
		if len(sends) != 1 || sends[0].ID != "c" {
			t.Fatalf("%s %q: %+v", c.kind, c.text, sends)
		}
		equal(t, c.kind, sends[0].Line, c.want)
	}

	answers := []struct {
		dialog string
		answer harness.Answer
		want   string // "": refused
	}{
		{`"method":"confirm"`, harness.Answer{Confirmed: ptr(true)}, `{"id":"d","type":"extension_ui_response","confirmed":true}`},
		{`"method":"confirm"`, harness.Answer{Confirmed: ptr(false)}, `{"id":"d","type":"extension_ui_response","confirmed":false}`},
		{`"method":"confirm"`, harness.Answer{Cancelled: true}, `{"id":"d","type":"extension_ui_response","cancelled":true}`},
		{`"method":"confirm"`, harness.Answer{Value: ptr("yes")}, ""},
		{`"method":"select","options":["red","green"]`, harness.Answer{Value: ptr("green")}, `{"id":"d","type":"extension_ui_response","value":"green"}`},
		{`"method":"select","options":["red","green"]`, harness.Answer{Value: ptr("blue")}, ""},
		{`"method":"input"`, harness.Answer{Value: ptr("")}, `{"id":"d","type":"extension_ui_response","value":""}`},
		{`"method":"editor","prefill":"x"`, harness.Answer{Value: ptr("1\n2")}, `{"id":"d","type":"extension_ui_response","value":"1\n2"}`},
		{`"method":"editor"`, harness.Answer{}, ""},
		{
			`"method":"confirm"`,
			harness.Answer{Confirmed: ptr(false), Note: "/use trash"},
			`{"id":"d","type":"extension_ui_response","confirmed":false}` + "\n" + `{"id":"a-note","type":"steer","message":" /use trash"}`,
		},
	}
	for _, c := range answers {
		k := busy(t)
		k.out(`{"type":"extension_ui_request","id":"d",` + c.dialog + `,"title":"t"}`)
		sends, err := k.s.Encode(harness.Command{ID: "a", Kind: "answer", Ask: "d", Answer: c.answer})
		if c.want == "" {
			if err == nil || sends != nil {
				t.Errorf("%s %+v was taken: %+v", c.dialog, c.answer, sends)
			}
			continue
		}
		var lines []string
		for _, s := range sends {
			lines = append(lines, s.Line)
		}
		equal(t, c.dialog, strings.Join(lines, "\n"), c.want)
		events := k.wrote(sends)
		if len(events) != 1 || events[0].Kind != harness.AskGone || events[0].AskID != "d" {
			t.Errorf("%s: %+v", c.dialog, events)
		}
		if again := k.encode(harness.Command{ID: "b", Kind: "answer", Ask: "d", Answer: c.answer}); again != nil {
			t.Errorf("%s: answered twice: %+v", c.dialog, again)
		}
	}
}

// TestStopOrder: dialogs first, or pi does not abort; then its queue, or it
// keeps it; and each step has its own rows.
func TestStopOrder(t *testing.T) {
	k := busy(t)
	k.out(`{"type":"extension_ui_request","id":"d","method":"confirm","title":"t"}`)
	want := []string{
		`{"id":"stop-cancel-d","line":"{\"id\":\"d\",\"type\":\"extension_ui_response\",\"cancelled\":true}"}
{"id":"stop-clear","line":"{\"id\":\"stop-clear\",\"type\":\"clear_queue\"}"}
{"id":"stop","line":"{\"id\":\"stop\",\"type\":\"abort\"}"}`,
		`{"id":"eof","do":"eof"}`, `{"id":"stop-term","do":"term"}`, `{"id":"stop-kill","do":"kill"}`,
	}
	for n, w := range want {
		sends, wait, ok := k.s.Stop(n)
		equal(t, "step", rows(sends), w)
		if !ok || wait != 3*time.Second {
			t.Errorf("step %d: wait %v, %v", n, wait, ok)
		}
	}
	if _, _, ok := k.s.Stop(len(want)); ok {
		t.Error("the stop order has no end")
	}
	// 0.73 has no clear_queue and would say so.
	sends, _, _ := newTalk(t, harness.Spec{}).s.Stop(0)
	equal(t, "not known to have clear_queue", rows(sends), `{"id":"stop","line":"{\"id\":\"stop\",\"type\":\"abort\"}"}`)
}

// TestPromptsWait: the first for the handshake, the second for the first's end.
func TestPromptsWait(t *testing.T) {
	k := newTalk(t, harness.Spec{})
	one, two := harness.Command{ID: "p1", Kind: "prompt", Text: "one"}, harness.Command{ID: "p2", Kind: "prompt", Text: "two"}
	if sends := append(k.encode(one), k.encode(two)...); sends != nil {
		t.Fatalf("sent before the handshake: %+v", sends)
	}
	k.encode(one) // the same again is no third prompt
	k.wrote(k.s.Start())
	_, sends := k.out(stateOf)
	equal(t, "after the handshake", rows(sends), `{"id":"p1","line":"{\"id\":\"p1\",\"type\":\"prompt\",\"message\":\"one\"}"}`)
	k.wrote(sends)
	for _, l := range []string{started, `{"type":"agent_start"}`, answered, `{"type":"agent_end","messages":[],"willRetry":false}`} {
		if _, sends := k.out(l); sends != nil {
			t.Fatalf("sent in the middle of the turn, at %s: %+v", l, sends)
		}
	}
	events, sends := k.out(`{"type":"agent_settled","aborted":false}`)
	equal(t, "after the turn", rows(sends), `{"id":"p2","line":"{\"id\":\"p2\",\"type\":\"prompt\",\"message\":\"two\"}"}`)
	if len(events) != 1 || events[0].Outcome != harness.Completed {
		t.Errorf("%+v", events)
	}
	// A daemon that attaches encodes what its log says again.
	if again := k.encode(one); rows(again) != `{"id":"p1","line":"{\"id\":\"p1\",\"type\":\"prompt\",\"message\":\"one\"}"}`+"\n" {
		t.Errorf("again: %+v", again)
	}
}

// TestAttachBeforeThePrompt: the daemon died between the handshake and the
// prompt, and the one that attaches still sends it.
func TestAttachBeforeThePrompt(t *testing.T) {
	k := newTalk(t, harness.Spec{})
	k.wrote(k.s.Start())
	k.out(stateOf)
	sends := k.encode(harness.Command{ID: "p1", Kind: "prompt", Text: "one"})
	if len(sends) != 1 || sends[0].ID != "p1" {
		t.Errorf("%+v", sends)
	}
}

// TestStopBeforeThePrompt: a daemon that attaches to a life that was stopped
// before its prompt was sent does not send it after all.
func TestStopBeforeThePrompt(t *testing.T) {
	k := newTalk(t, harness.Spec{})
	k.encode(harness.Command{ID: "p1", Kind: "prompt", Text: "one"})
	k.wrote(k.s.Start())
	k.feed(harness.In, `{"id":"stop","line":"{\"id\":\"stop\",\"type\":\"abort\"}"}`)
	if _, sends := k.out(stateOf); sends != nil {
		t.Errorf("%+v", sends)
	}
	events, sends := k.out(`{"id":"stop","type":"response","command":"abort","success":true}`)
	if len(events) != 1 || events[0].Outcome != harness.Interrupted || sends != nil {
		t.Errorf("%+v %+v", events, sends)
	}
}

func TestSteerWithoutTurn(t *testing.T) {
	k := ready(t)
	if _, err := k.s.Encode(harness.Command{ID: "s", Kind: "steer", Text: "x"}); !errors.Is(err, ErrNoTurn) {
		t.Errorf("%v", err)
	}
	if _, err := k.s.Encode(harness.Command{ID: "s", Kind: "dance"}); !errors.Is(err, ErrKind) {
		t.Errorf("%v", err)
	}
}

// TestLateSteer: a message that reached pi after its loop had ended is delivered
// by a prompt of ours, in the same turn.
func TestLateSteer(t *testing.T) {
	k := busy(t)
	k.wrote(k.encode(harness.Command{ID: "s", Kind: "steer", Text: "use euros"}))
	k.out(answered)
	k.out(`{"type":"queue_update","steering":["use euros"],"followUp":[]}`)
	k.out(`{"type":"agent_end","willRetry":false}`)
	events, sends := k.out(`{"type":"agent_settled","aborted":false}`)
	if len(events) != 0 || len(sends) != 1 || sends[0].ID != "next-10" {
		t.Fatalf("%+v %+v", events, sends)
	}
	equal(t, "prompt", sends[0].Line, `{"id":"next-10","type":"prompt","message":"Go on with the message that follows."}`)
	k.wrote(sends)
	k.out(`{"id":"next-10","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}`)
	k.out(`{"type":"agent_start"}`)
	k.out(`{"type":"queue_update","steering":[],"followUp":[]}`)
	k.out(strings.Replace(answered, "Fine.", "In euros.", 1))
	k.out(`{"type":"agent_end","willRetry":false}`)
	events, _ = k.out(`{"type":"agent_settled","aborted":false}`)
	if len(events) != 1 || events[0].Text != "In euros." {
		t.Errorf("%+v", events)
	}
}

// TestUnread: what was sent and not taken up is told of when pi is to end: until
// then its next prompt would bring it.
func TestUnread(t *testing.T) {
	late := func(events []harness.Event) string {
		var out []string
		for _, e := range events {
			if e.Kind == harness.Late {
				out = append(out, e.Row+" "+e.Text)
			}
		}
		return strings.Join(out, ", ")
	}
	const read = `{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":" /use euros"}]}}`
	steer := harness.Command{ID: "s", Kind: "steer", Text: "/use euros"}
	for _, c := range []struct {
		name string
		do   func(*talk)
		want string
	}{
		{"taken up", func(k *talk) { k.wrote(k.encode(steer)); k.out(read) }, ""},
		{"not taken up", func(k *talk) { k.wrote(k.encode(steer)) }, "s /use euros"},
		{"another one taken up", func(k *talk) {
			k.wrote(k.encode(steer))
			k.wrote(k.encode(harness.Command{ID: "f", Kind: "follow_up", Text: "and ship"}))
			k.out(read)
		}, "f and ship"},
		{"said twice, taken up once", func(k *talk) {
			k.wrote(k.encode(steer))
			again := steer
			again.ID = "s2"
			k.wrote(k.encode(again))
			k.out(read)
		}, "s2 /use euros"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := busy(t)
			c.do(k)
			equal(t, "at the end of its input", late(k.wrote(k.s.Finish())), c.want)
			equal(t, "and at its own", late(k.s.Exit(0, "", time.Time{})), "")
			k = busy(t)
			c.do(k)
			equal(t, "when it dies", late(k.s.Exit(1, "", time.Time{})), c.want)
		})
	}
	t.Run("sent after it was told to end", func(t *testing.T) {
		k := busy(t)
		row := k.encode(steer)
		k.wrote(k.s.Finish())
		equal(t, "late", late(k.wrote(row)), "s /use euros")
	})
}

// TestOurInterruptWins: pi calls the turn complete, and we had stopped it.
func TestOurInterruptWins(t *testing.T) {
	k := busy(t)
	k.wrote(k.encode(harness.Command{ID: "x", Kind: "abort"}))
	k.out(answered)
	k.out(`{"type":"agent_end","willRetry":false}`)
	events, _ := k.out(`{"type":"agent_settled","aborted":false}`)
	if len(events) != 1 || events[0].Outcome != harness.Interrupted || events[0].Text != "Fine." {
		t.Fatalf("%+v", events)
	}
	for _, l := range []string{`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"late"}}`, `{"type":"agent_end"}`, `{"type":"agent_settled"}`} {
		if events, sends := k.out(l); len(events)+len(sends) != 0 {
			t.Errorf("after the end, %s: %+v %+v", l, events, sends)
		}
	}
}

// TestAbortBeforeTheRun: there is no agent_end to wait for.
func TestAbortBeforeTheRun(t *testing.T) {
	k := ready(t)
	k.wrote(k.encode(harness.Command{ID: "p1", Kind: "prompt", Text: "go"}))
	k.wrote(k.encode(harness.Command{ID: "x", Kind: "abort"}))
	_, sends := k.out(`{"id":"x","type":"response","command":"abort","success":true}`)
	if len(sends) != 1 {
		t.Fatalf("%+v", sends)
	}
	k.wrote(sends)
	events, _ := k.out(strings.Replace(stateOf, `"state"`, `"`+sends[0].ID+`"`, 1))
	if len(events) != 1 || events[0].Outcome != harness.Interrupted {
		t.Errorf("%+v", events)
	}
}

// TestTimeout: pi answers a dialog by itself and tells nobody.
func TestTimeout(t *testing.T) {
	k := busy(t)
	events, _ := k.out(`{"type":"extension_ui_request","id":"d","method":"confirm","title":"t","message":"m","timeout":1500}`)
	if len(events) != 1 || events[0].Ask.Timeout != 1500*time.Millisecond {
		t.Fatalf("%+v", events)
	}
	k.at = k.at.Add(1500 * time.Millisecond)
	events, _ = k.out(`{"type":"turn_start"}`)
	if len(events) != 1 || events[0].Kind != harness.AskGone || events[0].Reason != "nobody answered in time" {
		t.Errorf("%+v", events)
	}
}

// TestUnknown: types, fields, methods and lines nobody has heard of.
func TestUnknown(t *testing.T) {
	k := busy(t)
	for _, c := range []struct {
		line   string
		events int
		sends  int
	}{
		{`{"type":"brand_new","x":{"y":[1,2,{"z":"}"}]}}`, 0, 0},
		{`{"x":1}`, 0, 0},
		{"", 0, 0},
		{"  \r", 0, 0},
		{"Debugger attached.", 1, 0},
		{`{"type":"message_upd`, 1, 0},
		{"[1]", 1, 0},
		{"null", 1, 0},
		{`{"type":"extension_ui_request","id":"n","method":"hologram"}`, 1, 1},
		{`{"type":"extension_ui_request","id":"n","method":"select","options":[1]}`, 1, 1},
		{`{"type":"extension_ui_request","id":"n","method":"setStatus","statusKey":"k"}`, 0, 0},
		{`{"type":"response","command":"no_such","success":false,"error":"no"}`, 1, 0},
		{`{"type":"agent_settled","aborted":false}`, 0, 0}, // right after agent_start it means another prompt
	} {
		events, sends := k.out(c.line)
		if len(events) != c.events || len(sends) != c.sends {
			t.Errorf("%q: %+v %+v", c.line, events, sends)
		}
	}
	events, _ := k.feed(harness.Meta, `{"event":"too_long","stream":"out","bytes":70000000}`)
	if len(events) != 1 || events[0].Kind != harness.Note {
		t.Errorf("%+v", events)
	}
}

// TestToolWithoutBegin and one that never ends.
func TestToolRepair(t *testing.T) {
	k := busy(t)
	events, _ := k.out(`{"type":"tool_execution_end","toolCallId":"a","toolName":"bash","result":{"content":[{"type":"text","text":"x"}]},"isError":false}`)
	if len(events) != 2 || events[0].Kind != harness.ToolBegin || events[1].Kind != harness.ToolEnd || !events[1].Tool.OK {
		t.Errorf("%+v", events)
	}
	k.out(`{"type":"tool_execution_start","toolCallId":"b","toolName":"bash","args":{"command":"a\n\tb\u202e"}}`)
	events = k.s.Exit(-1, "SIGKILL", k.at.Add(time.Second))
	if len(events) != 2 || events[0].Kind != harness.ToolEnd || events[0].Tool.OK || events[0].Tool.Millis != 1000 || events[0].Tool.Title != "a b" {
		t.Errorf("%+v", events)
	}
	if events[1].Reason != "pi ended in the middle of its turn (signal SIGKILL)" {
		t.Errorf("%+v", events[1])
	}
	if more := k.s.Exit(-1, "SIGKILL", k.at); more != nil {
		t.Errorf("a second end: %+v", more)
	}
}

// TestDeath has a reason of its own for each way to die.
func TestDeath(t *testing.T) {
	for _, c := range []struct {
		name   string
		feed   func(*talk)
		code   int
		signal string
		want   string
	}{
		{"dialog at the start (exit 0)", func(*talk) {}, 0, "", "pi ended before it answered anything (exit code 0)"},
		{"bad flag", func(k *talk) { k.feed(harness.Err, "Error: Unknown option: --x") }, 1, "", "pi ended before it answered anything (exit code 1): Unknown option: --x"},
		{"old node", func(k *talk) {
			k.feed(harness.Err, "SyntaxError: The requested module 'node:module' does not provide an export named 'enableCompileCache'")
			k.feed(harness.Err, "Node.js v20.20.2")
		}, 1, "", "pi ended before it answered anything (exit code 1): this pi needs a newer Node.js (22.19 or later)"},
		{"never ran", func(k *talk) { k.feed(harness.Meta, `{"event":"exit","code":-1,"text":"no such file or directory"}`) }, -1, "", "pi could not be started: no such file or directory"},
		{"killed", func(k *talk) { k.wrote(k.s.Start()); k.out(stateOf) }, -1, "SIGKILL", "pi ended in the middle of its turn (signal SIGKILL)"},
	} {
		k := newTalk(t, harness.Spec{})
		c.feed(k)
		events := k.s.Exit(c.code, c.signal, k.at)
		if len(events) != 1 || events[0].Outcome != harness.Failed {
			t.Fatalf("%s: %+v", c.name, events)
		}
		equal(t, c.name, events[0].Reason, c.want)
	}
}

func TestArgv(t *testing.T) {
	a := harness.Agent{Command: []string{"/usr/bin/pi", "-e", "x.ts"}, Model: "p/m"}
	got, err := New().Argv(a, harness.Spec{Session: "/state/session.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "argv", strings.Join(got, " "), "/usr/bin/pi -e x.ts --mode rpc --session /state/session.jsonl -ne -ns -np --no-themes --model p/m")
	for _, session := range []string{"", "notes/Shop.md"} {
		if _, err := New().Argv(a, harness.Spec{Session: session}); err == nil {
			t.Errorf("took the session %q: pi 0.73 would write over it", session)
		}
	}
	if _, err := New().Argv(harness.Agent{}, harness.Spec{Session: "/s"}); err == nil {
		t.Error("took no command")
	}
}
