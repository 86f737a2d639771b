package daemon

import (
	"testing"

	"deckhand/dispatch"
	"deckhand/harness"
)

// A run that is interrupted each time it goes on by itself waits for a person in
// the end, and what a person says begins to count anew.
func TestResumesNotForEver(t *testing.T) {
	r := newRun(&dispatch.Run{ID: "R"}, harness.Dir{})
	r.apply(dispatch.Entry{Kind: dispatch.Claimed})
	for range mostResumes {
		r.apply(dispatch.Entry{Kind: dispatch.Interrupted})
		r.apply(dispatch.Entry{Kind: dispatch.Resumed, By: byItself})
	}
	if r.resumes != mostResumes {
		t.Errorf("counted %d", r.resumes)
	}
	if r.apply(dispatch.Entry{Kind: dispatch.Resumed, By: "command"}); r.resumes != 0 {
		t.Errorf("counted %d after a person's word", r.resumes)
	}
}
