package assistant

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"deckhand/internal/testkit"
)

// asker is a client of a scripted model that counts its pauses in place of
// waiting.
func asker(o Options) (*model, *[]time.Duration) {
	waited := &[]time.Duration{}
	return &model{o: o, wait: func(_ context.Context, d time.Duration) { *waited = append(*waited, d) }}, waited
}

// listen is what is heard of an answer.
type listen struct {
	shown   strings.Builder
	retries []string
	good    []bool
}

func (l *listen) heard() heard {
	return heard{
		text:    func(s string) { l.shown.WriteString(s) },
		thought: func(s string) { l.shown.WriteString("(" + s + ")") },
		retry:   func(_ int, _ time.Duration, why string) { l.retries = append(l.retries, why) },
		retried: func(ok bool) { l.good = append(l.good, ok) },
	}
}

func TestRetries(t *testing.T) {
	good := testkit.Step{Say: "good"}
	for name, test := range map[string]struct {
		steps  []testkit.Step
		waited []time.Duration
		want   string // of the error; empty: it answers
	}{
		"none needed":            {[]testkit.Step{good}, nil, ""},
		"429":                    {[]testkit.Step{{Status: 429}, good}, []time.Duration{300e6}, ""},
		"twice":                  {[]testkit.Step{{Status: 500}, {Status: 503}, good}, []time.Duration{300e6, 900e6}, ""},
		"three times is failed":  {[]testkit.Step{{Status: 500}, {Status: 500}, {Status: 502}}, []time.Duration{300e6, 900e6}, "502: the scripted model refuses"},
		"400":                    {[]testkit.Step{{Status: 400}}, nil, "400: the scripted model refuses"},
		"401":                    {[]testkit.Step{{Status: 401}}, nil, "401: the scripted model refuses"},
		"cut before a word":      {[]testkit.Step{{Cut: true}, good}, []time.Duration{300e6}, ""},
		"cut after a word":       {[]testkit.Step{{Say: "half", Cut: true}}, nil, "EOF"},
		"cut after a thought":    {[]testkit.Step{{Think: "hm", Cut: true}}, nil, "EOF"},
		"429 and cut after word": {[]testkit.Step{{Status: 429}, {Say: "half", Cut: true}}, []time.Duration{300e6}, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := testkit.NewScript(t, test.steps...)
			m, waited := asker(Options{BaseURL: s.URL, Model: "scripted"})
			var l listen
			out, err := m.ask(t.Context(), request{}, l.heard())
			if !slices.Equal(*waited, test.waited) || len(l.retries) != len(test.waited) || len(l.good) != len(test.waited) {
				t.Errorf("waited %v, want %v; said %q, %v", *waited, test.waited, l.retries, l.good)
			}
			if n := len(s.Requests()); n != len(test.steps) {
				t.Errorf("asked %d times, want %d", n, len(test.steps))
			}
			switch {
			case test.want == "" && (err != nil || out.text != "good" || l.shown.String() != "good"):
				t.Errorf("%v, %q, shown %q", err, out.text, l.shown.String())
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestRefusedConnectionIsTriedAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	m, waited := asker(Options{BaseURL: "http://" + addr, Model: "m"})
	var h listen
	if _, err := m.ask(t.Context(), request{}, h.heard()); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("error %v", err)
	}
	if len(*waited) != 2 {
		t.Errorf("waited %v", *waited)
	}
}

// TestTheKeyIsNeverSaid: also where the server repeats it.
func TestTheKeyIsNeverSaid(t *testing.T) {
	const key = "sk-secret"
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]Key{"env": {Env: "TEST_KEY"}, "file": {File: file}, "keyring": {Command: []string{"echo", key}}} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TEST_KEY", key)
			s := testkit.NewScript(t, testkit.Step{Status: 429}, testkit.Step{Status: 401})
			m, _ := asker(Options{BaseURL: s.URL, Model: "m", Key: k})
			var h listen
			_, err := m.ask(t.Context(), request{}, h.heard())
			if s.Last().Key != key {
				t.Errorf("the server got the key %q", s.Last().Key)
			}
			all := strings.Join(h.retries, " ")
			if err == nil || len(h.retries) != 1 || strings.Contains(err.Error()+all, key) || !strings.Contains(err.Error(), "…") {
				t.Errorf("error %v; %q", err, all)
			}
			if v, there := os.LookupEnv("TEST_KEY"); name == "env" && there {
				t.Errorf("what is started later gets the key %q", v)
			}
		})
	}
}

