package review

import (
	"strings"
	"time"

	"deckhand/internal/control"
)

// purpose is what a text is for: the command that it becomes.
type purpose struct {
	cmd   control.Command
	label string // what the person does with it
	card  string // and to what
	note  bool   // it is the reason of an answer
	value bool   // it is the answer
}

// draft names a text that was left unsent.
func (p purpose) draft() string {
	return p.cmd.Name + " " + p.cmd.Run + " " + p.cmd.Ask + p.cmd.Proposal + " " + p.label
}

// command is what is sent.
func (p purpose) command(text string) control.Command {
	c := p.cmd
	switch {
	case p.note:
		c.Note = text
	case p.value:
		c.Value = &text
	default:
		c.Text = text
	}
	return c
}

// composer is the text being typed.
type composer struct {
	entry
	purpose purpose
	back    int    // how far into the history: 0 is the text itself
	own     string // it, while the history is shown
	busy    bool   // sent, not answered
	err     string // why it was not accepted
}

// compose opens the text for a purpose; one that was left comes back.
func (m *Model) compose(p purpose, prefill string) {
	c := &composer{purpose: p}
	if left, ok := m.drafts[p.draft()]; ok {
		prefill = left
	}
	c.set(prefill)
	m.composer = c
	m.help = false
}

// leave closes the text and keeps it.
func (m *Model) leave() {
	c := m.composer
	m.composer = nil
	if strings.TrimSpace(c.text) == "" {
		delete(m.drafts, c.purpose.draft())
		return
	}
	m.drafts[c.purpose.draft()] = c.text
}

// typed takes a key while a text is open.
func (m *Model) typed(key string) {
	c := m.composer
	if c.busy { // it is on its way: what is typed now would be lost or double
		if key == "esc" {
			m.leave()
		}
		return
	}
	switch key {
	case "esc", "ctrl+c":
		m.leave()
	case "enter":
		m.sendText()
	case "alt+enter", "ctrl+j", "shift+enter":
		c.insert("\n")
	case "ctrl+e":
		m.act(editText{c.text})
	case "up", "ctrl+p":
		if !c.up() {
			m.recall(1)
		}
	case "down", "ctrl+n":
		if !c.down() {
			m.recall(-1)
		}
	case "tab":
		c.insert("\t")
	default:
		c.edit(key)
	}
}

// edit takes a key that changes the text or moves in it.
func (e *entry) edit(key string) {
	switch key {
	case "left", "ctrl+b":
		e.left()
	case "right", "ctrl+f":
		e.right()
	case "home", "ctrl+a":
		e.at = e.begin()
	case "end":
		e.at = e.end()
	case "backspace", "ctrl+h":
		e.back()
	case "delete", "ctrl+d":
		e.remove()
	case "ctrl+w", "alt+backspace":
		e.cut(e.word())
	case "ctrl+u":
		e.cut(e.begin())
	case "ctrl+k":
		e.cut(e.end())
	case "ctrl+left", "alt+b":
		e.at = e.word()
	default:
		if c := []rune(key); len(c) == 1 {
			e.insert(key)
		}
	}
}

// sendText sends what was typed. An empty text is no answer and no order.
func (m *Model) sendText() {
	c := m.composer
	if strings.TrimSpace(c.text) == "" && !c.purpose.note {
		c.err = "nothing is typed"
		return
	}
	if c.purpose.note && len([]rune(c.text)) > control.NoteMax {
		c.err = "a reason has at most " + itoa(control.NoteMax) + " characters"
		return
	}
	m.send(c.purpose.command(c.text), c)
}

// recall shows an older (1) or newer (-1) text that was sent.
func (m *Model) recall(step int) {
	c := m.composer
	to := c.back + step
	if to < 0 || to > len(m.history) {
		return
	}
	if c.back == 0 {
		c.own = c.text
	}
	c.back = to
	if to == 0 {
		c.set(c.own)
		return
	}
	c.set(m.history[len(m.history)-to])
}

// paste puts text into what is being typed. Without that nothing is done: a
// pasted text is no row of keys.
func (m *Model) paste(text string) {
	if m.composer == nil {
		m.say(needs, "pasted text has no place here: open a text first")
		return
	}
	if !m.composer.busy {
		m.composer.insert(text)
	}
}

func (m *Model) edited(e edited) {
	switch {
	case e.err != nil:
		m.say(bad, "the editor: %v", e.err)
	case m.composer != nil:
		m.composer.set(strings.TrimRight(e.text, "\n"))
	}
}

// fresh reports whether the question came too short a time ago to have been
// read: the key was meant for what stood there before.
func (m *Model) fresh() bool { return m.now.Before(m.askedAt.Add(tooNew)) }

const tooNew = 400 * time.Millisecond
