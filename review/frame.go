package review

import "strings"

// frame is the pane as rows of the screen, and what lies where. It is computed
// from the Model alone: Draw paints it, and a press of the mouse is looked up in
// it.
type frame struct {
	rows  []line // one for each row of the screen, at most as wide as it
	split int    // the column of the edge between list and detail
	zones []zone
	doc   doc  // what the view shows
	body  int  // rows of it that are seen
	top   spot // the first of them
	last  spot // the first when its end is seen
	cut   bool // the question is not seen whole
	// The cursor of a text that is being typed; -1: none.
	cursorX, cursorY int
}

// zone is a place that can be pressed: for a key, or for an item of the list.
type zone struct {
	x, y, w int
	key     string
	item    int
}

// The least screen that shows anything.
const (
	leastWidth  = 40
	leastHeight = 10
)

// frameRows are those that are no part of list and detail: header, edge above,
// edge below, keys.
const frameRows = 4

func (m *Model) listWidth() int { return min(max(m.w*3/8, 20), 52) }

// bodyHeight is how many rows of a document are seen.
func (m *Model) bodyHeight() int { return m.frame().body }

func (m *Model) frame() frame {
	f := frame{split: m.listWidth(), cursorX: -1, cursorY: -1}
	if m.w < leastWidth || m.h < leastHeight {
		f.rows = []line{{{fit("deckhand: "+itoa(leastWidth)+"×"+itoa(leastHeight)+" at least", m.w), plain}}}
		return f
	}
	height := m.h - frameRows
	list := m.listRows(&f, height)
	right := m.detail(&f, m.w-f.split-3, height)
	f.rows = append(f.rows, m.header(), edge(m.w, f.split, "┬"))
	for y := range height {
		f.rows = append(f.rows, m.bodyRow(&f, list, right, y))
	}
	f.rows = append(f.rows, m.noticeRow(f.split), m.footer(&f))
	return f
}

// bodyRow puts a row of the list beside one of the detail.
func (m *Model) bodyRow(f *frame, list, right []line, y int) line {
	var l, r line
	if y < len(list) {
		l = list[y]
	}
	if y < len(right) {
		r = right[y]
	}
	row := spread(l, line{}, f.split)
	return append(append(row, span{"│ ", dim}), r...)
}

func edge(w, at int, joint string) line {
	return line{{strings.Repeat("─", at) + joint + strings.Repeat("─", max(0, w-at-1)), dim}}
}

// header says which folder, what goes on in it, and whether that is true now.
func (m *Model) header() line {
	left := line{{" deckhand ", strong}, {" " + oneLine(m.look.Name), dim}}
	link := line{m.linkSpan(), {" ", plain}}
	counts := m.counts()
	for room := m.w - left.width() - link.width() - 4; len(counts) > 0 && counts.width() > room; {
		counts = counts[:max(0, len(counts)-2)] // the list has them too
	}
	if len(counts) > 0 {
		counts = append(counts, span{"  ", plain})
	}
	return spread(left, append(counts, link...), m.w)
}

// linkSpan says how the connection stands: what is shown while it is down was
// true when it went.
func (m *Model) linkSpan() span {
	switch {
	case m.link.up:
		return span{"● connected", good}
	case !m.link.ever:
		return span{"○ connecting", dim}
	}
	return span{"× not connected for " + age(m.now.Sub(m.link.since)), bad}
}

// noticeRow is the lower edge, or what there is to say.
func (m *Model) noticeRow(split int) line {
	if m.notice.text == "" {
		if !m.link.up && m.link.err != "" {
			return fitLine(line{{"─ ", dim}, {oneLine(m.link.err) + " ", bad}}, m.w)
		}
		return edge(m.w, split, "┴")
	}
	l := fitLine(line{{"─ ", dim}, {m.notice.text + " ", m.notice.role}}, m.w-1)
	return append(l, span{strings.Repeat("─", max(0, m.w-l.width())), dim})
}

// footer are the keys that act now.
func (m *Model) footer(f *frame) line {
	y := m.h - 1
	switch {
	case m.composer != nil:
		return f.keys(line{{" ", plain}}, y, 0, m.w, composeKeys(m.composer))
	case m.help:
		return f.keys(line{{" ", plain}}, y, 0, m.w, []offer{{key: "esc", word: "back"}, {key: "down", word: "and up: more"}})
	}
	var shown, last []offer
	for _, o := range m.offers() {
		switch {
		case !o.can() || o.key >= "1" && o.key <= "9":
		case o.key == "?" || o.key == "q":
			last = append(last, o)
		case o.key != "X" || m.sure == "X":
			shown = append(shown, o)
		}
	}
	if _, proposes := m.proposal(); len(shown) > 0 && (proposes || m.asking()) { // they stand beside the question
		shown = without(shown, "a", "d", "D", "S", "E")
	}
	tail := frame{}
	right := tail.keys(nil, y, 0, m.w, last)
	room := m.w - right.width() - 2
	left := f.keys(line{{" ", plain}}, y, 0, room, shown)
	x := m.w - right.width() - 1
	for _, z := range tail.zones {
		z.x += x
		f.zones = append(f.zones, z)
	}
	return append(spread(left, right, m.w-1), span{" ", plain})
}

