package review

import (
	"fmt"
	"slices"
	"time"

	"deckhand/internal/control"
)

// Model is all that the pane knows. It has no clock, no terminal and no
// connection: Update gets events and gives back what is to be done, and Draw
// shows it. A Model that was given to Update is used up: the new one may hold
// its memory.
type Model struct {
	look   Look
	w, h   int
	now    time.Time // of the last event
	prefix string    // of the ids of commands
	count  int       // commands so far

	link    link
	status  control.Status
	items   []item
	select_ string // key of the selected item
	listTop int    // first row of the list that is seen
	boards  []control.Board
	board   fetch

	view    view
	about   map[string]*about // by item
	recent  []string          // keys of about, asked for last comes last
	details bool              // thinking and results are unfolded
	help    bool
	helpTop int

	composer *composer         // a text is being typed
	drafts   map[string]string // texts that were left, by what they are for
	history  []string          // texts that were sent
	choosing int               // the option that enter would send, counted from 1; 0: none
	scope    int               // index into the scopes of the ask
	scopeOf  string            // the ask it is for, or the proposal
	left     map[string]bool   // files of proposals that are not to be applied
	askedAt  time.Time         // that ask took the place of what was looked at
	sure     string            // the key that wants to be pressed again
	sent     map[string]sent   // commands that have no answer yet, by id
	notice   notice

	out []effect // of the event that is handled
}

// Look is how the pane shows itself.
type Look struct {
	Name   string // of the work folder, as people write it
	Motion bool   // one spinner may turn
}

// link is the connection to the daemon.
type link struct {
	up    bool
	ever  bool      // it was up
	since time.Time // it is so since then
	err   string    // why it is down
	seq   int64
	last  time.Time // something came
}

// notice is one line for the person, for a while.
type notice struct {
	text string
	role role
	till time.Time
}

// sent is a command that has no answer yet.
type sent struct {
	name  string
	text  *composer // the text to clear when it is accepted
	since time.Time
}

// view is what the right side shows.
type view uint8

// The views.
const (
	logView view = iota
	chatView
	promptView
	whyView
	boardView
	views
)

func (v view) String() string {
	return [views]string{"Log", "Chat", "Prompt", "Why", "Board"}[v]
}

func (v view) key() string { return [views]string{"l", "c", "p", "w", "b"}[v] }

// follows reports whether a view shows its end until it is scrolled: what is
// said last is looked for first.
func (v view) follows() bool { return v == logView || v == chatView }

// fetch is how an answer of the daemon stands.
type fetch struct {
	busy  bool // asked for
	dirty bool // what is here may be old
	have  bool
	err   string
	due   time.Time // not before
}

// about is what is known of an item beyond the status.
type about struct {
	log    trace
	looks  int // in vain, at a log whose run is over
	why    control.Why
	got    [views]fetch
	docs   [views][]para // of chat and prompt; of a proposal its diff, as prompt
	scroll [views]scroll
}

// scroll is what part of a view is seen.
type scroll struct {
	top  spot
	held bool // stays at top; else it shows the begin, or the end of what follows
}

// keptItems bounds what is kept of items that were looked at.
const keptItems = 12

// newModel is the pane before anything is known.
func newModel(look Look, prefix string) Model {
	m := Model{look: look, prefix: prefix, about: map[string]*about{}, drafts: map[string]string{}, sent: map[string]sent{}, left: map[string]bool{}}
	m.board.dirty = true
	return m
}

// of is what is known of an item; the items looked at longest ago are forgotten.
func (m *Model) of(key string) *about {
	if i := slices.Index(m.recent, key); i >= 0 {
		m.recent = append(slices.Delete(m.recent, i, i+1), key)
		return m.about[key]
	}
	a := &about{}
	for v := range a.got {
		a.got[v].dirty = true
	}
	m.about[key] = a
	if m.recent = append(m.recent, key); len(m.recent) > keptItems {
		delete(m.about, m.recent[0])
		m.recent = slices.Delete(m.recent, 0, 1)
	}
	return a
}

// selected is the item that is selected.
func (m *Model) selected() (item, bool) {
	if i := m.index(); i >= 0 {
		return m.items[i], true
	}
	return item{}, false
}

func (m *Model) index() int {
	return slices.IndexFunc(m.items, func(i item) bool { return i.key == m.select_ })
}

// seen is the view that is shown. Of a proposal there is one: what it changes.
func (m *Model) seen() view {
	if _, ok := m.proposal(); ok {
		return promptView
	}
	return m.view
}

// run is the run that is selected.
func (m *Model) run() (control.Run, bool) {
	i, ok := m.selected()
	if !ok || i.run == nil {
		return control.Run{}, false
	}
	return *i.run, true
}

// ask is the question of the selected run that waits longest.
func (m *Model) ask() (control.Ask, bool) {
	r, ok := m.run()
	if !ok || len(r.Asks) == 0 {
		return control.Ask{}, false
	}
	return r.Asks[0], true
}

// id makes the id of the next command.
func (m *Model) id() string {
	m.count++
	return fmt.Sprintf("%s-%d", m.prefix, m.count)
}

// say shows a line to the person for a while.
func (m *Model) say(r role, format string, args ...any) {
	m.notice = notice{text: oneLine(fmt.Sprintf(format, args...)), role: r, till: m.now.Add(noticeTime)}
}

const noticeTime = 8 * time.Second
