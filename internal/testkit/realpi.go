package testkit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// PiFolder is the variable that names the folder .ci/install-pi made.
const PiFolder = "DECKHAND_TEST_PI"

// A Pi is a real pi of a pinned version.
type Pi struct {
	Version string
	Path    string // of the program
}

// RealPi finds the pinned versions of pi, or skips the test.
func RealPi(t testing.TB) []Pi {
	t.Helper()
	dir := os.Getenv(PiFolder)
	if dir == "" {
		t.Skipf("needs the real pi: .ci/install-pi DIR, then %s=DIR", PiFolder)
	}
	if !filepath.IsAbs(dir) {
		t.Fatalf("%s=%s must be an absolute path", PiFolder, dir)
	}
	var found []Pi
	for _, version := range []string{"0.73.1", "1.6.0"} {
		path := filepath.Join(dir, version, "pi")
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("%s=%s: %v: run .ci/install-pi %s again", PiFolder, dir, err, dir)
		}
		found = append(found, Pi{Version: version, Path: path})
	}
	return found
}

// ScriptedModel is the name of the scripted model in pi's configuration.
const ScriptedModel = "scripted/scripted-1"

// PiHome makes a home for pi that knows the scripted model and nothing else, and
// returns the whole environment to start pi with. Retries are few and fast.
func PiHome(t testing.TB, m *Model) []string {
	t.Helper()
	home := t.TempDir()
	write := func(name string, v any) {
		raw, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(home, name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	type object = map[string]any
	write("models.json", object{"providers": object{"scripted": object{
		"baseUrl": m.URL, "api": "openai-completions", "apiKey": "not-a-real-key",
		"models": []object{{
			"id": "scripted-1", "contextWindow": 128000, "maxTokens": 16384,
			"cost": object{"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0},
		}},
	}}})
	write("settings.json", object{"retry": object{"enabled": true, "maxRetries": 1, "baseDelayMs": 50}})
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "PI_CODING_AGENT_DIR=" + home,
		"PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1", "TERM=dumb", "NO_COLOR=1",
	}
}
