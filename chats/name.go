package chats

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A name has at most this many characters, for people and for the notes that
// link to it, and bytes, so that it fits where names have 143 (encrypted
// folders) with a sync tool's additions. Both without ".md".
const (
	nameChars = 60
	nameBytes = 120
)

// parts are the parts of a card's line that are no words.
type parts struct {
	wikilink, mdLink, kanbanDate, fields, blockID, tasksField, mention, tag, spaces *regexp.Regexp
}

// partsOf compiles them when the first name is made: every keeper is this
// program, too, and none makes a name.
var partsOf = sync.OnceValue(func() parts {
	return parts{
		wikilink:   regexp.MustCompile(`!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]`),
		mdLink:     regexp.MustCompile(`!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)`),
		kanbanDate: regexp.MustCompile(`@@?\{[^{}]*\}|@\[\[[^\[\]]*\]\]`),
		fields:     regexp.MustCompile(`[\[(][\pL\pN _-]+::[^\[\]()]*[\])]`),
		blockID:    regexp.MustCompile(`\s\^[A-Za-z0-9-]+\s*$`),
		tasksField: regexp.MustCompile(`(?:🛫|➕|⏳|⌛|📅|📆|🗓|✅|❌)\x{FE0F}?\s*\d{4}-\d{2}-\d{2}|(?:🆔|⛔)\x{FE0F}?\s*[A-Za-z0-9_,-]+|🏁\x{FE0F}?\s*\w+|🔁\x{FE0F}?\s*every[\pL\pN ,]*`),
		mention:    regexp.MustCompile(`(^|[\s(\[{"'*_])@[\pL\pN_-]+`),
		tag:        regexp.MustCompile(`(^|\s)#[\pL\pN_/-]+`),
		spaces:     regexp.MustCompile(`\s+`),
	}
})

// Path is where a chat with this name lies, below deckhand's folder.
func Path(date time.Time, name string) string {
	return path.Join("chats", date.Format("2006-01"), name)
}

// FileName is the name of a new chat: the date and the title's words, cut,
// numbered until taken says that no file has it. Names are compared as they are
// returned; a caller that serves file systems without case compares folded.
func FileName(date time.Time, title string, taken func(name string) bool) string {
	day := date.Format(time.DateOnly)
	words := titleWords(title)
	if words == "" {
		words = "chat"
	}
	for n := 1; ; n++ {
		number := ""
		if n > 1 {
			number = " " + strconv.Itoa(n)
		}
		room := len(day) + 1 + len(number)
		name := day + " " + fit(words, nameChars-room, nameBytes-room) + number + ".md"
		if !taken(name) {
			return name
		}
	}
}

// fit cuts s to at most this many characters and bytes: between words when one
// ends in the second half, else between letters, and no mark from its letter.
func fit(s string, chars, size int) string {
	count, end := 0, len(s)
	for i, r := range s {
		if count++; count > chars || i+utf8.RuneLen(r) > size {
			end = i
			break
		}
	}
	if end == len(s) {
		return s
	}
	if word := strings.LastIndexByte(s[:end+1], ' '); word > end/2 {
		end = word
	} else if r, _ := utf8.DecodeRuneInString(s[end:]); unicode.Is(unicode.M, r) {
		end = strings.LastIndexFunc(s[:end], func(r rune) bool { return !unicode.Is(unicode.M, r) })
	}
	return strings.TrimSpace(s[:max(end, 0)])
}

// titleWords is a title as it may stand in a file's name on any system.
func titleWords(s string) string {
	p := partsOf()
	s = norm.NFC.String(strings.ToValidUTF8(s, ""))
	// Links first, because what they hold may look like the others.
	s = p.kanbanDate.ReplaceAllString(s, " ")
	s = p.wikilink.ReplaceAllStringFunc(s, func(link string) string {
		m := p.wikilink.FindStringSubmatch(link)
		if m[2] != "" {
			return m[2]
		}
		return strings.NewReplacer("#^", " ", "#", " ", "/", " ").Replace(m[1])
	})
	s = p.mdLink.ReplaceAllString(s, "$1")
	s = p.fields.ReplaceAllString(s, " ")
	s = p.tasksField.ReplaceAllString(s, " ")
	s = p.blockID.ReplaceAllString(s, "")
	s = p.mention.ReplaceAllString(s, "$1")
	s = p.tag.ReplaceAllString(s, "$1")
	s = strings.ReplaceAll(s, "%%", " ")
	s = strings.Map(nameRune, s)
	return strings.TrimSpace(p.spaces.ReplaceAllString(norm.NFC.String(s), " "))
}

// nameRune drops what no file name should hold: what links, file systems and
// shells take for their own, emoji, and what cannot be seen.
func nameRune(r rune) rune {
	switch {
	case strings.ContainsRune("#^[].|:/\\*?\"<>", r), unicode.IsSpace(r):
		return ' '
	case r == '`':
		return -1
	case r >= '\u2190' && unicode.Is(unicode.So, r), unicode.Is(unicode.Sk, r) && r >= 0x1f3fb:
		return -1
	case unicode.In(r, unicode.C, unicode.Me), r >= '\ufe00' && r <= '\ufe0f':
		return -1
	}
	return r
}
