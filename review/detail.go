package review

import (
	"strings"
	"time"

	"deckhand/internal/control"
)

// Rows of the right side: the names of the views with a blank before them, and
// what a plan and a document need at least to be worth showing.
const (
	tabRows   = 2
	leastPlan = 3
	leastBody = 3
)

// detail is the right side: what is selected, what it asks, and a view of it,
// in n columns and height rows.
func (m *Model) detail(f *frame, n, height int) []line {
	if m.help {
		return m.helpPage(n, height)
	}
	i, ok := m.selected()
	if !ok {
		return m.welcome(n)
	}
	x, y := f.split+2, 2
	out := m.titleRows(i, n)
	text := m.composeRows(n, max(1, height/3))
	room := height - len(out) - len(text.rows) - tabRows
	ask, asks := m.ask()
	if asks { // it comes first: what is allowed has to be seen whole
		room -= 1 + len(m.askRows(&frame{}, ask, n, 0, 0, room-1))
	}
	if i.run != nil && m.view == logView && room > leastPlan+leastBody {
		if p := planRows(m.of(i.key).log.plan, live(*i.run), m.now, n, min(room-leastBody, max(leastPlan, height/4))); len(p) > 0 {
			out = append(append(out, line{}), p...)
		}
	}
	if asks {
		out = append(out, line{})
		out = append(out, m.askRows(f, ask, n, x, y+len(out), height-len(out)-len(text.rows)-tabRows)...)
	}
	if p, ok := m.proposal(); ok {
		out = append(out, line{})
		out = append(out, m.proposalRows(f, p, n, x, y+len(out), max(4, height/2))...)
		out = append(out, line{}, line{{"What it changes", dim}})
	} else {
		out = append(out, line{}, m.tabs(f, x, y+len(out)+1, n))
	}
	f.body = max(0, height-len(out)-len(text.rows))
	out = append(out, m.window(f, i, n)...)
	if len(text.rows) == 0 {
		return out
	}
	for len(out) < height-len(text.rows) {
		out = append(out, line{})
	}
	f.cursorX, f.cursorY = x+text.x, y+len(out)+text.y
	return append(out, text.rows...)
}

func (m *Model) welcome(n int) []line {
	if !m.link.ever {
		return []line{{}, {{"waiting for the daemon", dim}}}
	}
	out := []line{{}, {{"Nothing runs and nothing waits.", strong}}, {}}
	for _, s := range []string{
		"Write a card under the heading Plan of a board, name an agent, and save:",
		"",
		"    - [ ] Checkout with QRIS @pi",
		"",
		"It appears here some seconds after its last change.",
	} {
		out = append(out, paragraph(s, n, plain)...)
	}
	return out
}

// titleRows say what is selected and how it stands.
func (m *Model) titleRows(i item, n int) []line {
	right := line{{i.mark + " " + i.word, i.role}}
	if !i.since.IsZero() {
		right = append(right, span{"  " + age(m.now.Sub(i.since)), dim})
	}
	out := []line{spread(line{{oneLine(i.title), strong}}, right, n)}
	if i.run == nil {
		return append(out, fitLine(line{{oneLine(i.place), dim}}, n))
	}
	r := *i.run
	pulse := m.pulse(i)
	room := n - pulse.width() - 1
	meta := fitting(room, "@"+oneLine(r.Agent), oneLine(r.Project), oneLine(i.place), took(r), usd(r.Cost), used(r))
	out = append(out, spread(line{{meta, dim}}, pulse, n))
	if !live(r) && r.Reason != "" {
		rows := paragraph(oneLine(r.Reason), n, i.role)
		out = append(out, rows[:min(2, len(rows))]...)
	}
	if live(r) && len(r.Changed) > 0 {
		rows := paragraph("not as it was told: "+oneLine(strings.Join(r.Changed, ", ")), n, needs)
		out = append(out, rows[:min(2, len(rows))]...)
		for _, p := range hintParas("deckhand steer "+strings.ToLower(r.ID)+" --notes", 0) {
			out = append(out, p.rows(n)...)
		}
	}
	if !live(r) && r.Next != "" && r.Status != "done" {
		for _, p := range hintParas(r.Next, 0) {
			out = append(out, p.rows(n)...)
		}
	}
	return out
}

// took is how long a run took that is over.
func took(r control.Run) string {
	if r.Ended == nil || r.Started.IsZero() {
		return ""
	}
	return lasted(r.Ended.Sub(r.Started).Truncate(time.Second))
}

func used(r control.Run) string {
	if r.Tokens == 0 {
		return ""
	}
	return tokens(r.Tokens)
}

// fitting are the parts that fit into n cells, the first ones first.
func fitting(n int, parts ...string) string {
	out := ""
	for _, p := range parts {
		if next := joined(out, p); out == "" || width(next) <= n {
			out = next
		}
	}
	return out
}

// pulse says of a run at work that it is: the spinner turns, and the age of its
// last event grows when nothing comes.
func (m *Model) pulse(i item) line {
	if i.run.Status != "working" {
		return nil
	}
	out := line{}
	if last := m.of(i.key).log.last; !last.IsZero() {
		out = append(out, span{"heard " + age(m.now.Sub(last)) + " ago ", dim})
	}
	if m.look.Motion && m.link.up {
		turns := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
		out = append(out, span{string(turns[int(m.now.UnixMilli()/spin.Milliseconds())%len(turns)]), works})
	}
	return out
}

