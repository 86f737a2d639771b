package pi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"deckhand/harness"
)

// update says the new part of a message that is being written.
func (s *session) update(line []byte) {
	kind, more := delta(line)
	if more == "" {
		return
	}
	switch kind {
	case "text_delta":
		s.turn.streamed.WriteString(more)
		s.say(harness.Event{Kind: harness.Text, Text: more})
	case "thinking_delta":
		s.say(harness.Event{Kind: harness.Thought, Text: more})
	}
}

// assistant decodes a message_end that belongs to the agent.
func assistant(line []byte) (Message, bool) {
	var m Message
	raw := field(line, "message")
	if unquote(field(raw, "role")) != "assistant" || json.Unmarshal(raw, &m) != nil {
		return m, false
	}
	return m, true
}

// message takes the whole of a message: the last one is the answer, and how it
// stopped is how the turn went.
func (s *session) message(line []byte) {
	t := s.turn
	m, ok := assistant(line)
	if !ok {
		s.read(line)
		return
	}
	t.answer, t.stop, t.rawStop, t.failure, t.answered = text(m.Content), m.StopReason, m.RawStop, m.ErrorMessage, true
	if rest, ok := strings.CutPrefix(t.answer, t.streamed.String()); ok && rest != "" {
		s.say(harness.Event{Kind: harness.Text, Text: rest}) // never streamed
	}
	t.streamed.Reset()
	s.usage(m)
}

// read takes a message off those that pi has not taken up: from here on it is
// part of the conversation.
func (s *session) read(line []byte) {
	if len(s.unread) == 0 {
		return
	}
	var m Message
	raw := field(line, "message")
	if unquote(field(raw, "role")) != "user" || json.Unmarshal(raw, &m) != nil {
		return
	}
	said := text(m.Content)
	if i := slices.IndexFunc(s.unread, func(c harness.Command) bool { return c.Text == said }); i >= 0 {
		s.unread = slices.Delete(s.unread, i, i+1)
	}
}

// late says what pi has not taken up and will not any more.
func (s *session) late() {
	for _, c := range s.unread {
		s.say(harness.Event{Kind: harness.Late, Row: c.ID, Text: fromText(c.Text)})
	}
	s.unread = nil
}

// usage says what a message cost. A message that failed has none: pi writes
// zeros, and unknown is not nothing.
func (s *session) usage(m Message) {
	u := m.Usage
	if u == nil || u.Total <= 0 {
		return
	}
	e := &harness.Usage{
		Message: strconv.FormatInt(m.Timestamp, 10) + "-" + m.ResponseID,
		Tokens:  u.Total,
		Model:   strings.Trim(m.Provider+"/"+m.Model, "/"),
	}
	if u.Cost != nil && u.Cost.Total >= 0 {
		cost := u.Cost.Total
		e.Cost = &cost
	}
	s.say(harness.Event{Kind: harness.UsageSeen, Usage: e})
}

// tool follows one tool call. Its begin comes before a dialog that may refuse
// it, so a begin does not mean that the command ran.
func (s *session) tool(kind string, line []byte) {
	id := unquote(field(line, "toolCallId"))
	i := s.begun(id, line)
	t := &s.turn.tools[i]
	switch kind {
	case "tool_execution_update":
		out := output(field(line, "partialResult"))
		if out == t.Output {
			return
		}
		t.Output = out
		s.sayTool(harness.ToolUpdate, t.Tool)
	case "tool_execution_end":
		t.Output = output(field(line, "result"))
		t.OK = string(field(line, "isError")) == "false"
		t.Millis = millis(field(line, "durationMs"), s.at.Time.Sub(t.since))
		s.sayTool(harness.ToolEnd, t.Tool)
		s.turn.tools = slices.Delete(s.turn.tools, i, i+1)
	}
}

// begun finds an open tool, or opens it: the first sight of an id is its begin.
func (s *session) begun(id string, line []byte) int {
	tools := s.turn.tools
	if i := slices.IndexFunc(tools, func(t openTool) bool { return t.ID == id }); i >= 0 {
		return i
	}
	name := unquote(field(line, "toolName"))
	t := openTool{
		Tool:  harness.Tool{ID: id, Name: name, Title: title(field(line, "args"))},
		since: s.at.Time,
	}
	s.turn.tools = append(tools, t)
	s.sayTool(harness.ToolBegin, t.Tool)
	return len(tools)
}

