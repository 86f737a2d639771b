package daemon

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

// nonce marks the fences of a run's first prompt. It is made with a secret of this
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

// nonceOf marks the prompt of one turn of a run: it tells whether that prompt
// came to its session. Whoever saw those of the turns before cannot know it.
func (m *model) nonceOf(r *run, turn int) string {
	if turn == 0 || r.Nonce == "" {
		return r.Nonce
	}
	mac := hmac.New(sha256.New, []byte(m.f.file.Secret))
	fmt.Fprintf(mac, "%s turn %d", r.Nonce, turn)
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// nonces are those of the turns a run has had, without the one that comes.
func (m *model) nonces(r *run) []string {
	out := make([]string, r.turns)
	for turn := range out {
		out[turn] = m.nonceOf(r, turn)
	}
	return out
}

// prompter returns how to make a run's next prompt, once it is known which of
// those before came to its session, the last one of them (-1: none). It reads
// the linked notes, so it is done outside the loop.
func (d *daemon) prompter(r *run, at string, c *board.Card) func(arrived int) prompted {
	in, told, earlier := promptInput(d.nonceOf(r, r.turns), at, c), r.told, earlierOf(r.Earlier)
	in.Copy = d.inCopy(r)
	compose := d.composer(at, c, d.readNote)
	record := d.proposalRecord(r)
	return func(arrived int) prompted {
		in.Record = record()
		if arrived < 0 {
			in.Body = append(in.Body, board.Added(in.Body, owed(told))...) // what stands inside the item is the person's, too
			in.Earlier = earlier
			return compose(in)
		}
		in.Added = owed(told[arrived:])
		if len(in.Added) == 0 {
			in.Added = []string{"Go on with the card: your last turn ended before it was done."}
		}
		return compose(in)
	}
}

// owed are the lines of turns whose prompts did not come to the session: an
// agent that was killed early has not read them. What was told again is told once.
func owed(told [][]string) (lines []string) {
	for _, more := range told {
		lines = append(lines, board.Added(lines, more)...)
	}
	return lines
}

func (d *daemon) readNote(rel string) ([]byte, error) {
	src, _, err := d.store.Read(rel)
	return src, err
}

func promptInput(nonce, at string, c *board.Card) harness.PromptInput {
	return harness.PromptInput{Nonce: nonce, Board: trimMD(path.Base(at)), Title: strings.TrimSpace(c.First), Body: c.Lines[:len(c.Lines):len(c.Lines)]}
}

func earlierOf(e *dispatch.Earlier) *harness.Earlier {
	if e == nil {
		return nil
	}
	return &harness.Earlier{Agent: e.Agent, Result: e.Answer}
}

// composer returns how the linked notes are copied and a prompt is composed.
func (m *model) composer(at string, c *board.Card, read func(string) ([]byte, error)) func(harness.PromptInput) prompted {
	limits := notes.Limits{Links: m.settings.Notes.Links, PerNote: m.settings.Notes.PerNote, Total: m.settings.Notes.Total}
	files := m.files
	return func(in harness.PromptInput) prompted {
		text := c.Text
		if len(in.Added) > 0 {
			text = []byte(strings.Join(in.Added, "\n")) // the session has the card's notes already
		}
		var p prompted
		for _, n := range files.copy(text, at, read, limits) {
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

// preview returns how to make the prompt that would be sent for a card, exactly:
// the first one, or, of a card whose run is over, the one it goes on with.
func (m *model) preview(name string, read func(string) ([]byte, error)) (func() control.Prompt, error) {
	s, fault := m.card(name)
	if fault != nil {
		return nil, fault
	}
	out := control.Prompt{Card: s.card.Title}
	if len(s.card.Agents) > 0 {
		out.Agent = s.card.Agents[0]
	}
	card := dispatch.Card{Board: s.path, Key: s.card.Key, Lines: s.card.Lines}
	in := promptInput(m.nonce(card), s.path, s.card)
	in.Copy = m.willCopy(s.path, s.card, out.Agent)
	if s.card.Status != nil {
		if r := m.runs[strings.ToUpper(s.card.Status.Run)]; r != nil {
			in = m.goingOn(in, r, s, out.Agent)
		}
	}
	compose := m.composer(s.path, s.card, read)
	return func() control.Prompt {
		p := compose(in)
		sum := sha256.Sum256([]byte(p.text))
		out.Text, out.Hash, out.Notes = p.text, hex.EncodeToString(sum[:]), p.receipt
		if out.Notes == nil {
			out.Notes = []control.Piece{}
		}
		return out
	}, nil
}

// goingOn is the input of a card that carries a run: its own agent goes on in
// the session, another one gets the result as data.
func (m *model) goingOn(in harness.PromptInput, r *run, s spot, agent string) harness.PromptInput {
	if agent != r.Agent {
		in.Earlier = &harness.Earlier{Agent: r.Agent, Result: r.Answer}
		return in
	}
	in.Nonce = cmp.Or(m.nonceOf(r, r.turns+1), in.Nonce)
	in.Added = append(r.Unsaid(), dispatch.NewLines(r.Lines, personLines(r, s.card))...)
	return in
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
