package config

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestAddTrust(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"empty file", "", "trust:\n  - ~/new\n"},
		{"only comments", "# mine\n", "# mine\ntrust:\n  - ~/new\n"},
		{"no line end", "run: 5m", "run: 5m\ntrust:\n  - ~/new\n"},
		{"key missing", "run: 5m # short\n\n# end\n", "run: 5m # short\n\n# end\ntrust:\n  - ~/new\n"},
		{"indented file", "  run: 5m\n", "  run: 5m\n  trust:\n    - ~/new\n"},
		{"flow", "trust: [~/a, ~/b] # two\nrun: 5m\n", "trust: [~/new, ~/a, ~/b] # two\nrun: 5m\n"},
		{"flow, empty", "trust: []\n", "trust: [~/new]\n"},
		{"flow, many lines", "trust: [\n  ~/a,  # a\n]\n", "trust: [~/new, \n  ~/a,  # a\n]\n"},
		{"block", "trust:\n    - ~/a # mine\n    # - ~/old\n\nrun: 5m\n", "trust:\n    - ~/a # mine\n    - ~/new\n    # - ~/old\n\nrun: 5m\n"},
		{"block without indentation", "trust:\n- ~/a\nrun: 5m\n", "trust:\n- ~/a\n- ~/new\nrun: 5m\n"},
		{"block at the end, no line end", "trust:\n  - ~/a", "trust:\n  - ~/a\n  - ~/new\n"},
		{"nothing after the colon", "trust: # none yet\n# - ~/a\nrun: 5m\n", "trust: # none yet\n  - ~/new\n# - ~/a\nrun: 5m\n"},
		{"null", "trust: ~\nrun: 5m\n", "trust: [~/new]\nrun: 5m\n"},
		{"CRLF and BOM", "\ufefftrust:\r\n  - ~/ä\r\n", "\ufefftrust:\r\n  - ~/ä\r\n  - ~/new\r\n"},
		{"BOM and flow in the first line", "\ufefftrust: [ä]\n", "\ufefftrust: [~/new, ä]\n"},
		{"there already", "trust: ['~/new']\n", "trust: ['~/new']\n"},
		{"document marker", "---\nrun: 5m\n", "---\nrun: 5m\ntrust:\n  - ~/new\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AddTrust([]byte(tt.src), "~/new")
			if err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

func TestShapesThatAreRefused(t *testing.T) {
	for _, src := range []string{
		"trust: ~/a\n", "trust: {a: b}\n", "{trust: [a]}\n", "- a\n", "trust: &t [a]\nx: *t\ntrust: [b]\n",
		"run: 5m\n...\n", "a: 1\n---\nb: 2\n", "run: 5m\u0085x: y\n", "run: 5m\rx: y\r", "a: [\n", "trust: *x\n", "text\n",
	} {
		got, err := AddTrust([]byte(src), "~/new")
		if !errors.Is(err, ErrShape) || got != nil {
			t.Errorf("%q: got %q, %v", src, got, err)
		}
	}
}

func TestRemoveTrust(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"block", "trust:\n  - ~/a # mine\n  - ~/old # gone\n  - ~/b\n", "trust:\n  - ~/a # mine\n  - ~/b\n"},
		{"block, the only one", "trust:\n  - ~/old\n\n# end\nrun: 5m\n", "trust:\n\n# end\nrun: 5m\n"},
		{"block, last, no line end", "trust:\n  - ~/a\n  - /home/ann/old/", "trust:\n  - ~/a\n"},
		{"flow, first", "trust: [~/old, ~/b]\n", "trust: [~/b]\n"},
		{"flow, last", "trust: [~/a , '~/old' ]\n", "trust: [~/a ]\n"},
		{"flow, only", "trust: [\"~/old\"]\n", "trust: []\n"},
		{"not there", "trust: [~/older]\n", ""},
		{"no key", "run: 5m\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found, err := RemoveTrust([]byte(tt.src), "/home/ann/old", "/home/ann")
			want := tt.want
			if !found {
				want = tt.src
			}
			if err != nil || found != (tt.want != "") || string(got) != want {
				t.Errorf("got %q, %v, %v\nwant %q", got, found, err, want)
			}
		})
	}
}

func TestProjectsAreAddedAndRemoved(t *testing.T) {
	const block = "projects:\n  a:\n    folder: ~/a   # mine\n    boards:\n      - A.md\n  # b was here\nrun: 5m\n"
	tests := []struct{ name, src, want string }{
		{"empty", "", "projects:\n  web: {folder: ~/web, boards: [Shop.md]}\n"},
		{"block", block, "projects:\n  a:\n    folder: ~/a   # mine\n    boards:\n      - A.md\n  web: {folder: ~/web, boards: [Shop.md]}\n  # b was here\nrun: 5m\n"},
		{"flow", "projects: {a: {folder: ~/a, boards: ['A, {b}.md']}}\n", "projects: {web: {folder: ~/web, boards: [Shop.md]}, a: {folder: ~/a, boards: ['A, {b}.md']}}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AddProject([]byte(tt.src), "web", "~/web", []string{"Shop.md"})
			if err != nil || string(got) != tt.want {
				t.Fatalf("got %q, %v\nwant %q", got, err, tt.want)
			}
			back, found, err := RemoveProject(got, "web")
			want := tt.src
			if want == "" {
				want = "projects:\n"
			}
			if err != nil || !found || string(back) != want {
				t.Errorf("removed: got %q, %v, %v\nwant %q", back, found, err, want)
			}
		})
	}
	if got, found, err := RemoveProject([]byte(block), "a"); err != nil || !found || string(got) != "projects:\n  # b was here\nrun: 5m\n" {
		t.Errorf("got %q, %v, %v", got, found, err)
	}
	if _, err := AddProject([]byte(block), "a", "~/x", nil); err == nil || err.Error() != "project a is there already" {
		t.Errorf("added twice: %v", err)
	}
	for _, name := range []string{"notes", "", "a/b", "a: b", "-x"} {
		if got, err := AddProject(nil, name, "~/x", nil); err == nil {
			t.Errorf("name %q: %q", name, got)
		}
	}
}

