package harness

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// EnvSpec says whose environment is made, and of what besides the daemon's own.
type EnvSpec struct {
	Agent Agent
	Path  []string          // folders before PATH
	File  map[string]string // env_file, as ParseEnvFile gives it
	Extra map[string]string // what the agent's row or driver sets; always goes along
}

// Environ is the environment of an agent, sorted. Of base, the daemon's own,
// an allow-list goes along and the agent's own keys; of the env_file all but
// the keys of other agents, because a person wrote it for this. No terminal, no
// colour, never a token.
//
// Keys are known by their names. An agent that stands for one provider (claude,
// codex, gemini) getss this one's; pi with a model gets the model's provider's;
// others, who may use any, get all that look like the key of a model.
func Environ(base []string, s EnvSpec) []string {
	env := map[string]string{}
	own := ownKeys(s.Agent)
	for _, entry := range base {
		name, value, ok := strings.Cut(entry, "=")
		if ok && (allowed(name) || isKey(name) && own(name)) {
			env[name] = value
		}
	}
	for name, value := range s.File {
		if !isKey(name) || own(name) {
			env[name] = value
		}
	}
	maps.Copy(env, s.Extra)
	env["TERM"], env["NO_COLOR"] = "dumb", "1"
	if len(s.Path) > 0 {
		env["PATH"] = strings.Join(append(slices.Clone(s.Path), filepath.SplitList(env["PATH"])...), string(filepath.ListSeparator))
	}
	delete(env, TokenVar)
	var all []string
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}

// allowed reports whether a variable of the daemon is anyone's: who and where
// the person is, language, network, and where tools have their things.
func allowed(name string) bool {
	for _, prefix := range []string{"LC_", "XDG_", "GIT_AUTHOR_", "GIT_COMMITTER_", "HOMEBREW_", "NIX_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch strings.ToUpper(name) {
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY":
		return true
	}
	switch name {
	case "HOME", "PATH", "LANG", "LANGUAGE", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ",
		"SSH_AUTH_SOCK", "SSH_AGENT_PID", "DBUS_SESSION_BUS_ADDRESS", "GNUPGHOME",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_EXEC_PATH",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
		"GOPATH", "GOROOT", "GOFLAGS", "GOPROXY", "GOPRIVATE", "GOMODCACHE", "GOCACHE", "GOTOOLCHAIN",
		"CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR",
		"NPM_CONFIG_PREFIX", "PYENV_ROOT", "VIRTUAL_ENV", "JAVA_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT",
		"DOCKER_HOST", "DOCKER_CONFIG", "IS_SANDBOX":
		return true
	}
	return false
}

// isKey reports whether a variable belongs to an agent or a provider of models,
// so that only whom it belongs to may have it.
func isKey(name string) bool {
	for _, suffix := range []string{"_API_KEY", "_API_TOKEN", "_AUTH_TOKEN", "_ACCESS_TOKEN", "_OAUTH_TOKEN", "_BASE_URL", "_API_BASE"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return isKnown(name)
}

// isKnown reports whether it is known whose key a variable is.
func isKnown(name string) bool {
	for _, of := range []string{"pi", "opencode", "claude", "codex", "gemini", "amazon-bedrock", "azure", "github-copilot", "deepseek", "groq", "mistral", "openrouter", "xai"} {
		if hasPrefix(name, family(of)) {
			return true
		}
	}
	return false
}

// family are the prefixes of the variables of an agent or a provider.
func family(of string) []string {
	switch of {
	case "claude":
		return []string{"ANTHROPIC_", "CLAUDE_"}
	case "codex":
		return []string{"OPENAI_", "CODEX_"}
	case "gemini", "google", "google-vertex":
		return []string{"GEMINI_", "GOOGLE_"}
	case "amazon-bedrock":
		return []string{"AWS_"}
	case "azure", "azure-openai":
		return []string{"AZURE_"}
	case "github-copilot":
		return []string{"COPILOT_", "GITHUB_COPILOT_"}
	}
	return []string{variable(of) + "_"}
}

// ownKeys tells which keys are an agent's.
func ownKeys(a Agent) func(name string) bool {
	kind := agentKind(a)
	mine := family(kind)
	if kind == "claude" || kind == "codex" || kind == "gemini" {
		return func(name string) bool { return hasPrefix(name, mine) }
	}
	if provider, _, named := strings.Cut(a.Model, "/"); named && provider != "" {
		mine = append(mine, family(provider)...)
		return func(name string) bool { return hasPrefix(name, mine) || !isKnown(name) }
	}
	return func(name string) bool { return hasPrefix(name, mine) || !ofAnAgent(name) }
}

// ofAnAgent reports whether a variable is an agent's alone, not a provider's.
func ofAnAgent(name string) bool {
	return hasPrefix(name, []string{"PI_", "OPENCODE_", "CLAUDE_", "CODEX_"})
}

// agentKind is which known agent stands behind a row: by its command, which may
// be an adapter (claude-agent-acp), or by its driver.
func agentKind(a Agent) string {
	base := ""
	if len(a.Command) > 0 {
		base = filepath.Base(a.Command[0])
	}
	for _, kind := range []string{"opencode", "claude", "codex", "gemini"} {
		if base == kind || strings.HasPrefix(base, kind+"-") || a.Driver == kind {
			return kind
		}
	}
	if a.Driver == "pi" || base == "pi" {
		return "pi"
	}
	return a.Name
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// variable is a name as the names of variables are written.
func variable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToUpper(r)
		}
		return '_'
	}, name)
}

