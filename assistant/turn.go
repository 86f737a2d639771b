package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"deckhand/harness/pi"
)

// maxRounds is how often the model is asked in one turn; the last time it has no
// tools.
const maxRounds = 10

// turn is one prompt being worked on, in a goroutine of its own. Its fields
// belong to that goroutine except where they say otherwise.
type turn struct {
	a      *agent
	ctx    context.Context
	cancel context.CancelFunc // by abort, and when the process ends
	over   chan struct{}      // closed before agent_settled is said: the next prompt may come
	done   chan struct{}      // closed when the goroutine has ended

	messages []pi.Message
	open     *pi.Message // the message of the model that is being written
	context  turnContext

	mu        sync.Mutex
	aborted   bool                     // guarded by mu
	steering  []string                 // guarded by mu
	followUp  []string                 // guarded by mu
	decisions map[string]chan decision // guarded by mu; by the id of the proposal
}

func (a *agent) start(ctx context.Context, prompt string) {
	t := &turn{a: a, over: make(chan struct{}), done: make(chan struct{}), decisions: map[string]chan decision{}}
	t.ctx, t.cancel = context.WithCancel(ctx)
	a.turn = t
	go func() {
		defer close(t.done)
		defer t.cancel()
		t.run(prompt)
	}()
}

// run is the whole turn.
func (t *turn) run(prompt string) {
	t.a.emit(pi.Event{Type: "agent_start"})
	t.a.emit(pi.Event{Type: "turn_start"})
	stop, failure := t.work(prompt)
	if t.ctx.Err() != nil {
		stop, failure = "aborted", "Request was aborted"
	}
	if stop != "" {
		t.close(stop, failure)
	}
	no, aborted := false, t.isAborted()
	t.a.emit(pi.Event{Type: "agent_end", Messages: &t.messages, Retry: &no})
	close(t.over)
	t.a.emit(pi.Event{Type: "agent_settled", Aborted: &aborted})
}

// work answers the prompt and what comes meanwhile. A stop that is not empty is
// how the message that is open, or one that says only this, ends.
func (t *turn) work(prompt string) (stop, failure string) {
	if err := t.begin(prompt); err != nil {
		return "error", err.Error()
	}
	for {
		if stop, failure = t.answer(); stop != "" {
			return stop, failure
		}
		text, ok := t.take(true)
		if !ok {
			return "", ""
		}
		t.a.emit(pi.Event{Type: "turn_start"})
		if err := t.hear(text); err != nil {
			return "error", err.Error()
		}
	}
}

// begin keeps the prompt and makes its context. Nothing is asked of a model
// before the prompt is on the disk: a turn that is cut off has been, then.
func (t *turn) begin(prompt string) error {
	if err := t.a.ready(prompt); err != nil {
		return err
	}
	t.context = t.a.compose(prompt)
	return t.user(prompt)
}

// hear adds what the person says while the turn goes on.
func (t *turn) hear(text string) error {
	t.tell(message(openai.ChatMessageRoleUser, text))
	return t.user(text)
}

func (t *turn) tell(m openai.ChatCompletionMessage) {
	t.context.messages = append(t.context.messages, m)
	t.context.left -= tokens(m.Content) + tokens(m.ReasoningContent)
}

// user keeps a message of the person, and says it.
func (t *turn) user(text string) error {
	m := pi.Message{Role: "user", Content: []pi.Content{{Type: "text", Text: text}}, Timestamp: time.Now().UnixMilli()}
	t.messages = append(t.messages, m)
	if err := t.a.session.add(m); err != nil {
		return fmt.Errorf("the conversation cannot be kept: %w", err)
	}
	t.a.emit(pi.Event{Type: "message_start", Message: &m})
	t.a.emit(pi.Event{Type: "message_end", Message: &m})
	return nil
}

