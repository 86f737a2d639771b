package standin

import (
	"encoding/json"
	"io"
	"strings"
	"sync"

	"deckhand/harness/pi"
)

// emitter writes one JSON object a line; once closed, nothing.
type emitter struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu; nil when closed
}

func (e *emitter) emit(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("standin: " + err.Error()) // only our own types come here
	}
	e.raw(string(b))
}

func (e *emitter) raw(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.w == nil {
		return
	}
	if _, err := io.WriteString(e.w, line+"\n"); err != nil {
		e.w = nil // nobody reads any more; the closed input ends the process
	}
}

// copy writes all of r, and a line end.
func (e *emitter) copy(r io.Reader) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.w == nil {
		return
	}
	if _, err := io.Copy(e.w, io.MultiReader(r, strings.NewReader("\n"))); err != nil {
		e.w = nil
	}
}

func (e *emitter) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.w = nil
}

// event is any line that is no response. Only the fields of its type are set.
type event struct {
	Type     string         `json:"type"`
	Message  *pi.Message    `json:"message,omitempty"`
	Results  *[]pi.Message  `json:"toolResults,omitempty"` // turn_end
	Messages *[]pi.Message  `json:"messages,omitempty"`    // agent_end
	Retry    *bool          `json:"willRetry,omitempty"`   // agent_end
	Aborted  *bool          `json:"aborted,omitempty"`     // agent_settled
	Update   *update        `json:"assistantMessageEvent,omitempty"`
	Usage    *pi.TokenUsage `json:"usage,omitempty"` // message_update

	ToolCallID string          `json:"toolCallId,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	Partial    *pi.Result      `json:"partialResult,omitempty"`
	Result     *pi.Result      `json:"result,omitempty"`
	IsError    *bool           `json:"isError,omitempty"`
	Duration   *int64          `json:"durationMs,omitempty"`

	Steering *[]string `json:"steering,omitempty"` // queue_update
	FollowUp *[]string `json:"followUp,omitempty"`
}

// update is the new part of a message.
type update struct {
	Type    string  `json:"type"`
	Index   int     `json:"contentIndex"`
	Delta   *string `json:"delta,omitempty"`
	Content *string `json:"content,omitempty"`
}

// status is an extension_ui_request that wants no answer.
type status struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Method string `json:"method"`
	Key    string `json:"statusKey"`
	Text   string `json:"statusText"`
}

// dialog is an extension_ui_request.
type dialog struct {
	Type        string   `json:"type"`
	ID          string   `json:"id"`
	Method      string   `json:"method"`
	Title       string   `json:"title"`
	Message     string   `json:"message,omitempty"`
	Options     []string `json:"options,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Prefill     string   `json:"prefill,omitempty"`
	Timeout     int64    `json:"timeout,omitempty"` // milliseconds
}
