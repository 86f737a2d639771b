package review

import (
	"strings"

	"deckhand/internal/control"
)

// offer is what a key does now. One that cannot be done says why.
type offer struct {
	key  string
	word string
	why  string // empty: it can be done
	do   func(m *Model)
	sure bool // it wants the key twice
}

// can reports whether an offer can be taken.
func (o offer) can() bool { return o.why == "" }

// offers are what can be done with what is selected, first what it is most
// likely selected for. They follow what the daemon says, not the last key.
func (m *Model) offers() []offer {
	i, ok := m.selected()
	switch {
	case !ok:
		return m.reached(nil)
	case i.proposal != nil:
		return m.reached(m.proposalOffers(*i.proposal))
	case i.run == nil:
		return m.reached(m.cardOffers(i))
	}
	r := *i.run
	var out []offer
	if len(r.Asks) > 0 {
		out = m.askOffers(r, r.Asks[0])
	}
	if live(r) {
		out = append(out, m.liveOffers(r)...)
	} else {
		out = append(out, m.overOffers(r)...)
	}
	return m.reached(out)
}

// reached are offers as the connection lets them be, with those that stand
// whatever is selected.
func (m *Model) reached(out []offer) []offer {
	out = append(out, offer{key: "X", word: "stop all", sure: true, do: func(m *Model) { m.send(control.Command{Name: "stop_all"}, nil) }})
	if m.link.up {
		return append(out, m.general()...)
	}
	for n := range out {
		out[n].why = "not connected"
	}
	if m.link.ever {
		out = append([]offer{{key: "W", word: "start deckhand watch", do: func(m *Model) { m.act(startDaemon{}) }}}, out...)
	}
	return append(out, m.general()...)
}

// live reports whether a turn of the run is under way.
func live(r control.Run) bool {
	return r.Status == "working" || r.Status == "waiting" || r.Status == "queued"
}

// answering is the command that answers an ask, with the scope that is chosen.
func (m *Model) answering(r control.Run, a control.Ask) control.Command {
	c := control.Command{Name: "answer", Run: r.ID, Ask: a.ID}
	if len(a.Scopes) > 0 {
		c.Scope = a.Scopes[min(m.scope, len(a.Scopes)-1)]
	}
	return c
}

func (m *Model) askOffers(r control.Run, a control.Ask) []offer {
	answer := func(value string) func(*Model) {
		return func(m *Model) {
			c := m.answering(r, a)
			c.Value = &value
			m.send(c, nil)
		}
	}
	var out []offer
	switch a.Kind {
	case "confirm":
		c := m.answering(r, a)
		deny := "deny"
		why := purpose{cmd: control.Command{Name: "answer", Run: r.ID, Ask: a.ID, Value: &deny}, label: "deny, and say why", card: r.Card, note: true}
		out = append(out,
			offer{key: "a", word: strings.TrimSpace("allow " + c.Scope), do: answer("allow")},
			offer{key: "d", word: "deny", do: answer("deny")},
			offer{key: "D", word: "deny, say why", do: func(m *Model) { m.compose(why, "") }})
		if len(a.Scopes) > 1 {
			out = append(out, offer{key: "S", word: "other scope", do: func(m *Model) { m.scope = (m.scope + 1) % len(a.Scopes) }})
		}
	case "select":
		out = append(out, offer{key: "a", word: "choose", do: func(m *Model) { m.choosing = max(1, m.choosing) }})
		for n := range min(9, len(a.Options)) {
			out = append(out, offer{key: itoa(n + 1), word: oneLine(a.Options[n]), do: answer(a.Options[n])})
		}
	default:
		prefill := ""
		if a.Prefill != nil {
			prefill = *a.Prefill
		}
		p := purpose{cmd: control.Command{Name: "answer", Run: r.ID, Ask: a.ID}, label: "answer", card: r.Card, value: true}
		out = append(out, offer{key: "a", word: "answer", do: func(m *Model) { m.compose(p, prefill) }})
	}
	if m.fresh() {
		for n := range out {
			out[n].why = "this question has only just come: look at it, then press again"
		}
	}
	return append(out, offer{key: "E", word: "end without answering", sure: true, do: func(m *Model) {
		m.send(control.Command{Name: "end_ask", Run: r.ID, Ask: a.ID}, nil)
	}})
}

