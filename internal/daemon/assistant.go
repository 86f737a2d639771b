package daemon

import (
	"os"
	"path/filepath"
	"strings"

	"deckhand/change"
	"deckhand/harness"
	"deckhand/harness/pi"
	"deckhand/internal/config"
)

// assistantName is the built-in agent's: a child of this program that works on
// the notes themselves and proposes what it would change.
const assistantName = "assistant"

// addAssistant gives a configuration that has an assistant: section the row of
// that agent. exe is the program that it is a child of; empty: this one.
func addAssistant(c *config.Machine, path, exe string) {
	if c.Assistant == nil {
		return
	}
	if exe == "" {
		exe = childExe()
	}
	c.Agents[assistantName] = config.Agent{
		Name: assistantName, Driver: pi.Name, Command: []string{exe, assistantName, "--config", path}, Ask: "none",
	}
}

// childExe is this program: by its own name, unless it was replaced meanwhile.
func childExe() string {
	if exe, err := os.Executable(); err == nil && harness.CheckProgram(exe) == nil {
		return exe
	}
	exe, err := harness.KeeperExe()
	if err != nil {
		return assistantName // nothing can be started at all: the probe says so
	}
	return exe
}

// assistantEnv is the environment of the assistant: of all keys only its own.
func (m *model) assistantEnv(spec harness.EnvSpec) harness.EnvSpec {
	spec.Agent = harness.Agent{Name: assistantName, Model: assistantName + "/" + assistantName}
	if m.machine.Assistant == nil || m.machine.Assistant.Key.Env == "" {
		return spec
	}
	name := m.machine.Assistant.Key.Env
	value := os.Getenv(name)
	if set, ok := spec.File[name]; ok {
		value = set
	}
	if value != "" {
		spec.Extra = map[string]string{name: value}
	}
	return spec
}

// worded is what is known of an agent in the words of its kind: the assistant
// asks before every change, and what it lacks stands in its section.
func worded(p harness.Probe, name string) harness.Probe {
	if name != assistantName {
		return p
	}
	p.Asks = "every change"
	if _, why, failed := strings.Cut(p.Reason, "): "); failed && p.State != "ready" {
		p.Reason, p.Hint = why, "mend assistant: in config.yaml"
	}
	return p
}

// Notes is a work folder as the assistant may see it.
type Notes struct {
	Assistant *config.Assistant // nil: there is none
	Folder    change.Folder     // what may be changed, and how boards are read
	Skip      func(rel string, folder bool) bool
	Output    string
}

// LookAtNotes reads what both files of the configuration say to the assistant.
// Problems of deckhand.yaml are not its business: then the defaults count.
func LookAtNotes(dir, path string) (n Notes, problems []config.Problem, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return n, nil, err
	}
	src, err := readOptional(path, settingsMost)
	if err != nil {
		return n, nil, err
	}
	m := &model{settings: config.DefaultSettings()}
	m.machine, problems = config.LoadMachine(src, path, home, []string{pi.Name})
	if src, err := readOptional(filepath.Join(dir, settingsName), settingsMost); err == nil {
		if s, bad := config.LoadSettings(src, settingsName); !config.Bad(bad) {
			m.settings = s
		}
	}
	addAssistant(&m.machine, path, "")
	ignore := globs(m.settings.Ignore)
	return Notes{
		Assistant: m.machine.Assistant,
		Folder:    change.Folder{Closed: []string{m.settings.Output}, Board: m.optionsOf},
		Skip: func(rel string, folder bool) bool {
			if folder {
				return ignore.folder(rel)
			}
			return ignore.match(rel)
		},
		Output: m.settings.Output,
	}, problems, nil
}
