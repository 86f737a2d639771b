package board

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// key is the identity of a card before its first run: its first line without
// block id, mention suffixes, fields of the Tasks and Kanban plugins and
// variation selectors, white space collapsed, in NFC.
func key(first string) string {
	s := strings.TrimSpace(first)
	return keyOf(s, classify(s))
}

// keyOf is key for a trimmed line of class k.
func keyOf(s string, k class) string {
	if k.has(hasWide | hasSpace) {
		return wideKey(s)
	}
	plain := !k.has(hasCaret) && (!k.has(hasColon) || !strings.Contains(s, "::")) &&
		(!k.has(hasAt) || !k.has(hasBrace) && (!k.has(hasOpen) || !strings.Contains(s, "@[")))
	if plain && !k.has(hasGap) {
		return s
	}
	return wideKey(s)
}

// wideKey is keyOf for any line.
func wideKey(s string) string {
	if !ascii(s) {
		s = strings.Map(func(r rune) rune {
			if r == '\ufe0e' || r == '\ufe0f' {
				return -1
			}
			return r
		}, s)
	}
	s, _ = cutBlockID(s)
	s = dropKanbanFields(s)
	s = dropTrailingFields(s)
	s = collapse(s)
	if ascii(s) {
		return s
	}
	return norm.NFC.String(s)
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// collapse makes every run of white space one blank.
func collapse(s string) string {
	last := byte(' ')
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' || c == ' ' && last == ' ' {
			return strings.Join(strings.Fields(s), " ")
		}
		last = s[i]
	}
	return strings.TrimSpace(s)
}

// cutBlockID takes "^id" off the end of a line.
func cutBlockID(s string) (rest, id string) {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	at := strings.LastIndexByte(s, '^')
	if at < 0 || at+1 == len(s) || at > 0 && s[at-1] != ' ' && s[at-1] != '\t' {
		return s, ""
	}
	for _, c := range []byte(s[at+1:]) {
		if !nameByte(c) && (c < 'A' || c > 'Z') || c == '_' {
			return s, ""
		}
	}
	return strings.TrimRightFunc(s[:at], unicode.IsSpace), s[at+1:]
}

// dropKanbanFields takes off what the date and time pickers of Obsidian Kanban
// write, and what the picker leaves behind a mention: @pi{2026-11-30}.
func dropKanbanFields(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		switch {
		case s[i] != '@':
			out.WriteByte(s[i])
			i++
			continue
		case i == 0 || s[i-1] == ' ' || s[i-1] == '\t':
			if n := kanbanField(s[i:]); n > 0 {
				i += n
				continue
			}
		}
		n := 1 + nameLen(s[i+1:])
		out.WriteString(s[i : i+n])
		i += n
		if n > 1 && i < len(s) && s[i] == '{' {
			i += fieldEnd(0, s[i:], "}")
		}
	}
	return out.String()
}

// kanbanField is the length of the date or time field at the start of s.
func kanbanField(s string) int {
	rest := strings.TrimPrefix(strings.TrimPrefix(s, "@"), "@")
	n := len(s) - len(rest)
	switch {
	case strings.HasPrefix(rest, "{"):
		return fieldEnd(n, rest, "}")
	case strings.HasPrefix(rest, "[["):
		return fieldEnd(n, rest, "]]")
	case strings.HasPrefix(rest, "["):
		if strings.Contains(rest, "](") {
			return fieldEnd(n, rest, ")")
		}
	}
	return 0
}

func fieldEnd(n int, rest, end string) int {
	at := strings.Index(rest[:min(len(rest), longLink)], end)
	if at < 0 {
		return 0
	}
	return n + at + len(end)
}

