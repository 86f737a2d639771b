package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// Assistant is the built-in agent's model and what it may read.
type Assistant struct {
	BaseURL string // of an OpenAI-compatible API
	Model   string
	Key     Key
	Read    string // all, linked or none
	Price   *Price // nil: unknown
}

// Key says where the model's key lies. At most one of the three is set; none: it
// wants no key.
type Key struct {
	Env     string
	File    string   // absolute, ~ expanded
	Command []string // the system's keyring: a program that prints the key
}

// Price is USD for a million tokens.
type Price struct{ Input, Cached, Output float64 }

var envName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// assistant reads the assistant: section. Without it there is none.
func (r *reader) assistant(n *yaml.Node, dir, home string) *Assistant {
	if isNull(resolve(n)) {
		return nil
	}
	a := &Assistant{Read: "all"}
	fs := fields{
		"base_url": {set: func(n *yaml.Node) { r.baseURL(n, &a.BaseURL) }},
		"model":    {set: value(r, "assistant: model", &a.Model, func(s string) (string, error) { return s, nil })},
		"key":      {set: func(n *yaml.Node) { r.key(n, dir, home, &a.Key) }},
		"read":     {set: value(r, "assistant: read", &a.Read, oneOf("all", "linked", "none"))},
		"price":    {set: func(n *yaml.Node) { a.Price = r.price(n) }},
	}
	before := len(r.problems)
	r.mapping(n, "assistant", fs, func(key *yaml.Node) {
		r.bad(key, near(key.Value, fs), "assistant: unknown key %q", key.Value)
	})
	if (a.BaseURL == "" || a.Model == "") && !Bad(r.problems[before:]) {
		r.bad(n, "write assistant: {base_url: https://api.deepseek.com, model: deepseek-chat, key: {env: DEEPSEEK_API_KEY}}", "assistant has no base_url or no model")
	}
	return a
}

// baseURL reads an address. One that sends key and notes as they are over a
// network is said.
func (r *reader) baseURL(n *yaml.Node, to *string) {
	s, ok := r.text(n, "assistant: base_url")
	if !ok {
		return
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		r.bad(n, "write base_url: https://api.deepseek.com", "assistant: base_url is no address of a model")
		return
	}
	if u.Scheme == "http" && !here(u.Hostname()) {
		r.warn(n, "write https://", "assistant: base_url is not encrypted: the key and what is read of the notes can be read on the way")
	}
	*to = strings.TrimRight(s, "/")
}

func here(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// key reads where the key lies. A key that stands there itself is refused and
// never repeated.
func (r *reader) key(n *yaml.Node, dir, home string, to *Key) {
	const form = "write key: {env: NAME}, key: {file: ~/…} or key: {command: [PROGRAM, …]}"
	if v := resolve(n); v.Kind == yaml.ScalarNode && !isNull(v) {
		r.bad(n, form, "assistant: a key does not stand in config.yaml")
		return
	}
	fs := fields{
		"env": {set: value(r, "assistant: key: env", &to.Env, func(s string) (string, error) {
			if !envName().MatchString(s) {
				return "", errors.New("this is no name of an environment variable")
			}
			return s, nil
		})},
		"file":    {set: value(r, "assistant: key: file", &to.File, folder(home))},
		"command": {set: func(n *yaml.Node) { r.command(n, "assistant: key", &to.Command) }},
	}
	r.mapping(n, "assistant: key", fs, func(key *yaml.Node) {
		r.bad(key, form, "assistant: key: unknown key %q", key.Value)
	})
	if len(to.Command) > 0 {
		to.Command[0] = program(to.Command[0], dir, home)
	}
	set := 0
	for _, there := range []bool{to.Env != "", to.File != "", len(to.Command) > 0} {
		if there {
			set++
		}
	}
	if set > 1 {
		r.bad(n, "leave one of them", "assistant: key names several places")
	}
}

// price reads what tokens cost. What was kept by the provider costs as much as
// what was not, unless it is said.
func (r *reader) price(n *yaml.Node) *Price {
	p := &Price{Cached: -1}
	usd := func(what string, to *float64) func(*yaml.Node) {
		return value(r, "assistant: price: "+what, to, func(s string) (float64, error) {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
				return 0, fmt.Errorf("%q is no price: write the USD for a million tokens, like 0.28", s)
			}
			return v, nil
		})
	}
	fs := fields{"input": {set: usd("input", &p.Input)}, "cached": {set: usd("cached", &p.Cached)}, "output": {set: usd("output", &p.Output)}}
	r.mapping(n, "assistant: price", fs, func(key *yaml.Node) {
		r.bad(key, near(key.Value, fs), "assistant: price: unknown key %q", key.Value)
	})
	if p.Cached < 0 {
		p.Cached = p.Input
	}
	return p
}
