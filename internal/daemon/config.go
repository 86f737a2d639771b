package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deckhand/harness"
	"deckhand/harness/pi"
	"deckhand/internal/config"
	"deckhand/watcher"
)

// settingsName is the work folder's own file of preferences.
const settingsName = "deckhand.yaml"

// drivers are the protocols deckhand speaks. A driver is one line here.
func drivers() map[string]harness.Driver {
	out := map[string]harness.Driver{}
	for _, d := range []harness.Driver{pi.New()} {
		out[d.Name()] = d
	}
	return out
}

// configure reads both files. One that is bad does not count: the last good
// one, at a start the defaults, stays in force, and its problems are kept.
func (m *model) configure() error {
	settings, err := readOptional(filepath.Join(m.f.dir, settingsName))
	if err != nil {
		return err
	}
	machine, err := readOptional(m.o.Config)
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	s, problems := config.LoadSettings(settings, settingsName)
	if !config.Bad(problems) {
		m.settings = s
	}
	c, more := config.LoadMachine(machine, m.o.Config, home, slices.Sorted(maps.Keys(m.drivers)))
	m.badMachine = config.Bad(more)
	if !m.badMachine {
		m.machine = c
	}
	m.problems = append(problems, more...)
	return nil
}

func readOptional(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// watchConfig reloads when config.yaml changes. Its folder may not be there yet.
func (d *daemon) watchConfig() {
	dir, name := filepath.Split(d.o.Config)
	if !isDir(dir) {
		d.say("no %s: `deckhand project add` and `deckhand trust` write it; it is read at the next start or command", d.o.Config)
		return
	}
	w, err := watcher.New(filepath.Clean(dir), watcher.Options{
		Skip:     func(rel string, folder bool) bool { return folder || rel != name },
		Debounce: debounce, Ceiling: ceiling, Poll: slowPoll,
	})
	if err != nil {
		d.say("%s: %v", d.o.Config, err)
		return
	}
	d.wg.Go(func() {
		if err := w.Run(d.ctx); err != nil && d.ctx.Err() == nil {
			d.post(func() { d.say("%s: %v", d.o.Config, err) })
		}
	})
	d.wg.Go(func() {
		for range w.Batches() { // the first too: it can have changed before the watch stood
			d.post(d.reload)
		}
	})
}

// reload takes over a changed configuration.
func (d *daemon) reload() {
	before := fmt.Sprint(d.problems)
	lanes, ignore := fmt.Sprint(d.options(), d.settings.Boards, d.machine.Projects), fmt.Sprint(d.settings.Ignore)
	agents := fmt.Sprint(d.machine.Agents, d.machine.Path, d.machine.EnvFile)
	if err := d.configure(); err != nil {
		d.say("configuration: %v", err)
		return
	}
	if now := fmt.Sprint(d.problems); now != before {
		for _, p := range d.problems {
			d.say("%s", p)
		}
	}
	if err := d.f.output(d.settings.Output); err != nil {
		d.say("%v", err)
	}
	if fmt.Sprint(d.machine.Agents, d.machine.Path, d.machine.EnvFile) != agents {
		d.agents = map[string]harness.Probe{}
		d.probe()
	}
	reread := fmt.Sprint(d.options(), d.settings.Boards, d.machine.Projects) != lanes
	if fmt.Sprint(d.settings.Ignore) != ignore {
		d.say("ignore: counts from the next start")
	}
	switch {
	case !d.ready:
	case reread:
		d.rereadAll()
	default:
		d.regrant(false)
	}
	d.dirty = true
}

// rereadAll looks at every note again: what counts as a board, a lane or a
// mention has changed. Nothing is decided before it is done, so that a card is
// not started by a grant that would have found it there already.
func (d *daemon) rereadAll() {
	for _, s := range d.boards {
		s.hash = ""
	}
	d.rereading++
	dir, skip := d.f.dir, d.skip()
	d.wg.Go(func() {
		paths, _, err := list(dir, skip)
		d.look(watcher.Batch{Paths: paths}, func() {
			if err != nil {
				d.say("%s: %v", dir, err)
			}
			d.rereading--
			d.regrant(false)
		})
	})
}

// probe looks at the agents' programs, outside the loop.
func (d *daemon) probe() {
	d.probed = time.Now()
	for name := range d.machine.Agents {
		a, driver, err := d.harnessAgent(name)
		if err != nil {
			d.agents[name] = harness.Probe{State: "unavailable", Reason: err.Error(), Tried: a.Tried}
			continue
		}
		d.queues.add("probe:"+name, func() any {
			ctx, cancel := context.WithTimeout(d.ctx, probeTime)
			defer cancel()
			return driver.Probe(ctx, a.Agent)
		}, func(v any) {
			p := v.(harness.Probe)
			if old, known := d.agents[name]; !known || old.State != p.State || old.Reason != p.Reason {
				d.dirty = true
			}
			d.agents[name] = p
		})
	}
}

// probeTime bounds one look at an agent's program.
const probeTime = 10 * time.Second

// unprobed reports whether an agent has not been looked at yet.
func (d *daemon) unprobed() bool {
	for name := range d.machine.Agents {
		if _, ok := d.agents[name]; !ok {
			return true
		}
	}
	return false
}

// found is an agent as its driver sees it, and where its program was looked for.
type found struct {
	harness.Agent
	Tried []string
}

// harnessAgent resolves a configured agent. The command is found as the
// daemon's own PATH and `path:` say, never by anything in the work folder.
func (m *model) harnessAgent(name string) (found, harness.Driver, error) {
	row, ok := m.machine.Agents[name]
	if !ok {
		return found{}, nil, fmt.Errorf("no agent is called @%s", name)
	}
	driver, ok := m.drivers[row.Driver]
	if !ok {
		return found{}, nil, fmt.Errorf("@%s: driver %s is not in use yet", name, row.Driver)
	}
	a := found{Agent: harness.Agent{Name: name, Driver: row.Driver, Command: row.Command, Model: row.Model, Ask: row.Ask}}
	path := slices.Concat(m.machine.Path, filepath.SplitList(os.Getenv("PATH")))
	argv, tried, err := harness.Resolve(row.Command, name, filepath.Dir(m.o.Config), path)
	a.Tried = tried
	if err == nil {
		a.Command = argv
	}
	file := map[string]string{}
	if m.machine.EnvFile != "" {
		data, err := readOptional(m.machine.EnvFile)
		if err != nil {
			return a, driver, fmt.Errorf("env_file: %w", err)
		}
		if file, err = harness.ParseEnvFile(data); err != nil {
			return a, driver, fmt.Errorf("env_file: %w", err)
		}
	}
	a.Env = harness.Environ(os.Environ(), harness.EnvSpec{Agent: a.Agent, Path: m.machine.Path, File: file})
	return a, driver, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// short paths for people: the home folder as ~.
func tilde(path string) string {
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, home+"/") {
		return "~" + path[len(home):]
	}
	return path
}
