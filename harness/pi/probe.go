package pi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"deckhand/harness"
)

// probeTime bounds `pi --version`.
const probeTime = 5 * time.Second

// install is what to type when pi is missing.
const install = "npm install -g @earendil-works/pi-coding-agent"

// versionForm is a line that holds nothing but a version, perhaps with words
// behind it.
var versionForm = regexp.MustCompile(`(?m)^v?(\d+\.\d+\.\d+[-+.0-9A-Za-z]*)(?:\s|$)`)

func probe(ctx context.Context, a harness.Agent) harness.Probe {
	p := harness.Probe{State: "unavailable", Asks: "nothing"}
	if len(a.Command) == 0 || a.Command[0] == "" {
		p.Reason, p.Hint = "no command is configured", install
		return p
	}
	p.Path, p.Tried = find(a.Command[0], a.Env)
	if p.Path == "" {
		p.Reason, p.Hint = a.Command[0]+" was not found", install
		return p
	}
	out, err := version(ctx, p.Path, a)
	if m := versionForm.FindStringSubmatch(out); m != nil && err == nil {
		p.State, p.Version = "ready", m[1]
		if newer(p.Version, Tested) {
			p.Reason = fmt.Sprintf("%s is not tested, last tested %s", p.Version, Tested)
		}
		return p
	}
	p.Reason = broken(out, err)
	if strings.Contains(p.Reason, "Node.js") {
		p.Hint = "install a newer Node.js, or set its path in the agent's command"
	}
	return p
}

// find looks a program up as it will be started: in the agent's own PATH.
func find(name string, env []string) (path string, tried []string) {
	if strings.ContainsRune(name, filepath.Separator) {
		if runnable(name) {
			return name, nil
		}
		return "", []string{name}
	}
	for _, dir := range filepath.SplitList(pathOf(env)) {
		full := filepath.Join(dir, name)
		if filepath.IsAbs(full) && runnable(full) {
			return full, nil
		}
		tried = append(tried, full)
	}
	return "", tried
}

func pathOf(env []string) string {
	if env == nil {
		return os.Getenv("PATH")
	}
	path := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			path = v
		}
	}
	return path
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// version runs the program once. 0.73 answers on standard error, 1.x on
// standard output.
func version(ctx context.Context, path string, a harness.Agent) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(a.Command[1:len(a.Command):len(a.Command)], "--version")...)
	cmd.Env = a.Env
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe
	var out limited
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return string(out), err
}

// limited keeps the beginning of what is written to it.
type limited []byte

func (l *limited) Write(p []byte) (int, error) {
	const limit = 64 << 10
	*l = append(*l, p[:min(len(p), limit-len(*l))]...)
	return len(p), nil
}

func broken(out string, err error) string {
	var exit *exec.ExitError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer to --version in time"
	case errors.Is(err, context.Canceled):
		return "the look at it was broken off"
	case errors.Is(err, fs.ErrPermission):
		return "it may not be run"
	}
	why := complaint(strings.Split(out, "\n"))
	switch {
	case errors.As(err, &exit) && why != "":
		return fmt.Sprintf("--version failed (%v): %s", exit, why)
	case err != nil:
		return fmt.Sprintf("--version failed: %v", err)
	case why != "":
		return "--version printed no version: " + why
	}
	return "--version printed nothing"
}

// newer compares two versions by their numbers.
func newer(a, b string) bool {
	x, y := numbers(a), numbers(b)
	for i := range x {
		if x[i] != y[i] {
			return x[i] > y[i]
		}
	}
	return false
}

func numbers(v string) (out [3]int) {
	for i, part := range strings.SplitN(v, ".", 3) {
		digits := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if digits >= 0 {
			part = part[:digits]
		}
		out[i], _ = strconv.Atoi(part)
	}
	return out
}