// planRows are an agent's plan: what is done, what it is at, what is to come.
// What it is at is shown as such only while a turn runs.
func planRows(steps []step, running bool, now time.Time, n, most int) []line {
	if len(steps) == 0 {
		return nil
	}
	done, at := 0, -1
	for k, s := range steps {
		switch {
		case s.state == "completed":
			done++
		case at < 0:
			at = k
		}
	}
	out := []line{{{"Plan  ", strong}, {itoa(done) + " of " + itoa(len(steps)), dim}}}
	room := most - 1
	first := min(max(0, max(at, 0)-room/2), max(0, len(steps)-room))
	for k := first; k < min(len(steps), first+room); k++ {
		out = append(out, stepRow(steps[k], k == at && running, now, n))
	}
	return out
}

func stepRow(s step, current bool, now time.Time, n int) line {
	text := oneLine(s.text)
	switch {
	case s.state == "completed":
		took := line{{"done", dim}}
		if !s.began.IsZero() && s.ended.After(s.began) {
			took = line{{"done " + lasted(s.ended.Sub(s.began).Truncate(time.Second)), dim}}
		}
		return spread(line{{"✓ ", good}, {text, dim}}, took, n)
	case current:
		since := line{{"now", works}}
		if !s.began.IsZero() {
			since = append(since, span{" " + age(now.Sub(s.began)), dim})
		}
		return spread(line{{"▸ ", works}, {text, plain}}, since, n)
	case s.state == "pending" || s.state == "in_progress":
		return spread(line{{"· ", dim}, {text, dim}}, line{{"to do", dim}}, n)
	}
	return spread(line{{"× ", bad}, {text, plain}}, line{{oneLine(s.state), bad}}, n)
}

// tabs name the views; their first letters are their keys.
func (m *Model) tabs(f *frame, x, y, n int) line {
	l := line{}
	at := 0
	for v := range views {
		name := v.String()
		if v == m.view {
			l = append(l, span{" " + name + " ", accent | marked})
		} else {
			l = append(l, span{" ", plain}, span{name[:1], accent}, span{name[1:] + " ", dim})
		}
		f.zones = append(f.zones, zone{x: x + at, y: y, w: len(name) + 2, key: v.key()})
		l = append(l, span{" ", plain})
		at += len(name) + 3
	}
	return fitLine(l, n)
}

// window is the part of the view's document that is seen.
func (m *Model) window(f *frame, i item, n int) []line {
	a := m.of(i.key)
	f.doc = doc{n: n, details: m.details}
	f.doc.paras, f.doc.tail = m.document(a, i, n)
	f.last = f.doc.back(f.doc.end(), f.body)
	s := a.scroll[m.seen()]
	f.top = s.top
	if !s.held && m.seen().follows() || f.last.before(f.top) {
		f.top = f.last
	}
	out, below := f.doc.from(f.top, f.body)
	if more, _ := f.doc.from(below, moreMost+1); len(more) > 0 && len(out) > 0 {
		count := itoa(min(len(more), moreMost))
		if len(more) > moreMost {
			count += "+"
		}
		out[len(out)-1] = spread(out[len(out)-1], line{{" ↓ " + count + " more rows ", dim}}, n)
	}
	return out
}

// moreMost is up to where the rows below are counted.
const moreMost = 99

// document is what a view shows of an item, and what goes on below it.
func (m *Model) document(a *about, i item, n int) (all, tail []para) {
	v := m.seen()
	switch {
	case v == logView && i.run != nil:
		return a.log.paras, a.log.tail(live(*i.run))
	case i.group == problems && v != boardView:
		return factsParas(i), nil
	case v == chatView && i.run == nil:
		return []para{{text: "there is no chat: it has not run", role: dim}}, nil
	case v == chatView, v == promptView:
		return answered(a.got[v], func() []para { return a.docs[v] }), nil
	case v == whyView:
		return m.whyDoc(a, i), nil
	case v == boardView:
		return answered(m.board, func() []para { return m.boardDoc(i, n) }), nil
	}
	return factsParas(i), nil
}

func (m *Model) whyDoc(a *about, i item) []para {
	var out []para
	if i.run == nil || i.text != "" {
		out = factsParas(i)
	}
	runs := i.run != nil && live(*i.run)
	return append(out, answered(a.got[whyView], func() []para { return whyParas(a.why, runs) })...)
}

// answered is an answer of the daemon, or why there is none.
func answered(f fetch, answer func() []para) []para {
	switch {
	case f.err != "":
		return []para{{text: f.err, role: needs}}
	case !f.have:
		return []para{{text: "…", role: dim}}
	}
	return answer()
}

// boardDoc is the board of what is selected; its card stands out.
func (m *Model) boardDoc(i item, n int) []para {
	path, at, _ := strings.Cut(i.place, ":")
	for _, b := range m.boards {
		if b.Path == path {
			return made(boardRows(b, atoi(at), n))
		}
	}
	return []para{{text: "the board is not there", role: dim}}
}
