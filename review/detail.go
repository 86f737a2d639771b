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
		rows := m.helpRows(n)
		return rows[min(m.helpTop, max(0, len(rows)-height)):]
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
	out = append(out, line{}, m.tabs(f, x, y+len(out)+1, n))
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
	if !live(r) && r.Next != "" && r.Status != "done" {
		out = append(out, hintRows(r.Next, n, 0)...)
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
	rows, tail := m.document(a, i, n)
	f.total = len(rows) + len(tail)
	last := max(0, f.total-f.body)
	s := a.scroll[m.view]
	f.top = s.top
	if !s.held && m.view == logView {
		f.top = last
	}
	f.top = min(max(f.top, 0), last)
	out := make([]line, 0, f.body)
	for k := f.top; k < min(f.total, f.top+f.body); k++ {
		if k < len(rows) {
			out = append(out, rows[k])
			continue
		}
		out = append(out, tail[k-len(rows)])
	}
	if f.top < last && len(out) > 0 { // the log goes on below
		more := line{{" ↓ " + itoa(last-f.top) + " more rows ", dim}}
		out[len(out)-1] = spread(out[len(out)-1], more, n)
	}
	return out
}

// document are the rows of a view, made anew only when what they show, or the
// width, has changed; and those of a log that go on.
func (m *Model) document(a *about, i item, n int) (rows, tail []line) {
	if m.view == logView && i.run != nil {
		return a.log.lines(n, m.details), a.log.tail(n, m.details, live(*i.run))
	}
	d := &a.docs[m.view]
	if m.view == boardView || m.view == whyView || m.view == logView || d.width != n || d.lines == nil {
		*d = doc{lines: m.makeDoc(a, i, n), width: n}
	}
	return d.lines, nil
}

func (m *Model) makeDoc(a *about, i item, n int) []line {
	got := a.got[m.view]
	switch m.view {
	case chatView:
		if i.run == nil {
			return []line{{{"there is no chat: it has not run", dim}}}
		}
		return answered(got, n, func() []line { return chatRows(a.chat, n) })
	case promptView:
		if i.group == problems {
			return nil
		}
		return answered(got, n, func() []line { return promptRows(a.prompt, n) })
	case whyView:
		rows := factsRows(i, n)
		if i.run != nil && i.text == "" || i.group == problems {
			rows = rows[:0]
		}
		return append(rows, answered(got, n, func() []line { return whyRows(a.why, n) })...)
	case boardView:
		return answered(m.board, n, func() []line { return m.boardDoc(i, n) })
	}
	return factsRows(i, n)
}

// answered are the rows of an answer, or why there are none.
func answered(f fetch, n int, rows func() []line) []line {
	switch {
	case f.err != "":
		return paragraph(f.err, n, needs)
	case !f.have:
		return []line{{{"…", dim}}}
	}
	return rows()
}

// boardDoc is the board of what is selected; its card stands out.
func (m *Model) boardDoc(i item, n int) []line {
	path, at, _ := strings.Cut(i.place, ":")
	for _, b := range m.boards {
		if b.Path == path {
			return boardRows(b, atoi(at), n)
		}
	}
	return []line{{{"the board is not there", dim}}}
}
