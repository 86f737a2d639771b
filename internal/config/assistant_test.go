package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestAssistant(t *testing.T) {
	got, ps := LoadMachine([]byte(`assistant:
  base_url: https://api.example.com/v1/
  model: small
  key: {file: ~/key}
  read: linked
  price: {input: 0.5, output: 2}
`), "/c/config.yaml", "/home/ann", drivers())
	want := &Assistant{
		BaseURL: "https://api.example.com/v1", Model: "small", Key: Key{File: "/home/ann/key"}, Read: "linked", Price: &Price{Input: 0.5, Cached: 0.5, Output: 2},
	}
	if len(ps) > 0 || !reflect.DeepEqual(got.Assistant, want) {
		t.Errorf("got %+v, %s", got.Assistant, report(ps))
	}
	for src, key := range map[string]Key{
		"{env: MY_KEY}": {Env: "MY_KEY"}, "{command: [secret-tool, lookup]}": {Command: []string{"secret-tool", "lookup"}}, "{command: [./ring]}": {Command: []string{"/c/ring"}}, "": {},
	} {
		got, ps := LoadMachine([]byte("assistant: {base_url: 'http://localhost:1/v1', model: m, key: "+src+"}"), "/c/config.yaml", "/home/ann", drivers())
		if len(ps) > 0 || got.Assistant == nil || !reflect.DeepEqual(got.Assistant.Key, key) || got.Assistant.Read != "all" {
			t.Errorf("%s: %+v, %s", src, got.Assistant, report(ps))
		}
	}
	if got, _ := LoadMachine([]byte("assistant:\n"), "/c/config.yaml", "/home/ann", drivers()); got.Assistant != nil {
		t.Errorf("an empty section is an assistant: %+v", got.Assistant)
	}
}

func TestAssistantProblems(t *testing.T) {
	const rest = ", base_url: 'https://a.b', model: m}"
	for src, want := range map[string]string{
		"{model: m}":                              "1:12 error: assistant has no base_url or no model",
		"{key: sk-secret-1234" + rest:             "error: assistant: a key does not stand in config.yaml",
		"{key: {env: sk-secret-1234}" + rest:      "error: assistant: key: env: this is no name of an environment variable",
		"{key: {env: A, file: ~/k}" + rest:        "error: assistant: key names several places",
		"{key: {keyring: x}" + rest:               `error: assistant: key: unknown key "keyring"`,
		"{read: some" + rest:                      `error: assistant: read: "some" is none of all, linked, none`,
		"{price: {input: free}" + rest:            `error: assistant: price: input: "free" is no price`,
		"{modle: m" + rest:                        `error: assistant: unknown key "modle" (did you mean model?)`,
		"{base_url: 'ftp://a', model: m}":         "error: assistant: base_url is no address of a model",
		"{base_url: 'https://key@a.b', model: m}": "error: assistant: base_url is no address of a model",
		"{base_url: 'http://10.0.0.1', model: m}": "warning: assistant: base_url is not encrypted",
		"[a]": "error: assistant needs keys and values",
	} {
		_, ps := LoadMachine([]byte("assistant: "+src), "/c/config.yaml", "/home/ann", drivers())
		if got := report(ps); !strings.Contains(got, want) || strings.Contains(got, "secret") {
			t.Errorf("%s: got %s, want %s", src, got, want)
		}
	}
}
