// Package pi drives pi, the coding agent, over its RPC mode: 0.73 and 1.x, told
// apart by what a process says, never by its version.
//
// It decides what to send and what the lines of a capture mean. It starts no
// process but `pi --version`, keeps no clock and reads no file: the keeper owns
// the process, and a Session that gets the same lines says the same events.
//
// # The protocol
//
// Both ways one JSON object a line, split at LF only. A request has an id, a
// type and its fields; its response has the same id:
//
//	{"id":"state","type":"get_state"}
//	{"id":"state","type":"response","command":"get_state","success":true,"data":{…}}
//
// Everything else that pi says is an event without an id: agent_start,
// message_update with deltas, message_end, tool_execution_start … agent_end. A
// dialog of an extension is {"type":"extension_ui_request","id","method",…}; it
// blocks pi until {"type":"extension_ui_response","id",…} answers it. Types and
// fields that are not known are passed over.
//
// # When a turn is over
//
// agent_end is not the end: a retry or a compaction may follow in the same
// breath. 1.x says agent_settled when it is. For a process that has not shown
// that it says so, each agent_end is followed by a get_state as a fence: when
// the fence is answered and neither a retry nor a compaction began before the
// answer, the turn is over.
//
//	idle ──agent_start──► running ──agent_end──► ended ──fence or settled──► Done
//	                         ▲                     │
//	                         └──── retrying ◄──────┴─auto_retry_start, compaction
package pi

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"deckhand/harness"
)

// Name is the driver's name in the configuration.
const Name = "pi"

// The oldest and the newest version of pi this driver was run against.
const (
	Oldest = "0.73.1"
	Tested = "1.6.0"
)

// driver is the harness.Driver; it has no state.
type driver struct{}

// New returns the driver.
func New() harness.Driver { return driver{} }

// Name implements harness.Driver.
func (driver) Name() string { return Name }

// Probe implements harness.Driver: it runs `pi --version` and nothing else.
func (driver) Probe(ctx context.Context, a harness.Agent) harness.Probe {
	return probe(ctx, a)
}

// isolation keeps a project's own extensions, skills, templates and themes from
// being loaded. 0.73 loads a project's extensions silently and always; both
// versions know these flags. An extension named in the configuration's command
// with -e is loaded all the same.
var isolation = [...]string{"-ne", "-ns", "-np", "--no-themes"}

// Argv implements harness.Driver. The session is a path of ours: pi creates a
// session there the first time and goes on with it later, from any folder.
func (driver) Argv(a harness.Agent, s harness.Spec) ([]string, error) {
	if len(a.Command) == 0 || a.Command[0] == "" {
		return nil, errors.New("pi: no command")
	}
	if gated(a) && !filepath.IsAbs(a.Files) {
		return nil, errors.New("pi: no folder for its permission gate")
	}
	if !filepath.IsAbs(s.Session) {
		// pi 0.73 writes over whatever file it is given: only a path that
		// deckhand chose may get here.
		return nil, errors.New("pi: the session must be an absolute path")
	}
	argv := append([]string(nil), a.Command...)
	argv = append(argv, "--mode", "rpc", "--session", s.Session)
	argv = append(argv, isolation[:]...)
	argv = append(argv, gateArgs(a)...)
	if a.Model != "" {
		argv = append(argv, "--model", a.Model)
	}
	return argv, nil
}

// Terminal implements harness.Driver: pi as a person knows it, with their own
// extensions and without the gate. A file that is no session would be written
// over by 0.73.
func (driver) Terminal(a harness.Agent, session string) ([]string, error) {
	if len(a.Command) == 0 || a.Command[0] == "" || !filepath.IsAbs(session) {
		return nil, errors.New("pi: no command, or no session")
	}
	argv := append(slices.Clone(a.Command), "--session", session)
	if a.Model != "" {
		argv = append(argv, "--model", a.Model)
	}
	return argv, nil
}

// Open implements harness.Driver.
func (driver) Open(_ harness.Agent, s harness.Spec) harness.Session {
	return newSession(s)
}
