// Package disk proves that a disk that fails costs nobody a line, an answer or
// a second prompt: the old bytes stay, the reason is shown, and work goes on by
// itself when the fault is gone.
package disk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

var suite = robust.Suite{Section: "disk"}

func TestMain(m *testing.M) { suite.Main(m) }

// told reports whether a person who asks is told text: of a card, of a run, or
// of the folder.
func told(s control.Status, text string) bool {
	for _, h := range s.Held {
		if strings.Contains(strings.Join(h.Reasons, "\n"), text) {
			return true
		}
	}
	for _, r := range s.Runs {
		if strings.Contains(r.Reason, text) {
			return true
		}
	}
	for _, p := range s.Problems {
		if strings.Contains(p.Text, text) {
			return true
		}
	}
	return false
}

// goesOn saves a card on a disk that has a fault, waits until the daemon says
// why, looks that the board is what the person saved, takes the fault away and
// waits until the same daemon has the card in Review.
func goesOn(t *testing.T, p *robust.Place, d *robust.Process, says string, free func()) {
	t.Helper()
	d.Until(func(s control.Status) bool { return told(s, says) })
	if why := torn(p.Read("Shop.md")); why != "" {
		t.Error(why)
	}
	free()
	d.Until(func(s control.Status) bool {
		return len(s.Problems) == 0 && len(s.Held) == 0 && strings.Contains(p.Lane("Shop.md", "Review"), "🟢 pi: review")
	})
	if n := strings.Count(p.Read("Shop.md"), "🟢 pi: review"); n != 1 {
		t.Errorf("it is shown %d times:\n%s", n, p.Read("Shop.md"))
	}
	if n := strings.Count(strings.Join(p.Record("shop"), "\n"), "start"); n != 1 {
		t.Errorf("prompted %d times", n)
	}
	if why := torn(p.Read("Shop.md")); why != "" {
		t.Error(why)
	}
	if t.Failed() {
		t.Logf("%s\n%s", p.Log, p.Logs())
	}
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// fault is what fails for as long as it is there.
type fault struct {
	name  string
	errno syscall.Errno
	says  string
	hits  func(p *robust.Place, c robust.Call) bool
}

func inNotes(p *robust.Place, c robust.Call) bool { return strings.HasPrefix(c.Path, p.Work) }
func inState(p *robust.Place, c robust.Call) bool { return !inNotes(p, c) }
func adds(c robust.Call) bool {
	return c.Op == "write" || c.Op == "mkdir" || c.Op == "open" && c.Writes
}
func op(c robust.Call, name string) bool { return c.Daemon && c.Op == name }

func faults() []fault {
	return []fault{
		{"quota of the notes used up", syscall.EDQUOT, "disk quota exceeded", func(p *robust.Place, c robust.Call) bool { return c.Daemon && inNotes(p, c) && adds(c) }},
		{"quota of the state used up", syscall.EDQUOT, "disk quota exceeded", func(p *robust.Place, c robust.Call) bool { return c.Daemon && inState(p, c) && adds(c) }},
		{"notes that cannot be synced", syscall.EIO, "input/output error", func(p *robust.Place, c robust.Call) bool { return op(c, "sync") && inNotes(p, c) }},
		{"state that cannot be synced", syscall.EIO, "input/output error", func(p *robust.Place, c robust.Call) bool { return op(c, "sync") && inState(p, c) }},
		{"notes that cannot be renamed", syscall.EIO, "input/output error", func(p *robust.Place, c robust.Call) bool { return op(c, "rename") && inNotes(p, c) }},
		{"life that cannot be begun", syscall.ENOSPC, "no space left on device", func(_ *robust.Place, c robust.Call) bool { return op(c, "rename") && strings.HasSuffix(c.Path, "/new") }},
		{"notes that cannot be read", syscall.EIO, "input/output error", func(p *robust.Place, c robust.Call) bool {
			return op(c, "open") && strings.HasSuffix(c.Path, "Shop.md")
		}},
	}
}

// TestFaultThatGoes lets a kind of call fail for as long as the fault is there.
func TestFaultThatGoes(t *testing.T) {
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			ctx := bounded(t)
			p := robust.NewPlace(t, robust.Fast, "shop")
			var on atomic.Bool
			p.Behind(func(c robust.Call) robust.Verdict {
				if on.Load() && f.hits(p, c) {
					return robust.Verdict{Fail: f.errno}
				}
				return robust.Verdict{}
			})
			d := p.Start(ctx)
			on.Store(true)
			p.Save("Shop.md", board)
			goesOn(t, p, d, f.says, func() { on.Store(false) })
		})
	}
	if !t.Failed() {
		suite.Figure(t, "a fault that stays, and then goes", "%d kinds: said, and the card in Review by itself, prompted once", len(faults()))
	}
}

// mounted makes a place whose notes, or state, are a mount of their own.
func mounted(t *testing.T, what string, argv ...string) *robust.Place {
	t.Helper()
	robust.NeedRoot(t, "mount", "umount")
	disk := t.TempDir()
	at := filepath.Join(disk, what)
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	robust.Mount(t, at, argv...)
	return robust.NewPlaceOn(t, disk, robust.Fast, "shop")
}

// TestFullDisk fills the disk under the notes, and that under the state.
func TestFullDisk(t *testing.T) {
	for _, what := range []string{"notes", "state"} {
		t.Run(what, func(t *testing.T) {
			ctx := bounded(t)
			p := mounted(t, what, "-t", "tmpfs", "-o", "size=512k,mode=0700", "none")
			d := p.Start(ctx)
			p.Save("Shop.md", board)
			full := fill(t, p.Path(what))
			goesOn(t, p, d, "no space left on device", func() {
				if err := os.Remove(full); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// fill takes what is free on the disk of a folder.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, ".filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return f.Name()
}

// TestReadOnlyMount makes the notes read-only while the daemon runs.
func TestReadOnlyMount(t *testing.T) {
	ctx := bounded(t)
	p := mounted(t, "notes", "-t", "tmpfs", "-o", "mode=0700", "none")
	d := p.Start(ctx)
	at := p.Path("notes")
	p.Save("Shop.md", strings.Replace(board, "@pi", "", 1))
	p.Save("Shop.md", board)
	remount(t, at, unix.MS_RDONLY)
	goesOn(t, p, d, "read-only", func() { remount(t, at, 0) })
}

func remount(t *testing.T, at string, flags uintptr) {
	t.Helper()
	if err := unix.Mount("", at, "", unix.MS_REMOUNT|unix.MS_BIND|flags, ""); err != nil {
		t.Errorf("remount %s: %v", at, err)
	}
}

// TestNoDescriptors leaves the daemon none to open files with.
func TestNoDescriptors(t *testing.T) {
	ctx := bounded(t)
	p := robust.NewPlace(t, robust.Fast, "shop")
	d := p.Start(ctx)
	pid := d.Cmd.Process.Pid
	var was unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &was); err != nil {
		t.Fatal(err)
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	none := unix.Rlimit{Cur: uint64(len(fds)), Max: was.Max}
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &none, nil); err != nil {
		t.Fatal(err)
	}
	p.Save("Shop.md", board)
	goesOn(t, p, d, "too many open files", func() {
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &was, nil); err != nil {
			t.Error(err)
		}
	})
}
