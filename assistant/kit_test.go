package assistant_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deckhand/assistant"
	"deckhand/harness"
	"deckhand/harness/conformance"
	"deckhand/harness/pi"
	"deckhand/internal/testkit"
)

// child makes the test binary the assistant: it holds what it is configured as.
const child = "DECKHAND_TEST_ASSISTANT"

func TestMain(m *testing.M) {
	if conf := os.Getenv(child); conf != "" {
		os.Exit(assistant.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, func() (o assistant.Options, err error) {
			err = json.Unmarshal([]byte(conf), &o)
			return o, err
		}))
	}
	os.Exit(m.Run())
}

// place is a work folder with an assistant in it.
type place struct {
	*testing.T

	model   *testkit.Script
	options assistant.Options
	spec    harness.Spec
	env     []string
}

// notes are the files of a work folder.
type notes map[string]string

func newPlace(t *testing.T, files notes, steps ...testkit.Step) *place {
	t.Helper()
	m := testkit.NewScript(t, steps...)
	dir := t.TempDir()
	p := &place{
		T: t, model: m, options: assistant.Options{BaseURL: m.URL, Model: "scripted", Read: assistant.ReadAll, Dir: dir, Output: "deckhand"},
		spec: harness.Spec{Dir: dir, Session: filepath.Join(t.TempDir(), "session.jsonl")},
	}
	p.write(files)
	return p
}

func (p *place) write(files notes) {
	p.Helper()
	for name, text := range files {
		name = filepath.Join(p.spec.Dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			p.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			p.Fatal(err)
		}
	}
}

func (p *place) read(name string) string {
	p.Helper()
	text, err := os.ReadFile(filepath.Join(p.spec.Dir, name))
	if err != nil {
		p.Fatal(err)
	}
	return string(text)
}

// life is one process of the assistant.
type life struct {
	*conformance.Program

	p *place
}

// environ makes the test binary the assistant of this place.
func (p *place) environ() []string {
	p.Helper()
	conf, err := json.Marshal(struct {
		assistant.Options

		Folder, Skip any `json:",omitempty"` // no value of a file
	}{Options: p.options})
	if err != nil {
		p.Fatal(err)
	}
	return append(append(os.Environ(), child+"="+string(conf), "GORACE=atexit_sleep_ms=0"), p.env...)
}

func (p *place) start() *life {
	p.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
	p.Cleanup(cancel)
	program, err := conformance.Start(ctx, pi.New(), harness.Agent{Name: "assistant", Command: []string{exe}, Env: p.environ()}, p.spec)
	if err != nil {
		p.Fatal(err)
	}
	return &life{program, p}
}

func (l *life) do(kind, text string) {
	l.p.Helper()
	if err := l.Do(harness.Command{ID: kind + "-" + text, Kind: kind, Text: text}); err != nil {
		l.p.Fatal(err)
	}
}

func (l *life) until(kind harness.Kind) harness.Event {
	l.p.Helper()
	e, err := l.Until(func(e harness.Event) bool { return e.Kind == kind })
	if err != nil {
		l.p.Fatal(err)
	}
	return e
}

// turn asks and waits for the answer.
func (l *life) turn(text string) harness.Event {
	l.p.Helper()
	l.do("prompt", text)
	return l.until(harness.Done)
}

// end closes the assistant's input and checks all that it said.
func (l *life) end() conformance.Life {
	l.p.Helper()
	all, err := l.End()
	if err != nil {
		l.p.Fatal(err)
	}
	for _, f := range conformance.Check(all, func() harness.Session { return pi.New().Open(harness.Agent{}, l.p.spec) }) {
		l.p.Error(f)
	}
	return all
}

func call(name, args string) testkit.Call { return testkit.Call{Name: name, Args: args} }
