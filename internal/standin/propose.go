package standin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"deckhand/harness/pi"
)

// propose says what it would change, waits for the decision, and keeps it for
// the report. It is false when the turn was aborted.
func (t *turn) propose() bool {
	changes, err := t.changes()
	if err != nil {
		t.answered = " " + err.Error()
		return true
	}
	if !t.say("I propose what the card asks for. ") {
		return false
	}
	t.calls++
	p := pi.Propose{
		Type: pi.ProposeType, ID: fmt.Sprintf("propose-%d-%d", t.start.UnixNano(), t.calls), Reason: "the card asks for it", Changes: changes,
	}
	got := make(chan pi.Decision, 1)
	t.mu.Lock()
	t.decision[p.ID] = got
	t.mu.Unlock()
	t.a.emit(p)
	select {
	case d := <-got:
		t.answered = " Decided: " + decided(d) + "."
		if t.has("record") {
			t.record("decision " + decided(d))
		}
		return !t.aborted()
	case <-t.stop:
	case <-t.ctx.Done():
	}
	return false
}

// changes are those of the file that the card names, or a note for the card.
func (t *turn) changes() ([]pi.Change, error) {
	name := t.words["propose"]
	if name == "" {
		return []pi.Change{{
			Kind: "create", File: t.file(), After: "# " + t.title + "\n\nProposed by the stand-in of deckhand.\n", Reason: "there is none yet",
		}}, nil
	}
	data, err := os.ReadFile(name)
	for errors.Is(err, fs.ErrNotExist) && t.wait(defaultPace) { // whoever names it may not have written it yet
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	var out []pi.Change
	return out, json.Unmarshal(data, &out)
}

// decided is a decision as it is reported.
func decided(d pi.Decision) string {
	var parts []string
	for _, p := range []struct{ what, of string }{
		{"applied", strings.Join(d.Applied, ", ")}, {"rejected", strings.Join(d.Rejected, ", ")}, {"failed", d.Failed}, {"note", d.Note},
	} {
		if p.of != "" {
			parts = append(parts, p.what+" "+p.of)
		}
	}
	return strings.Join(parts, "; ")
}

// decide takes a decision. One that nobody waits for is unexpected.
func (t *turn) decide(line []byte) error {
	var d pi.Decision
	if err := json.Unmarshal(line, &d); err != nil {
		return unexpected{string(line), err.Error()}
	}
	if t == nil {
		return nil // its turn was stopped meanwhile
	}
	t.mu.Lock()
	got := t.decision[d.ID]
	delete(t.decision, d.ID)
	t.mu.Unlock()
	if got == nil {
		return unexpected{string(line), "nobody waits for it"}
	}
	got <- d
	return nil
}
