package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"
)

// Names that a mention or a tag can hold. Mentions are lower case and exact.
var (
	agentName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`) })
	projectName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN][\pL\pM\pN _.-]*$`) })
)

// LoadMachine reads config.yaml. path is the file's own, to which relative
// commands refer; home is what ~ stands for; drivers are the names of the
// drivers that exist. What cannot be read has its default.
func LoadMachine(src []byte, path, home string, drivers []string) (Machine, []Problem) {
	r, m := &reader{file: path}, DefaultMachine()
	if n := r.parse(src); n != nil {
		fs := m.fields(r, filepath.Dir(path), home, drivers)
		r.mapping(n, filepath.Base(path), fs, func(key *yaml.Node) { r.unknownMachine(key, fs) })
	}
	return m, r.problems
}

func (m *Machine) fields(r *reader, dir, home string, drivers []string) fields {
	return fields{
		"max_running":  {set: value(r, "max_running", &m.MaxRunning, count(1, 1000))},
		"run":          {set: value(r, "run", &m.Run, duration(time.Second, 30*24*time.Hour))},
		"day":          {set: value(r, "day", &m.Day, money)},
		"on_interrupt": {set: value(r, "on_interrupt", &m.OnInterrupt, oneOf("ask", "resume"))},
		"answers":      {set: value(r, "answers", &m.Answers, oneOf("notes", "terminal"))},
		"trust":        {set: func(n *yaml.Node) { m.Trust = r.folders(n, "trust", home) }},
		"keep":         {set: func(n *yaml.Node) { r.keep(n, m) }},
		"sweep_keep":   {set: func(n *yaml.Node) { m.SweepKeep = r.list(n, "sweep_keep") }},
		"copy_max":     {set: value(r, "copy_max", &m.CopyMax, size)},
		"path":         {set: func(n *yaml.Node) { m.Path = r.searchPath(n, home) }},
		"env_file":     {set: value(r, "env_file", &m.EnvFile, folder(home))},
		"projects":     {set: func(n *yaml.Node) { r.projects(n, home, m.Projects) }},
		"agents":       {set: func(n *yaml.Node) { m.Agents = r.agents(n, dir, home, drivers) }},
		"assistant":    {set: func(n *yaml.Node) { m.Assistant = r.assistant(n, dir, home) }},
		"notify":       {set: func(n *yaml.Node) { m.Notify = r.notify(n, dir, home) }},
	}
}

func (r *reader) unknownMachine(key *yaml.Node, fs fields) {
	s := DefaultSettings()
	if _, ok := s.fields(r)[key.Value]; ok {
		r.bad(key, "it belongs in deckhand.yaml of the work folder", "%s does not count here", key.Value)
		return
	}
	r.bad(key, near(key.Value, fs), "unknown key %q", key.Value)
}

func (r *reader) keep(n *yaml.Node, m *Machine) {
	fs := fields{
		"days": {set: value(r, "keep: days", &m.KeepDays, count(1, 36500))},
		"size": {set: value(r, "keep: size", &m.KeepSize, size)},
	}
	r.mapping(n, "keep", fs, func(key *yaml.Node) {
		r.bad(key, near(key.Value, fs), "keep: unknown key %q", key.Value)
	})
}

func (r *reader) folders(n *yaml.Node, what, home string) []string {
	var out []string
	r.each(n, what, func(n *yaml.Node, s string) {
		p, err := folder(home)(s)
		if err != nil {
			r.bad(n, "", "%s: %v", what, err)
			return
		}
		out = append(out, p)
	})
	return out
}

// searchPath reads folders that come before PATH, as a list or as PATH is written.
func (r *reader) searchPath(n *yaml.Node, home string) []string {
	var out []string
	r.each(n, "path", func(n *yaml.Node, s string) {
		for part := range strings.SplitSeq(s, ":") {
			p, err := folder(home)(part)
			if err != nil {
				r.bad(n, "", "path: %v", err)
				continue
			}
			out = append(out, p)
		}
	})
	return out
}

func (r *reader) projects(n *yaml.Node, home string, to map[string]Project) {
	r.pairs(n, "projects", func(key, row *yaml.Node) {
		name := key.Value
		what := "project " + name
		if name == "notes" {
			r.bad(key, "choose another name", "the project name notes stands for the work folder itself")
			return
		}
		if !projectName().MatchString(name) {
			r.bad(key, "use letters, digits, - and _", "%q is no name of a project", name)
			return
		}
		p := Project{Name: name, Parallel: 1}
		fs := fields{
			"folder":   {set: value(r, what+": folder", &p.Folder, folder(home))},
			"boards":   {set: func(n *yaml.Node) { r.globs(n, what+": boards", &p.Boards) }},
			"isolate":  {set: value(r, what+": isolate", &p.Isolate, oneOf("worktree")), later: true},
			"parallel": {set: value(r, what+": parallel", &p.Parallel, count(1, 100)), later: true},
		}
		before := len(r.problems)
		r.mapping(row, what, fs, func(key *yaml.Node) {
			r.bad(key, near(key.Value, fs), "%s: unknown key %q", what, key.Value)
		})
		if p.Folder != "" {
			to[name] = p
		} else if !Bad(r.problems[before:]) {
			r.bad(key, fmt.Sprintf("write %s: {folder: ~/…}", name), "%s has no folder", what)
		}
	})
}

