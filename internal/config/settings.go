package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// roles are the keys of lanes:, in the order in which they are said.
func roles() []string { return []string{"ready", "working", "review", "done"} }

// LoadSettings reads deckhand.yaml. name is the file's name in the problems.
// What cannot be read has its default.
func LoadSettings(src []byte, name string) (Settings, []Problem) {
	r, s := &reader{file: name}, DefaultSettings()
	if n := r.parse(src); n != nil {
		fs := s.fields(r)
		r.mapping(n, name, fs, func(key *yaml.Node) { r.unknownSetting(key, fs) })
	}
	return s, r.problems
}

func (s *Settings) fields(r *reader) fields {
	return fields{
		"boards":    {set: func(n *yaml.Node) { r.globs(n, "boards", &s.Boards) }},
		"ignore":    {set: func(n *yaml.Node) { r.globs(n, "ignore", &s.Ignore) }},
		"output":    {set: value(r, "output", &s.Output, output)},
		"settle":    {set: value(r, "settle", &s.Settle, duration(0, time.Hour))},
		"typing":    {set: value(r, "typing", &s.Typing, duration(0, time.Hour))},
		"lanes":     {set: func(n *yaml.Node) { r.lanes(n, s.Lanes) }},
		"add_lanes": {set: value(r, "add_lanes", &s.AddLanes, yes)},
		"marks":     {set: value(r, "marks", &s.Marks, oneOf("emoji", "text"))},
		"notes":     {set: func(n *yaml.Node) { r.notes(n, &s.Notes) }},
	}
}

// unknownSetting tells a key that would grant something from a misspelt one.
func (r *reader) unknownSetting(key *yaml.Node, fs fields) {
	m := DefaultMachine()
	_, machine := m.fields(r, "", "", nil)[key.Value]
	if machine || slices.Contains([]string{"command", "env", "environment", "agent", "project"}, key.Value) {
		r.warn(key, "it belongs in config.yaml of the machine",
			"%s does not count here: a work folder cannot grant itself rights", key.Value)
		return
	}
	r.warn(key, near(key.Value, fs), "unknown key %q", key.Value)
}

func (r *reader) globs(n *yaml.Node, what string, to *[]string) {
	list := []string{}
	r.each(n, what, func(n *yaml.Node, s string) {
		if err := glob(s); err != nil {
			r.bad(n, "", "%s: %v", what, err)
			return
		}
		list = append(list, s)
	})
	*to = list
}

// lanes reads the names of each role's lanes. A role that is not named keeps
// its default names.
func (r *reader) lanes(n *yaml.Node, to map[string][]string) {
	fs := fields{}
	for _, role := range roles() {
		fs[role] = field{set: func(n *yaml.Node) { to[role] = r.list(n, "lanes: "+role) }}
	}
	r.mapping(n, "lanes", fs, func(key *yaml.Node) {
		r.warn(key, near(key.Value, fs), "lanes: unknown role %q", key.Value)
	})
	of := map[string]string{}
	for _, role := range roles() {
		for _, name := range to[role] {
			k := strings.ToLower(strings.TrimSpace(name))
			if other := of[k]; other != "" && other != role {
				r.bad(n, fmt.Sprintf("name the lanes of %s too, without it", other),
					"lanes: %q is a name of %s and of %s", name, other, role)
			}
			of[k] = role
		}
	}
}

func (r *reader) notes(n *yaml.Node, to *Notes) {
	fs := fields{
		"links":    {set: value(r, "notes: links", &to.Links, count(0, 100))},
		"per_note": {set: value(r, "notes: per_note", &to.PerNote, count(0, 10_000_000))},
		"total":    {set: value(r, "notes: total", &to.Total, count(0, 10_000_000))},
	}
	r.mapping(n, "notes", fs, func(key *yaml.Node) {
		r.warn(key, near(key.Value, fs), "notes: unknown key %q", key.Value)
	})
}
