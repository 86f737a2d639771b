package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"deckhand/internal/control"
	"deckhand/internal/shell"
	"deckhand/internal/store"
)

// Agents looks at every configured agent's program.
func Agents(ctx context.Context, o Options) ([]control.Agent, error) {
	f, err := openFolder(o.Dir, o.State)
	if err != nil {
		return nil, err
	}
	m := newModel(o, f)
	if err := m.configure(); err != nil {
		return nil, err
	}
	out := []control.Agent{}
	for _, name := range slices.Sorted(maps.Keys(m.machine.Agents)) {
		p := m.probeNow(ctx, name)
		out = append(out, control.Agent{
			Name: name, Driver: m.machine.Agents[name].Driver, State: p.State, Version: p.Version, Path: p.Path,
			Asks: cmp.Or(p.Asks, "nothing"), Reason: p.Reason, Hint: p.Hint, Tried: p.Tried,
		})
	}
	return out, nil
}

// Doctor checks what deckhand needs, each with what to do about it.
func Doctor(ctx context.Context, o Options) ([]control.Check, error) {
	f, err := openFolder(o.Dir, o.State)
	if err != nil {
		return nil, err
	}
	m, s, err := scanned(o, f, "")
	if err != nil {
		return nil, err
	}
	defer s.Close() // only read from
	m.mine = readMachine(f.dir, m.settings.Output, o.State)
	var out []control.Check
	for _, check := range []func() control.Check{
		m.checkConfig, m.checkTrust, m.checkSwap, m.checkWatches, checkGit, m.checkNotify, m.checkState, m.checkRuns, m.checkBoards,
	} {
		out = append(out, check())
	}
	for _, name := range slices.Sorted(maps.Keys(m.machine.Projects)) {
		p := m.ground.project(name)
		out = append(out, control.Check{Name: "project " + name, OK: p.Why.Text == "", Text: textOr(p.Why.Text, tilde(p.Folder)), Hint: p.Why.Hint})
	}
	for _, name := range slices.Sorted(maps.Keys(m.machine.Agents)) {
		p := m.probeNow(ctx, name)
		ok := p.State == "ready" || p.State == "installed"
		out = append(out, control.Check{Name: "agent " + name, OK: ok, Text: textOr(p.Reason, strings.TrimSpace(p.State+" "+p.Version)), Hint: p.Hint})
	}
	return out, nil
}

func textOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (m *model) checkConfig() control.Check {
	c := control.Check{Name: "configuration", OK: true, Text: tilde(m.o.Config)}
	var texts []string
	for _, p := range m.problems {
		texts = append(texts, p.String())
		c.OK = c.OK && p.Warning
		c.Hint = textOr(c.Hint, p.Hint)
	}
	if len(texts) > 0 {
		c.Text = strings.Join(texts, "\n")
	}
	return c
}

func (m *model) checkTrust() control.Check {
	why := m.held()
	return control.Check{Name: "work folder", OK: why.Text == "", Text: textOr(why.Text, tilde(m.f.dir)+" is trusted and run by this machine"), Hint: why.Hint}
}

func (m *model) checkSwap() control.Check {
	caps, err := store.Capabilities(m.f.dir)
	c := control.Check{Name: "safe writes", OK: err == nil && caps.Exchange && caps.Leases, Text: "files are swapped under leases"}
	switch {
	case err != nil:
		c.Text = err.Error()
	case !caps.Exchange:
		c.Text = "this file system cannot exchange two files: the last compare before a rename stands in"
	case !caps.Leases:
		c.Text = "this file system has no leases: two equal looks at a file stand in"
	}
	return c
}

func checkGit() control.Check {
	out, err := exec.Command("git", "version").Output()
	if err != nil {
		return control.Check{Name: "git", Text: "git is not on PATH: what agents changed cannot be shown", Hint: "install git 2.30 or newer"}
	}
	return control.Check{Name: "git", OK: true, Text: strings.TrimSpace(string(out)) + " (oldest that works: 2.30)"}
}

func (m *model) checkState() control.Check {
	c := control.Check{Name: "state", OK: true, Text: tilde(m.f.state)}
	if _, err := os.Stat(m.f.state); errors.Is(err, os.ErrNotExist) {
		c.Text += " (not made yet)"
		return c
	}
	var st unix.Statfs_t
	if err := unix.Statfs(m.f.state, &st); err == nil {
		free := uint64(st.Bavail) * uint64(st.Bsize)
		c.Text = fmt.Sprintf("%s, %d MB free", c.Text, free/1e6)
		if free < 200e6 {
			c.OK, c.Hint = false, "free some disk space"
		}
	}
	return c
}

// checkRuns looks whether every run can be read.
func (m *model) checkRuns() control.Check {
	c := control.Check{Name: "runs", OK: true}
	if err := m.load(); err != nil {
		c.OK, c.Text = false, err.Error()
		return c
	}
	c.Text = plural(len(m.runs), "run", "runs")
	if len(m.broken) > 0 {
		c.OK, c.Text, c.Hint = false, strings.Join(m.broken, "\n"), "move the folder out of "+shell.Path(tilde(m.f.path("runs")))
	}
	return c
}

func (m *model) checkBoards() control.Check {
	c := control.Check{Name: "boards", OK: true, Text: plural(len(m.boards), "board", "boards")}
	for _, p := range m.faults() {
		if strings.HasSuffix(p.Where, ".md") || strings.Contains(p.Where, ".md:") {
			c.OK = false
			c.Text += "\n" + p.Where + ": " + p.Text
		}
	}
	if len(m.boards) == 0 {
		c.OK, c.Hint = false, "deckhand init --sample "+shell.Path(tilde(m.f.dir))
	}
	return c
}
