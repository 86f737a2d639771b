package harness

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// newLife makes a life of a test agent. What it leaves behind ends with the test.
func newLife(t testing.TB, style string, args ...string) *Life {
	t.Helper()
	return newLifeIn(t, newDir(t), style, args...)
}

// newRun is a run's id that no other test of this machine has: the sweep ends
// whatever carries it.
func newRun() string { return strings.ToLower(rand.Text()) }

func newLifeIn(t testing.TB, d Dir, style string, args ...string) *Life {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := lifeOf(d, Spec{Argv: append([]string{exe, "agent", style}, args...), Dir: t.TempDir()}, []byte("prompt"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		endLife(t, *l)
	})
	return l
}

// lifeOf makes a life that is in its place and has no keeper.
func lifeOf(d Dir, spec Spec, prompt []byte, first []Send) (*Life, error) {
	l, err := d.Next()
	if err != nil {
		return nil, err
	}
	if err = l.Write(spec, prompt, first); err == nil {
		err = l.Place()
	}
	if err != nil {
		l.Close()
	}
	return l, err
}

// endLife ends whatever still lives of a life.
func endLife(t testing.TB, l Life) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := l.Send(Send{ID: "cleanup", Do: DoKill}); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, _, err := Sweep(ctx, l.Token(), nil); err != nil && !errors.Is(err, ErrNotSwept) {
		t.Error(err)
	}
	if err := l.Follow(ctx, new(Watches), func(Line) error { return nil }); errors.Is(err, context.DeadlineExceeded) {
		t.Error("keeper did not end")
	}
}

func start(t testing.TB, l *Life, env ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Hire(exe, append(os.Environ(), env...)), l.Start()); err != nil {
		t.Fatal(err)
	}
}

func send(t testing.TB, l *Life, rows ...Send) {
	t.Helper()
	if err := l.Send(rows...); err != nil {
		t.Fatal(err)
	}
}

// follow follows a life, calling fn for each line, to its end.
func follow(t testing.TB, l *Life, fn func(Line)) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	seq := int64(0)
	err := l.Follow(ctx, new(Watches), func(line Line) error {
		if seq++; line.Seq != seq {
			t.Fatalf("line %d came as number %d", line.Seq, seq)
		}
		if fn != nil {
			fn(line)
		}
		return nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatal("the life did not end")
	}
	return err
}

// run starts a life and collects the lines of its streams up to its end.
func run(t testing.TB, l *Life) (lines map[Stream][]string, exit Exit) {
	t.Helper()
	start(t, l)
	return collect(t, l)
}

func collect(t testing.TB, l *Life) (lines map[Stream][]string, exit Exit) {
	t.Helper()
	lines = map[Stream][]string{}
	if err := follow(t, l, func(line Line) {
		lines[line.Stream] = append(lines[line.Stream], string(line.Data))
	}); err != nil {
		t.Fatal(err)
	}
	return lines, exitOf(t, l)
}

func exitOf(t testing.TB, l *Life) Exit {
	t.Helper()
	s, err := l.State()
	if err != nil {
		t.Fatal(err)
	}
	if !s.HasOut || s.Held || s.Exit == nil {
		log, _ := os.ReadFile(filepath.Join(l.Path, keeperLog))
		t.Fatalf("after the end: %+v, keeper says %q", s, log)
	}
	return *s.Exit
}

// until follows a life up to a line that holds text.
func until(t testing.TB, l *Life, text string) Line {
	t.Helper()
	found := errors.New("found")
	var at Line
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	err := l.Follow(ctx, new(Watches), func(line Line) error {
		if bytes.Contains(line.Data, []byte(text)) {
			at = line
			return found
		}
		return nil
	})
	if !errors.Is(err, found) {
		t.Fatalf("no line with %q: %v", text, err)
	}
	return at
}

func equal(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
