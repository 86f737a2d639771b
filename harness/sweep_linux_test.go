package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tool reads the number of the tool that a stray agent started.
func toolOf(t *testing.T, l *Life) (pid int) {
	t.Helper()
	line := until(t, l, "tool ")
	if _, err := fmt.Sscanf(string(line.Data), "tool %d", &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// A tool in a session of its own survives its agent; the sweep finds it.
func TestSweepFindsTools(t *testing.T) {
	for _, style := range []string{"wait", "deaf"} {
		t.Run(style, func(t *testing.T) {
			l := newLife(t, "stray", style)
			start(t, l)
			pid := toolOf(t, l)
			send(t, l, Send{ID: "e", Do: DoEOF})
			collect(t, l)
			if err := unix.Kill(pid, 0); err != nil {
				t.Fatalf("the tool ended with its agent: %v", err)
			}
			ended, kept, err := Sweep(t.Context(), l.Token(), nil)
			if err != nil || len(kept) != 0 || len(ended) != 1 || ended[0].PID != pid {
				t.Errorf("swept %v, kept %v, %v", ended, kept, err)
			}
			if ended, _, err := Sweep(t.Context(), l.Token(), nil); err != nil || len(ended) != 0 {
				t.Errorf("a second sweep: %v, %v", ended, err)
			}
		})
	}
}

func TestSweepKeeps(t *testing.T) {
	l := newLife(t, "stray", "fork", "1")
	start(t, l)
	pid := toolOf(t, l)
	name := procName(pid)
	send(t, l, Send{ID: "e", Do: DoEOF})
	collect(t, l)
	ended, kept, err := Sweep(t.Context(), l.Token(), []string{"tmux", name})
	if err != nil || len(ended) != 0 || len(kept) == 0 || kept[0].PID != pid {
		t.Errorf("swept %v, kept %v, %v", ended, kept, err)
	}
	// Only the exact token counts: run/1 is not run/10, nor another variable.
	for _, other := range []string{strings.TrimSuffix(l.Token(), "1"), l.Token() + "0", "x" + l.Token()} {
		if ended, kept, err := Sweep(t.Context(), other, nil); err != nil || len(ended)+len(kept) != 0 {
			t.Errorf("%s: swept %v, kept %v, %v", other, ended, kept, err)
		}
	}
}

// Processes that start others while they are swept are all found in the end.
func TestSweepForks(t *testing.T) {
	l := newLife(t, "stray", "fork", "3")
	start(t, l)
	toolOf(t, l)
	send(t, l, Send{ID: "k", Do: DoKill})
	collect(t, l)
	if ended, _, err := Sweep(t.Context(), l.Token(), nil); err != nil || len(ended) == 0 {
		t.Errorf("swept %v, %v", ended, err)
	}
	checkNoneLeft(t, l)
}

func TestSweepNeverEndsItself(t *testing.T) {
	s := sweep{token: "HOME=" + os.Getenv("HOME")} // what this process was started with
	if !s.carries(os.Getpid()) {
		t.Skip("started without HOME")
	}
	found, kept, err := s.find()
	defer closeStrays(found)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		if p.PID == os.Getpid() {
			t.Error("would end itself")
		}
	}
	if len(kept) != 0 {
		t.Errorf("kept %v", kept)
	}
}

func TestSweepEndsWithItsContext(t *testing.T) {
	l := newLife(t, "deaf")
	start(t, l)
	until(t, l, "ready")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Sweep(ctx, l.Token(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("sweep: %v", err)
	}
}

// Started and killed at once, over and over: each life ends with an exit, or as
// one whose keeper is gone, and nothing of it is left alive.
func TestStartAndKill(t *testing.T) {
	rounds := 60
	if testing.Short() || raceEnabled {
		rounds = 30
	}
	d := newDir(t)
	gone := 0
	for i := range rounds {
		l := newLifeIn(t, d, "stray", "wait")
		start(t, l)
		[]func(*testing.T, *Life){killAgent, killStartingKeeper, killKeeper}[i%3](t, l)
		switch err := follow(t, l, nil); {
		case errors.Is(err, ErrKeeperGone):
			gone++
		case err != nil:
			t.Fatalf("round %d: %v", i, err)
		default:
			exitOf(t, l)
		}
		if _, _, err := Sweep(t.Context(), l.Token(), nil); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		checkNoneLeft(t, l)
	}
	if gone < rounds/3 || gone == rounds {
		t.Errorf("%d of %d keepers were gone; a third of the agents were killed, a third of the keepers for sure", gone, rounds)
	}
}

func checkNoneLeft(t *testing.T, l *Life) {
	t.Helper()
	s := sweep{token: TokenVar + "=" + l.Token()}
	left, _, err := s.find()
	closeStrays(left)
	if err != nil || len(left) > 0 {
		t.Fatalf("left of %s: %v, %v", l.Token(), left, err)
	}
}

// killAgent has the agent killed as soon as the keeper listens.
func killAgent(t *testing.T, l *Life) { send(t, l, Send{ID: "k", Do: DoKill}) }

// killStartingKeeper kills the keeper as soon as its number is known.
func killStartingKeeper(_ *testing.T, l *Life) {
	for l.pid() == 0 {
		if held, err := l.held(); err != nil || !held {
			return
		}
	}
	_ = unix.Kill(l.pid(), unix.SIGKILL)
}

// killKeeper kills the keeper once its agent runs.
func killKeeper(t *testing.T, l *Life) {
	until(t, l, RemarkStarted)
	_ = unix.Kill(l.pid(), unix.SIGKILL)
}
