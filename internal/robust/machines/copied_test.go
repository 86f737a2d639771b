package machines

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

// TestCopiedHome: everything of a person, state and notes, is copied to another
// computer while an agent is at work on the first. There a daemon touches
// neither the board nor the run, and starts nothing, before it is told to.
func TestCopiedHome(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("another computer's id needs root")
	}
	if _, err := os.Stat("/etc/machine-id"); err != nil {
		t.Skip("this system has no id of its own")
	}
	ctx := bounded(t)
	p := robust.NewPlace(t, robust.Fast, "shop")
	p.Save("Shop.md", boardOf(card("Long", "[hang]"), card("Next", "")))
	first := p.Start(ctx)
	p.Await(ctx, nil, func() bool { return starts(p, "Long") == 1 })
	first.Until(func(control.Status) bool { return strings.Contains(p.Lane("Shop.md", "In Progress"), "pi works") })
	copied := t.TempDir()
	first.Pause() // so that the copy is one of a moment
	board, record := p.Read("Shop.md"), strings.Join(p.Record("shop"), "\n")
	if out, err := exec.Command("cp", "-a", p.Root+"/.", copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	first.Resume()
	if err := os.WriteFile(copied+"/id", []byte("0123456789abcdef0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	there := func(args ...string) robust.Said {
		const script = `mount --bind "$1" "$2" && mount --bind "$2/id" /etc/machine-id && cd "$2/notes" && shift 2 && exec "$@"`
		cmd := exec.CommandContext(ctx, "unshare", append([]string{"-m", "sh", "-c", script, "sh", copied, p.Root, p.Exe}, args...)...)
		cmd.Env = p.Env()
		return p.Hear(cmd)
	}
	if said := there("version"); said.Code != 0 {
		t.Skipf("no mounts of one's own here: %s", said.Err)
	}
	said := there("watch", "--once")
	if said.Code != control.CodeConflict || !strings.Contains(said.Err, "copied from another machine") || !strings.Contains(said.Err, "hint: deckhand trust --here") {
		t.Errorf("%+v", said)
	}
	for name, want := range map[string]string{"notes/Shop.md": board, "shop/RECORD.log": record + "\n"} {
		if got, err := os.ReadFile(copied + "/" + name); err != nil || string(got) != want {
			t.Errorf("the copy of %s has changed: %q %v", name, got, err)
		}
	}
	if said := there("trust", "--here"); said.Code != 0 {
		t.Errorf("%+v", said)
	}
	if n := starts(p, "Long"); n != 1 {
		t.Errorf("%d agents were started on the first", n)
	}
}
