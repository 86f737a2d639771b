package pi

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/harness"
)

// A verdict is a command and why the gate asks before it; empty: it does not.
type verdict struct{ command, why string }

func verdicts(t *testing.T, root string) []verdict {
	t.Helper()
	data, err := os.ReadFile("testdata/gate.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []verdict
	for line := range strings.Lines(string(data)) {
		word, command, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || line == "\n" {
			continue
		}
		why, asks := strings.CutPrefix(word, "ask ")
		if !ok || !asks && word != "run" {
			t.Fatalf("testdata/gate.txt: %q", line)
		}
		v := verdict{command: strings.NewReplacer(`\n`, "\n", "$ROOT", root).Replace(strings.TrimLeft(command, "\t"))}
		if asks {
			v.why = why
		}
		all = append(all, v)
	}
	return all
}

// node runs a module that imports the gate from ./, with input as its argument.
func node(t *testing.T, script string, input any) []byte {
	t.Helper()
	exe, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node")
	}
	dir := t.TempDir()
	a := harness.Agent{Ask: "risky", Files: dir}
	files := New().Files(a)
	if err := harness.PlaceFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(dir, filepath.Dir(files[0].Name), "test.mjs")
	arg, err := json.Marshal(input)
	if err == nil {
		err = os.WriteFile(main, []byte(script), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, main)
	cmd.Stdin = bytes.NewReader(arg)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, errs.Bytes())
	}
	return out
}

// project makes a project with a file, a folder, and a link out of it.
func project(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"src", "build"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestGateReadsCommands holds the table of what is risky to its examples.
func TestGateReadsCommands(t *testing.T) {
	root := project(t)
	all := verdicts(t, root)
	commands := make([]string, len(all))
	for i, v := range all {
		commands[i] = v.command
	}
	out := node(t, `
import fs from "node:fs";
import { judge } from "./risk.mjs";
const { root, commands } = JSON.parse(fs.readFileSync(0, "utf8"));
console.log(JSON.stringify(commands.map((c) => judge(c, { root, home: "/home/somebody" }))));`,
		map[string]any{"root": root, "commands": commands})
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(all) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, v := range all {
		if got[i] != v.why {
			t.Errorf("%q: %q, want %q", v.command, got[i], v.why)
		}
	}
}

// TestGateLooksAtTools is what a dialog says of each tool.
func TestGateLooksAtTools(t *testing.T) {
	root := project(t)
	name := filepath.Base(root)
	type call struct {
		tool, input, mode string
		title, message    string // empty: it does not ask
	}
	calls := []call{
		{"bash", `{"command":"ls"}`, "risky", "", ""},
		{"bash", `{"command":"ls"}`, "all", "Run in " + name + "?", "ls"},
		{"bash", `{"command":"rm -r\n\tbuild"}`, "risky", "Run in " + name + "? (it cannot be read for certain)", "rm -r\n\tbuild"},
		{"bash", `{"command":["rm"]}`, "risky", "Use bash in " + name + "? (a tool that cannot be judged)", `{"command":["rm"]}`},
		{"write", `{"path":"a.txt","content":"x"}`, "risky", "", ""},
		{"write", `{"path":"a.txt","content":"x"}`, "all", "Write in " + name + "?", "a.txt"},
		{"write", `{"path":"/etc/hosts","content":"x"}`, "risky", "Write in " + name + "? (outside the project)", "/etc/hosts"},
		{"edit", `{"path":"../a"}`, "risky", "Change in " + name + "? (outside the project)", "../a"},
		{"edit", `{"path":"out/a"}`, "risky", "Change in " + name + "? (outside the project)", "out/a"},
		{"edit", `{"path":"@/etc/hosts"}`, "risky", "Change in " + name + "? (outside the project)", "@/etc/hosts"},
		{"edit", `{"path":"~/.profile"}`, "risky", "Change in " + name + "? (outside the project)", "~/.profile"},
		{"write", `{"path":"src/.git/config"}`, "risky", "Write in " + name + "? (git's own files)", "src/.git/config"},
		{"read", `{"path":".git/config"}`, "risky", "", ""},
		{"read", `{"path":"/etc/passwd"}`, "risky", "Read in " + name + "? (outside the project)", "/etc/passwd"},
		{"grep", `{"pattern":"/x"}`, "risky", "", ""},
		{"powershell", `{"command":"ls"}`, "risky", "Use powershell in " + name + "? (a tool that cannot be judged)", `{"command":"ls"}`},
	}
	calls[2].title = "Run in " + name + "? (deletes folders)"
	in := make([]map[string]any, len(calls))
	for i, c := range calls {
		in[i] = map[string]any{"tool": c.tool, "input": json.RawMessage(c.input), "mode": c.mode}
	}
	out := node(t, `
import fs from "node:fs";
import { look } from "./risk.mjs";
const { root, calls } = JSON.parse(fs.readFileSync(0, "utf8"));
console.log(JSON.stringify(calls.map((c) => look(c.tool, c.input, { root, home: "/home/somebody" }, c.mode) ?? {})));`,
		map[string]any{"root": root, "calls": in})
	var got []struct{ Title, Message string }
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(calls) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, c := range calls {
		if got[i].Title != c.title || got[i].Message != c.message {
			t.Errorf("%s %s: %+v", c.tool, c.input, got[i])
		}
	}
}

// TestGateFiles: what is written is what was meant, whatever stood there.
func TestGateFiles(t *testing.T) {
	dir := t.TempDir()
	a := harness.Agent{Command: []string{"/bin/pi"}, Ask: "all", Files: dir}
	files := New().Files(a)
	argv, err := New().Argv(a, harness.Spec{Session: "/s/card.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	main := argv[len(argv)-1]
	if argv[len(argv)-2] != "-e" || filepath.Base(main) != gateMain || !WantsGate(argv) || filepath.Dir(filepath.Dir(main)) != dir {
		t.Fatalf("argv: %q", argv)
	}
	other := filepath.Join(t.TempDir(), "other")
	for name, spoil := range map[string]func() error{
		"missing":     func() error { return os.RemoveAll(filepath.Dir(main)) },
		"changed":     func() error { return os.WriteFile(main, []byte("export default () => {};"), 0o600) },
		"for others":  func() error { return os.Chmod(main, 0o644) },
		"a link":      func() error { return os.Rename(main, other) },
		"as it stood": func() error { return nil },
	} {
		if err := harness.PlaceFiles(dir, files); err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if name == "a link" {
			if err := os.Symlink(other, main); err != nil {
				t.Fatal(err)
			}
		}
		if err := harness.PlaceFiles(dir, files); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(main)
		data, err2 := os.ReadFile(main)
		if err != nil || err2 != nil || info.Mode() != 0o600 || !strings.Contains(string(data), `const MODE = "all";`) {
			t.Errorf("%s: %v %v %v\n%s", name, info, err, err2, data)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(main))
	if err != nil || len(entries) != len(files) {
		t.Errorf("%v, %v", entries, err)
	}
	if New().Files(harness.Agent{Ask: "none"}) != nil || New().Files(harness.Agent{}) != nil {
		t.Error("a gate where none is wanted")
	}
	if risky := New().Files(harness.Agent{Ask: "risky"}); risky[0].Name == files[0].Name {
		t.Error("two gates share a name")
	}
}