func without(offers []offer, keys ...string) []offer {
	var out []offer
	for _, o := range offers {
		if !strings.Contains(" "+strings.Join(keys, " ")+" ", " "+o.key+" ") {
			out = append(out, o)
		}
	}
	return out
}

// keyRows are offers in as many rows as they take.
func (f *frame) keyRows(y, x, room int, offers []offer) []line {
	var out []line
	for len(offers) > 0 {
		before := len(f.zones)
		out = append(out, f.keys(nil, y+len(out), x, room, offers))
		taken := max(1, len(f.zones)-before)
		offers = offers[taken:]
	}
	return out
}

// keys puts offers behind a line as far as there is room, as zones that can be
// pressed; x is where the line begins on the screen.
func (f *frame) keys(l line, y, x, room int, offers []offer) line {
	for n, o := range offers {
		add := line{{keyName(o.key), accent}, {" " + o.word, plain}}
		if n > 0 {
			add = append(line{{"   ", plain}}, add...)
		}
		at := l.width()
		if at+add.width() > room {
			break
		}
		if n > 0 {
			at += 3
		}
		f.zones = append(f.zones, zone{x: x + at, y: y, w: width(keyName(o.key) + " " + o.word), key: o.key})
		l = append(l, add...)
	}
	return l
}

func keyName(key string) string {
	if key == " " {
		return "space"
	}
	return key
}

func composeKeys(c *composer) []offer {
	if c.busy {
		return []offer{{key: "esc", word: "leave: it is being sent"}}
	}
	return []offer{
		{key: "enter", word: "send"},
		{key: "alt+enter", word: "new line"},
		{key: "ctrl+e", word: "editor"},
		{key: "esc", word: "leave, keep the text"},
	}
}

// listRow is a row of the list: a group's title (item -1), or an item.
type listRow struct {
	group group
	item  int
	blank bool
}

func (m *Model) listPlan(height int) []listRow {
	var rows []listRow
	n := len(m.items)
	for i, it := range m.items {
		if i == 0 || m.items[i-1].group != it.group {
			n++
			if i > 0 {
				rows, n = append(rows, listRow{blank: true}), n+1
			}
			rows = append(rows, listRow{group: it.group, item: -1})
		}
		rows = append(rows, listRow{group: it.group, item: i})
	}
	if n <= height {
		return rows
	}
	dense := rows[:0] // no room for blanks
	for _, r := range rows {
		if !r.blank {
			dense = append(dense, r)
		}
	}
	return dense
}

// listRows are the rows of the list that are seen: the selected one always is.
func (m *Model) listRows(f *frame, height int) []line {
	plan := m.listPlan(height)
	sel := m.index()
	at, per := 0, [groups]int{}
	for n, r := range plan {
		if r.item >= 0 && !r.blank {
			per[r.group]++
			if r.item == sel {
				at = n
			}
		}
	}
	m.listTop = scrolled(m.listTop, at, height, len(plan))
	var out []line
	for n := m.listTop; n < min(len(plan), m.listTop+height); n++ {
		r := plan[n]
		switch {
		case r.blank:
			out = append(out, line{})
		case r.item < 0:
			out = append(out, spread(line{{" " + r.group.String(), groupRole(r.group)}}, line{{itoa(per[r.group]) + " ", dim}}, f.split))
		default:
			f.zones = append(f.zones, zone{x: 0, y: 2 + len(out), w: f.split, item: r.item})
			out = append(out, m.itemRow(m.items[r.item], f.split, r.item == sel))
		}
	}
	if len(m.items) == 0 {
		out = append(out, line{}, line{{" nothing runs, nothing waits", dim}})
	}
	return out
}

func groupRole(g group) role {
	if g == needsYou {
		return needs
	}
	return strong
}

// scrolled moves a window as little as shows a row; the row above, which may be
// its group's title, is seen too.
func scrolled(top, at, height, total int) int {
	top = min(top, max(0, at-1))
	top = max(top, at-height+1)
	return min(max(top, 0), max(0, total-height))
}

func (m *Model) itemRow(i item, w int, selected bool) line {
	right := line{{i.word, i.role}}
	if w >= 36 && !i.since.IsZero() {
		right = append(right, span{leftPad(age(m.now.Sub(i.since)), 4), dim})
	}
	right = append(right, span{" ", plain})
	lead := " "
	if selected {
		lead = "▌"
	}
	row := spread(line{{lead, accent}, {i.mark + " ", i.role}, {oneLine(i.title), plain}}, right, w)
	if !selected {
		return row
	}
	for n := range row {
		row[n].role |= marked
	}
	return row
}

func leftPad(s string, n int) string { return strings.Repeat(" ", max(0, n-width(s))) + s }