// taskField is one field of the Tasks plugin at the end of a line, as that
// plugin reads them: from the end backwards. The last two are Dataview's.
var taskField = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:` +
		`[🛫➕⏳⌛📅📆🗓✅❌]\s*\d{4}-\d{2}-\d{2}` +
		`|🔁\s*[a-zA-Z0-9, !]+` +
		`|🏁\s*(?:delete|keep)` +
		`|[🆔⛔]\s*[a-zA-Z0-9_-]+(?:\s*,\s*[a-zA-Z0-9_-]+)*` +
		`|[🔺⏫🔼🔽⏬]` +
		`|\[[\w -]+::[^\[\]]*\]` +
		`|\([\w -]+::[^()]*\)` +
		`)\s*$`)
})

// longField bounds how far from the end of a line a field is looked for.
const longField = 300

// dropTrailingFields takes fields off the end of a line; tags and mentions
// between them stay.
func dropTrailingFields(s string) string {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	if ascii(s) && !strings.Contains(s, "::") {
		return s
	}
	kept := ""
	for s != "" {
		tail := max(0, len(s)-longField)
		if at := taskField().FindStringIndex(s[tail:]); at != nil {
			s = strings.TrimRightFunc(s[:tail+at[0]], unicode.IsSpace)
			continue
		}
		cut := strings.LastIndexAny(s, " \t") + 1
		if cut == 0 || s[cut] != '#' && s[cut] != '@' {
			break
		}
		kept = " " + s[cut:] + kept
		s = strings.TrimRightFunc(s[:cut], unicode.IsSpace)
	}
	return s + kept
}

// shortTitle bounds the title of a line that is a pasted log.
func shortTitle(key string) string {
	if len(key) > longLine {
		return strings.ToValidUTF8(key[:longLine], "") + "…"
	}
	return key
}

// appendTitle appends what people read of a key: with links by their text,
// tags and mentions off; nothing where no word is left.
func appendTitle(dst []byte, key string, found []mention) []byte {
	if len(key) > longLine {
		return append(dst, shortTitle(key)...)
	}
	from, last := len(dst), 0
	for _, m := range found { // none stands in a link
		dst = appendLinkTexts(dst, from, key[last:m.start])
		last = m.end
	}
	dst = appendLinkTexts(dst, from, key[last:])
	if tag := bytes.IndexByte(dst[from:], '#'); tag >= 0 {
		dst = dropTags(dst, from, from+tag)
	}
	if n := len(dst); n > from && dst[n-1] == ' ' {
		dst = dst[:n-1]
	}
	return dst
}

// appendWords appends s and keeps blanks single: no other white space is in a key.
func appendWords(dst []byte, from int, s string) []byte {
	if s != "" && s[0] == ' ' && (len(dst) == from || dst[len(dst)-1] == ' ') {
		s = s[1:]
	}
	return append(dst, s...)
}

// dropTags takes "#tag" at the start of words off text[from:]; the first # is at tag.
func dropTags(text []byte, from, tag int) []byte {
	at := from + bytes.LastIndexByte(text[from:tag], ' ') + 1
	out := text[:max(from, at-1)]
	for ; at < len(text); at++ {
		n := bytes.IndexByte(text[at:], ' ')
		if n < 0 {
			n = len(text) - at
		}
		w := text[at : at+n]
		at += n
		if len(w) > 1 && w[0] == '#' && w[1] != '#' {
			if w = w[1+plainTag(w[1:]):]; len(w) > 0 {
				w = bytes.TrimSpace(bytes.TrimLeftFunc(w, tagRune))
			}
			if len(out) > from && len(bytes.Trim(w, ".,;:!?)")) == 0 {
				out = append(out, w...)
				continue
			}
		}
		if len(w) == 0 {
			continue
		}
		if len(out) > from {
			out = append(out, ' ')
		}
		out = append(out, w...)
	}
	return out
}

// plainTag is the length of the bytes at the start of w that are lower case
// letters, as most tags are: tagRune without its costs.
func plainTag(w []byte) int {
	n := 0
	for n < len(w) && 'a' <= w[n] && w[n] <= 'z' {
		n++
	}
	return n
}

// tagRune reports whether a tag goes on with r.
func tagRune(r rune) bool {
	return r == '_' || r == '-' || r == '/' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r > 0xffff
}

// appendLinkTexts appends s with links as the text a reader sees.
func appendLinkTexts(dst []byte, from int, s string) []byte {
	for {
		at := strings.IndexByte(s, '[')
		if at < 0 {
			return appendWords(dst, from, s)
		}
		text, n := linkText(s[at:])
		if n == 0 {
			dst = appendWords(dst, from, s[:at+1])
			s = s[at+1:]
			continue
		}
		dst = appendWords(dst, from, strings.TrimSuffix(s[:at], "!"))
		dst = appendWords(dst, from, text)
		s = s[at+n:]
	}
}

// linkText reads the link that s begins with: its text, and its length or 0.
func linkText(s string) (text string, n int) {
	if strings.HasPrefix(s, "[[") {
		end := strings.Index(s, "]]")
		if end < 0 {
			return "", 0
		}
		target, alias, ok := strings.Cut(s[2:end], "|")
		if !ok {
			alias = collapse(strings.Trim(strings.ReplaceAll(target, "#", " > "), " >"))
		}
		return strings.TrimSpace(alias), end + 2
	}
	if n := linkLen(s); n > 0 {
		return s[1:bracketEnd(s)], n
	}
	return "", 0
}