// ParseEnvFile reads an env_file: NAME=value a line, `export` before it, empty
// lines and lines that begin with # left out, one pair of quotes around the
// value taken off. Nothing is expanded. All bad lines are named at once.
func ParseEnvFile(data []byte) (map[string]string, error) {
	env := map[string]string{}
	var bad []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "export ")), "=")
		if !ok || !isVariable(name) || strings.ContainsRune(value, 0) {
			bad = append(bad, fmt.Sprintf("line %d is not NAME=value", n))
			continue
		}
		env[name] = unquote(strings.TrimSpace(value))
	}
	if len(bad) > 0 {
		return env, fmt.Errorf("%s", strings.Join(bad, ", "))
	}
	return env, nil
}

func isVariable(name string) bool {
	for i, r := range name {
		if r != '_' && (r >= unicode.MaxASCII || !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r))) {
			return false
		}
	}
	return name != ""
}

func unquote(value string) string {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}

// Resolve finds an agent's program: where the configuration says, relative to
// configDir; else where DECKHAND_AGENT_NAME says; else in the folders of path.
// tried lists every place that was looked at, for the reason. When there is
// one that cannot be started, argv names it beside the error, so that a probe
// can say more.
func Resolve(command []string, name, configDir string, path []string) (argv, tried []string, err error) {
	if len(command) == 0 || command[0] == "" {
		return nil, nil, fmt.Errorf("agent %s: no command", name)
	}
	var places []string
	program := command[0]
	inPath := !strings.ContainsRune(program, filepath.Separator)
	if !inPath {
		places = append(places, absolute(configDir, program))
	}
	if set := os.Getenv("DECKHAND_AGENT_" + variable(name)); set != "" {
		places = append(places, absolute(configDir, set))
	}
	for _, dir := range path {
		if inPath && filepath.IsAbs(dir) { // "." in PATH would let a project name the agent
			places = append(places, filepath.Join(dir, program))
		}
	}
	for i, p := range places {
		if slices.Contains(places[:i], p) {
			continue
		}
		fault := CheckProgram(p)
		switch {
		case fault == nil:
			return append([]string{p}, command[1:]...), append(tried, p), nil
		case fault.Missing:
			tried = append(tried, p)
		default:
			tried = append(tried, p+" ("+strings.TrimPrefix(fault.Text, "is ")+")")
			if err == nil {
				argv, err = append([]string{p}, command[1:]...), fmt.Errorf("agent %s: %s %s", name, p, fault.Text)
			}
		}
	}
	if err == nil {
		err = fmt.Errorf("agent %s: %s is not installed", name, program)
	}
	return argv, tried, err
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
