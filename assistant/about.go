package assistant

import (
	"regexp"
	"strings"
	"sync"

	"deckhand/notes"
)

// about is what a prompt is about, read out of its text.
type about struct {
	text   string   // the person's own words
	quoted string   // lines they quote
	board  string   // the name of the board the card stands on
	links  []string // targets of links
}

// cardOpen is the line before a person's words in a prompt that deckhand made;
// the word of the fence is deckhand's, and the first such line is, too.
var cardOpen = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^<(card|added) nonce="([0-9A-Za-z-]+)"(?: board="([^"\n]*)")?>\n`)
})

// readPrompt reads a prompt: one that deckhand made of a card, or what somebody wrote.
func readPrompt(prompt string) about {
	a := about{text: prompt}
	if m := cardOpen().FindStringSubmatchIndex(prompt); m != nil {
		kind, nonce := prompt[m[2]:m[3]], prompt[m[4]:m[5]]
		if m[6] >= 0 {
			a.board = prompt[m[6]:m[7]]
		}
		a.text, _, _ = strings.Cut(prompt[m[1]:], "</"+kind+` nonce="`+nonce+`">`)
	}
	for line := range strings.Lines(a.text) {
		if quote, ok := strings.CutPrefix(strings.TrimSpace(line), ">"); ok {
			a.quoted += quote + "\n"
		}
	}
	for _, l := range notes.Links([]byte(a.text)) {
		if l.Target != "" {
			a.links = append(a.links, l.Target)
		}
	}
	return a
}

// files are the documents it names: the board, then those linked to, each once.
func (a about) files(f *folder) (files []string) {
	seen := map[string]bool{}
	from := ""
	for i, target := range append([]string{a.board}, a.links...) {
		if target == "" {
			continue
		}
		found := f.names.Resolve(from, target)
		if found.Path == "" || seen[found.Path] {
			continue
		}
		if i == 0 {
			from = found.Path
		}
		seen[found.Path] = true
		files = append(files, found.Path)
	}
	return files
}