func TestKeysThatAreNone(t *testing.T) {
	dir := t.TempDir()
	open, blank := filepath.Join(dir, "open"), filepath.Join(dir, "blank")
	for name, mode := range map[string]os.FileMode{open: 0o644, blank: 0o600} {
		if err := os.WriteFile(name, []byte(" \n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for want, k := range map[string]Key{
		"NO_SUCH_KEY_HERE is not set": {Env: "NO_SUCH_KEY_HERE"},
		"is not there":                {File: filepath.Join(dir, "none")},
		"is no file":                  {File: dir},
		"chmod 600 " + open:           {File: open},
		"no key (one line":            {File: blank},
		"is not installed":            {Command: []string{"no-such-keyring"}},
		"is the keyring locked?":      {Command: []string{"sh", "-c", "echo locked >&2; exit 1"}},
		"printed nothing":             {Command: []string{"true"}},
	} {
		if key, err := k.Load(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %q, %v; want %q", k, key, err, want)
		}
	}
	if key, err := (Key{}).Load(t.Context()); key != "" || err != nil {
		t.Errorf("a model without a key: %q, %v", key, err)
	}
}

// TestRedirectsAreNotFollowed: notes and key go where the configuration says.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := testkit.NewScript(t) // fails the test when it is asked
	srv := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/chat/completions", http.StatusTemporaryRedirect))
	t.Cleanup(srv.Close)
	m, _ := asker(Options{BaseURL: srv.URL, Model: "m"})
	var h listen
	if _, err := m.ask(t.Context(), request{}, h.heard()); err == nil || !strings.Contains(err.Error(), "leads on to another one") {
		t.Errorf("error %v", err)
	}
}

func TestCost(t *testing.T) {
	p := &Price{Input: 1, Cached: 0.1, Output: 2}
	u := &openai.Usage{PromptTokens: 1_000_000, CompletionTokens: 500_000, PromptTokensDetails: &openai.PromptTokensDetails{CachedTokens: 400_000}}
	if got := p.cost(u); got == nil || *got < 1.6399 || *got > 1.6401 {
		t.Errorf("cost %v", got)
	}
	var unknown *Price
	if unknown.cost(u) != nil || p.cost(nil) != nil {
		t.Error("a cost of what is not known")
	}
}

func TestCallsInPieces(t *testing.T) {
	one, two := 0, 1
	var r reply
	for _, part := range []openai.ToolCall{
		{Index: &one, ID: "a", Function: openai.FunctionCall{Name: "read_", Arguments: `{"fi`}},
		{Index: &two, ID: "b", Function: openai.FunctionCall{Name: "list_files"}},
		{Index: &one, Function: openai.FunctionCall{Name: "file", Arguments: `le":"x"}`}},
		{ID: "c", Function: openai.FunctionCall{Name: "git_log", Arguments: "{"}}, // some give no place
		{ID: "c", Function: openai.FunctionCall{Arguments: "}"}},
	} {
		r.call(part)
	}
	far := 1 << 30
	r.call(openai.ToolCall{Index: &far, ID: "d"})
	want := []call{{"a", "read_file", `{"file":"x"}`}, {"b", "list_files", ""}, {"c", "git_log", "{}"}}
	if !slices.Equal(r.calls, want) {
		t.Errorf("got %+v", r.calls)
	}
}
