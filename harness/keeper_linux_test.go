package harness

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk is the folder of a run on a disk of 4 MB that is nearly full, and
// what to remove to make room.
func smallDisk(t *testing.T) (d Dir, ballast string) {
	t.Helper()
	state := t.TempDir()
	if err := unix.Mount("tmpfs", state, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("needs the right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(state, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	d, err := CreateDir(state, newRun())
	if err != nil {
		t.Fatal(err)
	}
	ballast = filepath.Join(state, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	return d, ballast
}

// On a full disk the keeper stands still, and so does the agent; when there is
// room again, everything arrives.
func TestDiskFullForAWhile(t *testing.T) {
	d, ballast := smallDisk(t)
	l := newLifeIn(t, d, "flood", "2000000")
	start(t, l)
	lines := 0
	if err := follow(t, l, func(line Line) {
		if line.Stream == Out {
			lines++
		}
		if lines != 4000 || ballast == "" {
			return
		}
		for fill(ballast) {
			continue
		}
		if err := os.Remove(ballast); err != nil {
			t.Error(err)
		}
		ballast = ""
	}); err != nil {
		t.Fatal(err)
	}
	if lines != 10_000 {
		t.Errorf("%d lines of 10,000", lines)
	}
	exitOf(t, l)
}

// fill appends to a file; it reports false when the disk is full.
func fill(path string) bool {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Write(make([]byte, 4096))
	return err == nil
}

// A full disk takes no row; the agent can be ended all the same.
func TestEndOnFullDisk(t *testing.T) {
	d, ballast := smallDisk(t)
	l := newLifeIn(t, d, "wait")
	start(t, l)
	until(t, l, "ready")
	for fill(ballast) {
		continue
	}
	if err := l.Send(Send{ID: "k", Do: DoKill, Line: strings.Repeat("x", 5000)}); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("sent on a full disk: %v", err)
	}
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	_, exit := collect(t, l)
	if exit.Signal != "SIGTERM" || exit.Reason == "" {
		t.Errorf("exit %+v", exit)
	}
	if rows, err := os.ReadFile(filepath.Join(l.Path, inFile)); err != nil || bytes.Contains(rows, []byte("xxx")) {
		t.Errorf("the row that failed left %d bytes, %v", len(rows), err)
	}
	if err := l.End(); err != nil {
		t.Errorf("of a life that is over: %v", err)
	}
}

// A keeper is small: there is one for each live run.
func TestIdleKeeperIsSmall(t *testing.T) {
	l := newLife(t, "echo")
	start(t, l)
	send(t, l, Send{ID: "a", Line: "one"})
	until(t, l, "got one")
	if raceEnabled {
		t.Skip("the race detector has its own memory")
	}
	memory := privateMemory(l.pid())
	t.Logf("an idle keeper has %.1f MB for itself", float64(memory)/1e6)
	if memory == 0 || memory > 10<<20 {
		t.Errorf("an idle keeper has %d bytes for itself, the limit is 10 MB", memory)
	}
}

func TestErrTail(t *testing.T) {
	args := []string{"", strings.Repeat(strings.Repeat("e", 99)+`\n`, 1200), "out", `last\n`}
	l := newLife(t, "say", args...)
	run(t, l)
	tail, err := l.ErrTail()
	if err != nil || len(tail) != 64<<10 || !bytes.HasSuffix(tail, []byte("e\nlast\n")) {
		t.Errorf("%d bytes, %v", len(tail), err)
	}
}
