package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/internal/robust"
)

// ended waits until a process has ended, and is false when ctx ends before.
func ended(ctx context.Context, pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return true
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	for ctx.Err() == nil {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(poll, 1000); n > 0 && err == nil {
			return true
		}
	}
	return false
}

// terminal opens a new terminal: our end, and the name of the other.
func terminal(t *testing.T) (*os.File, string) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { ours.Close() })
	fd := int(ours.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	return ours, fmt.Sprint("/dev/pts/", n)
}

// TestTerminalClosed: the terminal in which the daemon runs is closed. The
// daemon ends, as it should; the agent goes on.
func TestTerminalClosed(t *testing.T) {
	t.Parallel()
	s := newScene(t, hangs)
	ours, name := terminal(t)
	theirs, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.watch(func(c *exec.Cmd) {
		c.Stdin, c.Stdout, c.Stderr = theirs, theirs, theirs
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	})
	theirs.Close()
	s.works(1)
	if err := ours.Close(); err != nil {
		t.Fatal(err)
	}
	s.goesOn()
}

// TestPipeEndsWithTheDaemon: whoever reads what the daemon says learns that it
// has ended, though its keeper and agent live on: neither holds the pipe.
func TestPipeEndsWithTheDaemon(t *testing.T) {
	t.Parallel()
	s := newScene(t, hangs)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s.watch(func(c *exec.Cmd) { c.Stdin, c.Stdout, c.Stderr = nil, w, w })
	w.Close()
	s.works(1)
	_ = s.cmd.Process.Kill()
	deadline, _ := s.ctx.Deadline()
	if err := r.SetReadDeadline(deadline); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Errorf("the pipe has no end: %v", err)
	}
	if keepers, agents := s.live(); keepers != 1 || agents != 1 {
		t.Errorf("%d keepers and %d agents live", keepers, agents)
	}
}

// lines is how many lines the agent of the full disk says.
const lines = 20000

// TestDiskFull: the disk with the captures fills up while an agent talks. The
// agent stands still; when there is room again it goes on, and every line it
// said is there.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := sceneIn(t, onSmallDisk(t, "8m"), fmt.Sprintf("- [ ] Ship it @pi\n\t[record] [flood:%d]\n", lines))
	ballast := filepath.Join(s.Options.State, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 6<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	d := s.Start(s.ctx)
	s.wait(func() bool { return s.free() < 1<<13 })
	if keepers, agents := s.live(); keepers != 1 || agents != 1 {
		t.Errorf("%d keepers and %d agents live on a full disk", keepers, agents)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s.wait(func() bool { return strings.Contains(s.Text("Shop.md"), "🟢 pi: review") })
	d.Kill()
	s.ends(1, "Review", "🟢 pi: review")
	said := s.said()
	for n := 1; n <= lines; n++ {
		if !strings.Contains(said, fmt.Sprintf(`line %d\n`, n)) {
			t.Fatalf("line %d is lost", n)
		}
	}
	suite.Figure(t, "a full disk while an agent talks", "%d lines, 0 lost", lines)
}

// onSmallDisk is a place whose state is on a disk of this size.
func onSmallDisk(t *testing.T, size string) *robust.Place {
	t.Helper()
	root, err := os.MkdirTemp("", "dh-")
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(root, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", state, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		t.Skipf("a small disk cannot be mounted: %v", errors.Join(err, os.RemoveAll(root)))
	}
	p := robust.NewPlaceIn(t, root, robust.Fast, "shop")
	t.Cleanup(func() {
		p.Clear()
		if err := unix.Unmount(state, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (s *scene) free() uint64 {
	var st unix.Statfs_t
	if err := unix.Statfs(s.Options.State, &st); err != nil {
		s.t.Fatal(err)
	}
	return st.Bavail * uint64(st.Bsize)
}

// said is what the captures hold.
func (s *scene) said() string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Options.State, "*/runs/*/*/out.0*"))
	if err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			s.t.Fatal(err)
		}
		b.Write(data)
	}
	return b.String()
}
