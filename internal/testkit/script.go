package testkit

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// A Script is a model on loopback that answers its requests one after the other
// as it is told. One more request than it has answers for fails the test.
type Script struct {
	URL string // of the API, with /v1

	t  testing.TB
	mu sync.Mutex
	// Guarded by mu: the answers that are left, and what was asked.
	steps    []Step
	requests []Asked
}

// Step is one answer.
type Step struct {
	Think  string
	Say    string
	Calls  []Call
	Stop   string // finish_reason, when it is not what follows from the rest
	Status int    // an error of the server in place of an answer
	Cut    bool   // the connection breaks after what was said
	Hang   bool   // it goes on for ever after what was said
}

// Call is one call of a tool.
type Call struct{ Name, Args string }

// Asked is a request as the model got it.
type Asked struct {
	Model    string
	Key      string // what stands behind Bearer
	Messages []AskedMessage
	Tools    []string
	Body     string
}

// AskedMessage is one message of it.
type AskedMessage struct{ Role, Content string }

// NewScript starts a model that ends with the test.
func NewScript(t testing.TB, steps ...Step) *Script {
	t.Helper()
	s := &Script{t: t, steps: steps}
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		srv.CloseClientConnections() // a hang has no other end
		srv.Close()
	})
	s.URL = srv.URL + "/v1"
	return s
}

// Then adds answers.
func (s *Script) Then(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Requests are those so far.
func (s *Script) Requests() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.requests...)
}

// Last is the last request.
func (s *Script) Last() Asked {
	s.t.Helper()
	all := s.Requests()
	if len(all) == 0 {
		s.t.Fatal("the model was never asked")
	}
	return all[len(all)-1]
}

// ServeHTTP implements http.Handler.
func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var c struct {
		chat

		Model string `json:"model"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || !c.Stream {
		s.t.Errorf("model: unexpected request %s %s: %.300s (%v)", r.Method, r.URL, body, err)
		http.Error(w, "unexpected", http.StatusNotImplemented)
		return
	}
	asked := Asked{Model: c.Model, Body: string(body)}
	if key, ok := cutBearer(r.Header.Get("Authorization")); ok {
		asked.Key = key
	}
	for _, m := range c.Messages {
		asked.Messages = append(asked.Messages, AskedMessage{m.Role, plain(m.Content)})
	}
	for _, t := range c.Tools {
		asked.Tools = append(asked.Tools, t.Function.Name)
	}
	step, ok := s.next(asked)
	if !ok {
		s.t.Errorf("model: one more request than it has answers for: %.2000s", body)
		http.Error(w, "unexpected", http.StatusNotImplemented)
		return
	}
	step.play(w, r)
}

func cutBearer(header string) (string, bool) {
	const bearer = "Bearer "
	if len(header) <= len(bearer) || header[:len(bearer)] != bearer {
		return "", false
	}
	return header[len(bearer):], true
}

func (s *Script) next(asked Asked) (step Step, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, asked)
	if len(s.steps) == 0 {
		return step, false
	}
	step, s.steps = s.steps[0], s.steps[1:]
	return step, true
}

func (s Step) play(w http.ResponseWriter, r *http.Request) {
	if s.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.Status)
		// A server repeats what it was sent, the key too.
		text, err := json.Marshal("the scripted model refuses " + r.Header.Get("Authorization"))
		if err != nil {
			panic("testkit: " + err.Error()) // a string
		}
		_, _ = io.WriteString(w, `{"error":{"message":`+string(text)+`,"type":"scripted"}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	a := answer{w: w, r: r}
	if s.Think != "" {
		a.delta(map[string]any{"role": "assistant", "reasoning_content": s.Think})
	}
	if s.Say != "" {
		a.say(s.Say)
	}
	if s.Cut {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	if s.Hang {
		<-r.Context().Done()
		return
	}
	stop := "stop"
	for i, c := range s.Calls {
		stop = "tool_calls"
		a.call(i, c)
	}
	if s.Stop != "" {
		stop = s.Stop
	}
	a.end(stop, 20)
}

// call streams a call in two pieces, as servers do.
func (a answer) call(i int, c Call) {
	half := len(c.Args) / 2
	a.delta(map[string]any{"tool_calls": []any{map[string]any{
		"index": i, "id": "call_" + string(rune('a'+i)), "type": "function",
		"function": map[string]any{"name": c.Name, "arguments": c.Args[:half]},
	}}})
	a.delta(map[string]any{"tool_calls": []any{map[string]any{
		"index": i, "function": map[string]any{"arguments": c.Args[half:]},
	}}})
}
