package pi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"deckhand/harness"
)

// Decode implements harness.Session.
func (s *session) Decode(l harness.Line) ([]harness.Event, []harness.Send) {
	s.events, s.sends, s.at = nil, nil, l
	s.expire()
	switch l.Stream {
	case harness.In:
		s.row(l.Data)
	case harness.Out:
		s.out(l.Data)
	case harness.Err:
		s.err(string(l.Data))
	case harness.Meta:
		s.remark(l.Data)
	}
	s.next()
	return s.events, s.sends
}

// say adds an event of the line being decoded.
func (s *session) say(e harness.Event) {
	e.Seq, e.Time = s.at.Seq, s.at.Time
	s.events = append(s.events, e)
}

func (s *session) note(format string, args ...any) {
	s.say(harness.Event{Kind: harness.Note, Text: oneLine(fmt.Sprintf(format, args...))})
}

// expire closes the dialogs that pi has answered by itself: it tells nobody.
func (s *session) expire() {
	for _, a := range slices.Clone(s.asks) {
		if a.Timeout > 0 && s.at.Time.Sub(a.since) >= a.Timeout {
			s.gone(a.ID, "nobody answered in time")
		}
	}
}

// row learns what was sent: the keeper writes it down before pi can answer it.
func (s *session) row(data []byte) {
	var row harness.Send
	if json.Unmarshal(data, &row) != nil {
		return
	}
	if row.ID != "" {
		s.rows[row.ID] = true
	}
	switch row.Do {
	case "":
		s.request([]byte(row.Line))
	case "eof", "term", "kill":
		s.stopping, s.waiting = true, nil
		s.late()
	}
}

func (s *session) request(line []byte) {
	id := ident(field(line, "id"))
	kind := unquote(field(line, "type"))
	switch kind {
	case Prompt:
		if s.turn == nil {
			s.turn = &turn{}
		}
		s.turn.asked, s.prompting = true, true
	case Abort, "abort_retry":
		if s.turn != nil {
			s.turn.aborted = true
			if !s.turn.asked {
				s.waiting = nil // the prompt came too late, also for a later attach
			}
		}
	case UIResponse:
		why := "answered"
		if string(field(line, "cancelled")) == "true" {
			why = "cancelled"
		}
		if s.gone(id, why).gate {
			s.why = unquote(field(line, "note"))
		}
		return // has no response
	case DecisionType:
		s.decided(id)
		return // has none either
	case Steer, FollowUp:
		s.unread = append(s.unread, harness.Command{ID: id, Text: unquote(field(line, "message"))})
		if s.stopping {
			s.late()
		}
	case GetState:
		if s.turn != nil {
			s.turn.fence, s.turn.fenceID = s.at.Seq, id
		}
	}
	if id != "" {
		s.sent[id] = kind
	}
}

// err keeps the end of standard error: it is the only reason pi gives when it
// does not start. Warnings are for people at once.
func (s *session) err(line string) {
	const keep = 40 // lines of a stack trace with its message
	if len(line) > 1000 {
		line = line[:1000]
	}
	s.stderr = append(s.stderr, line)
	if len(s.stderr) > keep {
		s.stderr = slices.Delete(s.stderr, 0, 1)
	}
	if strings.HasPrefix(line, "Warning: ") {
		s.note("pi: %s", strings.TrimPrefix(line, "Warning: "))
	}
}

// remark takes what the keeper says itself.
func (s *session) remark(data []byte) {
	var r harness.Remark
	if json.Unmarshal(data, &r) != nil {
		return
	}
	switch r.Event {
	case harness.RemarkTooLong:
		s.note("a line of pi was too long to keep (%d bytes)", r.Bytes)
	case harness.RemarkExit:
		s.notStarted = r.Text
	}
}

// out decodes a line of standard output by its type; most lines are
// message_update, and most of a message_update is nothing new.
func (s *session) out(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	kind, ok := kindOf(line)
	if !ok {
		s.note("pi said: %s", line[:min(len(line), 1000)])
		return
	}
	switch kind {
	case "response":
		s.response(line)
	case "extension_ui_request":
		s.dialog(line)
	case "extension_error":
		s.note("pi: extension %s: %s", unquote(field(line, "extensionPath")), unquote(field(line, "error")))
	case "queue_update":
		s.queue(line)
	case ProposeType:
		s.propose(line)
	default:
		if s.turn == nil {
			s.after(kind, line)
			return
		}
		s.event(kind, line)
	}
}

// after handles what comes when no turn is open: what was spent is counted, and
// nothing else is said of a turn that is over.
func (s *session) after(kind string, line []byte) {
	switch kind {
	case "agent_settled":
		s.settles = true
	case "message_end":
		if m, ok := assistant(line); ok {
			s.usage(m)
		}
	}
}

func (s *session) event(kind string, line []byte) {
	t := s.turn
	switch kind {
	case "message_update":
		s.update(line)
	case "message_start":
		t.streamed.Reset()
	case "message_end":
		s.message(line)
	case "tool_execution_start", "tool_execution_update", "tool_execution_end":
		s.tool(kind, line)
	case PlanType:
		s.plan(line)
	default:
		s.loop(kind, line)
	}
}

