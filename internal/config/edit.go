package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// edit is one top-level key of a file that is to be changed.
type edit struct {
	src   []byte     // without a byte order mark
	bom   []byte     // the byte order mark, or empty
	root  *yaml.Node // a block mapping, or nil: the file has no keys
	name  string
	key   *yaml.Node // nil: not there
	value *yaml.Node
	next  *yaml.Node // the key after it, or nil
	eol   string
}

// open reads a file for one change and refuses what it could not change exactly.
func open(src []byte, name string) (*edit, error) {
	text := bytes.TrimPrefix(src, []byte("\ufeff"))
	if !utf8.Valid(text) || bytes.ContainsAny(text, "\u0085\u2028\u2029\ufeff") || bareReturn(text) {
		return nil, fmt.Errorf("the file has unusual characters: %w", ErrShape)
	}
	r := &reader{}
	root := r.parse(text)
	if len(r.problems) > 0 {
		return nil, fmt.Errorf("line %d: %s: %w", r.problems[0].Line, r.problems[0].Text, ErrShape)
	}
	e := &edit{src: text, bom: src[:len(src)-len(text)], root: root, name: name, eol: "\n"}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		e.eol = "\r\n"
	}
	if root == nil || isNull(root) {
		e.root = nil
		return e, nil
	}
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return nil, fmt.Errorf("line %d: the file is not one key a line: %w", root.Line, ErrShape)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if k := root.Content[i]; e.key != nil {
			e.next = k
			break
		} else if k.Kind == yaml.ScalarNode && k.Value == name {
			e.key, e.value = k, root.Content[i+1]
		}
	}
	return e, nil
}

func bareReturn(src []byte) bool {
	return bytes.Count(src, []byte("\r")) != bytes.Count(src, []byte("\r\n"))
}

// add puts an entry in: flow is how it reads between brackets, block on a line.
func (e *edit) add(kind yaml.Kind, flow, block string) ([]byte, error) {
	switch {
	case e.key == nil:
		return e.addKey(block), nil
	case isNull(e.value) && e.value.Value == "":
		return e.insertLine(e.key.Line, e.indent(e.key.Column-1)+"  "+block), nil
	case isNull(e.value):
		at := e.offset(e.value)
		return e.replace(at, at+len(e.value.Value), brackets(kind, flow)), nil
	case e.value.Kind != kind:
		return nil, fmt.Errorf("line %d: %s is not written as %s: %w", e.key.Line, e.name, kindName(kind), ErrShape)
	case e.value.Style&yaml.FlowStyle != 0:
		if len(e.value.Content) > 0 {
			flow += ", "
		}
		at := e.offset(e.value) + 1
		return e.replace(at, at, flow), nil
	}
	return e.insertLine(e.last(e.key, e.next), e.indent(e.value.Column-1)+block), nil
}

func brackets(kind yaml.Kind, entry string) string {
	if kind == yaml.SequenceNode {
		return "[" + entry + "]"
	}
	return "{" + entry + "}"
}

func kindName(kind yaml.Kind) string {
	if kind == yaml.SequenceNode {
		return "a list"
	}
	return "keys and values"
}

// addKey puts the key with its first entry at the end of the file.
func (e *edit) addKey(block string) []byte {
	indent := ""
	if e.root != nil {
		indent = e.indent(e.root.Column - 1)
	}
	text := indent + e.name + ":" + e.eol + indent + "  " + block + e.eol
	if n := len(e.src); n > 0 && e.src[n-1] != '\n' {
		text = e.eol + text
	}
	return e.replace(len(e.src), len(e.src), text)
}

// cut takes entry i out.
func (e *edit) cut(i int) ([]byte, error) {
	children := e.children()
	if e.value.Style&yaml.FlowStyle != 0 {
		from, to := flowEntry(e.src, e.offset(children[i]))
		return e.replace(from, to, ""), nil
	}
	next := e.next
	if i+1 < len(children) {
		next = children[i+1]
	}
	from, to := e.lineStart(children[i].Line), e.lineStart(e.last(children[i], next)+1)
	return e.replace(from, to, ""), nil
}

// last is the last line of what begins at node from and ends before node next
// (nil: at the end of the file), without comments and blank lines behind it.
func (e *edit) last(from, next *yaml.Node) int {
	lines := bytes.Split(e.src, []byte("\n"))
	to := len(lines)
	if next != nil {
		to = next.Line - 1
	}
	for ; to > from.Line; to-- {
		if t := bytes.TrimSpace(lines[to-1]); len(t) > 0 && t[0] != '#' {
			break
		}
	}
	return to
}

func (e *edit) indent(n int) string { return strings.Repeat(" ", max(n, 0)) }

// lineStart is the offset at which a line, 1-based, begins, or the end.
func (e *edit) lineStart(line int) int {
	at := 0
	for range line - 1 {
		i := bytes.IndexByte(e.src[at:], '\n')
		if i < 0 {
			return len(e.src)
		}
		at += i + 1
	}
	return at
}

// offset is where a node begins; yaml counts columns in characters.
func (e *edit) offset(n *yaml.Node) int {
	at := e.lineStart(n.Line)
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(e.src[at:])
		at += size
	}
	return at
}

// insertLine puts a line below line n.
func (e *edit) insertLine(n int, line string) []byte {
	at, text := e.lineStart(n+1), line+e.eol
	if at == len(e.src) && at > 0 && e.src[at-1] != '\n' {
		text = e.eol + text
	}
	return e.replace(at, at, text)
}

func (e *edit) replace(from, to int, text string) []byte {
	if from > to || to > len(e.src) {
		from, to, text = 0, 0, "" // changes nothing, which the check finds
	}
	return bytes.Join([][]byte{e.bom, e.src[:from], []byte(text), e.src[to:]}, nil)
}

// flowEntry is the extent of an entry of [..] or {..} that begins at from, with
// the comma and the blanks that go with it.
func flowEntry(src []byte, from int) (int, int) {
	to := flowEnd(src, from)
	if to < len(src) && src[to] == ',' {
		to++
		for to < len(src) && src[to] == ' ' {
			to++
		}
		return from, to
	}
	before := bytes.TrimRight(src[:from], " \t\r\n")
	if n := len(before); n > 0 && before[n-1] == ',' {
		from = n - 1
	}
	return from, to
}

// flowEnd is the comma or bracket that ends what begins at from.
func flowEnd(src []byte, from int) int {
	depth, start := 0, true // start: a quote here opens a quoted scalar
	for i := from; i < len(src); i++ {
		switch c := src[i]; c {
		case '[', '{':
			depth, start = depth+1, true
		case ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
			start = true
		case ':':
			start = true
		case ' ':
		case '"', '\'':
			if start {
				i = quoteEnd(src, i)
			}
			start = false
		default:
			start = false
		}
	}
	return len(src)
}

// quoteEnd is the closing quote of the one at i, or the end.
func quoteEnd(src []byte, i int) int {
	quote := src[i]
	for i++; i < len(src); i++ {
		switch {
		case src[i] == '\\' && quote == '"':
			i++
		case src[i] == quote && quote == '\'' && i+1 < len(src) && src[i+1] == quote:
			i++
		case src[i] == quote:
			return i
		}
	}
	return len(src)
}
