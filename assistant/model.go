package assistant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// model is the client of the model.
type model struct {
	o    Options
	wait func(context.Context, time.Duration)

	client *openai.Client // made when it is first asked: then the key is needed
	key    string         // never leaves this type, also not in the text of an error
}

// request is one question to the model.
type request struct {
	messages []openai.ChatCompletionMessage
	tools    []openai.Tool // nil: it cannot call any
	plain    bool          // it need not reason
}

// heard is told what comes, as it comes.
type heard struct {
	text    func(string)
	thought func(string)
	retry   func(attempt int, after time.Duration, why string)
	retried func(ok bool)
}

// reply is the whole of an answer.
type reply struct {
	text, thought string
	calls         []call
	stop          string // as the model says it: stop, length, tool_calls, content_filter
	usage         *openai.Usage
	id, model     string
}

// call is one tool call.
type call struct {
	id, name, args string
}

// pauses are how long it is waited before a request is tried again.
var pauses = [...]time.Duration{300 * time.Millisecond, 900 * time.Millisecond}

// ask asks the model. What may be gone in a moment is tried again, but never
// after something was shown: the person would read it twice.
func (m *model) ask(ctx context.Context, r request, h heard) (reply, error) {
	if err := m.open(ctx); err != nil {
		return reply{}, err
	}
	for attempt := 0; ; attempt++ {
		shown := false
		mark := func(say func(string)) func(string) {
			return func(s string) {
				shown = true
				say(s)
			}
		}
		out, err := m.once(ctx, r, heard{text: mark(h.text), thought: mark(h.thought)})
		if attempt > 0 {
			h.retried(err == nil)
		}
		if err == nil || ctx.Err() != nil || shown || attempt == len(pauses) || !passing(err) {
			return out, m.told(err)
		}
		h.retry(attempt+1, pauses[attempt], m.told(err).Error())
		m.wait(ctx, pauses[attempt])
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
}

func (m *model) open(ctx context.Context) error {
	if m.client != nil {
		return nil
	}
	key, err := m.o.Key.Load(ctx)
	if err != nil {
		return err
	}
	c := openai.DefaultConfig(key)
	c.BaseURL = m.o.BaseURL
	c.HTTPClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("the address of the model leads on to another one: write that one into config.yaml")
	}}
	m.client, m.key = openai.NewClientWithConfig(c), key
	return nil
}

// once sends one request and reads the answer to its end. What came before an
// error is in the reply.
func (m *model) once(ctx context.Context, r request, h heard) (out reply, err error) {
	q := openai.ChatCompletionRequest{
		Model: m.o.Model, Messages: r.messages, Tools: r.tools, Stream: true,
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	}
	stream, err := m.stream(ctx, q, r.plain)
	if err != nil {
		return out, err
	}
	defer stream.Close()
	for {
		part, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && out.stop == "":
			return out, errCut
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, err
		}
		out.add(part, h)
	}
}

// stream sends a request. That a model need not reason is said in the ways there
// are; a server that knows none of them is asked as always.
func (m *model) stream(ctx context.Context, q openai.ChatCompletionRequest, plain bool) (*openai.ChatCompletionStream, error) {
	if !plain {
		return m.client.CreateChatCompletionStream(ctx, q)
	}
	still := q
	still.ReasoningEffort, still.ChatTemplateKwargs = "none", map[string]any{"enable_thinking": false}
	stream, err := m.client.CreateChatCompletionStream(ctx, still)
	var api *openai.APIError
	if errors.As(err, &api) && (api.HTTPStatusCode == http.StatusBadRequest || api.HTTPStatusCode == http.StatusUnprocessableEntity) {
		return m.client.CreateChatCompletionStream(ctx, q)
	}
	return stream, err
}

// errCut is an answer that ends without saying so.
var errCut = errors.New("the connection to the model was cut in the middle of its answer")

// add takes the next part of an answer.
func (out *reply) add(part openai.ChatCompletionStreamResponse, h heard) {
	out.id, out.model = first(out.id, part.ID), first(out.model, part.Model)
	if part.Usage != nil {
		out.usage = part.Usage
	}
	for _, c := range part.Choices {
		if c.Index != 0 {
			continue
		}
		if s := c.Delta.ReasoningContent; s != "" {
			out.thought += s
			h.thought(s)
		}
		if s := c.Delta.Content; s != "" {
			out.text += s
			h.text(s)
		}
		for _, t := range c.Delta.ToolCalls {
			out.call(t)
		}
		if c.FinishReason != "" {
			out.stop = string(c.FinishReason)
		}
	}
}

// mostCalls is how many calls of one answer are read.
const mostCalls = 64

// call takes the next part of a tool call. Models say which one by its place or,
// some, by its id alone.
func (out *reply) call(t openai.ToolCall) {
	at := len(out.calls) - 1
	switch {
	case t.Index != nil:
		at = *t.Index
	case t.ID != "" && (at < 0 || out.calls[at].id != t.ID):
		at++
	}
	if at < 0 || at >= mostCalls {
		return
	}
	for len(out.calls) <= at {
		out.calls = append(out.calls, call{})
	}
	c := &out.calls[at]
	c.id = first(c.id, t.ID)
	c.name += t.Function.Name
	c.args += t.Function.Arguments
}

// passing reports whether an error may be gone in a moment.
func passing(err error) bool {
	var api *openai.APIError
	var req *openai.RequestError
	status := 0
	switch {
	case errors.As(err, &api):
		status = api.HTTPStatusCode
	case errors.As(err, &req):
		status = req.HTTPStatusCode
	}
	if status > 0 {
		return status == http.StatusTooManyRequests || status >= 500
	}
	var netErr net.Error
	return errors.Is(err, errCut) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.Is(err, syscall.ECONNRESET) || errors.As(err, &netErr) && netErr.Timeout()
}

// told is an error as a person reads it, without the key: servers repeat what
// they were sent.
func (m *model) told(err error) error {
	if err == nil {
		return nil
	}
	text := said(err)
	if m.key != "" {
		text = strings.ReplaceAll(text, m.key, "…")
	}
	return errors.New(text)
}

// said is what the model's server says, with its status.
func said(err error) string {
	var api *openai.APIError
	var req *openai.RequestError
	switch {
	case errors.As(err, &api) && api.Message != "" && api.HTTPStatusCode > 0:
		return fmt.Sprintf("%d: %s", api.HTTPStatusCode, api.Message)
	case errors.As(err, &api) && api.Message != "":
		return api.Message
	case errors.As(err, &req):
		return fmt.Sprintf("the model's server answered %s", req.HTTPStatus)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the model's server cannot be reached: " + err.Error()
	}
	return err.Error()
}

// cost is what an answer cost; nil is unknown.
func (p *Price) cost(u *openai.Usage) *float64 {
	if p == nil || u == nil {
		return nil
	}
	cached := 0
	if d := u.PromptTokensDetails; d != nil {
		cached = min(d.CachedTokens, u.PromptTokens)
	}
	usd := (float64(u.PromptTokens-cached)*p.Input + float64(cached)*p.Cached + float64(u.CompletionTokens)*p.Output) / 1e6
	return &usd
}
