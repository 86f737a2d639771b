// Package machines proves that one folder has one daemon, and that of several
// machines that hold a copy of it only the one that is named starts agents.
package machines

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

var suite = robust.Suite{Section: "machines"}

func TestMain(m *testing.M) { suite.Main(m) }

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// boardOf is a board of the project shop with cards in Plan.
func boardOf(cards ...string) string {
	return "---\nproject: shop\n---\n\n## Plan\n\n" + strings.Join(cards, "") + "\n## In Progress\n\n## Review\n"
}

// card is one whose agent keeps a record.
func card(title, more string) string { return "- [ ] " + title + " @pi\n\t[record] " + more + "\n" }

// starts is how often the agents of a machine were asked to do a card.
func starts(p *robust.Place, title string) int {
	n := 0
	for _, line := range p.Record("shop") {
		if strings.HasPrefix(line, "start ") && strings.HasSuffix(line, " "+title) {
			n++
		}
	}
	return n
}

// bind shows a folder at a second place, as a bind mount does.
func bind(t *testing.T, from, to string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a bind mount needs root")
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "--bind", from, to).CombinedOutput(); err != nil {
		t.Skipf("no bind mounts here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", to).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
}

// TestSecondDaemonIsRefused: by whatever name a folder is called, a second
// daemon on it ends with exit code 4 and says which process has it; the cards
// are started by the first alone.
func TestSecondDaemonIsRefused(t *testing.T) {
	ctx := bounded(t)
	p := robust.NewPlace(t, robust.Fast, "shop")
	first := p.Start(ctx)
	names := map[string]string{"its own": p.Work, "relative": "../notes/.", "a link": p.Path("link"), "a link to its parent": p.Path("up/notes")}
	for link, to := range map[string]string{"link": p.Work, "up": p.Root} {
		if err := os.Symlink(to, p.Path(link)); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(t *testing.T, dir string) {
		t.Helper()
		said := p.Type(ctx, "watch", dir)
		pid := fmt.Sprintf("(process %d)", first.Cmd.Process.Pid)
		if said.Code != control.CodeConflict || !strings.Contains(said.Err, pid) || !strings.Contains(said.Err, "\nhint: deckhand status") {
			t.Errorf("exit code %d and %q, want 4, %s and what to type", said.Code, said.Err, pid)
		}
	}
	for name, dir := range names {
		t.Run(name, func(t *testing.T) { refused(t, dir) })
	}
	t.Run("a bind mount", func(t *testing.T) {
		bind(t, p.Work, p.Path("mounted"))
		// The right to run it by this name, too, so that nothing else refuses.
		config, err := os.ReadFile(p.Options.Config)
		if err != nil {
			t.Fatal(err)
		}
		p.Write(p.Options.Config, strings.Replace(string(config), "trust: [", "trust: ["+p.Path("mounted")+", ", 1))
		refused(t, p.Path("mounted"))
	})
	p.Save("Shop.md", boardOf(card("Once", "")))
	first.Until(func(s control.Status) bool { return strings.Contains(p.Lane("Shop.md", "Review"), "🟢 pi: review") })
	if n := starts(p, "Once"); n != 1 {
		t.Errorf("%d agents were started", n)
	}
}