// answer goes round until the model answers without a call.
func (t *turn) answer() (stop, failure string) {
	tools := t.a.tools()
	for round := 1; ; round++ {
		r := request{messages: t.context.messages}
		if round < maxRounds {
			r.tools = definitions(tools)
		} else {
			r.messages = append(r.messages[:len(r.messages):len(r.messages)], message(openai.ChatMessageRoleUser, lastRound))
		}
		out, err := t.ask(r)
		if err != nil {
			return "error", err.Error()
		}
		if len(out.calls) == 0 || round == maxRounds {
			t.finish(out)
			return "", ""
		}
		if !t.call(tools, out) {
			return "aborted", ""
		}
	}
}

// lastRound goes with the last request of a turn; it is not kept.
const lastRound = "(From deckhand: the tools of this turn are used up. Answer now with what you have, and say what is left.)"

// ask asks the model, and says what comes as it comes.
func (t *turn) ask(r request) (reply, error) {
	t.opened()
	return t.a.model.ask(t.ctx, r, heard{
		text:    func(s string) { t.delta("text", s) },
		thought: func(s string) { t.delta("thinking", s) },
		retry: func(attempt int, after time.Duration, why string) {
			t.a.emit(pi.Event{Type: "auto_retry_start", Attempt: attempt, Most: len(pauses), Delay: after.Milliseconds(), Failure: why})
		},
		retried: func(ok bool) { t.a.emit(pi.Event{Type: "auto_retry_end", Success: &ok}) },
	})
}

// opened begins a message of the model.
func (t *turn) opened() {
	t.open = &pi.Message{
		Role: "assistant", Content: []pi.Content{}, Provider: provider, Model: t.a.o.Model,
		StopReason: "pending", Timestamp: time.Now().UnixMilli(),
	}
	t.a.emit(pi.Event{Type: "message_start", Message: t.open})
}

// delta adds to the message, to a part of it of this kind.
func (t *turn) delta(kind, s string) {
	parts := &t.open.Content
	if n := len(*parts); n == 0 || (*parts)[n-1].Type != kind {
		*parts = append(*parts, pi.Content{Type: kind})
		t.a.emit(pi.Event{Type: "message_update", Update: &pi.Update{Type: kind + "_start", Index: n}})
	}
	last := len(*parts) - 1
	if kind == "text" {
		(*parts)[last].Text += s
	} else {
		(*parts)[last].Thinking += s
	}
	t.a.emit(pi.Event{Type: "message_update", Update: &pi.Update{Type: kind + "_delta", Index: last, Delta: &s}})
}

// finish ends the turn's last message.
func (t *turn) finish(out reply) {
	stop, raw := "stop", ""
	switch out.stop {
	case string(openai.FinishReasonLength):
		stop = "length"
	case string(openai.FinishReasonContentFilter):
		raw = out.stop
	}
	m := t.end(stop, raw, "", out)
	t.tell(message(openai.ChatMessageRoleAssistant, out.text))
	t.a.emit(pi.Event{Type: "turn_end", Message: m, Results: &[]pi.Message{}})
}

// close ends a turn that did not come to an answer. What was said of it stays.
func (t *turn) close(stop, failure string) {
	if t.open == nil {
		t.opened()
	}
	m := t.end(stop, "", failure, reply{})
	t.a.emit(pi.Event{Type: "turn_end", Message: m, Results: &[]pi.Message{}})
}

// end keeps the message that is open, and says that it is whole.
func (t *turn) end(stop, raw, failure string, out reply) *pi.Message {
	m := t.open
	t.open = nil
	m.StopReason, m.RawStop, m.ErrorMessage = stop, raw, failure
	m.ResponseID = fmt.Sprintf("%s-%d", out.id, t.a.session.count()) // servers of one's own may give the same id each time
	if out.model != "" {
		m.Model = out.model
	}
	m.Usage = t.a.usage(out.usage)
	t.keep(*m)
	t.a.emit(pi.Event{Type: "message_end", Message: m})
	return m
}

// keep adds a message to the session. That it cannot be written ends no turn: its
// prompt is there, and what the model said is in the capture.
func (t *turn) keep(m pi.Message) {
	t.messages = append(t.messages, m)
	_ = t.a.session.add(m)
}

