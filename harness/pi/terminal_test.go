package pi

import (
	"strings"
	"testing"

	"deckhand/harness"
)

func TestTerminal(t *testing.T) {
	a := harness.Agent{Command: []string{"/bin/pi", "-e", "x.ts"}, Model: "p/m", Ask: "risky", Files: "/state/agents"}
	got, err := New().Terminal(a, "/state/session.jsonl")
	if want := "/bin/pi -e x.ts --session /state/session.jsonl --model p/m"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, session := range []string{"", "notes/Shop.md"} {
		if _, err := New().Terminal(a, session); err == nil {
			t.Errorf("took the session %q: pi 0.73 would write over it", session)
		}
	}
}
