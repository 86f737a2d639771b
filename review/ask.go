package review

import (
	"strings"

	"deckhand/internal/control"
)

// asking reports whether the selected run asks something.
func (m *Model) asking() bool {
	_, ok := m.ask()
	return ok
}

// askRows are a question with its choices, in n columns and at most most rows;
// x and y are where they begin on the screen.
func (m *Model) askRows(f *frame, a control.Ask, n, x, y, most int) []line {
	inner := n - 2
	r, _ := m.run()
	head := line{{"@" + oneLine(r.Agent) + " asks", needs}, {"  " + age(m.now.Sub(a.Since)), dim}}
	if a.Timeout != nil {
		head = append(head, span{"  answers itself in " + age(a.Timeout.Sub(m.now)), needs})
	}
	if more := len(r.Asks) - 1; more > 0 {
		head = append(head, span{"  then " + counted(more, "more question", "more questions"), dim})
	}
	var rows []line
	rows = append(rows, fitLine(head, inner))
	rows = append(rows, paragraph(a.Title, inner, strong)...)
	options := m.optionRows(a, inner, max(2, most/2))
	if a.Message != "" {
		message := indented(span{"  ", plain}, paragraph(a.Message, inner-2, code))
		room := max(1, most-len(rows)-len(options)-len((&frame{}).keyRows(0, 0, inner, m.askKeys())))
		f.cut = len(message) > room
		rows = append(rows, cutRows(message, room)...)
	}
	first := y + len(rows)
	for k := range options {
		if o := options[k].option; o > 0 && o <= 9 {
			f.zones = append(f.zones, zone{x: x, y: first + k, w: n, key: itoa(o)})
		}
		rows = append(rows, options[k].line)
	}
	rows = append(rows, f.keyRows(y+len(rows), x+2, inner, m.askKeys())...)
	for k := range rows {
		rows[k] = append(line{{"▌ ", bar}}, rows[k]...)
	}
	return rows
}

// askKeys are the offers that answer, without the digits of options: those
// stand before them. None acts while a text is typed.
func (m *Model) askKeys() []offer {
	switch {
	case m.composer != nil:
		return nil
	case m.choosing > 0:
		return []offer{{key: "enter", word: "send"}, {key: "up", word: "and down choose"}, {key: "esc", word: "leave"}}
	}
	var out []offer
	for _, o := range m.offers() {
		if strings.Contains("adDSE", o.key) {
			out = append(out, o)
		}
	}
	return out
}

type optionRow struct {
	line   line
	option int
}

// optionRows are the options of a select around the one that is chosen.
func (m *Model) optionRows(a control.Ask, n, most int) []optionRow {
	if a.Kind != "select" {
		return nil
	}
	first := 0
	if len(a.Options) > most {
		first = min(max(0, m.choosing-1-most/2), len(a.Options)-most)
	}
	var out []optionRow
	for k := first; k < min(len(a.Options), first+most); k++ {
		mark, r := span{"  " + digit(k+1) + " ", accent}, plain
		if k+1 == m.choosing {
			mark, r = span{"▸ " + digit(k+1) + " ", accent | marked}, plain|marked
		}
		out = append(out, optionRow{fitLine(line{mark, {oneLine(a.Options[k]), r}}, n), k + 1})
	}
	if more := len(a.Options) - most; more > 0 {
		out = append(out, optionRow{line: line{{"    " + itoa(more) + " more: a, then up and down", dim}}})
	}
	return out
}

func digit(n int) string {
	if n > 9 {
		return " "
	}
	return itoa(n)
}

// cutRows are at most n rows, with a word about those that are left out.
func cutRows(rows []line, n int) []line {
	if len(rows) <= n {
		return rows
	}
	out := rows[:n:n]
	out[n-1] = line{{"  … " + itoa(len(rows)-n+1) + " more rows in the chat (c)", dim}}
	return out
}

// composed is a text being typed, as rows, with the cursor.
type composed struct {
	rows []line
	x, y int
}

func (m *Model) composeRows(n, most int) composed {
	c := m.composer
	if c == nil {
		return composed{}
	}
	inner := n - 2
	rows, row, column := c.layout(inner)
	first := min(max(0, row-most+1), max(0, len(rows)-most))
	head := line{{c.purpose.label, accent}, {"  " + oneLine(c.purpose.card), dim}}
	if c.busy {
		head = append(head, span{"  is being sent", works})
	}
	out := composed{x: 2 + column, y: 2 + row - first}
	out.rows = append(out.rows, line{}, fitLine(append(line{{"▌ ", accent}}, head...), n))
	for _, text := range rows[first:min(len(rows), first+most)] {
		out.rows = append(out.rows, fitLine(line{{"▌ ", accent}, {text, plain}}, n))
	}
	if c.err != "" {
		for _, row := range cutRows(paragraph(c.err, inner, bad), 3) {
			out.rows = append(out.rows, append(line{{"▌ ", accent}}, row...))
		}
	}
	return out
}

// helpPage are as many of helpRows as there is room for.
func (m *Model) helpPage(n, height int) []line {
	rows := m.helpRows(n)
	rows = rows[min(m.helpTop, max(0, len(rows)-height)):]
	if more := len(rows) - height; more > 0 {
		rows[height-1] = spread(rows[height-1], line{{" ↓ " + itoa(more) + " more rows ", dim}}, n)
	}
	return rows
}

// helpRows are all keys: what they do now, or why they cannot.
func (m *Model) helpRows(n int) []line {
	out := []line{{{"Keys", strong}}, {}}
	row := func(key, word, why string) {
		l := line{{leftPad(key, 12) + "  ", accent}, {word, plain}}
		if why != "" {
			l = line{{leftPad(key, 12) + "  ", dim}, {word + ": " + why, dim}}
		}
		out = append(out, fitLine(l, n))
	}
	for _, o := range m.offers() {
		row(keyName(o.key), o.word, o.why)
	}
	out = append(out, line{})
	for _, k := range [][2]string{
		{"j k ↓ ↑", "another item"},
		{"g G", "first and last item"},
		{"l c p w b", "log, chat, prompt, why, board"},
		{"tab ← →", "the next or previous of them"},
		{"space pgup", "a page down, up"},
		{"J K", "a row down, up"},
		{"home end", "begin and end; at its end a log follows"},
		{"mouse", "press an item, a key or a view; turn the wheel"},
	} {
		row(k[0], k[1], "")
	}
	out = append(out, line{}, line{{"In a text", strong}}, line{})
	for _, k := range [][2]string{
		{"enter", "sends; the text goes when the daemon has taken it"},
		{"alt+enter", "a new line"},
		{"ctrl+e", "$EDITOR"},
		{"↑ ↓", "in the first and last row: what was sent before"},
		{"esc", "leaves; the text is kept"},
	} {
		row(k[0], k[1], "")
	}
	return out
}
