package daemon

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

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

// loaded is what both files of the configuration say.
type loaded struct {
	err      error // one could not be read
	settings config.Settings
	bad      bool // deckhand.yaml has errors
	machine  config.Machine
	badToo   bool // config.yaml has
	problems []config.Problem
	output   string // why nothing may be written to output:, if so
	ground   ground
}

// loader reads the configuration; it may be called outside the loop.
func (m *model) loader() func() loaded {
	dir, path, drivers := m.f.dir, m.o.Config, slices.Sorted(maps.Keys(m.drivers))
	state, outputs, output, exe := m.o.State, slices.Clone(m.f.file.Outputs), m.settings.Output, m.o.Exe
	return func() loaded {
		settings, unread := readOptional(filepath.Join(dir, settingsName), settingsMost)
		machine, err := readOptional(path, settingsMost)
		if err != nil {
			return loaded{err: err}
		}
		home, err := os.UserHomeDir()
		if err != nil {
			return loaded{err: err}
		}
		var l loaded
		var more []config.Problem
		l.settings, l.problems = config.LoadSettings(settings, settingsName)
		if unread != nil { // it is anybody's, so it stops nothing: the last good one counts
			l.problems = []config.Problem{{File: settingsName, Line: 1, Col: 1, Text: "it cannot be read: " + bare(unread)}}
		}
		l.bad = config.Bad(l.problems)
		l.machine, more = config.LoadMachine(machine, path, home, drivers)
		l.badToo = config.Bad(more)
		addAssistant(&l.machine, path, exe)
		l.problems = append(l.problems, more...)
		if !l.bad {
			output = l.settings.Output
		}
		l.output = checkOutput(dir, output, outputs)
		l.ground = lookGround(l.machine, dir, state)
		return l
	}
}

// configure reads both files.
func (m *model) configure() error {
	l := m.loader()()
	m.configured(l)
	return l.err
}

// configured takes over a configuration. A file that is bad does not count: the
// last good one, at a start the defaults, stays in force, and its problems are
// kept.
func (m *model) configured(l loaded) {
	if l.err != nil {
		return
	}
	if !l.bad {
		m.settings = l.settings
		ignore := globs(l.settings.Ignore)
		m.ignore.Store(&ignore)
	}
	if !l.badToo {
		m.machine, m.ground = l.machine, l.ground
	}
	m.badMachine, m.problems, m.badOutput = l.badToo, l.problems, l.output
}

// checkOutput says why a folder must not become the one deckhand writes to.
// Nothing below an output is ever a board, so one that holds a person's notes
// would make them vanish. One that is ours already may hold what they like.
func checkOutput(dir, output string, ours []string) string {
	if slices.Contains(ours, output) {
		return ""
	}
	at := filepath.Join(dir, filepath.FromSlash(output))
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return "output: " + output + " cannot be read: " + cause(err)
	case !info.IsDir():
		return "output: " + output + " is not a folder"
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return "output: " + output + " cannot be read: " + cause(err)
	}
	for _, e := range entries {
		switch e.Name() {
		case "chats", "journal", "proposals", needsName, machineName:
		default:
			if !strings.HasPrefix(e.Name(), ".") {
				return "output: " + output + " holds things of yours (" + e.Name() + "): deckhand needs a folder of its own"
			}
		}
	}
	return ""
}

// Most bytes of a file that is read as a whole: of one that a person has
// written for us, and of one that we keep.
const (
	settingsMost = 1 << 20
	oursMost     = 64 << 20
)

// bare is an error without the path that it is about.
func bare(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// readRegular reads a file that may be anything: a pipe in its place must not
// make deckhand wait for a writer.
func readRegular(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d MB", most>>20)}
	}
	return data, err
}

