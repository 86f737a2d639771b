package assistant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The budget of one request, in tokens as they are estimated.
const (
	budget       = 48_000
	forTools     = budget / 3 // is kept free for what tools give, and for the answer
	forHistory   = budget / 4 // of the conversation before; what is older becomes an extract
	forMap       = budget / 8 // the list of documents
	forDocument  = budget / 6 // one document that is given whole
	extractTurn  = 400        // characters of a turn in the extract
	extractTotal = 4_000      // characters of the extract
	resultMost   = budget / 4 // tokens of what one tool gives
)

// tokens estimates what a text costs: wasteful on purpose, for languages that
// models cut into smaller pieces than English.
func tokens(text string) int { return (utf8.RuneCountInString(text) + 2) / 3 }

// fence marks data. Its word is the session's, which nobody who wrote a note can
// know; it stays the same, so that a request begins like the one before.
type fence struct{ word string }

func newFence(session string) fence {
	sum := sha256.Sum256([]byte("fence " + session))
	return fence{hex.EncodeToString(sum[:6])}
}

// data is a text between two lines that nothing in it can be equal to.
func (f fence) data(kind, attr, text string) string {
	text = strings.ReplaceAll(text, f.word, "…")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fmt.Sprintf("<%s data=%q%s>\n%s</%s data=%q>\n", kind, f.word, attr, text, kind, f.word)
}

// attr is an attribute of a fence: text of others in one line.
func attr(name, value string) string {
	value = strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case r < ' ' || r == 0x7f:
			return ' '
		}
		return r
	}, value)
	return fmt.Sprintf(" %s=\"%s\"", name, value)
}

// numbered is a text with the numbers of its lines, the first of which is from.
// Context and tools number alike, so that file:line means one place.
func numbered(text string, from int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "%d\t%s", from, line)
		from++
	}
	return b.String()
}

// head is as much of a text as costs so many tokens: whole lines, and what was
// left out.
func head(text string, most int) string {
	if tokens(text) <= most {
		return text
	}
	kept := cutRunes(text, most*3)
	if i := strings.LastIndexByte(kept, '\n'); i > 0 {
		kept = kept[:i+1]
	}
	rest := text[len(kept):]
	return kept + fmt.Sprintf("[… cut here: %d more lines]\n", strings.Count(strings.TrimSuffix(rest, "\n"), "\n")+1)
}

// cutRunes is at most so many characters of a text.
func cutRunes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}
