package pi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"deckhand/harness"
)

// probeTime bounds `pi --version`.
const probeTime = 5 * time.Second

// install is what to type when pi is missing.
const install = "npm install -g @earendil-works/pi-coding-agent"

// versionForm is a line that holds nothing but a version, perhaps with words
// behind it.
var versionForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^v?(\d+\.\d+\.\d+[-+.0-9A-Za-z]*)(?:\s|$)`) })

func probe(ctx context.Context, a harness.Agent) harness.Probe {
	p := harness.Probe{State: "unavailable", Asks: asksBefore(a.Ask)}
	if len(a.Command) == 0 || a.Command[0] == "" {
		p.Reason, p.Hint = "no command is configured", install
		return p
	}
	if fault := find(&p, a.Command[0], a.Env); fault != nil {
		p.Reason, p.Hint = p.Path+" "+fault.Text, cmp.Or(fault.Hint, install)
		if fault.Missing {
			p.Path = ""
		}
		return p
	}
	out, err := version(ctx, p.Path, a)
	if m := versionForm().FindStringSubmatch(out); m != nil && err == nil {
		p.State, p.Version = "ready", m[1]
		switch {
		case newer(p.Version, Tested):
			p.Reason = fmt.Sprintf("%s is not tested, last tested %s", p.Version, Tested)
		case newer(Oldest, p.Version):
			p.Reason = fmt.Sprintf("%s is not tested, first tested %s", p.Version, Oldest)
		}
		return p
	}
	p.Reason, p.Hint = broken(p.Path, out, err)
	return p
}

// find looks a program up as it will be started: in the agent's own PATH. It
// sets where it is, or the place that is most to blame.
func find(p *harness.Probe, name string, env []string) *harness.Fault {
	p.Path = name
	missing := &harness.Fault{Missing: true, Text: "was not found"}
	if strings.ContainsRune(name, filepath.Separator) {
		p.Tried = []string{name}
		if !filepath.IsAbs(name) { // it would be looked for wherever the daemon was started
			return missing
		}
		fault := harness.CheckProgram(name)
		if fault == nil {
			p.Tried = nil
		}
		return fault
	}
	var blame *harness.Fault
	for _, dir := range filepath.SplitList(pathOf(env)) {
		full := filepath.Join(dir, name)
		if !filepath.IsAbs(full) {
			p.Tried = append(p.Tried, full)
			continue
		}
		fault := harness.CheckProgram(full)
		if fault == nil {
			p.Path, p.Tried = full, nil
			return nil
		}
		p.Tried = append(p.Tried, full)
		if blame == nil && !fault.Missing {
			p.Path, blame = full, fault
		}
	}
	if blame == nil {
		return missing
	}
	return blame
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

// version runs the program once. 0.73 answers on standard error, 1.x on
// standard output.
func version(ctx context.Context, path string, a harness.Agent) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	argv := append([]string{path}, a.Command[1:]...)
	out, err := harness.Look(ctx, append(argv, "--version"), a.Env)
	return string(out), err
}

// broken says why there is no version, and what to do.
func broken(path, out string, err error) (reason, hint string) {
	hint = "try " + path + " --version in a terminal"
	var exit *exec.ExitError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer to --version in time", hint
	case errors.Is(err, context.Canceled):
		return "the look at it was broken off", "deckhand agents"
	case err != nil && !errors.As(err, &exit):
		f := harness.StartFault(path, err)
		return "--version failed: " + f.Text, f.Hint
	}
	why := complaint(strings.Split(out, "\n"))
	switch {
	case strings.Contains(why, "Node.js"):
		hint = "install a newer Node.js, or set its path in the agent's command"
	case exit != nil && exit.ExitCode() == notFound:
		hint = "a program it needs is not on PATH: add its folder to path: in config.yaml"
	}
	switch {
	case exit != nil && why != "":
		return fmt.Sprintf("--version failed (%v): %s", exit, why), hint
	case exit != nil:
		return fmt.Sprintf("--version failed: %v", exit), hint
	case why != "":
		return "--version printed no version: " + why, hint
	}
	return "--version printed nothing", hint
}

// notFound is the exit code with which a shell and env say that they did not
// find a program.
const notFound = 127

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
