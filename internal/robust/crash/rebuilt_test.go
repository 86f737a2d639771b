package crash

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deckhand/internal/robust"
)

// process is what a status says of the daemon that gives it.
var process = regexp.MustCompile(`"(daemon|pid|watch)":[^,]*,`)

// status is `deckhand status --json`, by a daemon or from the files.
func (s *scene) status() string {
	s.t.Helper()
	out, err := s.Command(s.ctx, "status", "--json").Output()
	if err != nil {
		s.t.Fatalf("status: %v\n%s", err, out)
	}
	return process.ReplaceAllString(string(out), "")
}

const endings = "- [ ] Ready @pi\n\t[record]\n- [ ] Failed @pi\n\t[record] [fail]\n- [ ] Held @pi #project/nowhere\n- [ ] Cut @pi\n\t[record] [length]\n"

// TestRebuiltFromLogs: what is known after a kill and another start, what is
// known without a daemon, and what is known when everything that can be made
// from logs and captures was deleted, is byte for byte what was known before.
func TestRebuiltFromLogs(t *testing.T) {
	s := newScene(t, endings)
	d := s.Start(s.ctx)
	s.wait(func() bool {
		return strings.Count(s.Logs(), `"ended"`) == 3 && len(s.Procs()) == 0 && strings.Count(s.Text("Shop.md"), "^r-") == 3
	})
	d.Kill()
	s.Once(s.ctx)
	before := s.status()
	if strings.Count(before, `"id"`) != 3 || !strings.Contains(before, "nowhere") {
		t.Fatalf("status:\n%s", before)
	}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"a daemon that was killed", func() { s.Start(s.ctx).Kill() }},
		{"a daemon that runs", func() { d = s.Start(s.ctx) }},
		{"one without its notes of what it did", func() {
			d.Kill()
			s.forget("journaled", "needs-me.txt", "daemon.json", "swaps.jsonl")
			d = s.Start(s.ctx)
		}},
		{"the files alone", func() { d.Kill() }},
	} {
		step.do()
		if after := s.status(); after != before {
			t.Errorf("%s:\n%s\nbefore:\n%s", step.name, after, before)
		}
	}
	checkRecords(t, s.Place)
}

// forget removes files of the state.
func (s *scene) forget(names ...string) {
	s.t.Helper()
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(s.Options.State, "*", name))
		if err != nil || len(found) == 0 {
			s.t.Fatalf("no %s: %v", name, err)
		}
		for _, f := range found {
			if err := os.Remove(f); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// TestDeletedStaysDeleted: cards and chats that a person deletes when their runs
// are over come back with no later daemon, and nothing starts for them.
func TestDeletedStaysDeleted(t *testing.T) {
	s := newScene(t, endings)
	s.Once(s.ctx)
	empty := boardOf("- [ ] Mine\n")
	s.Save("Shop.md", empty)
	if err := os.RemoveAll(s.At("deckhand/chats")); err != nil {
		t.Fatal(err)
	}
	before := strings.Join(s.Record("shop"), "\n")
	for range 2 {
		s.Start(s.ctx).Kill()
		s.Once(s.ctx)
	}
	if got := s.Read("Shop.md"); got != empty {
		t.Errorf("board:\n%s", got)
	}
	if _, err := os.Stat(s.At("deckhand/chats")); err == nil {
		t.Error("the chats are back")
	}
	if after := strings.Join(s.Record("shop"), "\n"); after != before {
		t.Errorf("agents were started:\n%s\nbefore:\n%s", after, before)
	}
}

// TestSavedAtTheSameMoment: a person saves the board while the daemon is at a
// step of writing it, and it is killed right there. The next one finishes, and
// what they typed is there.
func TestSavedAtTheSameMoment(t *testing.T) {
	list := robust.NewPlace(t, robust.Fast, "shop")
	list.Save("Shop.md", boardOf(recorded))
	list.Once(bounded(t, whole), robust.FaultEnv+"="+robust.ListPoints)
	var steps []string
	for _, p := range points(list.Log.String(), "log show") {
		if strings.HasSuffix(p, "card written") {
			break
		}
		steps = append(steps, p)
	}
	if len(steps) < 8 {
		t.Fatalf("only %d steps", len(steps))
	}
	t.Run("at", func(t *testing.T) {
		for _, point := range steps {
			t.Run(point, func(t *testing.T) {
				t.Parallel()
				savedAt(t, point)
			})
		}
	})
	suite.Figure(t, "saves at a step of a write, and a kill", "%d steps, 0 lines lost", len(steps))
}

func savedAt(t *testing.T, point string) {
	s := newScene(t, recorded)
	d := s.Spawn(s.ctx, robust.FaultEnv+"="+robust.HoldAt+point)
	s.wait(func() bool { _, err := os.Stat(s.Path(robust.HeldName)); return err == nil })
	const typed = "- [ ] typed just now\n"
	s.Save("Shop.md", s.Read("Shop.md")+typed)
	d.Kill()
	s.ends(1, "Review", "🟢 pi: review")
	if got := s.Read("Shop.md"); strings.Count(got, typed) != 1 || strings.Count(got, "Ship it @pi") != 1 {
		t.Errorf("board:\n%s", got)
	}
	if left, err := filepath.Glob(s.At(".deckhand-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
