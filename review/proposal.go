package review

import (
	"strings"

	"deckhand/internal/control"
)

// proposal is the one that is selected.
func (m *Model) proposal() (control.Proposal, bool) {
	if i, ok := m.selected(); ok && i.proposal != nil {
		return *i.proposal, true
	}
	return control.Proposal{}, false
}

func proposalItem(p *control.Proposal) item {
	return item{
		group: needsYou, key: "proposal " + p.ID, title: p.Card, agent: p.Agent, mark: "◆", word: "proposes", role: needs,
		place: p.Path, since: p.Created, proposal: p, text: p.Reason,
	}
}

// leftOut names a file of a proposal in Model.left.
func leftOut(p control.Proposal, c control.ProposalChange) string {
	return p.ID + "\n" + c.File + "\n" + c.To
}

// ticked are the files of a proposal that would be applied.
func (m *Model) ticked(p control.Proposal) []string {
	var out []string
	for _, c := range p.Changes {
		if !m.left[leftOut(p, c)] {
			out = append(out, nameOf(c))
		}
	}
	return out
}

// nameOf is what the daemon knows a change by.
func nameOf(c control.ProposalChange) string {
	if c.File != "" {
		return c.File
	}
	return c.To
}

// proposalOffers decide a proposal, file by file.
func (m *Model) proposalOffers(p control.Proposal) []offer {
	files := m.ticked(p)
	apply := offer{key: "a", word: "apply " + itoa(len(files)) + " of " + counted(len(p.Changes), "file", "files"), do: func(m *Model) {
		m.send(control.Command{Name: "apply", Proposal: p.ID, Files: files}, nil)
	}}
	why := purpose{cmd: control.Command{Name: "reject", Proposal: p.ID}, label: "reject, and say why", card: p.Card, note: true}
	out := []offer{
		apply,
		{key: "d", word: "reject", do: func(m *Model) { m.send(control.Command{Name: "reject", Proposal: p.ID}, nil) }},
		{key: "D", word: "reject, say why", do: func(m *Model) { m.compose(why, "") }},
	}
	for n := range min(9, len(p.Changes)) {
		key := leftOut(p, p.Changes[n])
		out = append(out, offer{key: itoa(n + 1), word: oneLine(nameOf(p.Changes[n])), do: func(m *Model) {
			m.left[key] = !m.left[key]
		}})
	}
	if len(files) == 0 {
		out[0].why = "no file is ticked"
	}
	if m.fresh() {
		for n := range out {
			out[n].why = "this proposal has only just come: look at it, then press again"
		}
	}
	return out
}

// proposalRows are what is proposed, with a box for each file, in n columns and
// at most most rows; x and y are where they begin on the screen.
func (m *Model) proposalRows(f *frame, p control.Proposal, n, x, y, most int) []line {
	rows := []line{fitLine(line{{"@" + oneLine(p.Agent) + " proposes", needs}, {"  " + age(m.now.Sub(p.Created)), dim}}, n-2)}
	if p.Reason != "" {
		rows = append(rows, cutPlain(paragraph(oneLine(p.Reason), n-2, strong), 2)...)
	}
	room := max(1, most-len(rows)-1)
	for k, c := range p.Changes {
		if k >= room-1 && len(p.Changes) > room {
			rows = append(rows, line{{"    " + itoa(len(p.Changes)-k) + " more: deckhand apply names them", dim}})
			break
		}
		if k < 9 {
			f.zones = append(f.zones, zone{x: x, y: y + len(rows), w: n, key: itoa(k + 1)})
		}
		rows = append(rows, m.changeRow(p, c, k, n-2))
	}
	if m.composer == nil {
		rows = append(rows, f.keyRows(y+len(rows), x+2, n-2, m.decisions())...)
	}
	for k := range rows {
		rows[k] = append(line{{"▌ ", bar}}, rows[k]...)
	}
	return rows
}

// decisions are the offers that stand beside a proposal.
func (m *Model) decisions() []offer {
	var out []offer
	for _, o := range m.offers() {
		if strings.Contains("adD", o.key) {
			out = append(out, o)
		}
	}
	return out
}

func (m *Model) changeRow(p control.Proposal, c control.ProposalChange, k, n int) line {
	box, r := "[x] ", plain
	if m.left[leftOut(p, c)] {
		box, r = "[ ] ", dim
	}
	name := oneLine(c.File)
	switch {
	case name == "":
		name = oneLine(c.To)
	case c.To != "":
		name += " → " + oneLine(c.To)
	}
	count := line{{"+" + itoa(c.Added), good}, {" −" + itoa(c.Removed), bad}}
	return spread(line{{" " + digit(k+1) + " ", accent}, {box, r}, {oneLine(c.Kind) + " ", dim}, {name, r}, {"  " + oneLine(c.Reason), dim}}, count, n)
}

func cutPlain(rows []line, n int) []line {
	if len(rows) <= n {
		return rows
	}
	out := rows[:n:n]
	out[n-1] = append(out[n-1][:len(out[n-1]):len(out[n-1])], span{" …", dim})
	return out
}

// diffParas are a unified diff.
func diffParas(d control.Diff) []para {
	out := paras(span{}, d.Text, plain, always)
	for k := range out {
		p := &out[k]
		switch {
		case strings.HasPrefix(p.text, "+++ "), strings.HasPrefix(p.text, "--- "):
			p.role = strong
		case strings.HasPrefix(p.text, "@@"):
			p.role = dim
		case strings.HasPrefix(p.text, "+"):
			p.role = good
		case strings.HasPrefix(p.text, "-"):
			p.role = bad
		}
	}
	return out
}
