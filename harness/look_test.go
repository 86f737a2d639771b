package harness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// script writes a shell script.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// noneCarries checks that no process carries a token any more.
func noneCarries(t *testing.T, token string) {
	t.Helper()
	ended, kept, err := Sweep(t.Context(), token, nil)
	if errors.Is(err, ErrNotSwept) {
		t.Skip(err)
	}
	if err != nil || len(ended)+len(kept) > 0 {
		t.Errorf("left behind: %v %v, %v", ended, kept, err)
	}
}

// What an agent starts when it is only looked at ends with the look.
func TestLookLeavesNothing(t *testing.T) {
	for name, body := range map[string]string{
		"in its group":             "sleep 1000 & echo 1.6.0",
		"in a session of its own":  "setsid sleep 1000 & echo 1.6.0",
		"with the pipe":            "setsid sh -c 'sleep 1000; echo late' & echo 1.6.0",
		"deaf":                     "setsid sh -c 'trap \"\" TERM; echo $$ >&3; while :; do sleep 1000; done' 3>\"$0.up\" & read up <\"$0.up\"; echo 1.6.0",
		"with another environment": "DECKHAND_RUN=x/1 sleep 1000 & echo 1.6.0",
	} {
		t.Run(name, func(t *testing.T) {
			path := script(t, body)
			if err := unix.Mkfifo(path+".up", 0o600); err != nil {
				t.Fatal(err)
			}
			token := "look/" + t.Name()
			out, err := lookAs(t.Context(), token, []string{path}, nil)
			if err != nil || string(out) != "1.6.0\n" {
				t.Errorf("%q, %v", out, err)
			}
			noneCarries(t, token)
		})
	}
}

// An agent that does not answer is ended with what it waits for.
func TestLookEndsWithItsContext(t *testing.T) {
	for _, body := range []string{"sleep 1000", "setsid sleep 1000; :", "trap '' TERM; sleep 1000; sleep 1000"} {
		path := script(t, "echo early; echo up >\"$0.up\"; "+body)
		if err := unix.Mkfifo(path+".up", 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, _ = os.ReadFile(path + ".up") // it runs
			cancel()
		}()
		token := "look/" + filepath.Base(filepath.Dir(filepath.Dir(path)))
		out, err := lookAs(ctx, token, []string{path}, nil)
		if !errors.Is(err, context.Canceled) || string(out) != "early\n" {
			t.Errorf("%s: %q, %v", body, out, err)
		}
		noneCarries(t, token)
	}
}

func TestLook(t *testing.T) {
	out, err := Look(t.Context(), []string{script(t, "echo $A; echo err >&2; exit 3"), "--version"}, []string{"A=b"})
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || string(out) != "b\nerr\n" {
		t.Errorf("%q, %v", out, err)
	}
	if out, err = Look(t.Context(), []string{script(t, "head -c 300000 /dev/zero | tr '\\0' x")}, nil); err != nil || !bytes.Equal(out, bytes.Repeat([]byte("x"), lookMost)) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	if _, err = Look(t.Context(), []string{"/nowhere/pi"}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	one, _ := Look(t.Context(), []string{script(t, "echo $"+TokenVar)}, nil)
	two, _ := Look(t.Context(), []string{script(t, "echo $"+TokenVar)}, []string{TokenVar + "=run/1"})
	if !strings.HasPrefix(string(one), "look/") || !strings.HasPrefix(string(two), "look/") || string(one) == string(two) {
		t.Errorf("tokens %q and %q", one, two)
	}
}
