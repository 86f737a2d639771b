package pi_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deckhand/harness"
	"deckhand/harness/conformance"
	"deckhand/harness/pi"
	"deckhand/internal/testkit"
)

// eachPi runs a test against each pinned version of the real program.
func eachPi(t *testing.T, test func(*testing.T, *rig)) {
	for _, p := range testkit.RealPi(t) {
		t.Run(p.Version, func(t *testing.T) {
			t.Parallel()
			m := testkit.NewModel(t)
			r := &rig{model: m, agent: harness.Agent{
				Name: "pi", Command: []string{p.Path}, Model: testkit.ScriptedModel, Env: testkit.PiHome(t, m),
			}}
			r.spec = harness.Spec{Dir: t.TempDir(), Session: filepath.Join(t.TempDir(), "card.jsonl")}
			test(t, r)
		})
	}
}

// rig is a real pi with its model.
type rig struct {
	*conformance.Program
	model *testkit.Model
	agent harness.Agent
	spec  harness.Spec
}

func (r *rig) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	p, err := conformance.Start(ctx, pi.New(), r.agent, r.spec)
	if err != nil {
		t.Fatal(err)
	}
	r.Program = p
}

func (r *rig) do(t *testing.T, c harness.Command) {
	t.Helper()
	if err := r.Do(c); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) until(t *testing.T, kind harness.Kind) harness.Event {
	t.Helper()
	e, err := r.Until(func(e harness.Event) bool { return e.Kind == kind })
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// turn is one prompt from start to end.
func (r *rig) turn(t *testing.T, text string) harness.Event {
	t.Helper()
	r.do(t, harness.Command{ID: "prompt-" + text, Kind: "prompt", Text: text})
	return r.until(t, harness.Done)
}

// check holds the whole life against the rules.
func (r *rig) check(t *testing.T, life conformance.Life, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() harness.Session { return pi.New().Open(r.agent, r.spec) }
	for _, f := range conformance.Check(life, fresh) {
		t.Error(f)
	}
}

func (r *rig) end(t *testing.T) {
	t.Helper()
	life, err := r.End()
	r.check(t, life, err)
	if life.Code != 0 {
		t.Errorf("exit code %d %s", life.Code, life.Signal)
	}
}

func TestRealOutcomes(t *testing.T) {
	eachPi(t, func(t *testing.T, r *rig) {
		r.start(t)
		for _, c := range []struct{ text, outcome, reason string }{
			{"Say hello", harness.Completed, ""},
			{"/name is not a command of pi", harness.Completed, ""},
			{"!touch bang.txt", harness.Completed, ""},
			{"[question]", harness.Completed, ""},
			{"[tool:echo hi > out.txt]", harness.Completed, ""},
			{"[think]", harness.Completed, ""},
			{"[big:1000000]", harness.Completed, ""},
			{"[err:500:1] once", harness.Completed, ""},
			{"[empty]", harness.Failed, "empty answer"},
			{"[len]", harness.Limit, "cut"},
			{"[err:401]", harness.Failed, "the scripted model says 401"},
			{"[err:500]", harness.Failed, "the scripted model says 500"},
			{"[drop]", harness.Failed, "terminated"},
			{"after all that", harness.Completed, ""},
		} {
			done := r.turn(t, c.text)
			if done.Outcome != c.outcome || !strings.Contains(done.Reason, c.reason) || done.Question != (c.text == "[question]") {
				t.Errorf("%s: %s", c.text, conformance.Summary(done))
			}
		}
		if out, err := os.ReadFile(filepath.Join(r.spec.Dir, "out.txt")); string(out) != "hi\n" {
			t.Errorf("out.txt: %q, %v", out, err)
		}
		if !slices.Contains(r.model.Asked(), " /name is not a command of pi") {
			t.Errorf("the text with a slash did not reach the model: %q", r.model.Asked())
		}
		if _, err := os.Stat(filepath.Join(r.spec.Dir, "bang.txt")); err == nil || !slices.Contains(r.model.Asked(), " !touch bang.txt") {
			t.Errorf("a text that begins with ! was run (%v), or did not reach the model: %q", err, r.model.Asked())
		}
		r.end(t)
	})
}

// TestRealResume goes on with a session by its path, in a new process.
func TestRealResume(t *testing.T) {
	eachPi(t, func(t *testing.T, r *rig) {
		r.start(t)
		first := r.until(t, harness.Bound).Session
		r.turn(t, "one")
		r.end(t)
		if _, err := os.Stat(r.spec.Session); err != nil {
			t.Fatal(err)
		}

		r.spec.Resume = true
		r.start(t)
		if second := r.until(t, harness.Bound).Session; second != first || first != r.spec.Session {
			t.Errorf("bound to %q, then %q; want %q", first, second, r.spec.Session)
		}
		if done := r.turn(t, "two"); done.Outcome != harness.Completed {
			t.Error(conformance.Summary(done))
		}
		r.end(t)

		// An unknown session is a failure, not a new conversation.
		r.spec.Session += ".gone.jsonl"
		r.start(t)
		if done := r.until(t, harness.Done); done.Outcome != harness.Failed || !strings.Contains(done.Reason, "no earlier turn") {
			t.Error(conformance.Summary(done))
		}
		r.end(t)
	})
}

// TestRealStop stops a turn in an answer, in a tool and in a dialog.
func TestRealStop(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		wait harness.Kind
	}{
		"answer": {"[hang]", harness.Text},
		"tool":   {"[tool:sleep 60; echo never > never.txt]", harness.ToolBegin},
		"dialog": {"[tool:rm -rf junk]", harness.AskOpen},
	} {
		t.Run(name, func(t *testing.T) {
			eachPi(t, func(t *testing.T, r *rig) {
				r.withAsk(t)
				r.start(t)
				r.do(t, harness.Command{ID: "p", Kind: "prompt", Text: c.text})
				r.until(t, c.wait)
				if err := r.Stop(); err != nil {
					t.Fatal(err)
				}
				life, err := r.Wait()
				r.check(t, life, err)
				last := life.Events[len(life.Events)-1]
				if last.Kind != harness.Done || last.Outcome != harness.Interrupted {
					t.Error(conformance.Summary(last))
				}
				if life.Signal != "" {
					t.Errorf("it took a signal: %s", life.Signal)
				}
				if _, err := os.Stat(filepath.Join(r.spec.Dir, "junk")); err != nil {
					t.Errorf("junk is gone: nobody allowed that: %v", err)
				}
			})
		})
	}
}

