// Package load proves that nothing is lost, and nobody has to wait, when many
// agents talk at once and clients are slow or come and go.
package load

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

var suite = robust.Suite{Section: "load"}

func TestMain(m *testing.M) { suite.Main(m) }

func bounded(t *testing.T, long time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	t.Cleanup(cancel)
	return ctx
}

// newPlace makes a place in which n agents may work at once, each in a project
// of its own: p0, p1, …
func newPlace(t *testing.T, n int) *robust.Place {
	t.Helper()
	var projects []string
	for i := range n {
		projects = append(projects, fmt.Sprintf("p%d", i))
	}
	p := robust.NewPlace(t, robust.Fast, projects...)
	config, err := os.ReadFile(p.Options.Config)
	if err != nil {
		t.Fatal(err)
	}
	p.Write(p.Options.Config, string(config)+fmt.Sprintf("max_running: %d\n", n))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", p.Log)
		}
	})
	return p
}

// board is a board with cards in Plan.
func board(cards ...string) string {
	return "## Plan\n\n" + strings.Join(cards, "") + "\n## In Progress\n\n## Review\n"
}

// card is one for the nth project.
func card(title string, n int, words string) string {
	return fmt.Sprintf("- [ ] %s @pi #project/p%d\n\t[record] %s\n", title, n, words)
}

// count counts the runs with a state.
func count(s control.Status, state string) (n int) {
	for _, r := range s.Runs {
		if r.Status == state {
			n++
		}
	}
	return n
}

// memory is what a process holds of the machine's memory for itself, in bytes.
func memory(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "RssAnon:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

func megabytes(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// life is the folder of the only life of a card's run.
func life(t *testing.T, p *robust.Place, run string) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(p.Options.State, "*/runs", run, "1"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("run %s: %v %v", run, dirs, err)
	}
	return dirs[0]
}

// traceOf is a run's trace as the command prints it.
func traceOf(t *testing.T, p *robust.Place, run string) control.Log {
	t.Helper()
	said := p.Type(bounded(t, time.Minute), "log", run, "--json")
	var log control.Log
	if err := json.Unmarshal([]byte(said.Out), &log); err != nil {
		t.Fatalf("log %s: %v, exit code %d: %s", run, err, said.Code, said.Err)
	}
	return log
}
