package harness

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestStartOnce(t *testing.T) {
	l := newLife(t, "echo")
	start(t, l)
	until(t, l, RemarkStarted)
	if f, err := lock(filepath.Join(l.Path, lockFile)); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("locked while it lives: %v, %v", f, err)
	}
	send(t, l, Send{ID: "e", Do: DoEOF})
	before, exit := collect(t, l)
	startAgain(t, l)
	after, again := collect(t, l)
	if !maps.EqualFunc(before, after, slices.Equal) || exit != again {
		t.Errorf("%v, %+v; before it was started again %v, %+v", after, again, before, exit)
	}
}

// startAgain starts a life that has a capture, and waits for the keeper to refuse.
func startAgain(t *testing.T, l *Life) {
	t.Helper()
	again := &Life{Path: l.Path, Run: l.Run, N: l.N}
	var err error
	if again.lock, err = lock(filepath.Join(l.Path, lockFile)); err != nil {
		t.Fatal(err)
	}
	start(t, again)
	for held := true; held && err == nil; {
		held, err = again.held()
	}
	log, _ := os.ReadFile(filepath.Join(l.Path, keeperLog))
	if err != nil || !strings.Contains(string(log), segmentName(1)) {
		t.Errorf("%v, the keeper says %q", err, log)
	}
}

// A keeper waits until it is told. Without a word it ends, and nothing has been
// done: whoever was to speak has given the life up, or died.
func TestKeeperWaits(t *testing.T) {
	for name, placed := range map[string]bool{"before its place": false, "in its place": true} {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			l, err := d.Next()
			if err != nil {
				t.Fatal(err)
			}
			gone := filepath.Join(t.TempDir(), "started")
			spec := Spec{Argv: []string{"/bin/sh", "-c", "touch " + gone}, Dir: t.TempDir()}
			if err := errors.Join(l.Hire(os.Args[0], os.Environ()), l.Write(spec, nil, nil)); err != nil {
				t.Fatal(err)
			}
			if placed {
				if err := l.Place(); err != nil {
					t.Fatal(err)
				}
			}
			watched, err := os.Open(filepath.Join(l.folder(), lockFile))
			if err != nil {
				t.Fatal(err)
			}
			defer watched.Close()
			l.Close()
			for flock(watched, unix.LOCK_SH) != nil { // the keeper holds it to its end
			}
			lives, err := d.Lives()
			if err != nil || len(lives) > 0 != placed {
				t.Errorf("lives %v, %v", lives, err)
			}
			for _, l := range lives {
				checkState(t, l, LifeState{})
			}
			if out, err := exists(gone); out || err != nil {
				t.Errorf("the agent was started: %v", err)
			}
			if made, err := exists(filepath.Join(d.Path, newFolder)); made || err != nil {
				t.Errorf("what was made is still there: %v", err)
			}
		})
	}
}

// What is hired and written a second time counts.
func TestKeeperHiredAgain(t *testing.T) {
	l, err := newDir(t).Next()
	if err != nil {
		t.Fatal(err)
	}
	spec := func(say string) Spec {
		return Spec{Argv: []string{"/bin/sh", "-c", "echo " + say + " $WHICH"}, Dir: t.TempDir()}
	}
	long := []byte(strings.Repeat("long ", 99))
	err = errors.Join(
		l.Hire(os.Args[0], append(os.Environ(), "WHICH=one")), l.Write(spec("first"), long, nil),
		l.Hire(os.Args[0], append(os.Environ(), "WHICH=two")), l.Write(spec("second"), []byte("short"), nil),
		l.Place(), l.Start())
	if err != nil {
		t.Fatal(err)
	}
	lines, _ := collect(t, l)
	equal(t, lines[Out], []string{"second two"})
	if prompt, err := l.Prompt(); string(prompt) != "short" || err != nil {
		t.Errorf("prompt %q, %v", prompt, err)
	}
}

// A keeper that dies while it waits is found dead by whoever follows the life.
func TestKeeperDiesWaiting(t *testing.T) {
	l := newLife(t, "exit", "0")
	if err := l.Hire("/bin/true", nil); err != nil {
		t.Fatal(err)
	}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	if err := follow(t, l, nil); !errors.Is(err, ErrKeeperGone) {
		t.Errorf("follow: %v", err)
	}
	checkState(t, *l, LifeState{})
}

// A keeper that could not be started leaves a life that can be.
func TestStartAgainWhenNothingRan(t *testing.T) {
	l := newLife(t, "exit", "0")
	if err := l.Hire("/no/such/program", nil); err == nil {
		t.Fatal("no error")
	}
	if err := l.Start(); err == nil {
		t.Fatal("started without a keeper")
	}
	l.Close()
	if s, err := l.State(); err != nil || s.HasOut || s.Held || s.Exit != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	lives, err := Dir{Path: filepath.Dir(l.Path)}.Lives()
	if err != nil || len(lives) != 1 {
		t.Fatalf("lives %v, %v", lives, err)
	}
	if lives[0].lock, err = lock(filepath.Join(l.Path, lockFile)); err != nil {
		t.Fatal(err)
	}
	lines, exit := run(t, &lives[0])
	equal(t, lines[Out], []string{"bye"})
	if exit.Code != 0 {
		t.Errorf("exit %+v", exit)
	}
}