func (a *agent) usage(u *openai.Usage) *pi.TokenUsage {
	if u == nil {
		return nil
	}
	out := &pi.TokenUsage{Input: int64(u.PromptTokens), Output: int64(u.CompletionTokens), Total: int64(u.TotalTokens)}
	if d := u.PromptTokensDetails; d != nil {
		out.CacheRead = int64(d.CachedTokens)
		out.Input -= out.CacheRead
	}
	if cost := a.o.Price.cost(u); cost != nil {
		out.Cost = &pi.Cost{Total: *cost}
	}
	return out
}

// call runs the tools that the model calls, one after the other. It reports
// false when the turn was aborted.
func (t *turn) call(tools []tool, out reply) bool {
	said := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: out.text, ReasoningContent: out.thought}
	for i := range out.calls {
		c := &out.calls[i]
		if c.id == "" {
			c.id = fmt.Sprintf("call-%d-%d", len(t.messages), i)
		}
		t.open.Content = append(t.open.Content, pi.Content{Type: "toolCall", ID: c.id, Name: c.name, Arguments: asJSON(c.args)})
		said.ToolCalls = append(said.ToolCalls, openai.ToolCall{
			ID: c.id, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: c.name, Arguments: c.args},
		})
	}
	whole := t.end("toolUse", "", "", out)
	t.tell(said)
	results := []pi.Message{}
	for _, c := range out.calls {
		results = append(results, t.execute(tools, c))
		if t.ctx.Err() != nil {
			break
		}
	}
	t.a.emit(pi.Event{Type: "turn_end", Message: whole, Results: &results})
	if t.ctx.Err() != nil {
		return false
	}
	for {
		text, ok := t.take(false)
		if !ok {
			break
		}
		if t.hear(text) != nil {
			break
		}
	}
	t.a.emit(pi.Event{Type: "turn_start"})
	return true
}

// asJSON is what a model gave as arguments, as one JSON value whatever it is.
func asJSON(args string) json.RawMessage {
	if json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	if strings.TrimSpace(args) == "" {
		return json.RawMessage("{}")
	}
	quoted, err := json.Marshal(args)
	if err != nil {
		panic("assistant: " + err.Error()) // a string
	}
	return quoted
}

// execute runs one tool, and tells model and person what it gave.
func (t *turn) execute(tools []tool, c call) pi.Message {
	args := asJSON(c.args)
	t.a.emit(pi.Event{Type: "tool_execution_start", ToolCallID: c.id, ToolName: c.name, Args: args})
	began := time.Now()
	out, fine := t.result(tools, c)
	took, failed := time.Since(began).Milliseconds(), !fine
	content := []pi.Content{{Type: "text", Text: out}}
	t.a.emit(pi.Event{
		Type: "tool_execution_end", ToolCallID: c.id, ToolName: c.name, Result: &pi.Result{Content: content}, IsError: &failed, Duration: &took,
	})
	m := pi.Message{
		Role: "toolResult", ToolCallID: c.id, ToolName: c.name, Content: content, IsError: &failed, Timestamp: time.Now().UnixMilli(),
	}
	t.keep(m)
	t.a.emit(pi.Event{Type: "message_start", Message: &m})
	t.a.emit(pi.Event{Type: "message_end", Message: &m})
	t.tell(openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: c.id, Name: c.name, Content: out})
	return m
}

// usedUp stands in place of what a tool gave and the budget has no room for.
const usedUp = "The budget of this turn is used up: this result is left out. Answer with what you have, or ask for less."

// result is what a tool gave, within the budget. What it did it did.
func (t *turn) result(tools []tool, c call) (string, bool) {
	for _, one := range tools {
		if one.name != c.name && one.also != c.name {
			continue
		}
		out, fine := one.run(t, []byte(c.args))
		out = head(out, resultMost)
		if tokens(out) > t.context.left && one.kind == reads {
			return usedUp, false
		}
		return out, fine
	}
	return fmt.Sprintf("no tool is called %q", c.name), false
}
