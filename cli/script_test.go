package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rogpeppe/go-internal/testscript"

	"deckhand/internal/control"
	"deckhand/internal/daemon"
)

func TestMain(m *testing.M) {
	// A keeper is started from /proc/self/exe, which is this test.
	if len(os.Args) > 1 && (os.Args[1] == "keep" || os.Args[1] == "standin" || os.Args[1] == "assistant") {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(m, map[string]func(){
		"deckhand": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "up": up, "until": until, "hints": hints},
		Condition:           onPath,
	})
}

// onPath is a condition: whether there is such a program.
func onPath(cond string) (bool, error) {
	_, err := exec.LookPath(cond)
	return err == nil, nil
}

// setup gives a script a home of its own, and an agent pi that is the stand-in.
func setup(e *testscript.Env) error {
	run, err := os.MkdirTemp("/tmp", "dk") // short: a socket's path has 104 bytes
	if err != nil {
		return err
	}
	e.Defer(func() {
		if err := os.RemoveAll(run); err != nil {
			e.T().Log(err)
		}
	})
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	home := filepath.Join(e.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": run, "DECKHAND_DIR": "", "DECKHAND_CONFIG": "",
		"DECKHAND_AGENT_PI": "", "GORACE": "atexit_sleep_ms=0", "EXE": exe, "GIT_CONFIG_GLOBAL": "/dev/null", "TZ": "UTC",
	} {
		e.Setenv(k, v)
	}
	return nil
}

// exits: exits CODE PROGRAM [ARG...] runs a program and wants that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// patience bounds what a script waits for; it decides nothing when all is well.
const patience = time.Minute

// connect waits until a daemon answers for a folder. It is told by the folder
// of the socket that something happened there.
func connect(ctx context.Context, ts *testscript.TestScript, dir string) *control.Client {
	runtime := filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "deckhand")
	ts.Check(os.MkdirAll(runtime, 0o700))
	w, err := fsnotify.NewWatcher()
	ts.Check(err)
	defer w.Close()
	ts.Check(w.Add(runtime))
	path := control.SocketPath(runtime, daemon.Key(ts.MkAbs(dir)))
	for {
		if c, err := control.Connect(ctx, path); err == nil {
			return c
		}
		select {
		case <-w.Events:
		case err := <-w.Errors:
			ts.Fatalf("%v", err)
		case <-ctx.Done():
			ts.Fatalf("no daemon answers")
		}
	}
}

// up: up DIR waits until the daemon of a folder has done its first scan.
func up(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: up DIR")
	}
	statuses(ts, args[0], func(s control.Status) bool { return s.Watch != "" && s.Watch != "scanning" })
}

// until: until DIR TITLE STATUS waits until a card's run is in that state, or,
// with held or queued, until the card is; with prompted, until its agent has said
// something; with notes, until one of those that it was given has changed.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: until DIR TITLE STATUS")
	}
	statuses(ts, args[0], func(s control.Status) bool {
		for _, r := range s.Runs {
			is := map[string]bool{r.Status: true, "prompted": r.Tokens > 0, "notes": len(r.Changed) > 0}
			if strings.Contains(r.Card, args[1]) && is[args[2]] {
				return true
			}
		}
		for _, h := range s.Held {
			if strings.Contains(h.Card, args[1]) && args[2] == "held" {
				return true
			}
		}
		for _, q := range s.Queued {
			if strings.Contains(q.Card, args[1]) && args[2] == "queued" {
				return true
			}
		}
		return false
	})
}

// statuses follows a daemon's status until it is as wanted.
func statuses(ts *testscript.TestScript, dir string, good func(control.Status) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := connect(ctx, ts, dir)
	defer c.Close()
	events, err := c.Events(ctx, 0)
	ts.Check(err)
	var s control.Status
	for e := range events {
		if e.Kind != "snapshot" && e.Kind != "status" {
			continue
		}
		s = control.Status{}
		ts.Check(e.Decode(&s))
		if good(s) {
			return
		}
	}
	data, err := control.Marshal(s)
	ts.Check(err)
	ts.Fatalf("it did not come to that; last: %s", data)
}

// hints: hints [NAME=VALUE...] runs what the last command's hints say to type,
// with words in capitals replaced.
func hints(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: hints [NAME=VALUE...]")
	}
	n := 0
	for line := range strings.SplitSeq(ts.ReadFile("stderr"), "\n") {
		hint, ok := strings.CutPrefix(line, "hint: ")
		if !ok {
			continue
		}
		n++
		for _, a := range args {
			name, value, _ := strings.Cut(a, "=")
			hint = strings.ReplaceAll(hint, name, value)
		}
		if err := ts.Exec("sh", "-c", hint); err != nil {
			ts.Fatalf("%s: %v", hint, err)
		}
	}
	if n == 0 {
		ts.Fatalf("no hint was given")
	}
}

// run calls Main as main does.
func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(args, io.LimitReader(nil, 0), &o, &e)
	return code, o.String(), e.String()
}
