package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// reader walks one file and collects what is wrong with it.
type reader struct {
	file     string
	problems []Problem
}

// field is what one key of a mapping does.
type field struct {
	set   func(*yaml.Node)
	later bool // read and checked, but nothing uses it yet
}

// fields are the keys that a mapping may have.
type fields map[string]field

func (r *reader) add(n *yaml.Node, warning bool, hint, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		File: r.file, Line: max(n.Line, 1), Col: max(n.Column, 1),
		Text: fmt.Sprintf(format, args...), Hint: hint, Warning: warning,
	})
}

func (r *reader) bad(n *yaml.Node, hint, format string, args ...any) {
	r.add(n, false, hint, format, args...)
}

func (r *reader) warn(n *yaml.Node, hint, format string, args ...any) {
	r.add(n, true, hint, format, args...)
}

// yamlLine finds the line in yaml.v3's own messages.
var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:yaml: )?line (\d+): `) })

// parse reads the file's one document. Nil: it is empty, or cannot be read.
func (r *reader) parse(src []byte) *yaml.Node {
	d := yaml.NewDecoder(bytes.NewReader(src))
	var doc, second yaml.Node
	if err := d.Decode(&doc); err != nil {
		if !errors.Is(err, io.EOF) {
			r.syntax(err)
		}
		return nil
	}
	if err := d.Decode(&second); err == nil {
		r.bad(&second, "take the --- out", "a second document: only one is read")
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

func (r *reader) syntax(err error) {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = strings.TrimPrefix(err.Error(), m[0])
	}
	r.bad(&yaml.Node{Line: line, Column: 1}, "", "not YAML: %s", text)
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// mapping gives each key's value to its field. unknown is told of the others.
func (r *reader) mapping(n *yaml.Node, what string, fs fields, unknown func(key *yaml.Node)) {
	r.pairs(n, what, func(key, value *yaml.Node) {
		f, ok := fs[key.Value]
		if !ok {
			unknown(key)
			return
		}
		if f.later {
			r.warn(key, "", "%s is not yet in use in this version", key.Value)
		}
		f.set(value)
	})
}

// pairs calls each for every key and value of a mapping, a key once.
func (r *reader) pairs(n *yaml.Node, what string, each func(key, value *yaml.Node)) {
	if m := resolve(n); isNull(m) {
		return
	} else if m.Kind != yaml.MappingNode {
		r.bad(n, "", "%s needs keys and values", what)
		return
	} else {
		n = m
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolve(n.Content[i+1])
		if key.Kind != yaml.ScalarNode {
			r.bad(key, "", "%s: a key is one word", what)
			continue
		}
		if line, twice := seen[key.Value]; twice {
			r.bad(key, "", "%s stands here twice, the first is in line %d", key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		each(key, value)
	}
}

// near is a hint that names the known key closest to a misspelt one.
func near(key string, fs fields) string {
	if k := nearest(key, slices.Sorted(maps.Keys(fs))); k != "" {
		return "did you mean " + k + "?"
	}
	return "known are " + strings.Join(slices.Sorted(maps.Keys(fs)), ", ")
}

// text reads one value as it is written.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	if n = resolve(n); n.Kind != yaml.ScalarNode || isNull(n) || strings.TrimSpace(n.Value) == "" {
		r.bad(n, "", "%s needs a value", what)
		return "", false
	}
	if i := strings.IndexFunc(n.Value, isControl); i >= 0 {
		r.bad(n, "", "%s has a control character", what)
		return "", false
	}
	return n.Value, true
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f || c == '\uFFFD' }

// each calls do for every value of a list; one value alone is a list of one.
func (r *reader) each(n *yaml.Node, what string, do func(n *yaml.Node, s string)) {
	n = resolve(n)
	if isNull(n) {
		return
	}
	if n.Kind == yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}}
	}
	if n.Kind != yaml.SequenceNode {
		r.bad(n, "", "%s needs a list", what)
		return
	}
	for _, c := range n.Content {
		if s, ok := r.text(c, what); ok {
			do(resolve(c), s)
		}
	}
}

// list reads a list of values as they are written.
func (r *reader) list(n *yaml.Node, what string) []string {
	var out []string
	r.each(n, what, func(_ *yaml.Node, s string) { out = append(out, s) })
	return out
}

// value reads one value with a grammar of its own.
func value[T any](r *reader, what string, to *T, read func(string) (T, error)) func(*yaml.Node) {
	return func(n *yaml.Node) {
		s, ok := r.text(n, what)
		if !ok {
			return
		}
		v, err := read(s)
		if err != nil {
			r.bad(n, "", "%s: %v", what, err)
			return
		}
		*to = v
	}
}
