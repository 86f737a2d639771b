package chats

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"deckhand/internal/markdown"
	"deckhand/internal/span"
)

// stamp is how created is written: local, without offset, as people's own
// properties are.
const stamp = "2006-01-02T15:04:05"

// header writes the properties. Empty ones are left out.
func header(p Props) []byte {
	var b bytes.Buffer
	b.WriteString("---\n")
	for _, kv := range []property{
		{"title", p.Title},
		{"agent", p.Agent},
		{"model", p.Model},
		{"project", p.Project},
		{"board", p.Board},
		{"run", p.Run},
		{"status", p.Status},
	} {
		if kv.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", kv.key, scalar(kv.value))
		}
	}
	if !p.Created.IsZero() {
		fmt.Fprintf(&b, "created: %s\n", p.Created.Format(stamp))
	}
	if p.Cost != nil {
		fmt.Fprintf(&b, "cost: %s\n", amount(*p.Cost))
	}
	if p.Tokens != 0 {
		fmt.Fprintf(&b, "tokens: %d\n", p.Tokens)
	}
	b.WriteString("---\n")
	return b.Bytes()
}

// amount shows dollars with as many digits as mean something.
func amount(f float64) string {
	s := strconv.FormatFloat(f, 'f', 6, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// scalar writes s as a YAML string on one line, quoted only where it must be.
func scalar(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plain reports whether s, without quotes, is the string s for any reader of YAML.
func plain(s string) bool {
	for i, r := range s {
		if !(unicode.IsLetter(r) || unicode.IsDigit(r) || i > 0 && strings.ContainsRune(" _./()+-'", r)) {
			return false
		}
	}
	var n yaml.Node
	if strings.HasSuffix(s, " ") || yaml.Unmarshal([]byte(s), &n) != nil || len(n.Content) != 1 {
		return false
	}
	return n.Content[0].Tag == "!!str" && n.Content[0].Value == s
}

// Run is the run: of a file's header: what makes a file a chat, wherever it
// lies. It reads the header's lines only and does not check the YAML.
func Run(src []byte) (string, bool) {
	run := headerField(src, "run")
	return run, run != ""
}

// headerField is the value of a flat key, empty where there is none.
func headerField(src []byte, key string) string {
	h, _ := markdown.CutHeader(src)
	for line := range bytes.Lines(h.YAML.Of(src)) {
		rest, ok := bytes.CutPrefix(line, []byte(key+":"))
		if !ok || len(bytes.TrimLeft(rest, " \t")) == len(rest) {
			continue
		}
		var n yaml.Node
		if yaml.Unmarshal(rest, &n) == nil && len(n.Content) == 1 && n.Content[0].Kind == yaml.ScalarNode {
			return n.Content[0].Value
		}
		return ""
	}
	return ""
}

// mapping reads the header as YAML.
func mapping(src []byte) (*yaml.Node, markdown.Header, error) {
	h, _ := markdown.CutHeader(src)
	if h.Span.Empty() {
		return nil, h, errors.New("the chat has no header")
	}
	var n yaml.Node
	if err := yaml.Unmarshal(h.YAML.Of(src), &n); err != nil {
		return nil, h, fmt.Errorf("header: %w", err)
	}
	if len(n.Content) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode}, h, nil
	}
	if n.Content[0].Kind != yaml.MappingNode {
		return nil, h, errors.New("header: not a list of properties")
	}
	return n.Content[0], h, nil
}

// readProps reads the header; of a broken one what its lines say.
func readProps(src []byte) (Props, string) {
	get := func(key string) string { return headerField(src, key) }
	broken := ""
	if m, _, err := mapping(src); err != nil {
		broken = err.Error()
	} else {
		get = func(key string) string {
			if v := valueOf(m, key); v != nil && v.Kind == yaml.ScalarNode && v.Tag != "!!null" {
				return v.Value
			}
			return ""
		}
	}
	p := Props{
		Title: get("title"), Agent: get("agent"), Model: get("model"), Project: get("project"),
		Board: get("board"), Run: get("run"), Status: get("status"),
	}
	p.Created, _ = time.Parse(stamp, get("created"))
	if cost, err := strconv.ParseFloat(get("cost"), 64); err == nil {
		p.Cost = &cost
	}
	p.Tokens, _ = strconv.ParseInt(get("tokens"), 10, 64)
	return p, broken
}

func valueOf(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// property is a key with its value as written in YAML.
type property struct{ key, value string }

// changing are the properties that change while a run goes on; empty ones are
// left alone.
func changing(p Props) []property {
	var props []property
	if p.Model != "" {
		props = append(props, property{"model", scalar(p.Model)})
	}
	if p.Status != "" {
		props = append(props, property{"status", scalar(p.Status)})
	}
	if p.Cost != nil {
		props = append(props, property{"cost", amount(*p.Cost)})
	}
	if p.Tokens != 0 {
		props = append(props, property{"tokens", strconv.FormatInt(p.Tokens, 10)})
	}
	return props
}

// SetProps brings status, model, cost and tokens up to date by splicing the
// values that differ; empty ones are left alone. A header that a person broke
// is left alone and said.
func SetProps(cur []byte, p Props) ([]byte, error) {
	m, h, err := mapping(cur)
	if err != nil {
		return nil, err
	}
	var edits []span.Edit
	props, keys := changing(p), len(m.Content)/2
	for _, v := range props {
		e, err := setValue(cur, m, h, v.key, v.value)
		if err != nil {
			return nil, fmt.Errorf("header: %s: %w", v.key, err)
		}
		edits = append(edits, e...)
		if valueOf(m, v.key) == nil {
			keys++
		}
	}
	if len(edits) == 0 {
		return cur, nil
	}
	out, err := span.Apply(cur, edits...)
	if err != nil {
		return nil, err
	}
	if err := checkSet(out, props, keys); err != nil {
		return nil, err
	}
	return out, nil
}

// checkSet reads the new header: YAML has more layouts than a splice knows.
func checkSet(out []byte, props []property, keys int) error {
	m, _, err := mapping(out)
	if err != nil {
		return err
	}
	for _, v := range props {
		if n := valueOf(m, v.key); n == nil || !equalValue(n.Value, v.value) || len(m.Content)/2 != keys {
			return fmt.Errorf("header: no room for %s", v.key)
		}
	}
	return nil
}

// setValue is the edit that gives key a value, as written in YAML.
func setValue(src []byte, m *yaml.Node, h markdown.Header, key, value string) ([]span.Edit, error) {
	old := valueOf(m, key)
	if old == nil {
		if m.Style&yaml.FlowStyle != 0 {
			return nil, errors.New("the properties are in braces")
		}
		return []span.Edit{span.Insert(h.YAML.End, []byte(key+": "+value+span.EOL(src, h.YAML.End)))}, nil
	}
	if old.Kind == yaml.ScalarNode && equalValue(old.Value, value) {
		return nil, nil
	}
	s, err := valueSpan(src, h, key, old)
	if err != nil {
		return nil, err
	}
	text := value
	if s.Start > 0 && src[s.Start-1] == ':' {
		text = " " + value
	}
	if s.End < len(src) && src[s.End] == '#' {
		text += " "
	}
	return []span.Edit{{Span: s, Text: []byte(text)}}, nil
}

// equalValue reports whether the value read is the one to write.
func equalValue(old, value string) bool {
	var n yaml.Node
	if yaml.Unmarshal([]byte(value), &n) == nil && len(n.Content) == 1 && n.Content[0].Value == old {
		return true
	}
	a, errA := strconv.ParseFloat(old, 64)
	b, errB := strconv.ParseFloat(value, 64)
	return errA == nil && errB == nil && a == b
}

// valueSpan is where the value of key stands: on the line of its key, without
// comment. Anything else a person may have made of it is refused.
func valueSpan(src []byte, h markdown.Header, key string, v *yaml.Node) (span.Span, error) {
	none := span.Span{}
	var found []span.Span // from the colon to the end of the line
	for pos := h.YAML.Start; pos < h.YAML.End; pos = nextLine(src, pos) {
		if bytes.HasPrefix(src[pos:], []byte(key+":")) {
			end := pos + len(trimEnd(src[pos:nextLine(src, pos)]))
			found = append(found, span.Span{Start: pos + len(key) + 1, End: end})
		}
	}
	if len(found) != 1 {
		return none, errors.New("not one line of its own")
	}
	if v.Kind != yaml.ScalarNode || v.Anchor != "" || v.Style&(yaml.TaggedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return none, errors.New("not a plain value")
	}
	s := found[0]
	rest := string(s.Of(src))
	s.Start += len(rest) - len(strings.TrimLeft(rest, " \t"))
	s.End = s.Start + scalarLen(string(s.Of(src)))
	var alone yaml.Node
	if err := yaml.Unmarshal(s.Of(src), &alone); err != nil || s.Len() > 0 && (len(alone.Content) != 1 || alone.Content[0].Value != v.Value) || s.Len() == 0 && v.Value != "" {
		return none, errors.New("not on one line")
	}
	return s, nil
}

// scalarLen is the length of the scalar at the start of a line.
func scalarLen(line string) int {
	if line == "" {
		return 0
	}
	switch quote := line[0]; quote {
	case '"', '\'':
		for i := 1; i < len(line); i++ {
			switch {
			case quote == '"' && line[i] == '\\':
				i++
			case line[i] == quote && i+1 < len(line) && line[i+1] == quote && quote == '\'':
				i++
			case line[i] == quote:
				return i + 1
			}
		}
	case '#':
		return 0
	}
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	return len(strings.TrimRight(line, " \t"))
}
