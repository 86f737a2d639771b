package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"deckhand/internal/testkit"
)

// TestAssistant runs the scripts of the assistant, each with a model of its own.
func TestAssistant(t *testing.T) {
	for name, steps := range map[string][]testkit.Step{
		"card": {
			{Say: "I look.", Calls: []testkit.Call{{Name: "read_file", Args: `{"file":"Meeting.md"}`}}},
			{Say: "The launch is in June (Meeting.md:2)."},
		},
		"propose": {
			{Calls: []testkit.Call{
				{Name: "set_work", Args: `{"goal":"Launch in June","status":"running","steps":[{"text":"change the notes","status":"pending"}]}`},
				{Name: "propose_batch", Args: `{"reason":"the decision of the meeting","actions":[
					{"do":"edit","file":"Specification.md","old_text":"May","new_text":"June"},
					{"do":"edit","file":"Plan.md","old_text":"May","new_text":"June"},
					{"do":"edit","file":"Page.md","old_text":"May","new_text":"June"},
					{"do":"tick_card","file":"Tasks.md","card":"Set the date"}]}`},
			}},
			{Calls: []testkit.Call{
				{Name: "verify_work", Args: `{"criteria":[
					{"test":"present","file":"Specification.md","text":"June"},
					{"test":"absent","file":"Plan.md","text":"May"},
					{"test":"board","file":"Tasks.md","card":"Set the date","lane":"Plan","state":"done"}]}`},
				{Name: "set_work", Args: `{"goal":"Launch in June","status":"running","steps":[{"text":"change the notes","status":"done"}]}`},
			}},
			{Say: "Three of four stand, and were checked."},
		},
		"commit": {{Say: "Plan the launch"}, {Say: "Plan the launch"}, {Status: 401}, {Status: 401}},
	} {
		t.Run(name, func(t *testing.T) {
			m := testkit.NewScript(t, steps...)
			t.Cleanup(func() { // the script is a test of its own, which runs later
				if n := len(m.Requests()); n != len(steps) {
					t.Errorf("the model was asked %d times, want %d", n, len(steps))
				}
			})
			testscript.Run(t, testscript.Params{
				Files:               []string{"testdata/assistant/" + name + ".txtar"},
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "until": until, "up": up},
				Condition:           onPath,
				Setup: func(e *testscript.Env) error {
					e.Setenv("MODEL", m.URL)
					long := []byte(strings.Repeat("a long line of a note\n", 5000))
					if err := os.MkdirAll(filepath.Join(e.WorkDir, "repo"), 0o700); err != nil {
						return err
					}
					if err := os.WriteFile(filepath.Join(e.WorkDir, "repo", "Long.md"), long, 0o600); err != nil {
						return err
					}
					return setup(e)
				},
			})
		})
	}
}
