package pi

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"deckhand/harness"
)

// gateSource is deckhand's extension for pi, which asks before a tool call that
// is risky: pi asks before nothing by itself. gate.mjs is what pi loads, and
// says what the gate is and is not.
//
//go:embed gate/*.mjs
var gateSource embed.FS

// What the gate says when it is in force, as a setStatus; the mode follows.
const (
	GateKey   = "deckhand"
	GateReady = "asks before "
)

const (
	gateFolder = "pi-gate-" // and a hash of what is in it
	gateMain   = "gate.mjs"
	gateMode   = `const MODE = "risky";`
	gateAsk    = "ask"           // its status when the next dialog is its own
	gateWhy    = "deckhand: why" // title of the dialog in which it wants the reason of a no
)

// asksBefore is what an agent of this configuration asks before.
func asksBefore(ask string) string {
	switch ask {
	case "risky":
		return "risky commands"
	case "all":
		return "everything"
	}
	return "nothing"
}

// gated reports whether an agent gets the gate.
func gated(a harness.Agent) bool { return asksBefore(a.Ask) != "nothing" }

// Files implements harness.Driver: the gate. Its folder is named after what is
// in it, so that a process that runs keeps what it was started with.
func (driver) Files(a harness.Agent) []harness.File {
	if !gated(a) {
		return nil
	}
	entries, err := gateSource.ReadDir("gate")
	if err != nil {
		panic("pi: " + err.Error()) // it is part of the program
	}
	var files []harness.File
	sum := sha256.New()
	for _, e := range entries {
		data, err := gateSource.ReadFile("gate/" + e.Name())
		if err != nil {
			panic("pi: " + err.Error())
		}
		if e.Name() == gateMain {
			data = []byte(strings.Replace(string(data), gateMode, strings.Replace(gateMode, "risky", a.Ask, 1), 1))
		}
		sum.Write(data)
		files = append(files, harness.File{Name: e.Name(), Data: data})
	}
	folder := gateFolder + hex.EncodeToString(sum.Sum(nil))[:16]
	for i := range files {
		files[i].Name = filepath.Join(folder, files[i].Name)
	}
	return files
}

// gateArgs load the gate. It comes after the extensions of the configuration's
// command, so that it sees what they make of a tool call.
func gateArgs(a harness.Agent) []string {
	for _, f := range (driver{}).Files(a) {
		if filepath.Base(f.Name) == gateMain {
			return []string{"-e", filepath.Join(a.Files, f.Name)}
		}
	}
	return nil
}

// WantsGate reports whether a life was started with the gate. One of an older
// version of deckhand was not.
func WantsGate(argv []string) bool {
	return slices.ContainsFunc(argv, func(arg string) bool {
		return filepath.Base(arg) == gateMain && strings.HasPrefix(filepath.Base(filepath.Dir(arg)), gateFolder)
	})
}

// gateSays takes a status of the gate.
func (s *session) gateSays(status string) {
	switch {
	case status == gateAsk:
		s.gateAsks = true
	case strings.HasPrefix(status, GateReady):
		s.gated = true
	}
}

// giveReason answers the gate's question why a person said no: with what the
// person wrote, which the model then gets as the tool's error. Nobody is asked.
func (s *session) giveReason(dialog string) {
	r := Request{ID: dialog, Type: UIResponse, Cancelled: true}
	if s.why != "" {
		r = Request{ID: dialog, Type: UIResponse, Value: &s.why}
	}
	s.sends = append(s.sends, harness.Send{ID: derived("why", s.at.Seq), Line: r.Line()})
	s.why = ""
}
