package pi

import (
	"bytes"
	"encoding/json"
)

// Request is a line for pi: a command, or the answer to a dialog.
type Request struct {
	ID        string  `json:"id,omitempty"`
	Type      string  `json:"type"`
	Message   string  `json:"message,omitempty"`   // prompt, steer, follow_up
	Value     *string `json:"value,omitempty"`     // extension_ui_response: select, input, editor
	Confirmed *bool   `json:"confirmed,omitempty"` // extension_ui_response: confirm
	Cancelled bool    `json:"cancelled,omitempty"` // extension_ui_response: any
	Note      string  `json:"note,omitempty"`      // extension_ui_response: why not; for the capture, pi passes over it
}

// The types of requests deckhand sends.
const (
	GetState   = "get_state"
	Prompt     = "prompt"
	Steer      = "steer"
	FollowUp   = "follow_up"
	Abort      = "abort"
	ClearQueue = "clear_queue"
	UIResponse = "extension_ui_response"
)

// Line is the request as one line, without its line end.
func (r Request) Line() string { return line(r) }

// Response answers a request.
type Response struct {
	ID      string `json:"id,omitempty"`
	Type    string `json:"type"` // "response"
	Command string `json:"command"`
	Success bool   `json:"success"`
	Data    any    `json:"data,omitempty"`
	Error   string `json:"error,omitempty"`
}

// State is the data of a response to get_state.
type State struct {
	Model         *Model `json:"model,omitempty"`
	ThinkingLevel string `json:"thinkingLevel"`
	IsStreaming   bool   `json:"isStreaming"`
	IsCompacting  bool   `json:"isCompacting"`
	SteeringMode  string `json:"steeringMode"`
	FollowUpMode  string `json:"followUpMode"`
	SessionFile   string `json:"sessionFile,omitempty"`
	SessionID     string `json:"sessionId"`
	AutoCompact   bool   `json:"autoCompactionEnabled"`
	Messages      int    `json:"messageCount"`
	Pending       int    `json:"pendingMessageCount"`
}

// Model is the model a session uses.
type Model struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Provider string `json:"provider"`
}

// Event is any line of pi that is no response and no dialog. Only the fields of
// its type are set.
type Event struct {
	Type     string      `json:"type"`
	Message  *Message    `json:"message,omitempty"`
	Results  *[]Message  `json:"toolResults,omitempty"` // turn_end
	Messages *[]Message  `json:"messages,omitempty"`    // agent_end
	Retry    *bool       `json:"willRetry,omitempty"`   // agent_end
	Aborted  *bool       `json:"aborted,omitempty"`     // agent_settled
	Update   *Update     `json:"assistantMessageEvent,omitempty"`
	Usage    *TokenUsage `json:"usage,omitempty"` // message_update

	ToolCallID string          `json:"toolCallId,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	Partial    *Result         `json:"partialResult,omitempty"`
	Result     *Result         `json:"result,omitempty"`
	IsError    *bool           `json:"isError,omitempty"`
	Duration   *int64          `json:"durationMs,omitempty"`

	Steering *[]string `json:"steering,omitempty"` // queue_update
	FollowUp *[]string `json:"followUp,omitempty"`

	Attempt int    `json:"attempt,omitempty"` // auto_retry_start, auto_retry_end
	Most    int    `json:"maxAttempts,omitempty"`
	Delay   int64  `json:"delayMs,omitempty"`
	Failure string `json:"errorMessage,omitempty"`
	Success *bool  `json:"success,omitempty"` // auto_retry_end
}

// Update is the new part of a message.
type Update struct {
	Type    string  `json:"type"`
	Index   int     `json:"contentIndex"`
	Delta   *string `json:"delta,omitempty"`
	Content *string `json:"content,omitempty"`
}

// Message is a message of the conversation. Fields that only one role has are
// left out for the others.
type Message struct {
	Role         string      `json:"role"` // user, assistant, toolResult, system, …
	Content      []Content   `json:"content"`
	Provider     string      `json:"provider,omitempty"`
	Model        string      `json:"model,omitempty"`
	Usage        *TokenUsage `json:"usage,omitempty"`
	StopReason   string      `json:"stopReason,omitempty"` // stop, toolUse, length, error, aborted, pending, …
	RawStop      string      `json:"rawStopReason,omitempty"`
	ErrorMessage string      `json:"errorMessage,omitempty"`
	ToolCallID   string      `json:"toolCallId,omitempty"`
	ToolName     string      `json:"toolName,omitempty"`
	IsError      *bool       `json:"isError,omitempty"`
	Timestamp    int64       `json:"timestamp"` // Unix milliseconds
	ResponseID   string      `json:"responseId,omitempty"`
}

// Content is a part of a message: a text, a thought or a tool call.
type Content struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// TokenUsage is what one message cost.
type TokenUsage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Total      int64 `json:"totalTokens"`
	Cost       *Cost `json:"cost,omitempty"`
}

// Cost is in USD, by pi's own price list.
type Cost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

// Result is what a tool gave.
type Result struct {
	Content []Content `json:"content"`
}

// text joins the text parts.
func text(parts []Content) string {
	if len(parts) == 1 && parts[0].Type == "text" {
		return parts[0].Text
	}
	var b bytes.Buffer
	for _, p := range parts {
		if p.Type == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// line encodes v as one line as pi itself would: < > & as they are.
func line(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("pi: " + err.Error()) // only our own wire types come here
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}
