package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// ErrShape is wrapped by every refusal to change a file: what stands there is
// written in a way in which putting something in would be a guess.
var ErrShape = errors.New("change it by hand")

// AddTrust puts a folder, as it is to be written, into trust:. A file that has
// it already comes back as it is.
func AddTrust(src []byte, dir string) ([]byte, error) {
	entry, err := scalar(dir)
	if err != nil {
		return nil, err
	}
	return splice(src, "trust", func(e *edit) ([]byte, error) {
		if slices.ContainsFunc(e.children(), func(n *yaml.Node) bool { return resolve(n).Value == dir }) {
			return src, nil
		}
		return e.add(yaml.SequenceNode, entry, "- "+entry)
	})
}

// RemoveTrust takes the folder out of trust:, however it is written there. It
// returns src and false when it is not there.
func RemoveTrust(src []byte, dir, home string) ([]byte, bool, error) {
	same := func(n *yaml.Node) bool {
		p, err := Expand(resolve(n).Value, home)
		return err == nil && p == dir
	}
	return remove(src, "trust", same)
}

// AddProject puts a project into projects:, the folder as it is to be written.
// A name that is there already is refused.
func AddProject(src []byte, name, folder string, boards []string) ([]byte, error) {
	if name == "notes" || !projectName().MatchString(name) {
		return nil, fmt.Errorf("%q is no name of a project: letters, digits, - and _ are, notes is taken", name)
	}
	key, err := scalar(name)
	if err != nil {
		return nil, err
	}
	row, err := projectRow(folder, boards)
	if err != nil {
		return nil, err
	}
	return splice(src, "projects", func(e *edit) ([]byte, error) {
		if slices.ContainsFunc(e.children(), func(n *yaml.Node) bool { return n.Value == name }) {
			return nil, fmt.Errorf("project %s is there already", name)
		}
		return e.add(yaml.MappingNode, key+": "+row, key+": "+row)
	})
}

// RemoveProject takes a project out of projects:. It returns src and false when
// it is not there.
func RemoveProject(src []byte, name string) ([]byte, bool, error) {
	return remove(src, "projects", func(n *yaml.Node) bool { return n.Value == name })
}

func projectRow(folder string, boards []string) (string, error) {
	f, err := scalar(folder)
	if err != nil {
		return "", err
	}
	if len(boards) == 0 {
		return "{folder: " + f + "}", nil
	}
	quoted := make([]string, len(boards))
	for i, b := range boards {
		if quoted[i], err = scalar(b); err != nil {
			return "", err
		}
	}
	return "{folder: " + f + ", boards: [" + strings.Join(quoted, ", ") + "]}", nil
}

// scalar writes a string as YAML, plain where it reads back as the same string
// in block and in flow style, else in double quotes.
func scalar(s string) (string, error) {
	if s == "" || !utf8.ValidString(s) || strings.ContainsFunc(s, isControl) {
		return "", fmt.Errorf("%q cannot stand in the configuration", s)
	}
	for _, written := range []string{s, strconv.QuoteToASCII(s)} {
		if reads("- "+written, s) && reads("[x, "+written+"]", s) && reads("{"+written+": x}", s) {
			return written, nil
		}
	}
	return "", fmt.Errorf("%q cannot stand in the configuration", s)
}

// reads reports whether s is the string that the last entry of doc, a list or
// the one key of a mapping, reads as.
func reads(doc, s string) bool {
	var n yaml.Node
	if yaml.Unmarshal([]byte(doc+"\n"), &n) != nil || len(n.Content[0].Content) == 0 {
		return false
	}
	c := n.Content[0].Content
	last := c[len(c)-1]
	if n.Content[0].Kind == yaml.MappingNode {
		last = c[0]
	}
	return len(c) <= 2 && last.Kind == yaml.ScalarNode && last.Tag == "!!str" && last.Value == s && last.LineComment == ""
}

// splice makes one change and reads the result back: it has to say what the old
// file said but for that change, or the file comes back untouched with ErrShape.
func splice(src []byte, name string, change func(*edit) ([]byte, error)) ([]byte, error) {
	e, err := open(src, name)
	if err != nil {
		return nil, err
	}
	out, err := change(e)
	if err != nil || bytes.Equal(out, src) {
		return out, err
	}
	after, err := open(out, name)
	if err != nil {
		return nil, err
	}
	if !oneApart(after, e) {
		return nil, fmt.Errorf("%s: is written in a way that cannot be added to: %w", name, ErrShape)
	}
	return out, nil
}

// remove takes the first entry out that matches, and checks like splice.
func remove(src []byte, name string, match func(*yaml.Node) bool) ([]byte, bool, error) {
	e, err := open(src, name)
	if err != nil {
		return src, false, err
	}
	i := slices.IndexFunc(e.children(), match)
	if i < 0 {
		return src, false, nil
	}
	out, err := e.cut(i)
	if err != nil {
		return src, false, err
	}
	after, err := open(out, name)
	if err != nil || !oneApart(e, after) {
		return src, false, fmt.Errorf("%s: is written in a way that nothing can be taken out of: %w", name, ErrShape)
	}
	return out, true, nil
}

// children are the entries: a list's items, a mapping's keys.
func (e *edit) children() []*yaml.Node {
	if e.value == nil {
		return nil
	}
	switch e.value.Kind {
	case yaml.SequenceNode:
		return e.value.Content
	case yaml.MappingNode:
		var keys []*yaml.Node
		for i := 0; i < len(e.value.Content); i += 2 {
			keys = append(keys, e.value.Content[i])
		}
		return keys
	}
	return nil
}

// oneApart reports whether more says what less says and one entry besides.
func oneApart(more, less *edit) bool {
	if more.rest() != less.rest() {
		return false
	}
	m, l := entries(more.value), entries(less.value)
	if len(m) != len(l)+1 {
		return false
	}
	for _, s := range l {
		i := slices.Index(m, s)
		if i < 0 {
			return false
		}
		m = slices.Delete(m, i, i+1)
	}
	return true
}

// rest is the meaning of the file without the key.
func (e *edit) rest() string {
	if e.root == nil {
		return dump(&yaml.Node{Kind: yaml.MappingNode}, "")
	}
	return dump(e.root, e.name)
}

// entries writes each entry of a list or mapping out.
func entries(n *yaml.Node) []string {
	var out []string
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			out = append(out, dump(c, ""))
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			out = append(out, dump(n.Content[i], "")+dump(n.Content[i+1], ""))
		}
	}
	return out
}

// dump writes a node's meaning, without places, styles and comments, and
// without the value of the key except. Aliases are not followed.
func dump(n *yaml.Node, except string) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(%d %s %q %q", n.Kind, n.ShortTag(), n.Anchor, n.Value)
	for i := 0; i < len(n.Content); i++ {
		c := n.Content[i]
		if except != "" && n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == except {
			i++
			continue
		}
		b.WriteString(dump(c, ""))
	}
	b.WriteByte(')')
	return b.String()
}
