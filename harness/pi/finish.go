package pi

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"deckhand/harness"
)

// nudge delivers messages that reached pi too late for the turn: pi keeps them
// for its next prompt, so it gets one.
const nudge = "Go on with the message that follows."

// maxNudges bounds the prompts of our own in one turn.
const maxNudges = 3

// finish ends the turn: nothing more will come from pi by itself.
func (s *session) finish() {
	t := s.turn
	if s.queued > 0 && !t.aborted {
		if t.stop == "stop" && t.nudges < maxNudges {
			t.nudges++
			t.phase, t.endSeq = idle, 0
			s.sends = append(s.sends, request(derived("next", s.at.Seq), Request{Type: Prompt, Message: nudge}))
			return
		}
		s.note("pi did not read %d messages that came too late", s.queued)
	}
	outcome, reason := t.judge()
	s.done(outcome, reason)
}

// judge says how a turn that came to its end went. Only an answer with text that
// pi itself calls complete is a success.
func (t *turn) judge() (outcome, reason string) {
	blank := strings.TrimSpace(t.answer) == ""
	switch {
	case t.aborted:
		return harness.Interrupted, ""
	case !t.answered:
		return harness.Failed, "pi ended its turn without an answer"
	case t.stop == "error":
		return harness.Failed, or(harness.OneSentence(t.failure), "the model answered with an error")
	case t.stop == "aborted":
		return harness.Failed, "pi broke its turn off by itself"
	case t.stop == "length":
		return harness.Limit, "the answer was cut at the model's limit for one answer"
	case t.stop != "stop" && t.stop != "toolUse":
		return harness.Failed, fmt.Sprintf("pi ended its answer with %q", t.stop)
	case refusal(t.rawStop):
		return harness.Refused, "the model refused to answer (" + t.rawStop + ")"
	case blank:
		return harness.Failed, "pi gave an empty answer"
	case t.stop == "toolUse":
		return harness.Failed, "pi ended its turn after a tool, without an answer"
	}
	return harness.Completed, ""
}

// refusal says whether the model's own stop reason, which pi shows as an ordinary
// stop, means that it would not answer.
func refusal(raw string) bool {
	switch strings.ToLower(raw) {
	case "refusal", "content_filter", "safety":
		return true
	}
	return false
}

// done closes everything that is open and says the one Done of the turn.
func (s *session) done(outcome, reason string) {
	t := s.turn
	for _, a := range slices.Clone(s.asks) {
		s.gone(a.ID, "the turn is over")
	}
	for _, tool := range t.tools {
		tool.Millis = max(0, s.at.Time.Sub(tool.since).Milliseconds())
		s.sayTool(harness.ToolEnd, tool.Tool)
	}
	s.turn, s.prompting, s.proposals = nil, false, nil
	s.say(harness.Event{
		Kind: harness.Done, Text: t.answer, Outcome: outcome, Reason: reason,
		Question: outcome == harness.Completed && harness.EndsInQuestion(t.answer),
	})
}

// Exit implements harness.Session.
func (s *session) Exit(code int, signal string, at time.Time) []harness.Event {
	s.events, s.sends = nil, nil
	s.at = harness.Line{Seq: s.at.Seq, Time: at}
	if s.turn != nil {
		s.died(code, signal)
	}
	s.late()
	return s.events
}

// died ends the turn in which the process ended.
func (s *session) died(code int, signal string) {
	switch t := s.turn; {
	case t.aborted || s.stopping && t.phase != ended:
		s.done(harness.Interrupted, "")
	case t.phase == ended && !s.compacts && t.answered:
		s.done(t.judge()) // the answer was whole; only the fence is missing
	default:
		s.done(harness.Failed, s.death(code, signal))
	}
}

// death says why a process ended that should not have.
func (s *session) death(code int, signal string) string {
	how := fmt.Sprintf("exit code %d", code)
	switch {
	case signal != "":
		how = "signal " + signal
	case code < 0:
		return oneLine("pi could not be started: " + or(s.notStarted, "no reason was given"))
	}
	when := "in the middle of its turn"
	if !s.spoke {
		// An extension that opens a dialog too early makes pi exit 0 here.
		when = "before it answered anything"
	}
	reason := fmt.Sprintf("pi ended %s (%s)", when, how)
	if why := complaint(s.stderr); why != "" {
		reason += ": " + why
	}
	return oneLine(reason)
}

// complaint finds the line of standard error that says what went wrong.
func complaint(lines []string) string {
	last := ""
	for _, l := range lines {
		if strings.Contains(l, "enableCompileCache") {
			return "this pi needs a newer Node.js (22.19 or later)"
		}
	}
	for _, l := range slices.Backward(lines) {
		head, _, _ := strings.Cut(l, " ")
		if strings.HasSuffix(head, "Error:") {
			return harness.OneSentence(strings.TrimPrefix(l, "Error: "))
		}
		noise := strings.TrimSpace(l) == "" || strings.HasPrefix(l, " ") || strings.HasPrefix(l, "Node.js v") ||
			strings.HasPrefix(l, "Hint: ") || strings.HasPrefix(l, "Warning: ")
		if last == "" && !noise {
			last = l
		}
	}
	return harness.OneSentence(last)
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// longest is how many characters a line for people may have.
const longest = 200

// oneLine makes a text one line of printable characters.
func oneLine(s string) string {
	var b strings.Builder
	n, gap := 0, false
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar {
			gap = n > 0
			continue
		}
		if unicode.Is(unicode.Cf, r) {
			continue // bidi and zero-width: what is shown must be what it says
		}
		if n >= longest {
			b.WriteString("…")
			break
		}
		if gap {
			b.WriteByte(' ')
			n, gap = n+1, false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
