package pi

import (
	"reflect"
	"strings"
	"testing"

	"deckhand/harness"
)

const proposal = `{"type":"propose","id":"c1","reason":"it moved","changes":[{"kind":"edit","file":"a.md","before":"May\n","after":"June\n","reason":"r"},{"kind":"move","file":"b.md","to":"c.md","before":"x"}]}`

func TestPropose(t *testing.T) {
	k := busy(t)
	events, sends := k.out(proposal)
	want := &harness.Proposal{ID: "c1", Reason: "it moved", Changes: []harness.Change{
		{Kind: "edit", File: "a.md", Before: "May\n", After: "June\n", Reason: "r"}, {Kind: "move", File: "b.md", To: "c.md", Before: "x"},
	}}
	if len(events) != 1 || events[0].Kind != harness.Propose || !reflect.DeepEqual(events[0].Proposal, want) || len(sends) > 0 {
		t.Fatalf("%+v %v", events, sends)
	}
	if events, sends = k.out(proposal); len(events)+len(sends) > 0 {
		t.Errorf("the same again: %+v %v", events, sends)
	}
	if got := k.encode(harness.Command{ID: "d0", Kind: "decide", Ask: "another"}); len(got) > 0 {
		t.Errorf("another's decision: %v", got)
	}
	c := harness.Command{ID: "d1", Kind: "decide", Ask: "c1", Decision: harness.Decision{Applied: []string{"a.md"}, Rejected: []string{"b.md"}, Note: "<no>"}}
	got := k.encode(c)
	if rows(got) != `{"id":"d1","line":"{\"type\":\"decision\",\"id\":\"c1\",\"applied\":[\"a.md\"],\"rejected\":[\"b.md\"],\"note\":\"<no>\"}"}`+"\n" {
		t.Errorf("%s", rows(got))
	}
	if again := k.encode(c); !reflect.DeepEqual(again, got) {
		t.Errorf("before the row is written: %v", again)
	}
	k.wrote(got)
	if late := k.encode(c); len(late) > 0 {
		t.Errorf("a second decision: %v", late)
	}
}

// What nobody can decide is answered at once, or said to people.
func TestProposeRefused(t *testing.T) {
	for _, c := range []struct{ name, line, sends, note string }{
		{"no id", `{"type":"propose","changes":[]}`, "", "without an id"},
		{"no list", `{"type":"propose","id":"c1","changes":{}}`, `\"failed\":\"it cannot be read: `, "was refused"},
	} {
		events, sends := busy(t).out(c.line)
		if len(events) != 1 || !strings.Contains(events[0].Text, c.note) || !strings.Contains(rows(sends), c.sends) || c.sends == "" && len(sends) > 0 {
			t.Errorf("%s: %+v %s", c.name, events, rows(sends))
		}
	}
	if events, sends := ready(t).out(proposal); len(events) != 1 || events[0].Kind != harness.Note || !strings.Contains(rows(sends), `\"failed\":\"no turn is running\"`) {
		t.Errorf("between turns: %+v %s", events, rows(sends))
	}
}

// Whoever waits for a decision is let go before it is told to stop; a turn that
// is over takes none.
func TestProposeAborted(t *testing.T) {
	k := busy(t)
	k.out(proposal)
	sends := k.encode(harness.Command{ID: "a", Kind: "abort"})
	if len(sends) < 2 || !strings.Contains(sends[0].Line, `"type":"decision","id":"c1","failed":"the turn is being stopped"`) || !strings.Contains(sends[len(sends)-1].Line, `"abort"`) {
		t.Errorf("%s", rows(sends))
	}
	k = busy(t)
	k.out(proposal)
	k.s.Exit(1, "", k.at)
	if got := k.encode(harness.Command{ID: "d", Kind: "decide", Ask: "c1"}); len(got) > 0 {
		t.Errorf("after the end: %v", got)
	}
}

func TestPlan(t *testing.T) {
	events, _ := busy(t).out(`{"type":"plan","goal":"Move it","status":"running","steps":[{"text":"Read\nit","status":"done"},{"text":"Change it","status":"pending"}]}`)
	want := []harness.Step{{Text: "Read it", State: "completed"}, {Text: "Change it", State: "pending"}}
	if len(events) != 1 || events[0].Kind != harness.Plan || events[0].Text != "Move it" || !reflect.DeepEqual(events[0].Plan, want) {
		t.Errorf("%+v", events)
	}
}
