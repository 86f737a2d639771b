package standin

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"deckhand/harness/pi"
)

// say streams text into the message being written, in a few pieces.
func (t *turn) say(s string) bool {
	if !t.pause() {
		return false
	}
	if t.open == nil {
		t.begin()
	}
	for piece := range slices.Chunk([]rune(s), 24) {
		t.delta(string(piece))
	}
	return true
}

func (t *turn) begin() {
	t.open = &pi.Message{
		Role: "assistant", Content: []pi.Content{}, Provider: "deckhand", Model: "stand-in",
		Usage: &pi.TokenUsage{Cost: &pi.Cost{}}, StopReason: "pending", Timestamp: time.Now().UnixMilli(),
	}
	t.a.emit(pi.Event{Type: "message_start", Message: t.open})
}

func (t *turn) delta(s string) {
	if t.open == nil {
		t.begin()
	}
	if len(t.open.Content) == 0 {
		t.open.Content = append(t.open.Content, pi.Content{Type: "text"})
		t.a.emit(pi.Event{Type: "message_update", Usage: t.open.Usage, Update: &pi.Update{Type: "text_start"}})
	}
	t.open.Content[0].Text += s
	t.a.emit(pi.Event{Type: "message_update", Usage: t.open.Usage, Update: &pi.Update{Type: "text_delta", Delta: &s}})
}

// close ends the message being written, and its model turn.
func (t *turn) close(stop string, results []pi.Message) {
	t.end(stop, "")
	t.a.emit(pi.Event{Type: "turn_end", Message: &t.messages[len(t.messages)-1], Results: &results})
}

func (t *turn) end(stop, failure string) {
	m := t.open
	t.open = nil
	m.StopReason, m.ErrorMessage = stop, failure
	if failure == "" {
		t.tokens += 120
		cost := float64(100+20) / 1e5
		m.Usage = &pi.TokenUsage{Input: 100, Output: 20, Total: 120, Cost: &pi.Cost{Total: cost}}
		m.ResponseID = fmt.Sprintf("standin-%d-%d", t.start.UnixNano(), len(t.messages))
	}
	t.add(*m)
	t.a.emit(pi.Event{Type: "message_end", Message: m})
}

// broken ends the turn with a message that failed.
func (t *turn) broken(stop, failure string) {
	if t.open == nil {
		t.begin()
	}
	t.end(stop, failure)
	t.a.emit(pi.Event{Type: "turn_end", Message: &t.messages[len(t.messages)-1], Results: &[]pi.Message{}})
}

func (t *turn) user(text string) {
	m := pi.Message{Role: "user", Content: []pi.Content{{Type: "text", Text: text}}, Timestamp: time.Now().UnixMilli()}
	t.add(m)
	t.a.emit(pi.Event{Type: "message_start", Message: &m})
	t.a.emit(pi.Event{Type: "message_end", Message: &m})
}

func (t *turn) add(m pi.Message) {
	t.messages = append(t.messages, m)
	t.a.session.add(m)
}

// tool ends the message being written with a call, and runs it.
func (t *turn) tool(name string, args map[string]string, do func() (string, bool)) bool {
	t.calls++
	id := fmt.Sprintf("call-%d", t.calls)
	raw, err := json.Marshal(args)
	if err != nil {
		panic("standin: " + err.Error()) // a map of strings
	}
	t.open.Content = append(t.open.Content, pi.Content{Type: "toolCall", ID: id, Name: name, Arguments: raw})
	t.end("toolUse", "")
	call := len(t.messages) - 1

	began := time.Now()
	t.a.emit(pi.Event{Type: "tool_execution_start", ToolCallID: id, ToolName: name, Args: raw})
	t.a.emit(pi.Event{Type: "tool_execution_update", ToolCallID: id, ToolName: name, Args: raw, Partial: &pi.Result{Content: []pi.Content{}}})
	out, fine := do()
	took, failed := time.Since(began).Milliseconds(), !fine
	content := []pi.Content{{Type: "text", Text: out}}
	t.a.emit(pi.Event{Type: "tool_execution_end", ToolCallID: id, ToolName: name, Result: &pi.Result{Content: content}, IsError: &failed, Duration: &took})

	result := pi.Message{
		Role: "toolResult", ToolCallID: id, ToolName: name, Content: content, IsError: &failed,
		Timestamp: time.Now().UnixMilli(),
	}
	t.add(result)
	t.a.emit(pi.Event{Type: "message_start", Message: &result})
	t.a.emit(pi.Event{Type: "message_end", Message: &result})
	t.a.emit(pi.Event{Type: "turn_end", Message: &t.messages[call], Results: &[]pi.Message{result}})
	if t.aborted() {
		return false
	}
	t.a.emit(pi.Event{Type: "turn_start"})
	return true
}