// withAsk gives pi an extension that asks, and something to ask about.
func (r *rig) withAsk(t *testing.T) {
	t.Helper()
	ext, err := filepath.Abs("testdata/ask.ts")
	if err == nil {
		err = os.Mkdir(filepath.Join(r.spec.Dir, "junk"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.agent.Command = append(slices.Clip(r.agent.Command), "-e", ext)
}

func TestRealDialog(t *testing.T) {
	for _, answer := range []string{"Allow once", "Deny"} {
		t.Run(answer, func(t *testing.T) {
			eachPi(t, func(t *testing.T, r *rig) {
				r.withAsk(t)
				r.start(t)
				r.do(t, harness.Command{ID: "p", Kind: "prompt", Text: "[tool:rm -rf junk]"})
				ask := r.until(t, harness.AskOpen).Ask
				r.do(t, harness.Command{ID: "a", Kind: "answer", Ask: ask.ID, Answer: harness.Answer{Value: &answer}})
				if gone := r.until(t, harness.AskGone); gone.AskID != ask.ID {
					t.Errorf("ask %q is gone, not %q", gone.AskID, ask.ID)
				}
				// Twice, late and unknown answers do nothing.
				for _, id := range []string{ask.ID, "unknown"} {
					r.do(t, harness.Command{ID: "again", Kind: "answer", Ask: id, Answer: harness.Answer{Value: &answer}})
				}
				end := r.until(t, harness.ToolEnd)
				_, err := os.Stat(filepath.Join(r.spec.Dir, "junk"))
				if allowed := answer == "Allow once"; end.Tool.OK != allowed || (err == nil) == allowed {
					t.Errorf("%s; junk: %v", conformance.Summary(end), err)
				}
				if done := r.until(t, harness.Done); done.Outcome != harness.Completed {
					t.Error(conformance.Summary(done))
				}
				r.end(t)
			})
		})
	}
}

// TestRealDeath kills pi in a tool.
func TestRealDeath(t *testing.T) {
	eachPi(t, func(t *testing.T, r *rig) {
		r.start(t)
		r.do(t, harness.Command{ID: "p", Kind: "prompt", Text: "[hang]"})
		r.until(t, harness.Text)
		if err := r.Kill(); err != nil {
			t.Fatal(err)
		}
		if done := r.until(t, harness.Done); done.Outcome != harness.Failed || !strings.Contains(done.Reason, "SIGKILL") {
			t.Error(conformance.Summary(done))
		}
		life, err := r.Wait()
		r.check(t, life, err)
	})
}

// TestRealSteer adds to a turn that runs, once in time and once too late for
// pi's own loop.
func TestRealSteer(t *testing.T) {
	eachPi(t, func(t *testing.T, r *rig) {
		r.start(t)
		r.do(t, harness.Command{ID: "p", Kind: "prompt", Text: "[tool:sleep 0.3]"})
		r.until(t, harness.ToolBegin)
		r.do(t, harness.Command{ID: "s", Kind: "steer", Text: "/use euros"})
		if done := r.until(t, harness.Done); done.Outcome != harness.Completed {
			t.Error(conformance.Summary(done))
		}
		if asked := r.model.Asked(); asked[len(asked)-1] != " /use euros" {
			t.Errorf("asked: %q", asked)
		}
		r.end(t)
	})
}

func TestRealProbe(t *testing.T) {
	for _, p := range testkit.RealPi(t) {
		got := pi.New().Probe(t.Context(), harness.Agent{Command: []string{p.Path}})
		if got.State != "ready" || got.Version != p.Version || got.Path != p.Path || got.Reason != "" {
			t.Errorf("%s: %+v", p.Version, got)
		}
	}
}

// TestRealFaults starts pi wrongly: the reason is pi's own.
func TestRealFaults(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(*rig)
		reason string
	}{
		"unknown flag":     {func(r *rig) { r.agent.Command = append(slices.Clip(r.agent.Command), "--no-such-flag") }, "Unknown option: --no-such-flag"},
		"unknown provider": {func(r *rig) { r.agent.Model = "nope/nope" }, `Model "nope/nope" not found`},
		"no extension":     {func(r *rig) { r.agent.Command = append(slices.Clip(r.agent.Command), "-e", "/nothere.ts") }, "Extension path does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			eachPi(t, func(t *testing.T, r *rig) {
				c.spoil(r)
				r.start(t)
				r.do(t, harness.Command{ID: "p", Kind: "prompt", Text: "hello"})
				done := r.until(t, harness.Done)
				if done.Outcome != harness.Failed || !strings.Contains(done.Reason, c.reason) || !strings.Contains(done.Reason, "exit code 1") {
					t.Error(conformance.Summary(done))
				}
				life, err := r.Wait()
				r.check(t, life, err)
			})
		})
	}
}
