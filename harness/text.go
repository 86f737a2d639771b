package harness

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentenceMax is the length of a reason on a card, in characters.
const sentenceMax = 200

// OneSentence makes what an agent or a model server gave as an error fit for a
// card: the message out of JSON bodies, with the code, on one line of at most
// 200 characters, without anything a terminal or Markdown reader obeys unseen.
// The raw text stays in the capture.
func OneSentence(raw string) string {
	text := strings.ToValidUTF8(raw, "\uFFFD")
	if i := strings.IndexByte(text, '{'); i >= 0 {
		if msg, ok := message(text[i:]); ok {
			text = join(text[:i], msg)
		}
	}
	return shorten(plain(firstLine(text)), sentenceMax)
}

// join puts a message behind what stood before its JSON body. That is often the
// code alone, or "Error: 429".
func join(before, msg string) string {
	before = strings.TrimRight(strings.TrimSpace(before), ":- ")
	switch {
	case before == "":
		return msg
	case strings.Contains(msg, before):
		return msg
	}
	return before + ": " + msg
}

// message finds the sentence in a JSON body.
func message(body string) (string, bool) {
	var v any
	if err := json.NewDecoder(strings.NewReader(body)).Decode(&v); err != nil {
		return "", false
	}
	msg, code := dig(v, 8)
	if msg == "" {
		return "", false
	}
	if code != "" && !strings.Contains(msg, code) {
		msg += " (" + code + ")"
	}
	return msg, true
}

// dig looks for a message and a code the way model servers nest them: error,
// message, detail, the first of a list, JSON inside a string.
func dig(v any, depth int) (msg, code string) {
	if depth == 0 {
		return "", ""
	}
	switch v := v.(type) {
	case string:
		if i := strings.IndexByte(v, '{'); i >= 0 {
			var inner any
			if json.Unmarshal([]byte(v[i:]), &inner) == nil {
				if msg, code := dig(inner, depth-1); msg != "" {
					return msg, code
				}
			}
		}
		return strings.TrimSpace(v), ""
	case []any:
		if len(v) > 0 {
			return dig(v[0], depth-1)
		}
	case map[string]any:
		return digObject(v, depth)
	}
	return "", ""
}

func digObject(o map[string]any, depth int) (msg, code string) {
	for _, key := range []string{"error", "errorMessage", "message", "detail", "details", "errors", "error_description", "reason"} {
		if m, c := dig(o[key], depth-1); m != "" {
			msg, code = m, c
			break
		}
	}
	for _, key := range []string{"code", "status", "statusCode", "type"} {
		if code != "" {
			break
		}
		switch c := o[key].(type) {
		case float64:
			code = fmt.Sprintf("%.0f", c)
		case string:
			if c != "error" {
				code = c
			}
		}
	}
	return msg, code
}

// firstLine leaves stack traces out.
func firstLine(s string) string {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		return s[:i]
	}
	return s
}

// plain takes escape sequences, controls and invisible characters out and
// collapses white space.
func plain(s string) string {
	var b strings.Builder
	for s != "" {
		if n := escape(s); n > 0 {
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// escape is the length of the terminal sequence that s begins with: CSI, or a
// string up to BEL or ST, or ESC and one character.
func escape(s string) int {
	if len(s) < 2 || s[0] != '\x1b' {
		return 0
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == '\x1b' && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	return 1 + size
}

// shorten cuts s to n characters, the last of them "…" if it was longer.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return strings.TrimSpace(string(runes[:n-1])) + "…"
}

// EndsInQuestion reports whether an answer ends with a question for a person:
// with ?, ？ or ؟, once trailing blanks, quotes, brackets and Markdown marks are
// off, and not in a code fence.
func EndsInQuestion(text string) bool {
	if endsInFence(text) {
		return false
	}
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Pe, unicode.Pf, unicode.Pi) ||
			strings.ContainsRune("\"'`´*_~=>\\\ufe0f", r)
	})
	r, _ := utf8.DecodeLastRuneInString(text)
	return r == '?' || r == '？' || r == '؟'
}

// endsInFence reports whether the last line with text is in a code fence or
// closes one.
func endsInFence(text string) bool {
	open, last := "", false
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		mark, info := fence(line)
		switch {
		case open == "" && mark != "":
			open, last = mark, true
		case open != "" && strings.HasPrefix(mark, open) && info == "":
			open, last = "", true
		default:
			last = open != ""
		}
	}
	return last
}

// fence splits a line that begins with a code fence into the fence and what
// follows it.
func fence(line string) (mark, info string) {
	line = strings.TrimSpace(line)
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if len(line)-len(rest) < 3 || c == "`" && strings.Contains(rest, c) {
			continue
		}
		return line[:len(line)-len(rest)], strings.TrimSpace(rest)
	}
	return "", ""
}
