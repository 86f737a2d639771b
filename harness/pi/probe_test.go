package pi

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deckhand/harness"
)

// program writes a shell script that plays pi.
func program(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pi")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name, body, state, version, reason string
	}{
		{"0.73 answers on standard error", "echo 0.73.1 >&2", "ready", "0.73.1", ""},
		{"1.x answers on standard output", "echo 1.6.0", "ready", "1.6.0", ""},
		{"with words", "echo 'v1.2.3 (stand-in)'", "ready", "1.2.3", ""},
		{"a warning before it", "echo 'Warning: old terminal' >&2; echo 1.6.0", "ready", "1.6.0", ""},
		{"newer than tested", "echo 1.19.0", "ready", "1.19.0", "1.19.0 is not tested, last tested " + Tested},
		{"older node", "echo \"SyntaxError: no export named 'enableCompileCache'\" >&2; exit 1", "unavailable", "", "needs a newer Node.js"},
		{"its own reason", "echo 'Error: no home' >&2; exit 3", "unavailable", "", "--version failed (exit status 3): no home"},
		{"says nothing", "exit 0", "unavailable", "", "printed nothing"},
		{"says something else", "echo Usage: pint", "unavailable", "", "printed no version: Usage: pint"},
		{"a version and a failure", "echo 1.6.0; exit 1", "unavailable", "", "--version failed"},
		{"not for this machine", "", "unavailable", "", ""}, // replaced below
		{"a child that keeps the pipe", "sleep 5 & echo 1.6.0", "ready", "1.6.0", ""},
		{"asks on a terminal", "read answer; echo 1.6.0", "ready", "1.6.0", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := program(t, c.body)
			if c.body == "" {
				if err := os.WriteFile(path, []byte{0x7f, 'E', 'L', 'F', 0}, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			p := New().Probe(t.Context(), harness.Agent{Command: []string{path}})
			if p.State != c.state || p.Version != c.version || !strings.Contains(p.Reason, c.reason) || p.Path != path {
				t.Errorf("%+v", p)
			}
			if c.state == "unavailable" && (p.Reason == "" || p.Hint == "") {
				t.Errorf("no reason, or no hint: %+v", p)
			}
			if p.Asks != "nothing" {
				t.Errorf("asks before %q", p.Asks)
			}
		})
	}
}

func TestProbeBounded(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	p := New().Probe(ctx, harness.Agent{Command: []string{program(t, "exec sleep 600")}})
	if p.State != "unavailable" || !strings.Contains(p.Reason, "no answer to --version") {
		t.Errorf("%+v", p)
	}
}

func TestProbeMissing(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(a, "pi"), []byte("not to be run"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := New().Probe(t.Context(), harness.Agent{
		Command: []string{"pi"},
		Env:     []string{"PATH=/nowhere", fmt.Sprintf("PATH=%s:relative:%s", a, b)},
	})
	want := []string{filepath.Join(a, "pi"), "relative/pi", filepath.Join(b, "pi")}
	plain := filepath.Join(a, "pi")
	if p.State != "unavailable" || strings.Join(p.Tried, " ") != strings.Join(want, " ") || p.Reason != plain+" is not executable" || p.Hint != "chmod +x "+plain {
		t.Errorf("%+v", p)
	}
	if p := New().Probe(t.Context(), harness.Agent{Command: []string{"pi"}, Env: []string{"PATH=" + b}}); p.Reason != "pi was not found" || p.Hint != install || p.Path != "" {
		t.Errorf("%+v", p)
	}
	if p := New().Probe(t.Context(), harness.Agent{Command: []string{"/nowhere/pi"}}); p.Reason != "/nowhere/pi was not found" || len(p.Tried) != 1 {
		t.Errorf("%+v", p)
	}
	if p := New().Probe(t.Context(), harness.Agent{}); p.State != "unavailable" || p.Reason == "" {
		t.Errorf("%+v", p)
	}
}

// An agent that is there and cannot be started is not said to be missing.
func TestProbeCannotStart(t *testing.T) {
	dir := t.TempDir()
	at := func(name, body string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(body), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/nowhere/pi", link); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o755); err != nil {
		t.Fatal(err)
	}
	plain := at("plain", "#!/bin/sh\n", 0o644)
	spaced := at("two words", "#!/bin/sh\n", 0o644)
	file := at("file", "x", 0o644)
	for _, c := range []struct{ path, reason, hint string }{
		{plain, " is not executable", "chmod +x " + plain},
		{spaced, " is not executable", "chmod +x '" + spaced + "'"},
		{dir, " is a folder", "name the program"},
		{link, " is a link to /nowhere/pi, which is not there", "correct the link"},
		{fifo, " is not a file", "name a program"},
		{filepath.Join(file, "pi"), " was not found", install},
		{at("script", "#!/nowhere/sh -e\n", 0o755), "--version failed: its interpreter /nowhere/sh was not found", "correct the first line of "},
		{at("tabs", "#! /nowhere/env\tnode\n", 0o755), "--version failed: its interpreter /nowhere/env was not found", "correct the first line of "},
		{at("plainer", "#!"+plain+"\n", 0o755), "--version failed: its interpreter " + plain + " is not executable", "correct the first line of "},
		{at("windows", "#!/bin/sh\r\necho 1.6.0\r\n", 0o755), "--version failed: it has Windows line ends", "sed -i "},
		{at("empty", "", 0o755), "--version failed: it is neither a program nor a script", "#!/bin/sh"},
		{at("binary", "\x7fELF\x00", 0o755), "--version failed: it is not a program for this machine", "install it for this system"},
		{at("lacks", "#!/bin/sh\nexec no-such-program-anywhere\n", 0o755), "--version failed (exit status 127): ", "path: in config.yaml"},
	} {
		p := New().Probe(t.Context(), harness.Agent{Command: []string{c.path}})
		if p.State != "unavailable" || !strings.Contains(p.Reason, c.reason) || !strings.Contains(p.Hint, c.hint) {
			t.Errorf("%s: %+v", filepath.Base(c.path), p)
		}
	}
	if p := New().Probe(t.Context(), harness.Agent{Command: []string{"./pi"}}); p.Reason != "./pi was not found" {
		t.Errorf("looked for where the daemon happens to be: %+v", p)
	}
}

func TestNewer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"1.10.0", "1.9.0", true}, {"1.6.0", "1.6.0", false}, {"0.73.1", "1.6.0", false}, {"1.6.1-beta.2", "1.6.0", true}, {"2", "1.6.0", true}, {"x.y", "1.0", false}} {
		if got := newer(c.a, c.b); got != c.want {
			t.Errorf("%s newer than %s: %v", c.a, c.b, got)
		}
	}
}
