package standin_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/harness"
)

// shapes are the fields of each kind of line: those it always has, and all.
type shapes struct{ always, all map[string][]string }

func (s *shapes) learn(name string, object map[string]json.RawMessage) {
	keys := slices.Sorted(maps.Keys(object))
	old, seen := s.always[name]
	if !seen {
		s.always[name], s.all[name] = keys, keys
		return
	}
	s.always[name] = slices.DeleteFunc(slices.Clone(old), func(k string) bool { return !slices.Contains(keys, k) })
	all := slices.Concat(s.all[name], keys)
	slices.Sort(all)
	s.all[name] = slices.Compact(all)
}

// visit names a line, and the message in it, by type, command, method and role.
func visit(t *testing.T, line string, each func(string, map[string]json.RawMessage)) {
	t.Helper()
	var o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &o); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	name := func(o map[string]json.RawMessage, keys ...string) string {
		var parts []string
		for _, k := range keys {
			var v string
			if json.Unmarshal(o[k], &v) == nil {
				parts = append(parts, v)
			}
		}
		return strings.Join(parts, ":")
	}
	kind := name(o, "type", "command", "method")
	each(kind, o)
	for _, inner := range []string{"message", "assistantMessageEvent", "data"} {
		var m map[string]json.RawMessage
		if json.Unmarshal(o[inner], &m) == nil && m != nil {
			each(kind+"/"+inner+":"+name(m, "role", "type"), m)
		}
	}
}

// lenient are fields of the real program that nobody reads and the stand-in
// leaves out.
var lenient = []string{
	"api", "thinkingLevel", "durationMs", "rawStopReason", "responseId", "details", "errorMessage", "error",
	"sessionName", "timeout", "sections", "toolsAdded",
}

// recorded learns from every capture of pi 1.6.0.
func recorded(t *testing.T) shapes {
	t.Helper()
	pi := shapes{map[string][]string{}, map[string][]string{}}
	files, err := filepath.Glob("../../testdata/pi/1.6.0/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no captures")
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for row := range strings.Lines(string(raw)) {
			var r struct{ Dir, Line string }
			if err := json.Unmarshal([]byte(row), &r); err != nil {
				t.Fatal(err)
			}
			if r.Dir == "out" {
				visit(t, r.Line, pi.learn)
			}
		}
	}
	return pi
}

// check holds one object against what is known.
func (s *shapes) check(t *testing.T, name string, o map[string]json.RawMessage) {
	t.Helper()
	all, known := s.all[name]
	if !known {
		t.Errorf("pi never says %s", name)
		return
	}
	for k := range o {
		if !slices.Contains(all, k) {
			t.Errorf("%s: pi has no field %q", name, k)
		}
	}
	for _, k := range s.always[name] {
		if _, ok := o[k]; !ok && !slices.Contains(lenient, k) {
			t.Errorf("%s: the field %q of pi is missing", name, k)
		}
	}
}

// TestShapes: the stand-in's lines have the fields of pi 1.6.0.
func TestShapes(t *testing.T) {
	pi := recorded(t)
	s := spec(t)
	p := start(t, s)
	run(t, p, "prompt", prompt("Invoice [ask] [flood:3]"))
	ask := until(t, p, harness.AskOpen)
	run(t, p, "steer", "use euros")
	for _, c := range []harness.Command{
		{ID: "a", Kind: "answer", Ask: ask.Ask.ID, Answer: harness.Answer{Cancelled: true}},
		{ID: "p2", Kind: "prompt", Text: "[hang]"}, // waits for the end of the turn
	} {
		if err := p.Do(c); err != nil {
			t.Fatal(err)
		}
	}
	until(t, p, harness.Done)
	until(t, p, harness.ToolEnd)
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	life, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, l := range life.Lines {
		if l.Stream == harness.Out {
			visit(t, string(l.Data), func(name string, o map[string]json.RawMessage) {
				seen[name] = true
				pi.check(t, name, o)
			})
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d kinds of lines: %v", len(seen), slices.Sorted(maps.Keys(seen)))
	}
}