func TestScalar(t *testing.T) {
	for in, want := range map[string]string{
		"~/notes": "~/notes", "true": `"true"`, "~": `"~"`, "1": `"1"`, "a # b": `"a # b"`, "a, b": `"a, b"`,
		"a: b": `"a: b"`, "[x]": `"[x]"`, `say "hi"`: `say "hi"`, " x": `" x"`, "ä b": "ä b", "-": `"-"`, "null": `"null"`,
	} {
		if got, err := scalar(in); err != nil || got != want {
			t.Errorf("%q: %s, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "a\nb", "\xff"} {
		if got, err := scalar(in); err == nil {
			t.Errorf("%q is %s", in, got)
		}
	}
}

func seeds(f *testing.F) {
	for _, s := range []string{
		"", "trust: [~/a]\nprojects: {a: {folder: /a}}\n", "trust:\n- a\n", "projects:\n  a:\n    folder: ~/a\n",
		"\ufeffa: &x [1]\nb: *x\n", "a: |\n  text\n", "trust: ~\r\nprojects:\r\n", "max_running: 2\nagents: {pi: {command: [pi]}}\n",
		"lanes: {ready: [Plan]}\nsettle: 3s\n", "a: !!binary x\n", "? a\n: b\n",
	} {
		f.Add([]byte(s))
	}
}

func FuzzLoadMachine(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		m, ps := LoadMachine(src, "/c/config.yaml", "/home/ann", drivers())
		checkProblems(t, src, ps)
		for name, p := range m.Projects {
			if p.Name != name || !strings.HasPrefix(p.Folder, "/") {
				t.Errorf("project %q: %+v", name, p)
			}
		}
		for name, a := range m.Agents {
			if a.Name != name || len(a.Command) == 0 || a.Driver == "" {
				t.Errorf("agent %q: %+v", name, a)
			}
		}
		if m.MaxRunning < 1 || m.Run <= 0 || m.Day < 0 || m.KeepSize < 1 {
			t.Errorf("limits: %+v", m)
		}
	})
}

func FuzzLoadSettings(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		s, ps := LoadSettings(src, "deckhand.yaml")
		checkProblems(t, src, ps)
		for _, p := range append(append([]string{s.Output}, s.Boards...), s.Ignore...) {
			if inside(p) != nil {
				t.Errorf("outside: %q", p)
			}
		}
	})
}

func checkProblems(t *testing.T, src []byte, ps []Problem) {
	t.Helper()
	lines := bytes.Count(src, []byte("\n")) + bytes.Count(src, []byte("\r")) + bytes.Count(src, []byte("\u0085")) +
		bytes.Count(src, []byte("\u2028")) + bytes.Count(src, []byte("\u2029")) + 1
	for _, p := range ps {
		if p.Line < 1 || p.Line > lines+1 || p.Col < 1 || p.Text == "" {
			t.Errorf("problem %+v in a file of %d lines", p, lines)
		}
	}
}

// What is added is there, all that was there is there in the same order, and
// what is taken out again leaves the file as it was but for an emptied key.
func FuzzAddProject(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := AddProject(src, "web", "~/w b", []string{"Shop.md"})
		if err != nil {
			if got != nil {
				t.Errorf("an error and bytes: %v %q", err, got)
			}
			return
		}
		before, _ := LoadMachine(src, "/c", "/h", drivers())
		after, _ := LoadMachine(got, "/c", "/h", drivers())
		if p := after.Projects["web"]; p.Folder != "/h/w b" || !slices.Equal(p.Boards, []string{"Shop.md"}) {
			t.Errorf("not added: %q to %q", src, got)
		}
		if len(after.Projects) != len(before.Projects)+1 {
			t.Errorf("others changed: %q to %q", src, got)
		}
		if !subsequence(src, got) {
			t.Errorf("bytes are lost: %q to %q", src, got)
		}
		back, found, err := RemoveProject(got, "web")
		if err != nil || !found || !subsequence(back, got) {
			t.Errorf("not removed: %q to %q: %v", got, back, err)
		}
	})
}

// subsequence reports whether big is small with one run of bytes put in, or
// with one token of at most four bytes (null) replaced.
func subsequence(small, big []byte) bool {
	i := 0
	for i < len(small) && i < len(big) && small[i] == big[i] {
		i++
	}
	j := 0
	for j < len(small)-i && small[len(small)-1-j] == big[len(big)-1-j] {
		j++
	}
	left := string(small[i : len(small)-j])
	return left == "" || slices.Contains([]string{"~", "null", "Null", "NULL"}, left)
}