func readOptional(path string, most int64) ([]byte, error) {
	data, err := readRegular(path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// watchConfig reloads when config.yaml changes. Its folder may not be there
// yet: then it is watched when a command has made it.
func (d *daemon) watchConfig() {
	dir, name := filepath.Split(d.o.Config)
	if d.config || !isDir(dir) {
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
	d.config = true
	d.wg.Go(func() {
		if err := w.Run(d.ctx); err != nil && d.ctx.Err() == nil {
			d.say("%s: %v", d.o.Config, err)
		}
	})
	d.wg.Go(func() {
		for range w.Batches() { // the first too: it can have changed before the watch stood
			d.post(func() { d.reload(nil) })
		}
	})
}

// reload takes over a changed configuration; then runs when it is in force and
// everything it means is known.
func (d *daemon) reload(then func()) {
	load := d.loader()
	d.watchConfig()
	d.queues.add("config", func() any { return load() }, func(v any) {
		l := v.(loaded)
		if l.err != nil {
			d.say("configuration: %v", l.err)
		} else {
			d.takeOver(l)
		}
		d.afterReading(then)
	})
}

// takeOver makes a configuration the one in force, with all that follows.
func (d *daemon) takeOver(l loaded) {
	was, wasMachine, opts, problems := d.settings, d.machine, d.options(), d.problems
	d.configured(l)
	if !reflect.DeepEqual(d.problems, problems) {
		for _, p := range d.problems {
			d.say("%s", p)
		}
	}
	if d.settings.Output != was.Output {
		d.newOutput()
	}
	if !reflect.DeepEqual(d.machine.Agents, wasMachine.Agents) || !slices.Equal(d.machine.Path, wasMachine.Path) || d.machine.EnvFile != wasMachine.EnvFile {
		d.agents = map[string]harness.Probe{}
		d.probe()
	}
	d.store.Settle(d.quiet())
	ignored := !slices.Equal(d.settings.Ignore, was.Ignore)
	if ignored && d.watch != nil {
		d.watch.Rescan()
	}
	if ignored || !reflect.DeepEqual(d.options(), opts) || !slices.Equal(d.settings.Boards, was.Boards) || !reflect.DeepEqual(boardsOf(d.machine), boardsOf(wasMachine)) {
		d.rereadAll(nil)
	}
	d.dirty = true
}

// boardsOf are the boards that the projects name.
func boardsOf(c config.Machine) map[string][]string {
	out := map[string][]string{}
	for name, p := range c.Projects {
		out[name] = p.Boards
	}
	return out
}

// newOutput begins to write to another folder. Who may run the work folder
// stays as it was.
func (d *daemon) newOutput() {
	if d.badOutput != "" {
		return // nothing is written there: held says so
	}
	if err := d.f.output(d.settings.Output); err != nil {
		d.say("%v", err)
	}
	d.page.shape = ""
	if d.mine.here && !d.f.file.Away {
		d.takeFolder(claimFree, nil)
		return
	}
	d.lookMachine()
}

// rereadAll looks at every note again: what counts as a board, a lane or a
// mention has changed. Nothing is decided before it is done, so that a card is
// not started by a grant that would have found it there already.
func (d *daemon) rereadAll(then func()) {
	d.rereading++
	dir, skip := d.f.dir, d.skip()
	d.queues.add("list", func() any {
		paths, _, err := list(dir, skip)
		return listed{paths, err}
	}, func(v any) {
		l := v.(listed)
		if l.err != nil {
			d.say("%s: %v", dir, l.err)
		}
		for path := range d.boards { // those that are left out now, too
			l.paths = append(l.paths, path)
		}
		slices.Sort(l.paths)
		d.look(watcher.Batch{Paths: slices.Compact(l.paths)}, func() {
			d.rereading--
			d.dirty = true
			d.afterReading(then)
		})
	})
}

type listed struct {
	paths []string
	err   error
}

// afterReading does what has to wait until the boards are what the configuration
// says; at once, when they are.
func (d *daemon) afterReading(then func()) {
	if then != nil {
		d.afterwards = append(d.afterwards, then)
	}
	if !d.ready || d.rereading > 0 {
		return
	}
	all := d.afterwards
	d.afterwards = nil
	d.regrant(false)
	for _, fn := range all {
		fn()
	}
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
	argv, tried, _ := harness.Resolve(row.Command, name, filepath.Dir(m.o.Config), path)
	a.Tried = tried
	if argv != nil { // one that cannot be run, too: its driver says what is wrong with it
		a.Command = argv
	}
	file := map[string]string{}
	if m.machine.EnvFile != "" {
		data, err := readOptional(m.machine.EnvFile, settingsMost)
		if err != nil {
			return a, driver, fmt.Errorf("env_file: %w", err)
		}
		if file, err = harness.ParseEnvFile(data); err != nil {
			return a, driver, fmt.Errorf("env_file: %w", err)
		}
	}
	spec := harness.EnvSpec{Agent: a.Agent, Path: m.machine.Path, File: file}
	if name == assistantName {
		spec = m.assistantEnv(spec)
	}
	a.Env = harness.Environ(os.Environ(), spec)
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
