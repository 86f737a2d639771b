package testkit

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// recorder is a test that is not failed by what it is told.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, string(raw) + " broken"
	}
	return resp.StatusCode, string(raw)
}

func TestModel(t *testing.T) {
	m := NewModel(t)
	ask := func(messages string) (int, string) {
		return post(t, m.URL+"/chat/completions", `{"stream":true,"messages":[`+messages+`]}`)
	}
	user := func(text string) string { return `{"role":"user","content":"` + text + `"}` }
	for _, c := range []struct {
		messages string
		status   int
		want     string
	}{
		{user("hi"), 200, `"finish_reason":"stop"`},
		{`{"role":"user","content":[{"type":"text","text":"[question]"}]}`, 200, `"hange?"`},
		{user("[tool:ls -l]"), 200, `{\"command\":\"ls -l\"}`},
		{user("[tool:ls]") + `,{"role":"tool","content":"x"}`, 200, "Done: "},
		{user("[len]"), 200, `"finish_reason":"length"`},
		{user("[empty]"), 200, `"completion_tokens":0`},
		{user("[think]"), 200, `"reasoning_content":"Let me think."`},
		{user("[big:3200]"), 200, strings.Repeat("y", 100)},
		{user("[drop]"), 200, " broken"},
		{user("[err:401]"), 401, `"code":401`},
		{user("[err:500:1]"), 500, "server_error"},
		{user("[err:500:1]"), 200, "Hello"},
	} {
		status, got := ask(c.messages)
		if status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s", c.messages, status, got)
		}
	}
	if asked := m.Asked(); len(asked) != 12 || asked[1] != "[question]" {
		t.Errorf("asked: %q", asked)
	}
}

// TestModelUnexpected: what the script does not know fails the test.
func TestModelUnexpected(t *testing.T) {
	r := &recorder{TB: t}
	m := NewModel(r)
	for _, body := range []string{"", "no json", `{"messages":[]}`} {
		if status, _ := post(t, m.URL+"/chat/completions", body); status != http.StatusNotImplemented {
			t.Errorf("%q: %d", body, status)
		}
	}
	post(t, m.URL+"/embeddings", `{"stream":true}`)
	if len(r.errors) != 4 {
		t.Errorf("errors: %q", r.errors)
	}
}
