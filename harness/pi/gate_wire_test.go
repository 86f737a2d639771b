package pi

import (
	"strings"
	"testing"

	"deckhand/harness"
)

const (
	gateThere = `{"type":"extension_ui_request","id":"s0","method":"setStatus","statusKey":"deckhand","statusText":"asks before risky"}`
	gateNext  = `{"type":"extension_ui_request","id":"s1","method":"setStatus","statusKey":"deckhand","statusText":"ask"}`
	gateAsks  = `{"type":"extension_ui_request","id":"d","method":"confirm","title":"Run in shop?","message":"rm -rf build"}`
	gateWants = `{"type":"extension_ui_request","id":"w","method":"input","title":"deckhand: why"}`
)

// gateSpec is a life that was started with the gate.
func gateSpec() harness.Spec {
	return harness.Spec{Argv: []string{"/bin/pi", "-e", "/state/agents/pi-gate-0123456789abcdef/gate.mjs"}}
}

// TestGateWire: the exact bytes that pi gets after an ask of the gate, and after
// the same ask of somebody else's extension.
func TestGateWire(t *testing.T) {
	for _, c := range []struct {
		name   string
		mine   bool
		answer harness.Answer
		sent   string // for the answer
		why    string // for the gate's question
	}{
		{"allowed", true, harness.Answer{Confirmed: ptr(true)}, `{"id":"d","type":"extension_ui_response","confirmed":true}`, ""},
		{
			"allowed with a note", true,
			harness.Answer{Confirmed: ptr(true), Note: "this once"},
			`{"id":"d","type":"extension_ui_response","confirmed":true}` + "\n" + `{"id":"a-note","type":"steer","message":"this once"}`, "",
		},
		{
			"denied", true,
			harness.Answer{Confirmed: ptr(false)},
			`{"id":"d","type":"extension_ui_response","confirmed":false}`, `{"id":"w","type":"extension_ui_response","cancelled":true}`,
		},
		{
			"denied with why", true,
			harness.Answer{Confirmed: ptr(false), Note: " /use \"make clean\"\n<now> "},
			`{"id":"d","type":"extension_ui_response","confirmed":false,"note":"/use \"make clean\"\n<now>"}`,
			`{"id":"w","type":"extension_ui_response","value":"/use \"make clean\"\n<now>"}`,
		},
		{
			"cancelled", true,
			harness.Answer{Cancelled: true, Note: "x"},
			`{"id":"d","type":"extension_ui_response","cancelled":true}` + "\n" + `{"id":"a-note","type":"steer","message":"x"}`,
			`{"id":"w","type":"extension_ui_response","cancelled":true}`,
		},
		{
			"somebody else's", false,
			harness.Answer{Confirmed: ptr(false), Note: "no"},
			`{"id":"d","type":"extension_ui_response","confirmed":false}` + "\n" + `{"id":"a-note","type":"steer","message":"no"}`, "",
		},
	} {
		k := busy(t)
		if c.mine {
			k.out(gateNext)
		}
		if events, _ := k.out(gateAsks); len(events) != 1 || events[0].Ask.Message != "rm -rf build" {
			t.Fatalf("%s: %+v", c.name, events)
		}
		sends := k.encode(harness.Command{ID: "a", Kind: "answer", Ask: "d", Answer: c.answer})
		var sent []string
		for _, s := range sends {
			sent = append(sent, s.Line)
		}
		equal(t, c.name, strings.Join(sent, "\n"), c.sent)
		k.wrote(sends)
		if c.why == "" {
			continue
		}
		events, sends := k.out(gateWants)
		if len(events) != 0 || len(sends) != 1 {
			t.Fatalf("%s: a person is asked why: %+v %+v", c.name, events, sends)
		}
		equal(t, c.name+": why", sends[0].Line, c.why)
		// The reason is for one no only.
		if _, sends = k.out(gateWants); len(sends) != 1 || !strings.Contains(sends[0].Line, "cancelled") {
			t.Errorf("%s: the reason was given twice: %+v", c.name, sends)
		}
	}
}

// TestGateMark: the mark is for the dialog that follows, and for no later one.
func TestGateMark(t *testing.T) {
	k := busy(t)
	k.out(gateNext)
	k.out(gateAsks)
	k.wrote(k.encode(harness.Command{ID: "a", Kind: "answer", Ask: "d", Answer: harness.Answer{Confirmed: ptr(true)}}))
	k.out(strings.Replace(gateAsks, `"d"`, `"e"`, 1))
	sends := k.encode(harness.Command{ID: "b", Kind: "answer", Ask: "e", Answer: harness.Answer{Confirmed: ptr(false), Note: "no"}})
	if len(sends) != 2 || !strings.Contains(sends[1].Line, "steer") {
		t.Errorf("%+v", sends)
	}
}

// TestNoGateNoPrompt: a pi that was started with the gate and does not say that
// it is there gets no card to work on.
func TestNoGateNoPrompt(t *testing.T) {
	for _, there := range []bool{true, false} {
		k := newTalk(t, gateSpec())
		k.encode(harness.Command{ID: "p1", Kind: "prompt", Text: "go"})
		k.wrote(k.s.Start())
		if there {
			k.out(gateThere)
		}
		events, sends := k.out(stateOf)
		last := events[len(events)-1]
		switch {
		case there && (len(sends) != 1 || sends[0].ID != "p1"):
			t.Errorf("with the gate: %+v %+v", events, sends)
		case !there && (len(sends) != 0 || last.Kind != harness.Done || last.Outcome != harness.Failed || !strings.Contains(last.Reason, "permission gate")):
			t.Errorf("without: %+v %+v", events, sends)
		}
		if sends = k.encode(harness.Command{ID: "p2", Kind: "prompt", Text: "again"}); !there && sends != nil {
			t.Errorf("a later prompt went out: %+v", sends)
		}
	}
}
