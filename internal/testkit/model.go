package testkit

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A Model is a scripted model behind an OpenAI-compatible server on loopback.
// What it answers is chosen by a word in square brackets in the last message of
// the user; without one it says Hello.
//
//	[question]    an answer that ends with a question
//	[tool:CMD]    runs CMD with the bash tool, then reports
//	[write:PATH]  writes a line to PATH with the write tool, then reports
//	[hang]        says something and never ends
//	[think]       reasons before it answers
//	[big:N]       an answer of N bytes, in 32 pieces
//	[len]         an answer cut at the limit
//	[empty]       no answer
//	[drop]        the connection breaks in the middle of the answer
//	[err:CODE:N]  that status, for the first N requests or for ever
//
// A request it does not know fails the test: a fake that answers anything proves
// nothing.
type Model struct {
	URL string // of the API, with /v1

	t  testing.TB
	mu sync.Mutex
	// Guarded by mu: what was asked, the last message of the user of each
	// request, what tools gave, and how often each was asked.
	asked []string
	told  []string // the tool results each request ended in
	times map[string]int
}

// NewModel starts a model that ends with the test.
func NewModel(t testing.TB) *Model {
	t.Helper()
	m := &Model{t: t, times: map[string]int{}}
	srv := httptest.NewServer(m)
	t.Cleanup(func() {
		srv.CloseClientConnections() // a hang has no other end
		srv.Close()
	})
	m.URL = srv.URL + "/v1"
	return m
}

// Asked is the last message of the user in each request so far.
func (m *Model) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.asked...)
}

// Told is what the tools gave, as it was told to the model.
func (m *Model) Told() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.told...)
}

// chat is the part of a request the script looks at.
type chat struct {
	Stream   bool `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// user is the text of the last message of the user.
func (c *chat) user() string {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if c.Messages[i].Role == "user" {
			return plain(c.Messages[i].Content)
		}
	}
	return ""
}

// ranTool says whether the last message is a tool's result.
func (c *chat) ranTool() bool {
	n := len(c.Messages)
	return n > 0 && c.Messages[n-1].Role == "tool"
}

func plain(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

var scriptWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[(question|tool|write|hang|think|big|len|empty|drop|err)(?::([^\]]*))?\]`)
})

// ServeHTTP implements http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var c chat
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || !c.Stream {
		m.t.Errorf("model: unexpected request %s %s: %.300s (%v)", r.Method, r.URL, body, err)
		http.Error(w, "unexpected", http.StatusNotImplemented)
		return
	}
	user := c.user()
	m.mu.Lock()
	m.asked = append(m.asked, user)
	m.times[user]++
	times := m.times[user]
	if c.ranTool() {
		m.told = append(m.told, plain(c.Messages[len(c.Messages)-1].Content))
	}
	m.mu.Unlock()

	word, arg := "", ""
	if f := scriptWord().FindStringSubmatch(user); f != nil {
		word, arg = f[1], f[2]
	}
	if word == "err" && refused(w, arg, times) {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	a := answer{w: w, r: r}
	if (word == "tool" || word == "write") && c.ranTool() {
		a.say("Done: the tool ran.")
		a.end("stop", 9)
		return
	}
	a.play(word, arg)
}

// refused answers with a status while it is due.
func refused(w http.ResponseWriter, arg string, times int) bool {
	code, n, limited := strings.Cut(arg, ":")
	status, err := strconv.Atoi(code)
	if err != nil {
		status = http.StatusInternalServerError
	}
	if most, err := strconv.Atoi(n); limited && err == nil && times > most {
		return false
	}
	kind := "invalid_request_error"
	switch {
	case status >= 500:
		kind = "server_error"
	case status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":"the scripted model says %d","type":%q,"code":%d}}`, status, kind, status)
	return true
}

// answer is one streamed answer.
type answer struct {
	w http.ResponseWriter
	r *http.Request
}

func (a answer) play(word, arg string) {
	switch word {
	case "question":
		a.say("I found two checkout flows. Which one should I change?")
	case "tool":
		a.say("Running it. ")
		a.tool("bash", map[string]string{"command": arg})
		a.end("tool_calls", 20)
		return
	case "write":
		a.tool("write", map[string]string{"path": arg, "content": "a line\n"})
		a.end("tool_calls", 20)
		return
	case "hang":
		a.say("I think about it.")
		<-a.r.Context().Done()
		return
	case "think":
		a.delta(map[string]any{"role": "assistant", "reasoning_content": "Let me think."})
		a.say("Thought about it.")
	case "big":
		n, err := strconv.Atoi(arg)
		if err != nil {
			n = 1 << 20
		}
		for range 32 {
			a.delta(map[string]any{"content": strings.Repeat("y", n/32)})
		}
	case "len":
		a.say("cut off he")
		a.end("length", 7)
		return
	case "empty":
		a.end("stop", 0)
		return
	case "drop":
		a.say("half an ans")
		panic(http.ErrAbortHandler)
	default:
		a.say("Hello from the scripted model.")
	}
	a.end("stop", 7)
}

// say streams a text in pieces of eight bytes.
func (a answer) say(s string) {
	a.delta(map[string]any{"role": "assistant", "content": ""})
	for len(s) > 8 {
		a.delta(map[string]any{"content": s[:8]})
		s = s[8:]
	}
	a.delta(map[string]any{"content": s})
}

func (a answer) tool(name string, args map[string]string) {
	raw, err := json.Marshal(args)
	if err != nil {
		panic("testkit: " + err.Error()) // a map of strings
	}
	a.delta(map[string]any{"tool_calls": []any{map[string]any{
		"index": 0, "id": "call_1", "type": "function",
		"function": map[string]any{"name": name, "arguments": string(raw)},
	}}})
}

func (a answer) delta(d map[string]any) {
	a.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": d, "finish_reason": nil}}})
}

func (a answer) end(reason string, tokens int) {
	a.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}}})
	a.event(map[string]any{
		"choices": []any{},
		"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens},
	})
	fmt.Fprint(a.w, "data: [DONE]\n\n")
}

func (a answer) event(e map[string]any) {
	e["id"], e["object"], e["created"], e["model"] = "chatcmpl-scripted", "chat.completion.chunk", 1, "scripted-1"
	raw, err := json.Marshal(e)
	if err != nil {
		panic("testkit: " + err.Error()) // literals only
	}
	fmt.Fprintf(a.w, "data: %s\n\n", raw)
	if f, ok := a.w.(http.Flusher); ok {
		f.Flush()
	}
}