// agents reads the configured agents. {} is none at all; nothing after the
// colon is as if the key were not there.
func (r *reader) agents(n *yaml.Node, dir, home string, drivers []string) map[string]Agent {
	if isNull(n) {
		return DefaultMachine().Agents
	}
	out := map[string]Agent{}
	r.pairs(n, "agents", func(key, row *yaml.Node) {
		if !agentName().MatchString(key.Value) {
			r.bad(key, "use a-z, 0-9, - and _", "%q is no name of an agent: nobody could mention it", key.Value)
			return
		}
		if key.Value == "assistant" {
			r.bad(key, "choose another name", "the agent name assistant is taken by the built-in one")
			return
		}
		a := Agent{Name: key.Value, Ask: "risky"}
		before := len(r.problems)
		r.agent(row, &a, drivers)
		if a = r.complete(key, a, drivers, Bad(r.problems[before:])); len(a.Command) > 0 && a.Driver != "" {
			a.Command[0] = program(a.Command[0], dir, home)
			out[a.Name] = a
		}
	})
	return out
}

func (r *reader) agent(row *yaml.Node, a *Agent, drivers []string) {
	what := "agent " + a.Name
	fs := fields{
		"driver":  {set: func(n *yaml.Node) { r.driver(n, what, &a.Driver, drivers) }},
		"command": {set: func(n *yaml.Node) { r.command(n, what, &a.Command) }},
		"model":   {set: value(r, what+": model", &a.Model, func(s string) (string, error) { return s, nil })},
		"ask":     {set: value(r, what+": ask", &a.Ask, oneOf("risky", "all", "none"))},
	}
	r.mapping(row, what, fs, func(key *yaml.Node) {
		r.bad(key, near(key.Value, fs), "%s: unknown key %q", what, key.Value)
	})
}

// complete fills in what may be left out: an agent named like a driver needs no
// driver, and pi's driver needs no command.
func (r *reader) complete(key *yaml.Node, a Agent, drivers []string, said bool) Agent {
	if a.Driver == "" && slices.Contains(drivers, a.Name) {
		a.Driver = a.Name
	}
	if a.Driver == "pi" && len(a.Command) == 0 {
		a.Command = []string{"pi"}
	}
	switch {
	case said:
	case a.Driver == "":
		r.bad(key, fmt.Sprintf("write %s: {driver: pi, command: [%s]}", a.Name, a.Name), "agent %s has no driver", a.Name)
	case len(a.Command) == 0:
		r.bad(key, fmt.Sprintf("write %s: {driver: %s, command: [%s]}", a.Name, a.Driver, a.Name), "agent %s has no command", a.Name)
	}
	return a
}

// driver reads a driver's name. One that a later version has is kept, so that
// such an agent is shown as not ready and the rest of the file counts.
func (r *reader) driver(n *yaml.Node, what string, to *string, drivers []string) {
	s, ok := r.text(n, what+": driver")
	if !ok {
		return
	}
	switch {
	case slices.Contains(drivers, s):
	case slices.Contains([]string{"acp", "command", "claude"}, s):
		r.warn(n, "", "%s: driver %s is not yet in use in this version", what, s)
	default:
		r.bad(n, "known are "+strings.Join(drivers, ", "), "%s: unknown driver %q", what, s)
		return
	}
	*to = s
}

// notify reads the program that tells people, and its arguments.
func (r *reader) notify(n *yaml.Node, dir, home string) (argv []string) {
	if isNull(n) {
		return nil
	}
	const form = `write notify: [PROGRAM, "{title}", "{text}"]`
	if v := resolve(n); v.Kind == yaml.ScalarNode && strings.ContainsAny(v.Value, " \t") {
		r.bad(n, form, "notify is a list, the program and its arguments")
		return nil
	}
	argv = r.list(n, "notify")
	if len(argv) == 0 {
		return nil
	}
	if strings.Contains(argv[0], "{") {
		r.bad(n, form, "notify: %q is no program", argv[0])
		return nil
	}
	argv[0] = program(argv[0], dir, home)
	return argv
}

// command reads a program and its arguments. A line as for a shell is refused:
// where it would be split is a guess.
func (r *reader) command(n *yaml.Node, what string, to *[]string) {
	n = resolve(n)
	if n.Kind == yaml.ScalarNode && strings.ContainsAny(n.Value, " \t") {
		r.bad(n, "write command: ["+strings.Join(strings.Fields(n.Value), ", ")+"]",
			"%s: command is a list, the program and its arguments", what)
		return
	}
	if list := r.list(n, what+": command"); len(list) > 0 {
		*to = list
	} else {
		r.bad(n, "", "%s: command is empty", what)
	}
}

// program resolves a command's first word: a bare name is left for PATH, a
// relative path starts at config.yaml.
func program(s, dir, home string) string {
	if p, err := Expand(s, home); err == nil {
		return p
	}
	if strings.Contains(s, "/") {
		return filepath.Join(dir, s)
	}
	return s
}
