package chats

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// special reports whether a line reads as structure. It is true for every line
// that line takes as a part, and for some more.
func (d document) special(line string) bool {
	if _, ok := d.roleOf(line); ok {
		return true
	}
	return strings.HasPrefix(line, strings.TrimRight(toolMark, " ")) ||
		strings.HasPrefix(line, strings.TrimRight(sentMark, " ")) || isBox(line)
}

// roleOf reads a role heading.
func (d document) roleOf(line string) (string, bool) {
	name, ok := strings.CutPrefix(line, "## ")
	if !ok {
		return "", false
	}
	name = strings.TrimRight(name, " \t\r")
	return name, name == You || name == Assistant || name == d.agent && name != ""
}

// isBox reports whether line starts as an item with a box does.
func isBox(line string) bool {
	if len(line) < 5 || strings.IndexByte("-*+", line[0]) < 0 || line[1:3] != " [" {
		return false
	}
	_, size := utf8.DecodeRuneInString(line[3:])
	return strings.HasPrefix(line[3+size:], "]")
}

// parseBox reads a box of ours: one that ends in an id. What other tools
// append to a ticked line is not looked at.
func parseBox(line string) (Box, bool) {
	if !isBox(line) || line[0] != '-' {
		return Box{}, false
	}
	_, size := utf8.DecodeRuneInString(line[3:])
	state, rest := line[3:3+size], line[3+size+1:]
	rest, ok := strings.CutPrefix(rest, " ")
	if !ok {
		return Box{}, false
	}
	at := strings.LastIndex(rest, " ^")
	if at < 0 {
		if !strings.HasPrefix(rest, "^") {
			return Box{}, false
		}
		rest, at = " "+rest, 0
	}
	id, tail, _ := strings.Cut(rest[at+2:], " ")
	if !isID(id) || !fromTools(tail) {
		return Box{}, false
	}
	b := Box{Text: rest[:at], ID: id, Ticked: state == "x" || state == "X"}
	if b.Ticked {
		b.Text = tasksDate().ReplaceAllString(b.Text, "")
	}
	b.Text = unescapeControls(b.Text)
	return b, true
}

// tasksDate is what the Tasks plugin puts before the id of a ticked line.
var tasksDate = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` [✅❌] \d{4}-\d{2}-\d{2}$`) })

func isID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-') {
			return false
		}
	}
	return id != ""
}

// fromTools reports whether tail is what Tasks and Dataview append to a ticked line.
func fromTools(tail string) bool {
	tail = strings.TrimSpace(tail)
	for _, start := range []string{"✅", "❌", "[completion::", "(completion::"} {
		if strings.HasPrefix(tail, start) {
			return true
		}
	}
	return tail == ""
}

func parseSent(line string) (time.Time, bool) {
	at, ok := strings.CutPrefix(line, sentMark)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(clock, strings.TrimRight(at, " \t\r"))
	return t, err == nil
}

// parseTool reads the first line of a tool.
func parseTool(line string) (Tool, bool) {
	rest, ok := strings.CutPrefix(line, toolMark)
	if !ok {
		return Tool{}, false
	}
	name, rest, ok := strings.Cut(rest, " · ")
	if !ok {
		return Tool{}, false
	}
	t := Tool{Name: unescapeControls(name)}
	if strings.HasPrefix(rest, "`") {
		title, after, ok := cutCode(rest)
		if !ok {
			return Tool{}, false
		}
		if after, ok = strings.CutPrefix(after, " · "); !ok {
			return Tool{}, false
		}
		t.Title, rest = unescapeControls(title), after
	}
	return t, parseState(strings.TrimRight(rest, " \t\r"), &t)
}

func parseState(s string, t *Tool) bool {
	state, rest, _ := strings.Cut(s, " · ")
	t.State = state
	var err error
	switch state {
	case Running:
		if since, ok := strings.CutPrefix(rest, "since "); ok {
			t.Since, err = time.Parse(clock, since)
		}
	case OK, Failed:
		t.Millis, err = parseMillis(rest)
	default:
		return false
	}
	return err == nil
}

// parseMillis reads "320 ms", "3.2 s" and "4m12s".
func parseMillis(s string) (int64, error) {
	if n, ok := strings.CutSuffix(s, " ms"); ok {
		return strconv.ParseInt(n, 10, 64)
	}
	d, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		return 0, fmt.Errorf("duration %q: %w", s, err)
	}
	return d.Milliseconds(), nil
}

// cutCode takes the code span at the start of s.
func cutCode(s string) (code, after string, ok bool) {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	for at := n; at < len(s); {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			break
		}
		at += i
		run := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if run == n {
			code = s[n:at]
			if len(code) >= 2 && code[0] == ' ' && code[len(code)-1] == ' ' {
				code = code[1 : len(code)-1]
			}
			return code, s[at+run:], true
		}
		at += run
	}
	return "", "", false
}

func nextLine(src []byte, pos int) int {
	if i := bytes.IndexByte(src[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(src)
}

// trimEnd is a line without its line end.
func trimEnd(line []byte) string {
	s := strings.TrimSuffix(string(line), "\n")
	return strings.TrimSuffix(s, "\r")
}

func endsCRLF(line []byte) bool { return bytes.HasSuffix(line, []byte("\r\n")) }

func leadingEnd(z []byte) int {
	switch {
	case bytes.HasPrefix(z, []byte("\n")):
		return 1
	case bytes.HasPrefix(z, []byte("\r\n")):
		return 2
	}
	return 0
}

// cutEnd takes one line end off the end of z.
func cutEnd(z []byte, crlf bool) []byte {
	if crlf && bytes.HasSuffix(z, []byte("\r\n")) {
		return z[:len(z)-2]
	}
	return bytes.TrimSuffix(z, []byte("\n"))
}
