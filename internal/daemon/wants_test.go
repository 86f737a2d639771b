package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/config"
)

// Each question of a run is one thing that waits for the person.
func TestNeedsOfTwoQuestions(t *testing.T) {
	m := newModel(Options{}, &folder{})
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	r := &dispatch.Run{ID: "01RUN0001", Agent: "pi", Board: "Shop.md", Card: dispatch.Card{Board: "Shop.md", Title: "Ship it"}, Phase: dispatch.PhaseWaiting, Asks: []dispatch.Ask{
		{ID: "1", Kind: "select", Title: "Which key?", Options: []string{"test", "live"}, Since: at},
		{ID: "2", Kind: "confirm", Title: "Run this?", Message: "rm -rf build", Since: at.Add(time.Minute)},
	}}
	m.runs[r.ID] = newRun(r, harness.Dir{})
	var got []string
	for _, n := range m.needs(at) {
		got = append(got, strings.Join([]string{n.Kind, n.Card, n.Text, n.Code, n.Next, n.Since.Format("15:04")}, " · "))
	}
	want := "asks · Ship it · Run this? · rm -rf build · deckhand answer 01run0001 · 09:01\n" +
		"asks · Ship it · Which key?\ntest\nlive ·  · deckhand answer 01run0001 · 09:00"
	if all := strings.Join(got, "\n"); all != want {
		t.Errorf("needs:\n%s\nwant:\n%s", all, want)
	}
}

// A program that is there and cannot be run is named with what is wrong with it.
func TestAgentThatCannotBeRunIsNamed(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "my-pi")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := newModel(Options{Config: filepath.Join(dir, "config.yaml")}, &folder{})
	m.machine.Agents = map[string]config.Agent{"pi": {Driver: "pi", Command: []string{"./my-pi"}}}
	p := m.probeNow(t.Context(), "pi")
	if !strings.Contains(p.Reason, program) || !strings.Contains(p.Reason, "executable") {
		t.Errorf("%q, want %s and that it is not executable", p.Reason, program)
	}
}
