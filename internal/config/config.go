// Package config reads deckhand.yaml (the work folder's preferences) and
// config.yaml (the machine's rights and limits).
//
// CONTRACT (to be completed by the owner of this package).
package config

import "time"

// Settings are deckhand.yaml: preferences. Never commands, paths outside, or rights.
type Settings struct {
	Boards   []string
	Ignore   []string
	Output   string
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
	Day         float64       // USD a day; 0: no budget
	OnInterrupt string        // ask or resume
	Answers     string        // notes or terminal
	Trust       []string      // real paths
	KeepDays    int
	KeepSize    int64
	SweepKeep   []string
	CopyMax     int64
	Path        []string
	EnvFile     string
	Projects    map[string]Project
	Agents      map[string]Agent
	Notify      []string
}

// Project is a registered folder.
type Project struct {
	Name     string
	Folder   string // absolute, ~ expanded, as written otherwise
	Boards   []string
	Isolate  string
	Parallel int
}

// Agent is a configured agent.
type Agent struct {
	Name    string
	Driver  string
	Command []string
	Model   string
	Ask     string
}

// Problem is something wrong in a file, or a key that does nothing yet.
type Problem struct {
	File    string
	Line    int // 1-based
	Col     int
	Text    string
	Hint    string
	Warning bool // the rest of the file counts all the same
}
