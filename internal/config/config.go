// Package config reads deckhand.yaml, the preferences of a work folder, and
// config.yaml, the rights and limits of a machine, and changes the latter for
// the commands that need it.
//
// Reading reports every problem of a file at once, each with its line and
// column. A problem is an error, and then the whole file does not count, or a
// warning, and then only what it names does not. The caller keeps the last file
// that had no error. In config.yaml an unknown key is an error, because a
// misspelt limit would be no limit; in deckhand.yaml it is a warning.
//
// Changing never encodes YAML: a key or an entry is put in or taken out by
// splicing its bytes, so comments, order and style of the person's file stay,
// and a file of a shape that would make this a guess is refused with the reason.
//
// The package reads bytes and gives values. It opens no file, does not ask
// whether a folder exists or is allowed, and does not know what the values do.
//
// Grammar of the values:
//
//	duration  3s, 90m, 1h30m          (Go's; a number alone is refused)
//	size      2GB, 500 MB, 1GiB       (KB, MB, GB, TB by 1000; KiB, MiB, GiB, TiB by 1024)
//	money     10 USD, or none
//	folder    /absolute, ~ or ~/below
//	list      [a, b], one item a line, or one value alone
//	yes       yes, no, true, false, on, off
package config

import (
	"fmt"
	"time"
)

// Settings are deckhand.yaml: preferences. Never commands, paths outside, or rights.
type Settings struct {
	Boards   []string // globs of the files that may be boards
	Ignore   []string // globs of what is not looked at
	Output   string   // the folder deckhand writes to, relative, slashes
	Settle   time.Duration
	Typing   time.Duration
	Lanes    map[string][]string // ready, working, review, done
	AddLanes bool
	Marks    string // emoji or text
	Notes    Notes
}

// Notes are the limits of what is copied into a prompt, in characters.
type Notes struct{ Links, PerNote, Total int }

// Machine is config.yaml: what this machine allows.
type Machine struct {
	MaxRunning  int
	Run         time.Duration // longest run
	Day         float64       // USD a day; 0: no budget (written as none)
	OnInterrupt string        // ask or resume
	Answers     string        // notes or terminal
	Trust       []string      // absolute, ~ expanded, links not followed
	KeepDays    int
	KeepSize    int64 // bytes
	SweepKeep   []string
	CopyMax     int64 // bytes
	Path        []string
	EnvFile     string
	Projects    map[string]Project
	Agents      map[string]Agent
	Assistant   *Assistant // nil: there is none
	Notify      []string
}

// Project is a registered folder.
type Project struct {
	Name     string
	Folder   string // absolute, ~ expanded, as written otherwise
	Boards   []string
	Isolate  string // worktree, or empty
	Parallel int
}

// Agent is a configured agent.
type Agent struct {
	Name    string
	Driver  string
	Command []string // Command[0]: absolute, or a name to look up on PATH
	Model   string
	Ask     string // risky, all or none
}

// Problem is something wrong in a file, or a key that does nothing yet.
type Problem struct {
	File    string
	Line    int // 1-based
	Col     int // 1-based, in characters
	Text    string
	Hint    string
	Warning bool // the rest of the file counts all the same
}

// String is the problem as it is shown: config.yaml:3:5: text.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Text)
}

// Bad reports whether one of the problems is an error: the file does not count.
func Bad(problems []Problem) bool {
	for _, p := range problems {
		if !p.Warning {
			return true
		}
	}
	return false
}

// DefaultSettings are the settings of a work folder without deckhand.yaml.
func DefaultSettings() Settings {
	return Settings{
		Boards: []string{"**/*.md"},
		Ignore: []string{"Templates/**", "templates/**", "**/node_modules/**"},
		Output: "deckhand",
		Settle: 3 * time.Second,
		Typing: 10 * time.Second,
		Lanes: map[string][]string{
			"ready":   {"Plan", "Ready", "To do", "Todo", "Next", "Up next"},
			"working": {"In progress", "Doing", "Working", "WIP"},
			"review":  {"Review", "In review", "To review"},
			"done":    {"Done", "Completed", "Complete", "Shipped", "Closed"},
		},
		Marks: "emoji",
		Notes: Notes{Links: 10, PerNote: 20_000, Total: 60_000},
	}
}

// DefaultMachine is a machine without config.yaml: it trusts no folder, has no
// project, and one agent, pi.
func DefaultMachine() Machine {
	return Machine{
		MaxRunning:  4,
		Run:         60 * time.Minute,
		Day:         10,
		OnInterrupt: "ask",
		Answers:     "notes",
		KeepDays:    30,
		KeepSize:    2_000_000_000,
		SweepKeep:   []string{"tmux", "gpg-agent", "ssh-agent", "adb"},
		CopyMax:     2_000_000_000,
		Projects:    map[string]Project{},
		Agents: map[string]Agent{
			"pi": {Name: "pi", Driver: "pi", Command: []string{"pi"}, Ask: "risky"},
		},
	}
}
