package journal

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"deckhand/internal/span"
)

// stamp is RFC 3339 with the milliseconds that order events of one second.
const stamp = "2006-01-02T15:04:05.000Z07:00"

const (
	marker = "%% "
	reason = "reason:: "
	arrow  = "→ "
)

// Render writes one entry, without the blank line that parts it from the one before.
func Render(e Entry) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s · %s · %s\n\n", e.Time.Format("15:04"), token(e.Status), oneLine(e.Object))
	from, chat := visibleLink(e.From), visibleLink(e.Chat)
	switch {
	case from != "" && chat != "":
		fmt.Fprintf(&b, "%s %s%s\n", from, arrow, chat)
	case chat != "":
		fmt.Fprintf(&b, "%s%s\n", arrow, chat)
	case from != "":
		fmt.Fprintf(&b, "%s\n", from)
	}
	why := oneLine(strings.TrimSpace(e.Reason))
	if why != "" {
		fmt.Fprintf(&b, "%s%s\n", reason, why)
	}
	if diff := diffText(e.Diff); diff != "" {
		if from+chat+why != "" {
			b.WriteByte('\n')
		}
		f := fence(diff)
		fmt.Fprintf(&b, "%sdiff\n%s%s\n", f, diff, f)
	}
	b.WriteString(marker)
	for _, kv := range [][2]string{
		{"event", e.Event}, {"run", e.Run}, {"before", e.Before}, {"after", e.After}, {"at", e.Time.Format(stamp)},
	} {
		if value := token(kv[1]); value != "" {
			fmt.Fprintf(&b, "%s:: %s ", kv[0], value)
		}
	}
	b.WriteString("%%\n")
	return b.Bytes()
}

// visibleLink is a ready-made link on one line.
func visibleLink(s string) string { return visible(strings.TrimSpace(unbroken(s))) }

// headLine is the first line of an entry. Any other level-2 heading ends the
// entry before it too.
var headLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^## \d\d:\d\d · (\S*) · (.*)$`) })

// Parse finds the entries of a day's file. Text around them is a person's and
// is passed over.
func Parse(src []byte) []Parsed {
	var found []Parsed
	open := -1 // index of the entry whose last line has not come yet
	seen := map[string]bool{}
	var lines []string
	for pos, next := 0, 0; pos < len(src); pos = next {
		next = nextLine(src, pos)
		line := trimEnd(src[pos:next])
		if strings.HasPrefix(line, "## ") {
			open, lines = -1, nil
			if m := headLine().FindStringSubmatch(line); m != nil {
				open = len(found)
				found = append(found, Parsed{
					Entry: Entry{Status: m[1], Object: readLine(m[2])}, Span: span.Span{Start: pos, End: next}, Problem: "cut short",
				})
			}
			continue
		}
		if open < 0 {
			continue
		}
		p := &found[open]
		p.Span.End = next
		values, ok := parseMarker(line)
		if !ok {
			lines = append(lines, line)
			continue
		}
		p.finish(lines, values)
		if p.Problem == "" && seen[p.Entry.Event] {
			p.Problem = "its event is there twice"
		}
		seen[p.Entry.Event] = true
		open = -1
	}
	return found
}

// finish fills an entry from the lines below its heading and its last one.
func (p *Parsed) finish(lines []string, values map[string]string) {
	e := &p.Entry
	e.Event, e.Run, e.Before, e.After = values["event"], values["run"], values["before"], values["after"]
	at, err := time.Parse(stamp, values["at"])
	e.Time = at
	body(e, lines)
	change, ok := known(e.Status)
	switch {
	case !ok:
		p.Problem = "unknown kind"
	case err != nil:
		p.Problem = "no time"
	case change && outside(e.Object):
		p.Problem = "path outside"
	default:
		p.Problem = ""
	}
}

// body reads links, reason and diff.
func body(e *Entry, lines []string) {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	if len(lines) > 0 && (strings.HasPrefix(lines[0], "[") || strings.HasPrefix(lines[0], arrow)) {
		e.From, e.Chat = links(lines[0])
		lines = lines[1:]
	}
	if len(lines) > 0 && strings.HasPrefix(lines[0], reason) {
		e.Reason = readLine(strings.TrimPrefix(lines[0], reason))
		lines = lines[1:]
	}
	for len(lines) > 0 && !strings.HasPrefix(lines[0], "```") {
		lines = lines[1:]
	}
	if len(lines) < 2 {
		return
	}
	f, last := strings.TrimSuffix(lines[0], "diff"), len(lines)-1
	for last > 0 && lines[last] != f {
		last--
	}
	if last > 0 {
		e.Diff = strings.Join(lines[1:last], "\n")
	}
}

// links parts the line at the arrow between two links; names may hold arrows.
func links(line string) (from, chat string) {
	if chat, ok := strings.CutPrefix(line, arrow); ok {
		return "", chat
	}
	if at := strings.LastIndex(line, " "+arrow+"["); at >= 0 {
		return line[:at], line[at+len(" "+arrow):]
	}
	return line, ""
}

// parseMarker reads the last line of an entry. It is whole or it is none.
func parseMarker(line string) (map[string]string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimRight(line, " \t"), marker+"event:: ")
	if !ok {
		return nil, false
	}
	if rest, ok = strings.CutSuffix(rest, " %%"); !ok {
		return nil, false
	}
	words := strings.Fields("event:: " + rest)
	values := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		key, ok := strings.CutSuffix(words[i], "::")
		if !ok || values[key] != "" {
			return nil, false
		}
		values[key] = words[i+1]
	}
	return values, len(words)%2 == 0 && values["event"] != ""
}

func nextLine(src []byte, pos int) int {
	if i := bytes.IndexByte(src[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(src)
}

// trimEnd is a line without its line end.
func trimEnd(line []byte) string {
	return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
}
