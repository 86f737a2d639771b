package standin_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/harness"
	"deckhand/harness/conformance"
	"deckhand/harness/pi"
	"deckhand/internal/standin"
)

// child makes the test binary the stand-in.
const child = "DECKHAND_TEST_STANDIN"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		os.Exit(standin.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func agent(t *testing.T) harness.Agent {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return harness.Agent{
		Name: "demo", Command: []string{exe, "-pace", "0s"},
		Env: append(os.Environ(), child+"=1", "GORACE=atexit_sleep_ms=0"),
	}
}

func start(t *testing.T, spec harness.Spec) *conformance.Program {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	p, err := conformance.Start(ctx, pi.New(), agent(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func spec(t *testing.T) harness.Spec {
	t.Helper()
	return harness.Spec{Dir: t.TempDir(), Session: filepath.Join(t.TempDir(), "session.jsonl")}
}

// prompt is a card as it is sent.
func prompt(title string, note ...string) string {
	return harness.Prompt(harness.PromptInput{Nonce: "n0nce", Board: "Shop", Title: title, Body: note})
}

func run(t *testing.T, p *conformance.Program, kind, text string) {
	t.Helper()
	if err := p.Do(harness.Command{ID: kind + "-" + t.Name(), Kind: kind, Text: text}); err != nil {
		t.Fatal(err)
	}
}

func until(t *testing.T, p *conformance.Program, kind harness.Kind) harness.Event {
	t.Helper()
	e, err := p.Until(func(e harness.Event) bool { return e.Kind == kind })
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// end closes the program and checks all that it said.
func end(t *testing.T, p *conformance.Program, spec harness.Spec) conformance.Life {
	t.Helper()
	life, err := p.End()
	if err != nil {
		t.Fatal(err)
	}
	check(t, life, spec)
	return life
}

func check(t *testing.T, life conformance.Life, spec harness.Spec) {
	t.Helper()
	for _, f := range conformance.Check(life, func() harness.Session { return pi.New().Open(harness.Agent{}, spec) }) {
		t.Error(f)
	}
}

func TestWork(t *testing.T) {
	s := spec(t)
	p := start(t, s)
	run(t, p, "prompt", prompt("Checkout with QRIS [[Specification#Payment]] @pi #feature"))
	done := until(t, p, harness.Done)
	if done.Outcome != harness.Completed || done.Question || !strings.HasPrefix(done.Text, "CHECKOUT.md holds") {
		t.Errorf("done: %+v", done)
	}
	body, err := os.ReadFile(filepath.Join(s.Dir, "CHECKOUT.md"))
	if err != nil || !strings.HasPrefix(string(body), "# Checkout with QRIS\n") {
		t.Errorf("CHECKOUT.md: %q, %v", body, err)
	}
	life := end(t, p, s)
	if life.Code != 0 {
		t.Errorf("exit code %d", life.Code)
	}
	var tools []string
	cost := 0.0
	for _, e := range life.Events {
		if e.Kind == harness.ToolEnd && e.Tool.OK {
			tools = append(tools, e.Tool.Name+" "+e.Tool.Title)
		}
		if e.Kind == harness.UsageSeen {
			cost += *e.Usage.Cost
		}
	}
	if got := strings.Join(tools, ", "); got != "ls ., write CHECKOUT.md" {
		t.Errorf("tools: %s", got)
	}
	if cost < 0.003 || cost > 0.004 {
		t.Errorf("cost %v", cost)
	}
}

// TestResume goes on with a session in a new process.
func TestResume(t *testing.T) {
	s := spec(t)
	p := start(t, s)
	run(t, p, "prompt", prompt("Checkout"))
	until(t, p, harness.Done)
	end(t, p, s)

	s.Resume = true
	p = start(t, s)
	text := harness.Prompt(harness.PromptInput{Nonce: "n", Title: "Checkout", Added: []string{"Use SDK A [question]"}})
	run(t, p, "prompt", text)
	if done := until(t, p, harness.Done); !done.Question || !strings.HasPrefix(done.Text, "CHECKOUT.md") {
		t.Errorf("done: %+v", done)
	}
	end(t, p, s)

	s.Session += ".gone"
	p = start(t, s)
	if done := until(t, p, harness.Done); done.Outcome != harness.Failed || !strings.Contains(done.Reason, "no earlier turn") {
		t.Errorf("done: %+v", done)
	}
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct{ word, outcome, reason string }{
		{"[question]", harness.Completed, ""},
		{"[fail]", harness.Failed, "told to fail"},
		{"[empty]", harness.Failed, "empty answer"},
		{"[length]", harness.Limit, "cut"},
		{"[flood:3000]", harness.Completed, ""},
		{"[noise]", harness.Completed, ""},
		{"[exit:3]", harness.Failed, "exit code 3"},
		{"[exit:0]", harness.Failed, "in the middle of its turn"},
	} {
		t.Run(c.word, func(t *testing.T) {
			s := spec(t)
			p := start(t, s)
			run(t, p, "prompt", prompt("Invoice PDF", "because "+c.word))
			done := until(t, p, harness.Done)
			if done.Outcome != c.outcome || !strings.Contains(done.Reason, c.reason) || done.Question != (c.word == "[question]") {
				t.Errorf("done: %+v", done)
			}
			end(t, p, s)
		})
	}
}

// TestAsk answers a dialog both ways.
func TestAsk(t *testing.T) {
	for _, yes := range []bool{true, false} {
		s := spec(t)
		p := start(t, s)
		run(t, p, "prompt", prompt("Invoice [ask]"))
		ask := until(t, p, harness.AskOpen)
		if err := p.Do(harness.Command{ID: "a", Kind: "answer", Ask: ask.Ask.ID, Answer: harness.Answer{Confirmed: &yes}}); err != nil {
			t.Fatal(err)
		}
		until(t, p, harness.Done)
		if _, err := os.Stat(filepath.Join(s.Dir, "INVOICE.md")); (err == nil) != yes {
			t.Errorf("answered %v: %v", yes, err)
		}
		end(t, p, s)
	}
}

// TestStop stops each kind of trouble; the dialog is cancelled first, or pi
// would not abort.
func TestStop(t *testing.T) {
	for _, c := range []struct {
		word string
		wait harness.Kind
	}{{"[hang]", harness.ToolEnd}, {"[slow:1h]", harness.Bound}, {"[ask]", harness.AskOpen}} {
		t.Run(c.word, func(t *testing.T) {
			s := spec(t)
			p := start(t, s)
			run(t, p, "prompt", prompt("Invoice "+c.word))
			until(t, p, c.wait)
			if err := p.Stop(); err != nil {
				t.Fatal(err)
			}
			life, err := p.Wait()
			if err != nil {
				t.Fatal(err)
			}
			check(t, life, s)
			last := life.Events[len(life.Events)-1]
			if last.Kind != harness.Done || last.Outcome != harness.Interrupted {
				t.Errorf("last event: %s", conformance.Summary(last))
			}
			if life.Code != 0 || life.Signal != "" {
				t.Errorf("exit code %d, signal %q", life.Code, life.Signal)
			}
		})
	}
}

// TestSteer adds to a turn that runs.
func TestSteer(t *testing.T) {
	s := spec(t)
	p := start(t, s)
	run(t, p, "prompt", prompt("Invoice [ask]"))
	ask := until(t, p, harness.AskOpen)
	run(t, p, "steer", "/use euros")
	no := false
	if err := p.Do(harness.Command{ID: "a", Kind: "answer", Ask: ask.Ask.ID, Answer: harness.Answer{Confirmed: &no}}); err != nil {
		t.Fatal(err)
	}
	if done := until(t, p, harness.Done); done.Text != "Understood:  /use euros" {
		t.Errorf("done: %+v", done)
	}
	end(t, p, s)
}

func TestRecord(t *testing.T) {
	s := spec(t)
	p := start(t, s)
	run(t, p, "prompt", prompt("One card [record]"))
	until(t, p, harness.Done)
	end(t, p, s)
	log, err := os.ReadFile(filepath.Join(s.Dir, "RECORD.log"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "start 20") || !strings.HasSuffix(lines[1], " One card") {
		t.Errorf("%q", lines)
	}
}

// TestUnexpected: a fake that accepts anything proves nothing.
func TestUnexpected(t *testing.T) {
	for _, line := range []string{
		"null", "", "{}", "no json", `{"id":"1","type":"set_model"}`, `{"id":"1","type":"steer","message":"x"}`,
		`{"id":"1","type":"prompt","message":"a [hang]"}` + "\n" + `{"id":"2","type":"prompt","message":"b"}`,
	} {
		t.Chdir(t.TempDir())
		var out, errs bytes.Buffer
		code := standin.Main([]string{"--mode", "rpc"}, strings.NewReader(line+"\n"), &out, &errs)
		if code != standin.Unexpected || !strings.Contains(errs.String(), "unexpected line") {
			t.Errorf("%q: code %d, %q", line, code, errs.String())
		}
	}
}

func TestVersion(t *testing.T) {
	p := pi.New().Probe(t.Context(), agent(t))
	if p.State != "ready" || p.Version != standin.Version {
		t.Errorf("%+v", p)
	}
}
