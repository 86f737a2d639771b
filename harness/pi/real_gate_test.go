package pi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deckhand/harness"
	"deckhand/harness/conformance"
)

// record writes what the real programs said into testdata/pi: go test
// ./harness/pi -run TestRealGate -record, with DECKHAND_TEST_PI.
var record = flag.Bool("record", false, "write captures of the permission gate")

// capture writes a life as a recording: without pi's own prompt, and with paths
// that are the same everywhere.
func (r *rig) capture(t *testing.T, name string, life conformance.Life) {
	t.Helper()
	if !*record || name == "cancelled" { // as denied
		return
	}
	system := regexp.MustCompile(`("role":"system","content":)"(?:[^"\\]|\\.)*"(,"sections":)\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}`)
	tools := func(line string) string { // their descriptions are pi's own text too
		const key = `"toolsAdded":`
		for at := strings.Index(line, key+"[{"); at >= 0; at = strings.Index(line, key+"[{") {
			var list json.RawMessage
			if err := json.NewDecoder(strings.NewReader(line[at+len(key):])).Decode(&list); err != nil {
				t.Fatal(err)
			}
			line = line[:at] + key + "[]" + line[at+len(key)+len(list):]
		}
		return line
	}
	paths := strings.NewReplacer(r.spec.Dir, "/srv/pi/project", filepath.Dir(r.spec.Session), "/srv/pi/sessions", r.agent.Files, "/srv/pi/agents", filepath.Base(r.spec.Dir), "project")
	var out bytes.Buffer
	for _, l := range life.Lines {
		line := string(l.Data)
		if l.Stream == harness.In {
			var s harness.Send
			if err := json.Unmarshal(l.Data, &s); err != nil {
				t.Fatal(err)
			}
			if line = s.Line; s.Do != "" {
				continue
			}
		}
		row := map[string]any{
			"t": l.Time.Sub(life.Lines[0].Time).Milliseconds(), "dir": string(l.Stream),
			"line": paths.Replace(tools(system.ReplaceAllString(line, `$1"(removed)"$2{}`))),
		}
		if err := json.NewEncoder(&out).Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	version := filepath.Base(filepath.Dir(r.agent.Command[0]))
	file := filepath.Join("../../testdata/pi", version, "u_gate_"+strings.ReplaceAll(name, " ", "_")+".jsonl")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// gate gives the agent deckhand's permission gate, and something to lose.
func (r *rig) gate(t *testing.T, ask string) {
	t.Helper()
	r.agent.Ask, r.agent.Files = ask, filepath.Join(t.TempDir(), "agents")
	if err := os.MkdirAll(filepath.Join(r.spec.Dir, "build", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// built reports whether what could be lost is there.
func (r *rig) built() bool {
	_, err := os.Stat(filepath.Join(r.spec.Dir, "build", "deep"))
	return err == nil
}

// TestRealGate: pi asks before a risky command, runs it when it is allowed, and
// tells the model why when it is not.
func TestRealGate(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		answer harness.Answer
		told   string
	}{
		"allowed":   {harness.Answer{Confirmed: &yes}, "(no output)"},
		"denied":    {harness.Answer{Confirmed: &no}, "A person did not allow this. Do not try the same in another way."},
		"with why":  {harness.Answer{Confirmed: &no, Note: "  /keep it: \"make clean\" is enough\nplease "}, "A person did not allow this: /keep it: \"make clean\" is enough\nplease"},
		"cancelled": {harness.Answer{Cancelled: true}, "A person did not allow this. Do not try the same in another way."},
	} {
		t.Run(name, func(t *testing.T) {
			eachPi(t, func(t *testing.T, r *rig) {
				r.gate(t, "risky")
				r.start(t)
				r.do(t, harness.Command{ID: "p", Kind: "prompt", Text: "[tool:cd build && rm -rf ../build]"})
				ask := r.until(t, harness.AskOpen).Ask
				title := "Run in " + filepath.Base(r.spec.Dir) + "? (deletes folders)"
				if ask.Kind != "confirm" || ask.Title != title || ask.Message != "cd build && rm -rf ../build" || ask.Timeout != 0 {
					t.Errorf("%+v", ask)
				}
				if !r.built() {
					t.Fatal("it ran before anybody was asked")
				}
				r.do(t, harness.Command{ID: "a", Kind: "answer", Ask: ask.ID, Answer: c.answer})
				end := r.until(t, harness.ToolEnd)
				allowed := c.answer.Confirmed == &yes
				if end.Tool.OK != allowed || r.built() == allowed {
					t.Errorf("%s; still there: %v", conformance.Summary(end), r.built())
				}
				if done := r.until(t, harness.Done); done.Outcome != harness.Completed {
					t.Error(conformance.Summary(done))
				}
				if told := strings.Join(r.model.Told(), "|"); told != c.told {
					t.Errorf("the model was told %q, not %q", told, c.told)
				}
				if asked := r.model.Asked(); len(asked) != 2 {
					t.Errorf("the reason came as a message too: %q", asked)
				}
				life, err := r.End()
				r.check(t, life, err)
				r.capture(t, name, life)
			})
		})
	}
}

// TestRealGateModes: which of a harmless command, a risky one and a file
// elsewhere each setting asks before.
func TestRealGateModes(t *testing.T) {
	no := false
	for ask, want := range map[string]string{"risky": "rm, write elsewhere", "all": "echo, rm, write, write elsewhere", "none": ""} {
		t.Run(ask, func(t *testing.T) {
			eachPi(t, func(t *testing.T, r *rig) {
				r.gate(t, ask)
				r.start(t)
				var asked []string
				for _, call := range []struct{ name, text string }{
					{"echo", "[tool:echo hi > out.txt]"},
					{"rm", "[tool:rm -r build]"},
					{"write", "[write:in.txt]"},
					{"write elsewhere", "[write:" + filepath.Join(t.TempDir(), "x.txt") + "]"},
				} {
					r.do(t, harness.Command{ID: call.name, Kind: "prompt", Text: call.text})
					for {
						e, err := r.Until(func(e harness.Event) bool { return e.Kind == harness.AskOpen || e.Kind == harness.Done })
						if err != nil {
							t.Fatal(err)
						}
						if e.Kind == harness.Done {
							break
						}
						asked = append(asked, call.name)
						r.do(t, harness.Command{ID: call.name + "-no", Kind: "answer", Ask: e.Ask.ID, Answer: harness.Answer{Confirmed: &no}})
					}
				}
				if got := strings.Join(asked, ", "); got != want {
					t.Errorf("asked before %q, not %q", got, want)
				}
				if r.built() == (ask == "none") {
					t.Errorf("build is there: %v", r.built())
				}
				r.end(t)
			})
		})
	}
}

// TestRealGateGone: with a gate that was spoilt pi runs nothing.
func TestRealGateGone(t *testing.T) {
	eachPi(t, func(t *testing.T, r *rig) {
		r.gate(t, "risky")
		// A program between deckhand and pi that drops what it does not know.
		wrapper := filepath.Join(t.TempDir(), "pi")
		script := "#!/bin/sh\nexec '" + r.agent.Command[0] + "' --mode rpc --session '" + r.spec.Session + "' --model '" + r.agent.Model + "'\n"
		if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		r.agent.Command = []string{wrapper}
		r.start(t)
		r.do(t, harness.Command{ID: "p", Kind: "prompt", Text: "[tool:rm -rf build]"})
		done := r.until(t, harness.Done)
		if done.Outcome != harness.Failed || !strings.Contains(done.Reason, "permission gate") || !r.built() {
			t.Errorf("%s; build is there: %v", conformance.Summary(done), r.built())
		}
		if _, err := r.End(); err != nil || len(r.model.Asked()) != 0 {
			t.Errorf("%v; the model was asked %q", err, r.model.Asked())
		}
	})
}