// loop follows the agent loop of pi to the end of the turn.
func (s *session) loop(kind string, line []byte) {
	t := s.turn
	switch kind {
	case "agent_start":
		t.phase, s.compacts = running, false
	case "agent_end":
		t.phase, t.endSeq = ended, s.at.Seq
		if string(field(line, "willRetry")) == "true" {
			t.phase = retrying
			return
		}
		s.fence()
	case "agent_settled":
		s.settles = true
		// Before the end of a run this is about something else: two prompts
		// at once make pi say it right after agent_start.
		if t.phase != idle && t.phase != running {
			s.finish()
		}
	case "auto_retry_start":
		t.phase = retrying
		s.note("pi tries again (%s of %s) in %s s: %s", field(line, "attempt"), field(line, "maxAttempts"),
			seconds(field(line, "delayMs")), harness.OneSentence(unquote(field(line, "errorMessage"))))
	case "auto_retry_end":
		if string(field(line, "success")) == "false" && t.phase == retrying && !s.settles {
			s.finish()
		}
	case "compaction_start":
		s.compacts = true
		s.note("pi compacts its session (%s)", unquote(field(line, "reason")))
	case "compaction_end":
		s.compacted(line)
	}
}

func (s *session) compacted(line []byte) {
	t := s.turn
	s.compacts = false
	if why := unquote(field(line, "errorMessage")); why != "" {
		s.note("pi: %s", harness.OneSentence(why))
	}
	if t.phase != ended {
		return
	}
	if string(field(line, "willRetry")) == "true" || s.queued > 0 && !t.aborted {
		t.phase = resuming
		return
	}
	t.endSeq = s.at.Seq
	s.fence()
}

// fence asks for the state; the answer can only come after everything pi said in
// the same breath as the line being decoded.
func (s *session) fence() {
	if !s.settles {
		s.sends = append(s.sends, request(derived("fence", s.at.Seq), Request{Type: GetState}))
	}
}

func (s *session) queue(line []byte) {
	var q struct {
		Steering []json.RawMessage `json:"steering"`
		FollowUp []json.RawMessage `json:"followUp"`
	}
	if json.Unmarshal(line, &q) == nil {
		s.queued = len(q.Steering) + len(q.FollowUp)
	}
}

// response decodes the answer to a request of ours.
func (s *session) response(line []byte) {
	s.spoke = true
	var r struct {
		ID      json.RawMessage `json:"id"`
		Command string          `json:"command"`
		Success bool            `json:"success"`
		Error   string          `json:"error"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		s.note("pi said: %s", line[:min(len(line), 1000)])
		return
	}
	id := ident(r.ID)
	kind := s.sent[id]
	delete(s.sent, id)
	switch kind {
	case GetState:
		s.state(id, r.Success, r.Data)
	case Prompt:
		s.prompted(r.Success, r.Error, unquote(field(r.Data, "disposition")))
	case Abort:
		s.abortAnswered()
	default:
		if !r.Success && r.Command != ClearQueue {
			s.note("pi refused %s: %s", r.Command, harness.OneSentence(r.Error))
		}
	}
}

// state is the handshake, a fence, or nobody's business.
func (s *session) state(id string, success bool, data []byte) {
	var st State
	if !success || json.Unmarshal(data, &st) != nil {
		return
	}
	if !s.ready {
		s.handshake(st)
	}
	if t := s.turn; t != nil && id == t.fenceID && s.over(t, st) {
		s.finish()
	}
}

// over says whether a fence that was answered proves the end of the turn: it was
// sent after the line that might be the end, and nothing began since.
func (s *session) over(t *turn, st State) bool {
	if st.IsStreaming || st.IsCompacting || t.endSeq == 0 || t.fence < t.endSeq {
		return false
	}
	return t.phase == ended && !s.compacts || t.aborted && t.phase != running
}

func (s *session) handshake(st State) {
	s.ready = true
	if name := cmp.Or(st.SessionFile, st.SessionID); name != "" && !s.bound {
		s.bound = true
		s.say(harness.Event{Kind: harness.Bound, Session: name})
	}
	if WantsGate(s.spec.Argv) && !s.gated {
		// It would run whatever the model wants, and nobody would be asked.
		s.broken = true
		s.done(harness.Failed, "pi did not load the permission gate it was started with (ask: none of its row goes without)")
		return
	}
	if s.spec.Resume && st.Messages == 0 {
		// Going on would be a new conversation that looks like the old one.
		s.broken = true
		s.done(harness.Failed, "pi found no earlier turn in its session "+s.spec.Session)
	}
}

// prompted is told whether pi took a prompt.
func (s *session) prompted(success bool, why, disposition string) {
	t := s.turn
	if disposition != "" {
		s.settles = true // the versions that say how also say when they are done
	}
	if t == nil {
		return
	}
	switch {
	case !success && t.phase == idle:
		s.done(harness.Failed, "pi took no prompt: "+harness.OneSentence(why))
	case !success:
		s.note("pi refused a prompt: %s", harness.OneSentence(why))
	case disposition == "handled" && t.phase == idle:
		s.done(harness.Failed, "an extension of pi handled the prompt and gave no answer")
	}
}

// abortAnswered makes sure that a turn that is aborted before it began, or while
// pi waited, comes to its end: there is no agent_end then.
func (s *session) abortAnswered() {
	t := s.turn
	if t == nil || !t.aborted || t.phase == running {
		return
	}
	if !t.asked {
		s.done(harness.Interrupted, "") // its prompt was never sent
		return
	}
	t.endSeq = s.at.Seq
	s.sends = append(s.sends, request(derived("fence", s.at.Seq), Request{Type: GetState}))
}

// ident is a request's id as text, whatever its JSON type.
func ident(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		return unquote(raw)
	}
	return string(raw)
}

func seconds(ms []byte) string {
	d, err := time.ParseDuration(string(ms) + "ms")
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("%.3g", d.Seconds())
}
