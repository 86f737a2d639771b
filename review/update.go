package review

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"deckhand/internal/control"
)

// Update takes an event and gives the pane after it, with what is to be done.
func Update(m Model, e event) (Model, []effect) {
	m.now = e.when()
	m.out = nil
	if !m.input(e) {
		m.news(e)
	}
	m.want()
	return m, m.out
}

func (m *Model) act(e effect) { m.out = append(m.out, e) }

// input takes what the person does; false when it is something else.
func (m *Model) input(e event) bool {
	switch e := e.(type) {
	case keyed:
		m.key(e.key)
	case pasted:
		m.paste(e.text)
	case moused:
		m.mouse(e)
	case resized:
		m.w, m.h = e.w, e.h
	case ticked:
		if m.notice.text != "" && !m.now.Before(m.notice.till) {
			m.notice = notice{}
		}
	case edited:
		m.edited(e)
	default:
		return false
	}
	return true
}

// news takes what comes from the daemon.
func (m *Model) news(e event) {
	switch e := e.(type) {
	case linked:
		m.linked(e)
	case told:
		m.told(e.Event)
	case did:
		m.did(e)
	case gotLog:
		m.gotLog(e)
	case gotChat:
		if a := m.got(e.key, chatView, e.err); a != nil {
			a.docs[chatView] = chatParas(e.chat)
		}
	case gotPrompt:
		if a := m.got(e.key, promptView, e.err); a != nil {
			a.docs[promptView] = promptParas(e.prompt)
		}
	case gotDiff:
		if a := m.got(e.key, promptView, e.err); a != nil {
			a.docs[promptView] = diffParas(e.diff)
		}
	case gotWhy:
		if a := m.got(e.key, whyView, e.err); a != nil {
			a.why = e.why
		}
	case gotBoards:
		m.board.answered(e.err)
		if e.err == nil {
			m.boards = e.boards
		}
	}
}

// linked takes a change of the connection. What was asked for on the old one
// has no answer; what is here may be old when it is up again.
func (m *Model) linked(e linked) {
	if m.link.up != e.up {
		m.link.since = m.now
	}
	m.link.up, m.link.err = e.up, e.err
	m.link.ever = m.link.ever || e.up
	if !e.up {
		return
	}
	m.link.last = m.now
	m.board = fetch{dirty: true, have: m.board.have}
	for _, a := range m.about {
		a.log.live = nil // the end of what was being said may have passed
		for v := range a.got {
			a.got[v].busy, a.got[v].dirty, a.got[v].due = false, true, time.Time{}
		}
	}
}

// told takes an event of the daemon.
func (m *Model) told(e control.Event) {
	m.link.last, m.link.seq = m.now, e.Seq
	switch data := e.Data.(type) {
	case control.Status:
		m.became(data)
	case control.LogEvent:
		a := m.about["run "+e.Run]
		if a == nil {
			return
		}
		a.log.hear(data)
		if data.Kind == "text" || data.Kind == "thought" {
			return // the trace has it when it ends
		}
		a.got[logView].dirty = true
		a.got[chatView].dirty = true
		a.got[chatView].due = m.now.Add(chatWait)
	}
}

// chatWait is how long a chat is not asked for again: it is written some time
// after something was said.
const chatWait = time.Second

// became takes a new status. What is selected stays selected while it is there,
// also when it moves to another group.
func (m *Model) became(s control.Status) {
	was, ask := m.index(), m.scopeOf
	m.status = s
	m.items = itemsOf(s)
	if m.index() < 0 && len(m.items) > 0 {
		m.pick(min(max(was, 0), len(m.items)-1))
	}
	m.board.dirty = true
	for _, a := range m.about {
		for v := range a.got {
			a.got[v].dirty = true
		}
	}
	if m.settle(); m.scopeOf != ask {
		m.askedAt = m.now
	}
}

// settle drops what belongs to a state that is over: a choice among the options
// of a question that was answered elsewhere, a key that wants to be sure.
func (m *Model) settle() {
	ask, _ := m.ask()
	p, _ := m.proposal()
	if id := ask.ID + p.ID; id != m.scopeOf {
		m.scopeOf, m.scope, m.choosing = id, 0, 0
	}
}

// pick selects an item of the list.
func (m *Model) pick(i int) {
	if i < 0 || i >= len(m.items) {
		return
	}
	if key := m.items[i].key; key != m.select_ {
		m.select_, m.sure, m.askedAt = key, "", time.Time{}
		m.settle()
	}
}

// got books an answer about an item, and gives where it belongs.
func (m *Model) got(key string, v view, err error) *about {
	a := m.about[key]
	if a == nil {
		return nil
	}
	a.got[v].answered(err)
	if err != nil {
		return nil
	}
	return a
}

func (f *fetch) answered(err error) {
	f.busy, f.err = false, ""
	var e *control.Error
	switch {
	case err == nil:
		f.have = true
	case errors.As(err, &e) && e.Code == control.CodeNoDaemon:
		f.dirty = true // asked again when it is up
	default:
		f.err = err.Error()
	}
}

