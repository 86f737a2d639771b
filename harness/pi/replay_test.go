package pi

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"deckhand/harness"
	"deckhand/harness/conformance"
)

// updateGolden writes the golden files anew: go test ./harness/pi -update.
var updateGolden = flag.Bool("update", false, "write golden files")

const captures = "../../testdata/pi"

// recorded reads all captures of a version.
func recorded(t testing.TB, version string) []conformance.Recording {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(captures, version, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures of %s: %v", version, err)
	}
	var all []conformance.Recording
	for _, file := range files {
		all = append(all, read(t, file))
	}
	return all
}

func read(t testing.TB, file string) conformance.Recording {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := conformance.Read(strings.TrimSuffix(filepath.Base(file), ".jsonl"), f)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// peer answers the fences that the recorded programs were not sent.
func peer() conformance.Peer {
	return conformance.Peer{
		Answer: func(s harness.Send) string {
			id, kind := ident(field([]byte(s.Line), "id")), unquote(field([]byte(s.Line), "type"))
			if kind != GetState {
				return ""
			}
			return line(Response{ID: id, Type: "response", Command: GetState, Success: true, Data: State{SessionFile: "(not recorded)"}})
		},
		SameBreath: func(l []byte) bool {
			kind, _ := kindOf(l)
			switch kind {
			case "auto_retry_start", "auto_retry_end", "compaction_start", "agent_settled", "entry_appended":
				return true
			case "compaction_end": // without a start of its own
				return string(field(l, "willRetry")) == "false"
			}
			return false
		},
	}
}

func open() harness.Session { return New().Open(harness.Agent{}, harness.Spec{}) }

// TestCaptures decodes every capture of both generations: the rules hold for
// each, and what each says is written down.
func TestCaptures(t *testing.T) {
	for _, version := range []string{"0.73.1", "1.6.0"} {
		t.Run(version, func(t *testing.T) {
			golden := filepath.Join(captures, "events-"+version+".txtar")
			var now txtar.Archive
			for _, rec := range recorded(t, version) {
				life := conformance.Replay(open(), rec, peer())
				for _, f := range conformance.Check(life, open) {
					t.Errorf("%s: %v", rec.Name, f)
				}
				if got, want := dones(life.Events), turns(version, rec); got != want {
					t.Errorf("%s: %d Done for %d turns", rec.Name, got, want)
				}
				now.Files = append(now.Files, txtar.File{Name: rec.Name, Data: []byte(summary(life.Events))})
			}
			compare(t, golden, txtar.Format(&now))
		})
	}
}

// turns counts the prompts of a recording; a life without one has one turn that
// failed.
func turns(version string, rec conformance.Recording) int {
	n := 0
	for _, l := range rec.Lines {
		if l.Stream == harness.In {
			n += strings.Count(unquote(field(l.Data, "line")), `"type":"prompt"`)
		}
	}
	for _, name := range []string{rec.Name, version + "/" + rec.Name} {
		n -= noTurn(name)
	}
	return max(1, n)
}

// noTurn is how many prompts of a recording began no turn of their own, because
// its driver sent them while another one ran. Ours never does.
func noTurn(name string) int {
	switch name {
	case "d_steer": // one refused, one taken as steering
		return 2
	case "q2_two_prompts_at_once", "q4_prompt_right_after_response": // the second is lost, or refused
		return 1
	case "0.73.1/h8_ext_errors": // commands of an extension, and 0.73 does not say so
		return 3
	case "1.6.0/q_race_prompt_right_after_agent_end": // before agent_settled
		return 1
	}
	return 0
}

func dones(events []harness.Event) int {
	n := 0
	for _, e := range events {
		if e.Kind == harness.Done {
			n++
		}
	}
	return n
}

// summary is the events in lines, deltas of one kind in one.
func summary(events []harness.Event) string {
	var b strings.Builder
	for i := 0; i < len(events); i++ {
		e := events[i]
		if e.Kind == harness.Text || e.Kind == harness.Thought {
			n := 1
			for i+1 < len(events) && events[i+1].Kind == e.Kind {
				i++
				n++
				e.Text += events[i].Text
			}
			fmt.Fprintf(&b, "%s (%d deltas)\n", conformance.Summary(e), n)
			continue
		}
		b.WriteString(conformance.Summary(e) + "\n")
	}
	return b.String()
}

func compare(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *updateGolden {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("%s:%d:\n got %s\nwant %s\n(go test ./harness/pi -update writes it anew)", golden, i+1, a, b)
		}
	}
}
