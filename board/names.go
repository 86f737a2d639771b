package board

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// RoleName is the role's name in deckhand.yaml: ready, working, review, done; "" for NoRole.
func RoleName(r Role) string {
	switch r {
	case Ready:
		return "ready"
	case Working:
		return "working"
	case Review:
		return "review"
	case Done:
		return "done"
	}
	return ""
}

// String is RoleName, so that a role reads well in messages.
func (r Role) String() string { return RoleName(r) }

// roles are the roles that lanes are looked for in, in order.
func roles() [4]Role { return [4]Role{Ready, Working, Review, Done} }

// DefaultLanes are the lane names of each role where nobody says otherwise. The
// first of each is the one that is written when a lane is added.
func DefaultLanes() map[Role][]string {
	return map[Role][]string{
		Ready:   {"Plan", "Ready", "To do", "Todo", "Next", "Up next"},
		Working: {"In Progress", "Doing", "Working", "WIP"},
		Review:  {"Review", "In review", "To review"},
		Done:    {"Done", "Completed", "Complete", "Shipped", "Closed"},
	}
}

// SameName reports whether two lane names are the same: without emoji,
// punctuation, case and limit, in NFC. Names of nothing but those compare as
// they are.
func SameName(a, b string) bool {
	a, _ = cutLimit(a)
	b, _ = cutLimit(b)
	x, y := plainName(a), plainName(b)
	if x == "" && y == "" {
		return strings.TrimSpace(a) == strings.TrimSpace(b)
	}
	return x == y
}

// plainName is what is compared of a lane name. Punctuation and symbols divide
// words, so that "To-do" reads as "To do".
func plainName(name string) string {
	rs := []rune(norm.NFC.String(name))
	var out strings.Builder
	gap := false
	for i, r := range rs {
		keycap := i+1 < len(rs) && (rs[i+1] == '\ufe0f' || rs[i+1] == '\u20e3')
		switch {
		case unicode.Is(unicode.Variation_Selector, r), r == '\u20e3', r == '\u200d':
		case !keycap && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)):
			if gap && out.Len() > 0 {
				out.WriteByte(' ')
			}
			gap = false
			out.WriteString(fold(r))
		default:
			gap = true
		}
	}
	return out.String()
}

// fold takes the case off one letter.
func fold(r rune) string {
	if r == 'ß' {
		return "ss"
	}
	return string(unicode.ToLower(unicode.ToUpper(r)))
}

// cutLimit takes the trailing "(n)" off a lane's title.
func cutLimit(title string) (string, int) {
	t := strings.TrimSpace(title)
	open := strings.LastIndexByte(t, '(')
	if open < 0 || !strings.HasSuffix(t, ")") {
		return t, 0
	}
	digits := t[open+1 : len(t)-1]
	if digits == "" || len(digits) > 9 {
		return t, 0
	}
	n := 0
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return t, 0
		}
		n = n*10 + int(c-'0')
	}
	return strings.TrimSpace(t[:open]), n
}

// laneNames finds roles by lane name.
type laneNames map[string]Role

// newLaneNames compiles the default names, with those of deckhand.yaml and
// then those of a board's own header over them, role by role.
func newLaneNames(base, over map[Role][]string) laneNames {
	names, list := laneNames{}, []string(nil)
	for _, r := range roles() {
		for _, from := range [...]map[Role][]string{DefaultLanes(), base, over} {
			if own, ok := from[r]; ok {
				list = own
			}
		}
		for _, n := range list {
			if p := plainName(n); p != "" {
				if _, taken := names[p]; !taken {
					names[p] = r
				}
			}
		}
	}
	return names
}

func (n laneNames) role(title string) Role { return n[plainName(title)] }

// completeMark reports whether text is the line with which Obsidian Kanban
// marks a lane of finished cards, in the languages it writes.
func completeMark(text string) bool {
	word, ok := strings.CutPrefix(strings.TrimSpace(text), "**")
	if !ok {
		return false
	}
	word, ok = strings.CutSuffix(word, "**")
	switch word {
	case "Complete", "Fertiggestellt", "Completato", "完了", "완료됨", "Concluído", "Выполнено", "完成":
		return ok
	}
	return false
}

// archiveTitle reports whether a heading below a rule is Obsidian Kanban's archive.
func archiveTitle(title string) bool {
	switch norm.NFC.String(strings.TrimSpace(title)) {
	case "Archive", "Archiv", "Archivio", "アーカイブ", "보관됨", "Arquivado", "Архивировать", "归档":
		return true
	}
	return false
}
