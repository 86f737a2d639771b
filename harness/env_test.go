package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	base := []string{
		"HOME=/home/a", "PATH=/usr/bin:/bin", "LANG=C", "LC_ALL=C", "TERM=xterm", "XDG_RUNTIME_DIR=/run/user/1",
		"SSH_AUTH_SOCK=/s", "https_proxy=p", "LD_PRELOAD=evil", "GIT_DIR=/x", "DECKHAND_RUN=other/1", "SECRET=1", "broken",
		"ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=o", "DEEPSEEK_API_KEY=d", "GEMINI_API_KEY=g", "LOCAL_API_KEY=l",
		"CLAUDE_CODE_OAUTH_TOKEN=c", "CODEX_HOME=h", "PI_CODING_AGENT_DIR=/pi", "COLORTERM=truecolor",
	}
	file := map[string]string{"TOOL_TOKEN": "t", "ANTHROPIC_AUTH_TOKEN": "file"}
	common := []string{"HOME", "LANG", "LC_ALL", "NO_COLOR", "PATH", "SSH_AUTH_SOCK", "TERM", "TOOL_TOKEN", "XDG_RUNTIME_DIR", "https_proxy"}
	for _, c := range []struct {
		name  string
		agent Agent
		own   []string
	}{
		{"pi with a model", Agent{Name: "pi", Driver: "pi", Command: []string{"/bin/pi"}, Model: "deepseek/deepseek-chat"}, []string{"DEEPSEEK_API_KEY", "LOCAL_API_KEY", "PI_CODING_AGENT_DIR"}},
		{"pi with any", Agent{Name: "p", Driver: "pi"}, []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "DEEPSEEK_API_KEY", "GEMINI_API_KEY", "LOCAL_API_KEY", "PI_CODING_AGENT_DIR"}},
		{"claude", Agent{Name: "c", Driver: "claude", Command: []string{"claude"}}, []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}},
		{"claude by an adapter", Agent{Name: "c", Driver: "acp", Command: []string{"/opt/claude-agent-acp"}}, []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}},
		{"codex", Agent{Name: "codex", Driver: "acp", Command: []string{"codex-acp"}}, []string{"OPENAI_API_KEY", "CODEX_HOME"}},
		{"a tool", Agent{Name: "mytool", Driver: "command", Command: []string{"./agent.sh"}}, []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "DEEPSEEK_API_KEY", "GEMINI_API_KEY", "LOCAL_API_KEY"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := Environ(base, EnvSpec{Agent: c.agent, File: file})
			var names []string
			for _, entry := range env {
				name, _, _ := strings.Cut(entry, "=")
				names = append(names, name)
			}
			want := append(slices.Clone(common), c.own...)
			slices.Sort(want)
			equal(t, names, want)
		})
	}
	env := Environ(base, EnvSpec{Path: []string{"/mine", "/too"}, Extra: map[string]string{"PI_OFFLINE": "1", TokenVar: "x"}})
	for _, entry := range []string{"PATH=/mine:/too:/usr/bin:/bin", "TERM=dumb", "NO_COLOR=1", "PI_OFFLINE=1"} {
		if !slices.Contains(env, entry) {
			t.Errorf("no %s in %q", entry, env)
		}
	}
	if slices.ContainsFunc(env, isToken) {
		t.Error("a token goes along")
	}
}

func TestParseEnvFile(t *testing.T) {
	env, err := ParseEnvFile([]byte("# keys\n\nA=1\r\nexport B = x\n C=\"two words\" \nD='$A'\nE=\nF=a=b\nG=\"open\n"))
	if err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("error %v", err)
	}
	for name, want := range map[string]string{"A": "1", "C": "two words", "D": "$A", "E": "", "F": "a=b", "G": `"open`} {
		if got, ok := env[name]; !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, err := ParseEnvFile([]byte("1A=x\nno\nB\x00=1\nC=\x00")); err == nil || strings.Count(err.Error(), "line") != 4 {
		t.Errorf("error %v", err)
	}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	inPath, beside, bySet, plainFile := put("bin/pi", 0o700), put("conf/agent.sh", 0o700), put("set/pi", 0o700), put("bin2/pi", 0o600)
	conf, bin, bin2 := filepath.Join(dir, "conf"), filepath.Join(dir, "bin"), filepath.Join(dir, "bin2")
	for _, c := range []struct {
		name    string
		command []string
		set     string
		path    []string
		want    string
		tried   []string
	}{
		{"on PATH", []string{"pi", "-x"}, "", []string{bin2, bin}, inPath, []string{plainFile + " (not executable)", inPath}},
		{"set comes before PATH", []string{"pi"}, bySet, []string{bin}, bySet, []string{bySet}},
		{"relative to the configuration", []string{"./agent.sh"}, "", nil, beside, []string{beside}},
		{"absolute", []string{beside}, "", nil, beside, []string{beside}},
		{"configured path comes before set", []string{beside}, bySet, nil, beside, []string{beside}},
		{"a path is not looked for on PATH", []string{"./pi"}, "", []string{bin}, "", []string{filepath.Join(conf, "pi")}},
		{"the present folder is no place", []string{"agent.sh"}, "", []string{".", "", bin}, "", []string{filepath.Join(bin, "agent.sh")}},
		{"nowhere", []string{"pi"}, "/none", []string{bin2}, "", []string{"/none", plainFile + " (not executable)"}},
		{"no command", nil, "", []string{bin}, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("DECKHAND_AGENT_MY_PI", c.set)
			argv, tried, err := Resolve(c.command, "my-pi", conf, c.path)
			equal(t, tried, c.tried)
			if c.want == "" {
				if err == nil {
					t.Errorf("found %q", argv)
				}
				if blame := slices.ContainsFunc(tried, func(p string) bool { return strings.HasSuffix(p, ")") }); blame != (len(argv) > 0) {
					t.Errorf("%q is to blame, tried %q", argv, tried)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, argv, append([]string{c.want}, c.command[1:]...))
		})
	}
}
