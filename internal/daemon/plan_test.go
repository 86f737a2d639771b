package daemon

import (
	"strings"
	"testing"

	"deckhand/chats"
	"deckhand/harness"
)

// A plan stands in the chat when it is made, and again where it has come further
// before a decision and at the end.
func TestPlanInTheChat(t *testing.T) {
	step := func(states ...string) []harness.Step {
		steps := []harness.Step{{Text: "Read"}, {Text: "Change"}}
		for i, s := range states {
			steps[i].State = s
		}
		return steps
	}
	tk := &talk{role: "assistant", life: 1}
	for i, e := range []harness.Event{
		{Kind: harness.Text, Text: "Well."},
		{Kind: harness.Plan, Text: "Move it", Plan: step("pending", "pending")},
		{Kind: harness.Plan, Text: "Move it", Plan: step("completed", "pending")},
		{Kind: harness.Propose, Proposal: &harness.Proposal{Changes: []harness.Change{{Kind: "edit", File: "a.md"}}}},
		{Kind: harness.Plan, Text: "Move it", Plan: step("completed", "pending")},
		{Kind: harness.Done},
	} {
		e.Seq = int64(i + 1)
		tk.hear(e, chats.Item{})
	}
	var got []string
	for _, p := range tk.items {
		got = append(got, p.Text)
	}
	want := []string{"Well.", "Plan: Move it\n* Read\n* Change", "Plan: Move it\n* ✓ Read\n* Change", "I propose to change 1 note.\n* edit a.md"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q", got)
	}
}
