package cli

import (
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
				Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
				Setup: func(e *testscript.Env) error {
					e.Setenv("MODEL", m.URL)
					return setup(e)
				},
			})
		})
	}
}
