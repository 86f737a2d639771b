package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

const (
	gigabyte = 1 << 30
	// most is what a process may take when it meets a gigabyte: a line that is
	// kept has up to 64 MB, and there are a few copies of it while it is read. Under
	// the race detector the shadow of memory comes on top.
	most = gigabyte / 2
)

// sparse makes a file that has a size and no bytes on the disk: text, and zeros.
func sparse(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, gigabyte); err != nil {
		t.Fatal(err)
	}
}

// peak is the most memory a process has had, in bytes.
func peak(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("what a process takes is not known here: %v", err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatalf("no peak in %q", data)
	}
	kb, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// bounded memory of a process, as a figure.
func small(t *testing.T, what string, bytes int) {
	t.Helper()
	suite.Figure(t, "memory at most, "+what, "%d MB", bytes>>20)
	if bytes > most {
		t.Errorf("%s takes %d MB", what, bytes>>20)
	}
}

// TestGigabyte: files of a gigabyte in the place of each kind of file that is
// read, and an agent that prints a line of a gigabyte. The daemon and the keeper
// stay small, and the card of another board is done.
func TestGigabyte(t *testing.T) {
	ctx := bounded(t)
	p := robust.NewPlace(t, robust.Fast, "shop", "other")
	for rel, text := range map[string]string{
		"Board.md": boardOf("shop", "- [ ] Huge [record] @pi\n"), "Note.md": "# Huge\n\ntext\n",
		"deckhand/journal/2026-11-30 journal.md": "## 14:03 · applied · x\n", "deckhand/chats/2026-11/Huge.md": "---\nrun: 01KB7X2M0000000000000000AA\n---\n",
		"Other.canvas": "{",
	} {
		if err := os.MkdirAll(filepath.Dir(p.At(rel)), 0o700); err != nil {
			t.Fatal(err)
		}
		sparse(t, p.At(rel), text)
	}
	sparse(t, p.Path("shop/line"), "x")
	p.Save("Shop.md", boardOf("shop", "- [ ] Print [raw:line] [hang] @pi\n"))
	p.Save("Other.md", boardOf("other", "- [ ] Small [record] [[Note]] [[Note#Huge]] @pi\n"))
	d := p.Start(ctx)
	p.Await(ctx, nil, func() bool { return strings.Contains(p.Read("Other.md"), "pi: review") })
	sparse(t, p.At("deckhand.yaml"), robust.Fast)
	d.Until(func(s control.Status) bool {
		return slices.ContainsFunc(s.Problems, func(f control.Problem) bool { return strings.HasPrefix(f.Where, "deckhand.yaml") })
	})
	// The agent looks at its folder when the line is out.
	const run = "Print"
	p.Await(ctx, nil, func() bool { return strings.Contains(p.Type(ctx, "log", run).Out, " ls") })
	small(t, "daemon that meets lines and files of a gigabyte", peak(t, d.Cmd.Process.Pid))
	keeper := 0
	for _, pid := range p.Processes() {
		if args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(args), "\x00keep") {
			keeper = max(keeper, peak(t, pid))
		}
	}
	if keeper == 0 {
		t.Error("no keeper was found")
	}
	small(t, "keeper of an agent that prints a line of a gigabyte", keeper)
	d.Kill()
	for _, args := range [][]string{{"status"}, {"doctor"}, {"why", "Small"}, {"log", run}, {"journal"}, {"chat", "Small"}} {
		cmd := p.Command(ctx, args...)
		said := p.Hear(cmd)
		use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok || int(use.Maxrss)<<10 > most {
			t.Errorf("%q takes %d MB: %s", args, use.Maxrss>>10, said.Err)
		}
	}
	for _, rel := range []string{"Board.md", "deckhand.yaml"} {
		if said := p.Type(ctx, "status"); !strings.Contains(said.Out+said.Err, rel) {
			t.Errorf("nothing says that %s is too large:\n%s%s", rel, said.Out, said.Err)
		}
	}
}

// TestManyCards: a board with a million cards that ask for an agent is not taken
// for one, and says why; it takes no memory, and the card of another is done.
func TestManyCards(t *testing.T) {
	ctx := bounded(t)
	const n = 1_000_000
	var b strings.Builder
	b.WriteString("---\nproject: shop\n---\n\n## Plan\n\n")
	for i := range n {
		fmt.Fprintf(&b, "- [ ] c%d [record] @pi\n", i)
	}
	b.WriteString("\n## In Progress\n\n## Review\n")
	p := robust.NewPlace(t, robust.Fast, "shop")
	p.Save("Many.md", b.String())
	p.Save("Shop.md", boardOf("shop", "- [ ] Good [record] @pi\n"))
	d := p.Start(ctx)
	p.Await(ctx, nil, func() bool { return strings.Contains(p.Lane("Shop.md", "Review"), "pi: review") })
	small(t, fmt.Sprintf("daemon that meets a board of %d cards", n), peak(t, d.Cmd.Process.Pid))
	if got := p.Record("shop"); len(got) != 2 {
		t.Errorf("record %q", got)
	}
	if said := p.Type(ctx, "status"); !strings.Contains(said.Out+said.Err, "Many.md") || !strings.Contains(said.Out+said.Err, "more than 100000 cards") {
		t.Errorf("nothing says what is wrong with Many.md:\n%s%s", said.Out, said.Err)
	}
}
