package daemon

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode/utf8"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/control"
	"deckhand/notes"
)

// prompted is a prompt and what went into it.
type prompted struct {
	text    string
	receipt []control.Piece
}

// nonce marks the fences of a run's prompt. It is made with a secret of this
// machine, so that no note can know it, and from the card and how often it ran,
// so that `deckhand prompt` shows what will be sent.
func (m *model) nonce(c dispatch.Card) string {
	n := byte(0)
	for _, r := range m.runs {
		if r.Card.Key == c.Key && r.Card.Board == c.Board && r.Phase != "" && r.Phase != dispatch.PhaseReleased {
			n++
		}
	}
	mac := hmac.New(sha256.New, []byte(m.f.file.Secret))
	for _, part := range append([]string{c.Board, c.Key, string('0' + rune(n))}, c.Lines...) {
		mac.Write([]byte(part))
		mac.Write([]byte{0})
	}
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// prompter collects what a prompt is made of and returns how to make it: that
// reads the linked notes, so it is done outside the loop.
func (d *daemon) prompter(r *run, at string, c *board.Card, resume bool) func() prompted {
	in := promptInput(r.Nonce, at, c)
	if resume {
		in.Added = r.Extra
		if len(in.Added) == 0 {
			in.Added = []string{"Go on with the card: your last turn ended before it was done."}
		}
	}
	return d.composer(in, at, c, d.readNote)
}

func (d *daemon) readNote(rel string) ([]byte, error) {
	src, _, err := d.store.Read(rel)
	return src, err
}

func promptInput(nonce, at string, c *board.Card) harness.PromptInput {
	return harness.PromptInput{Nonce: nonce, Board: trimMD(path.Base(at)), Title: strings.TrimSpace(c.First), Body: c.Lines}
}

// composer copies the linked notes and composes the prompt.
func (m *model) composer(in harness.PromptInput, at string, c *board.Card, read func(string) ([]byte, error)) func() prompted {
	limits := notes.Limits{Links: m.settings.Notes.Links, PerNote: m.settings.Notes.PerNote, Total: m.settings.Notes.Total}
	text, files := c.Text, m.files
	if len(in.Added) > 0 {
		text = []byte(strings.Join(in.Added, "\n")) // the session has the card's notes already
	}
	return func() prompted {
		pieces := files.copy(text, at, read, limits)
		var p prompted
		for _, n := range pieces {
			in.Notes = append(in.Notes, harness.PromptNote{
				Name: n.Link, Section: n.Section, Text: n.Text, Problem: n.Problem, Others: n.Others,
			})
			p.receipt = append(p.receipt, control.Piece{
				Link: n.Link, Path: n.Path, Section: n.Section, Bytes: n.Bytes, Used: len(n.Text), Cut: n.Cut,
				Hash: n.Hash, Others: n.Others, Problem: n.Problem,
			})
		}
		p.text = harness.Prompt(in)
		return p
	}
}

// copy is notes.Copy under the index's lock.
func (n *names) copy(text []byte, from string, read func(string) ([]byte, error), lim notes.Limits) []notes.Piece {
	n.mu.Lock()
	defer n.mu.Unlock()
	return notes.Copy(text, from, n.ix, read, lim)
}

// lastParagraph is the end of an answer: the question in it.
func lastParagraph(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.LastIndex(text, "\n\n"); i >= 0 {
		text = text[i+2:]
	}
	if utf8.RuneCountInString(text) > 1000 {
		text = short(text, 1000)
	}
	return text
}