func (s *session) sayTool(kind harness.Kind, t harness.Tool) {
	s.say(harness.Event{Kind: kind, Tool: &t})
}

// title is what a tool call works on, in one line.
func title(args []byte) string {
	for _, name := range []string{"command", "path", "file_path", "file", "pattern", "query", "url"} {
		if v := unquote(field(args, name)); v != "" {
			return oneLine(v)
		}
	}
	if len(args) == 0 || string(args) == "{}" {
		return ""
	}
	return oneLine(string(args[:min(len(args), 1000)]))
}

// output is the text of a tool's result.
func output(raw []byte) string {
	var parts []Content
	if json.Unmarshal(field(raw, "content"), &parts) != nil {
		return ""
	}
	return text(parts)
}

func millis(raw []byte, seen time.Duration) int64 {
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f >= 0 && f < 1e15 {
		return int64(f)
	}
	return max(0, seen.Milliseconds())
}

// dialog opens an ask. A dialog that is not known would block pi for ever, so
// it is cancelled; what only shows something is passed over.
func (s *session) dialog(line []byte) {
	var d struct {
		ID          string   `json:"id"`
		Method      string   `json:"method"`
		Title       string   `json:"title"`
		Message     string   `json:"message"`
		Options     []string `json:"options"`
		Placeholder string   `json:"placeholder"`
		Prefill     string   `json:"prefill"`
		Timeout     float64  `json:"timeout"`
		StatusKey   string   `json:"statusKey"`
		StatusText  string   `json:"statusText"`
	}
	if err := json.Unmarshal(line, &d); err != nil {
		s.cancel(ident(field(line, "id")), unquote(field(line, "method")))
		return
	}
	switch d.Method {
	case "select", "confirm", "input", "editor":
	case "notify":
		s.note("pi: %s", d.Message)
		return
	case "setStatus":
		if d.StatusKey == GateKey {
			s.gateSays(d.StatusText)
		}
		return
	case "setWidget", "setTitle", "set_editor_text":
		return
	default:
		s.cancel(d.ID, d.Method)
		return
	}
	gate := s.gateAsks
	s.gateAsks = false
	if d.Method == "input" && d.Title == gateWhy {
		s.giveReason(d.ID)
		return
	}
	if s.turn == nil || s.turn.aborted {
		s.cancelRow(d.ID)
		return
	}
	if slices.ContainsFunc(s.asks, func(a openAsk) bool { return a.ID == d.ID }) {
		return
	}
	ask := harness.Ask{
		ID: d.ID, Kind: d.Method, Title: d.Title, Message: d.Message, Options: d.Options,
		Prefill: d.Prefill, Placeholder: d.Placeholder,
		Timeout: time.Duration(max(0, min(d.Timeout, 1e12))) * time.Millisecond,
	}
	s.asks = append(s.asks, openAsk{Ask: ask, since: s.at.Time, gate: gate})
	s.say(harness.Event{Kind: harness.AskOpen, Ask: &ask})
}

func (s *session) cancel(id, method string) {
	s.note("pi asks in a way deckhand does not know (%s): cancelled", method)
	s.cancelRow(id)
}

func (s *session) cancelRow(id string) {
	s.sends = append(s.sends, harness.Send{
		ID:   derived("cancel", s.at.Seq),
		Line: Request{ID: id, Type: UIResponse, Cancelled: true}.Line(),
	})
}

// gone closes an ask and returns it; one that is not open is left alone.
func (s *session) gone(id, why string) (a openAsk) {
	i := slices.IndexFunc(s.asks, func(a openAsk) bool { return a.ID == id })
	if i < 0 {
		return a
	}
	a = s.asks[i]
	s.asks = slices.Delete(s.asks, i, i+1)
	s.say(harness.Event{Kind: harness.AskGone, AskID: id, Reason: why})
	return a
}
