package review

// key takes a key of the person.
func (m *Model) key(k string) {
	switch {
	case m.composer != nil:
		m.typed(k)
		return
	case m.choosing > 0 && m.chose(k):
		return
	case m.help:
		m.helpKey(k)
		return
	}
	if k != m.sure {
		m.sure = ""
	}
	if m.move(k) || m.look_(k) {
		return
	}
	m.take(k)
}

// take does what a key is offered for.
func (m *Model) take(k string) {
	if k == "ctrl+c" {
		k = "q"
	}
	for _, o := range m.offers() {
		if o.key != k {
			continue
		}
		switch {
		case !o.can():
			m.say(needs, "%s: %s", o.word, o.why)
		case k == "a" && m.unread():
			m.say(needs, "%s: there is more of it than is seen here: c shows the chat, where all of it stands", o.word)
		case o.sure && m.sure != k:
			m.sure = k
			m.say(needs, "%s: press %s again", o.word, k)
		default:
			if k != "q" {
				m.sure = ""
			}
			o.do(m)
		}
		return
	}
}

// unread reports whether something would be allowed that is not seen whole.
func (m *Model) unread() bool {
	ask, ok := m.ask()
	return ok && ask.Kind == "confirm" && m.view != chatView && m.frame().cut
}

// move takes the keys that move in the list.
func (m *Model) move(k string) bool {
	i := m.index()
	switch k {
	case "down", "j":
		m.pick(min(i+1, len(m.items)-1))
	case "up", "k":
		m.pick(max(i-1, 0))
	case "g":
		m.pick(0)
	case "G":
		m.pick(len(m.items) - 1)
	default:
		return false
	}
	return true
}

// look_ takes the keys that change what is seen on the right.
func (m *Model) look_(k string) bool {
	for v := range views {
		if k == v.key() {
			m.view = v
			return true
		}
	}
	page := max(1, m.bodyHeight()-1)
	switch k {
	case "tab", "right":
		m.view = (m.view + 1) % views
	case "backtab", "left":
		m.view = (m.view + views - 1) % views
	case "pgdn", "ctrl+d", " ":
		m.scroll(page)
	case "pgup", "ctrl+u":
		m.scroll(-page)
	case "J", "ctrl+n":
		m.scroll(1)
	case "K", "ctrl+p":
		m.scroll(-1)
	case "home":
		m.scrollTo(func(*frame) spot { return spot{} })
	case "end":
		m.scrollTo(func(f *frame) spot { return f.last })
	default:
		return false
	}
	return true
}

// chose takes a key while an option is being chosen.
func (m *Model) chose(k string) bool {
	ask, ok := m.ask()
	if !ok || ask.Kind != "select" || len(ask.Options) == 0 {
		m.choosing = 0
		return false
	}
	switch k {
	case "down", "j":
		m.choosing = min(m.choosing+1, len(ask.Options))
	case "up", "k":
		m.choosing = max(m.choosing-1, 1)
	case "esc", "a":
		m.choosing = 0
	case "enter":
		r, _ := m.run()
		c := m.answering(r, ask)
		c.Value = &ask.Options[m.choosing-1]
		m.choosing = 0
		m.send(c, nil)
	default:
		return false
	}
	return true
}

func (m *Model) helpKey(k string) {
	switch k {
	case "down", "j", "pgdn", " ":
		m.helpTop = min(m.helpTop+5, max(0, len(m.helpRows(m.w))-(m.h-frameRows)))
	case "up", "k", "pgup":
		m.helpTop = max(0, m.helpTop-5)
	default:
		m.help = false
	}
}

// scroll moves by rows in what is seen on the right.
func (m *Model) scroll(by int) {
	m.scrollTo(func(f *frame) spot {
		if by < 0 {
			return f.doc.back(f.top, -by)
		}
		_, to := f.doc.from(f.top, by)
		return to
	})
}

// scrollTo moves there. What follows its end does so again when it is there.
func (m *Model) scrollTo(to func(*frame) spot) {
	i, ok := m.selected()
	if !ok {
		return
	}
	f := m.frame()
	s := &m.of(i.key).scroll[m.seen()]
	if s.top = to(&f); f.last.before(s.top) {
		s.top = f.last
	}
	s.held = !m.seen().follows() || s.top != f.last
}

// mouse takes a press or a turn of the wheel.
func (m *Model) mouse(e moused) {
	f := m.frame()
	if e.wheel != 0 {
		switch {
		case e.x < f.split:
			m.pick(min(max(0, m.index()+sign(e.wheel)), len(m.items)-1))
		case m.help:
			m.helpKey(map[bool]string{true: "up", false: "down"}[e.wheel < 0])
		default:
			m.scroll(e.wheel)
		}
		return
	}
	for _, z := range f.zones {
		if e.y != z.y || e.x < z.x || e.x >= z.x+z.w {
			continue
		}
		m.press(z)
		return
	}
}

// press takes a press on a zone. A text that is being typed is left for an item.
func (m *Model) press(z zone) {
	if z.key != "" {
		m.key(z.key)
		return
	}
	if m.composer != nil {
		m.leave()
	}
	m.pick(z.item)
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}