// text is an offer that opens a text for a run.
func text(key, word, name string, r control.Run) offer {
	return offer{key: key, word: word, do: func(m *Model) {
		m.compose(purpose{cmd: control.Command{Name: name, Run: r.ID}, label: word, card: r.Card}, "")
	}}
}

func (m *Model) liveOffers(r control.Run) []offer {
	out := []offer{
		{key: "x", word: "stop", do: func(m *Model) { m.send(control.Command{Name: "stop", Run: r.ID}, nil) }},
		text("s", "steer", "steer", r),
		text("f", "follow up", "follow_up", r),
		{key: "R", word: "retry", why: "it is not over"},
	}
	for _, a := range r.Asks {
		if a.Kind == "question" { // nothing works that could be told
			out[1].why, out[2].why = "it asks: what is told has to be its answer", "it asks: what is told has to be its answer"
		}
	}
	if len(r.Asks) == 0 {
		out = append(out, offer{key: "a", word: "answer", why: "nothing is asked"}, offer{key: "d", word: "deny", why: "nothing is asked"})
	}
	return out
}

func (m *Model) overOffers(r control.Run) []offer {
	retry := func(word string) offer {
		return offer{key: "R", word: word, do: func(m *Model) { m.send(control.Command{Name: "retry", Run: r.ID}, nil) }}
	}
	over := offer{key: "x", word: "stop", why: "it is over"}
	if r.Status == "done" && !r.Accepted {
		return []offer{
			{key: "a", word: "accept", do: func(m *Model) { m.send(control.Command{Name: "accept", Run: r.ID}, nil) }},
			text("s", "send back", "send_back", r), text("r", "reply", "reply", r), retry("retry"), over,
		}
	}
	out := []offer{text("s", "reply", "reply", r), retry("retry"), over}
	switch {
	case r.Accepted:
		return append(out, offer{key: "a", word: "accept", why: "it is accepted"})
	case r.Status == "interrupted" && len(r.Asks) == 0:
		goOn := retry("go on")
		goOn.key = "a"
		return append([]offer{goOn}, out...)
	}
	return append(out, offer{key: "a", word: "accept", why: "it did not end well: tick its card to close it"})
}

func (m *Model) cardOffers(i item) []offer {
	if i.group == problems {
		return nil
	}
	return []offer{
		{key: "R", word: "run now", do: func(m *Model) { m.send(control.Command{Name: "run", Card: i.card}, nil) }},
		{key: "x", word: "stop", why: "it does not run"},
		{key: "a", word: "answer", why: "nothing is asked"},
	}
}

// general are the offers that stand whatever is selected.
func (m *Model) general() []offer {
	fold := "unfold"
	if m.details {
		fold = "fold"
	}
	out := []offer{
		{key: "o", word: "open in editor", do: (*Model).open},
		{key: "t", word: fold + " thinking and results", do: func(m *Model) { m.details = !m.details }},
		{key: "n", word: "next that needs you", do: (*Model).nextNeed},
		{key: "?", word: "keys", do: func(m *Model) { m.help, m.helpTop = !m.help, 0 }},
		{key: "q", word: "quit", do: (*Model).quit},
	}
	if _, ok := m.selected(); !ok {
		out = out[:len(out):len(out)]
		for n := range out {
			if out[n].key == "o" {
				out[n].why = "nothing is selected"
			}
		}
	}
	return out
}

// open shows the chat, when that is what is looked at, else the card.
func (m *Model) open() {
	i, ok := m.selected()
	switch {
	case !ok:
		return
	case i.run != nil && m.view == chatView:
		m.act(openFile{path: i.run.Chat})
		return
	}
	path, at, _ := strings.Cut(i.place, ":")
	row, _, _ := strings.Cut(at, ":") // a problem has a column behind it
	m.act(openFile{path: path, line: atoi(row)})
}

// nextNeed selects the next item that needs a person.
func (m *Model) nextNeed() {
	at := m.index()
	for n := range m.items {
		if i := (at + 1 + n) % len(m.items); m.items[i].group == needsYou {
			m.pick(i)
			return
		}
	}
	m.say(good, "nothing needs you")
}

// quit ends the pane; texts that were left are asked for first.
func (m *Model) quit() {
	if len(m.drafts) > 0 && m.sure != "q" {
		m.sure = "q"
		m.say(needs, "%s not sent: press q again to leave without", counted(len(m.drafts), "text is", "texts are"))
		return
	}
	m.act(quit{})
}
