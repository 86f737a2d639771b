package standin

import (
	"fmt"
	"strconv"
	"time"

	"deckhand/harness/pi"
)

// allowed opens the dialog that the card wants before the file is written, and
// reports whether it may be.
func (t *turn) allowed(file string) bool {
	d := dialog{Method: t.words["ask"]}
	switch d.Method {
	case "select":
		d.Title, d.Options = "Which way for "+file+"?", []string{"as a draft", "as a whole", "/not at all"}
	case "input":
		d.Title, d.Placeholder = "What goes into the first line of "+file+"?", "one line"
	case "editor":
		d.Title, d.Prefill = "The text of "+file, "# Draft\n"
	default:
		d.Method, d.Title, d.Message = "confirm", "Write "+file+"?", "The card says [ask]."
	}
	r, answered := t.dialog(d)
	switch {
	case !answered || r.Cancelled:
		return false
	case r.Value != nil:
		t.answered = " Answered: " + *r.Value
		return true
	}
	return r.Confirmed != nil && *r.Confirmed
}

// dialog asks and waits for the answer, as long as it takes; with [timeout] no
// longer than that, and then nobody is told.
func (t *turn) dialog(d dialog) (answer pi.Request, ok bool) {
	t.calls++
	d.Type, d.ID = "extension_ui_request", fmt.Sprintf("ask-%d-%d", t.start.UnixNano(), t.calls)
	var late <-chan time.Time
	if wait, err := time.ParseDuration(t.words["timeout"]); err == nil && t.has("timeout") {
		d.Timeout, late = wait.Milliseconds(), time.After(wait)
	}
	got := make(chan pi.Request, 1)
	t.mu.Lock()
	t.answers[d.ID] = got
	t.mu.Unlock()
	t.a.emit(d)
	select {
	case r := <-got:
		if t.has("record") {
			t.record("answer " + said(r))
		}
		return r, true
	case <-late:
		t.mu.Lock()
		delete(t.answers, d.ID)
		t.mu.Unlock()
	case <-t.ctx.Done():
	}
	return pi.Request{}, false
}

// said is an answer as the record has it.
func said(r pi.Request) string {
	switch {
	case r.Cancelled:
		return "cancelled"
	case r.Confirmed != nil:
		return "confirmed " + strconv.FormatBool(*r.Confirmed)
	case r.Value != nil:
		return "value " + strconv.Quote(*r.Value)
	}
	return "nothing"
}