func (m *Model) gotLog(e gotLog) {
	a := m.about[e.key]
	if a == nil {
		return
	}
	got := &a.got[logView]
	got.answered(e.err)
	if e.err != nil {
		return
	}
	if a.log.add(e.log) || m.works(e.key) {
		a.looks = 0
	}
	if !a.log.ended && !m.works(e.key) && a.looks < endLooks {
		a.looks++
		got.dirty, got.due = true, m.now.Add(endWait)
	}
}

// How often a log is asked for whose run is over and whose last word is missing:
// what is kept of a process's end comes later and changes no status.
const (
	endLooks = 5
	endWait  = time.Second
)

// works reports whether a turn of an item's run is under way.
func (m *Model) works(key string) bool {
	return slices.ContainsFunc(m.items, func(i item) bool { return i.key == key && i.run != nil && live(*i.run) })
}

// did takes the answer to a command. A text is cleared only when it counts.
func (m *Model) did(e did) {
	s, ok := m.sent[e.id]
	if !ok {
		return
	}
	delete(m.sent, e.id)
	if e.err != nil {
		m.refused(s, e.err)
		return
	}
	if s.text != nil {
		m.history = append(m.history, s.text.text)
		m.history = m.history[max(0, len(m.history)-historyMost):]
		delete(m.drafts, s.text.purpose.draft())
		if m.composer == s.text {
			m.composer = nil
		}
	}
	m.say(good, "%s", cmp.Or(e.result.Text, s.name+": done"))
}

// historyMost is how many texts are kept that were sent.
const historyMost = 100

// refused says why a command did nothing; its text stays to be sent again.
func (m *Model) refused(s sent, err error) {
	text := err.Error()
	var e *control.Error
	if errors.As(err, &e) && e.Hint != "" {
		text += "  $ " + e.Hint
	}
	if s.text != nil {
		s.text.busy, s.text.err = false, oneLine(text)
	}
	m.say(bad, "%s", text)
}

// send has the daemon do something.
func (m *Model) send(cmd control.Command, text *composer) {
	if !m.link.up {
		m.say(bad, "not connected: nothing was sent")
		return
	}
	cmd.ID, cmd.From = m.id(), "pane"
	m.sent[cmd.ID] = sent{name: cmd.Name, text: text, since: m.now}
	if text != nil {
		text.busy, text.err = true, ""
	}
	m.act(do{cmd})
}

// want asks for what is to be seen and is not here, or may be old.
func (m *Model) want() {
	i, ok := m.selected()
	if !ok || !m.link.up {
		return
	}
	a := m.of(i.key)
	v := m.seen()
	if v != logView && i.run != nil { // the plan is in it
		m.wants(&a.got[logView], m.question(logView, i, a))
	}
	f := &a.got[v]
	if v == boardView {
		f = &m.board
	}
	m.wants(f, m.question(v, i, a))
}

// wants asks a question (nil: none) unless its answer is here or on its way.
func (m *Model) wants(f *fetch, e effect) {
	if e == nil || !f.dirty || f.busy || m.now.Before(f.due) {
		return
	}
	f.busy, f.dirty = true, false
	m.act(e)
}

// question is what a view of an item asks the daemon for; nil: nothing.
func (m *Model) question(v view, i item, a *about) effect {
	switch {
	case v == boardView:
		return askBoards{}
	case i.proposal != nil:
		return askDiff{i.key, i.proposal.ID}
	case i.group == problems:
		return nil
	case v == promptView:
		return askPrompt{i.key, i.card}
	case v == whyView:
		return askWhy{i.key, i.card}
	case i.run == nil:
		return nil
	case v == chatView:
		return askChat{i.key, i.run.ID}
	}
	return askLog{i.key, i.run.ID, a.log.next}
}

// next is when something changes by time alone; false: nothing does.
func (m *Model) next() (time.Time, bool) {
	var all []time.Time
	if m.notice.text != "" {
		all = append(all, m.notice.till)
	}
	if d := m.pace(); d > 0 {
		all = append(all, m.now.Truncate(d).Add(d))
	}
	if i, ok := m.selected(); ok && m.link.up {
		if f := m.of(i.key).got[m.seen()]; f.dirty && !f.busy && f.due.After(m.now) {
			all = append(all, f.due)
		}
	}
	if len(all) == 0 {
		return time.Time{}, false
	}
	return slices.MinFunc(all, time.Time.Compare), true
}

// pace is how often what is seen changes by itself: a spinner, an age in
// seconds, ages in minutes; 0: never.
func (m *Model) pace() time.Duration {
	i, ok := m.selected()
	switch {
	case !m.link.up && m.link.ever:
		return time.Second
	case ok && i.group == working && m.look.Motion:
		return spin
	case ok && i.group == working:
		return time.Second
	case len(m.items) > 0:
		return time.Minute
	}
	return 0
}

// spin is how long a picture of the spinner stands.
const spin = 200 * time.Millisecond
