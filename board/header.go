package board

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"deckhand/internal/markdown"

	"gopkg.in/yaml.v3"
)

// header is what a board's YAML header says that matters here.
type header struct {
	kanban  bool
	board   bool
	own     bool // run: or deckhand: a file deckhand wrote
	project string
	lanes   map[Role][]string
	problem string
}

// wantsHeader reports whether a header can matter, before any YAML is read.
func wantsHeader(text []byte) bool {
	for _, key := range [...]string{"kanban-plugin", "board", "project", "lanes", "run", "deckhand"} {
		if bytes.Contains(text, []byte(key)) {
			return true
		}
	}
	return false
}

// readHeader reads the header of src. Broken YAML is a problem that is said;
// keys at the start of a line still tell whose file it is.
func readHeader(src []byte) (header, int) {
	h, body := markdown.CutHeader(src)
	text := h.YAML.Of(src)
	if h.Span.Empty() || !wantsHeader(text) {
		return header{}, body
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return brokenHeader(text, err, h.Line), body
	}
	if len(doc.Content) == 0 {
		return header{}, body
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return header{problem: fmt.Sprintf("line %d: the header is not a list of keys and values", h.Line)}, body
	}
	return mappedHeader(doc.Content[0], h.Line), body
}

// yamlLine is how yaml.v3 says where.
var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`line (\d+): `) })

func brokenHeader(text []byte, err error, first int) header {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	msg = strings.TrimPrefix(msg, "unmarshal errors:\n  ")
	msg, _, _ = strings.Cut(msg, "\n")
	line := first
	if m := yamlLine().FindStringSubmatch(msg); m != nil {
		n, _ := strconv.Atoi(m[1])
		line = first - 1 + n
		msg = strings.Replace(msg, m[0], "", 1)
	}
	return header{
		kanban:  hasKey(text, "kanban-plugin"),
		own:     hasKey(text, "run") || hasKey(text, "deckhand"),
		problem: fmt.Sprintf("line %d: %s", line, msg),
	}
}

// hasKey reports whether a line of text begins with "key:".
func hasKey(text []byte, key string) bool {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok && bytes.HasPrefix(rest, []byte(":")) {
			return true
		}
	}
	return false
}

func mappedHeader(m *yaml.Node, first int) header {
	var h header
	seen := map[string]bool{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i].Value, m.Content[i+1]
		if seen[key] {
			h.problem = fmt.Sprintf("line %d: the key %q stands twice", first-1+m.Content[i].Line, key)
		}
		seen[key] = true
		switch key {
		case "kanban-plugin":
			h.kanban = true
		case "board":
			h.board = value.Value == "true" || value.Value == "yes"
		case "run", "deckhand":
			h.own = true
		case "project":
			h.project = projectName(value)
		case "lanes":
			lanes, err := ownLanes(value)
			if err != nil {
				h.problem = fmt.Sprintf("line %d: %v", first-1+value.Line, err)
			}
			h.lanes = lanes
		}
	}
	return h
}

// projectName reads a project's name; [[Name]] is a link in Obsidian and a
// list in a list in YAML.
func projectName(v *yaml.Node) string {
	for v.Kind == yaml.SequenceNode && len(v.Content) == 1 {
		v = v.Content[0]
	}
	if v.Kind == yaml.AliasNode && v.Alias != nil {
		v = v.Alias
	}
	if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
		return ""
	}
	return linkTarget(strings.TrimSpace(v.Value))
}

// linkTarget takes [[ ]] and the alias off.
func linkTarget(s string) string {
	inner, ok := strings.CutPrefix(s, "[[")
	if !ok {
		return s
	}
	inner, ok = strings.CutSuffix(inner, "]]")
	if !ok {
		return s
	}
	inner, _, _ = strings.Cut(inner, "|")
	return strings.TrimSpace(inner)
}

// ownLanes reads a board's own lanes: a role with its names, or with one name.
func ownLanes(v *yaml.Node) (map[Role][]string, error) {
	if v.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("lanes: is not a list of roles")
	}
	out := map[Role][]string{}
	for i := 0; i+1 < len(v.Content); i += 2 {
		role := roleOf(v.Content[i].Value)
		if role == NoRole {
			return out, fmt.Errorf("lanes: has no role %q", v.Content[i].Value)
		}
		names := v.Content[i+1].Content
		if v.Content[i+1].Kind == yaml.ScalarNode {
			names = []*yaml.Node{v.Content[i+1]}
		}
		out[role] = []string{}
		for _, n := range names {
			out[role] = append(out[role], n.Value)
		}
	}
	return out, nil
}

func roleOf(name string) Role {
	for _, r := range roles() {
		if RoleName(r) == name {
			return r
		}
	}
	return NoRole
}
