package review

import (
	"strings"

	"deckhand/internal/control"
)

// markdown shows Markdown as it is written, with what stands out standing out:
// headings, fences, quotes, list marks. Nothing is left out but nothing is
// rendered either: what an agent wrote is data.
func markdown(s string) []para {
	out := paras(span{}, s, plain, always)
	fence := false
	for k := range out {
		p := &out[k]
		bare := strings.TrimLeft(p.text, " \t")
		switch {
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fence, p.role = !fence, dim
		case fence:
			p.role = code
		case strings.HasPrefix(bare, "#") && strings.HasPrefix(strings.TrimLeft(bare, "#"), " "):
			p.role = strong
		case strings.HasPrefix(bare, ">"), strings.HasPrefix(bare, "%%"):
			p.role = dim
		default:
			p.hang(bare)
		}
	}
	return out
}

// hang makes the text of a list item stand below itself.
func (p *para) hang(bare string) {
	for _, mark := range []string{"- [ ] ", "- [x] ", "- [X] ", "- ", "* ", "+ "} {
		if strings.HasPrefix(bare, mark) {
			p.lead = span{clean(p.text[:len(p.text)-len(bare)]) + mark, dim}
			p.text = bare[len(mark):]
			return
		}
	}
}

// chatParas are a chat without its header, which the pane shows itself.
func chatParas(c control.Chat) []para {
	text := c.Text
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			text = strings.TrimLeft(body, "\n")
		}
	}
	return append([]para{{head: line{{oneLine(c.Path), dim}}}, {}}, markdown(text)...)
}

// promptParas are a prompt's receipt and its text.
func promptParas(p control.Prompt) []para {
	out := []para{{head: line{{"Sent to ", dim}, {"@" + oneLine(p.Agent), plain}, {"  " + itoa(len(p.Text)) + " bytes", dim}, {"  sha256 " + head(p.Hash, 12), dim}}}}
	for _, piece := range p.Notes {
		out = append(out, pieceParas(piece)...)
	}
	if len(p.Notes) == 0 {
		out = append(out, para{head: line{{"no notes are linked", dim}}})
	}
	return append(append(out, para{}), markdown(p.Text)...)
}

func pieceParas(p control.Piece) []para {
	what := oneLine(p.Path)
	if what == "" {
		what = oneLine(p.Link)
	}
	if p.Section != "" {
		what += " > " + oneLine(p.Section)
	}
	switch {
	case p.Problem != "":
		return append([]para{{head: line{{"× ", bad}, {what, plain}}}}, paras(span{"  ", plain}, p.Problem, bad, always)...)
	case p.Cut:
		return []para{{head: line{{"! ", needs}, {what, plain}}, right: line{{"cut: " + itoa(p.Used) + " of " + itoa(p.Bytes) + " bytes", needs}}}}
	}
	return []para{{head: line{{"✓ ", good}, {what, plain}}, right: line{{itoa(p.Used) + " bytes", dim}}}}
}

// whyParas are the rules for a card. Those of one that runs say what would hold
// back another start.
func whyParas(w control.Why, runs bool) []para {
	verdict := span{"does not start now", needs}
	switch {
	case runs:
		verdict = span{"it runs: these are the rules for a start", dim}
	case w.Start:
		verdict = span{"starts now", good}
	}
	out := []para{{head: line{{place(oneLine(w.Board), w.Line) + "  ", dim}, verdict}}, {}}
	for _, r := range w.Rules {
		mark := span{"✓ ok  ", good}
		if !r.OK {
			mark = span{"× no  ", bad}
		}
		out = append(out, para{head: line{mark, {oneLine(r.Rule), plain}}})
		if r.Reason != "" && !r.OK {
			out = append(out, paras(span{"      ", plain}, r.Reason, needs, always)...)
		}
		if r.Hint != "" && !r.OK {
			out = append(out, hintParas(r.Hint, 6)...)
		}
	}
	return out
}

// hintParas are what to type.
func hintParas(hint string, indent int) []para {
	var out []para
	for h := range strings.SplitSeq(hint, "\n") {
		out = append(out, para{lead: span{strings.Repeat(" ", indent) + "$ ", dim}, text: h, role: code})
	}
	return out
}

// factsParas are what the status itself says of an item that has no run.
func factsParas(i item) []para {
	var out []para
	for reason := range strings.SplitSeq(i.text, "\n") {
		out = append(out, para{lead: span{i.mark + " ", i.role}, text: reason})
	}
	if i.held != nil && i.held.More > 0 {
		out = append(out, para{text: "  " + itoa(i.held.More) + " more cards of this board are held by the same", role: dim})
	}
	for _, h := range i.hints {
		out = append(out, hintParas(h, 2)...)
	}
	return append(out, para{})
}

// columnMin is the least width of a lane: below it lanes stand under each other.
const columnMin = 18

// boardRows show a board as columns, or its lanes one below the other where
// there is no room.
func boardRows(b control.Board, mine int, n int) []line {
	head := line{{oneLine(b.Path), strong}}
	if b.Project != "" {
		head = append(head, span{"  " + oneLine(b.Project), dim})
	}
	out := []line{fitLine(head, n)}
	if b.Inactive != "" {
		out = append(out, paragraph(b.Inactive, n, bad)...)
	}
	lanes := len(b.Lanes)
	if lanes == 0 {
		return append(out, line{{"no lanes", dim}})
	}
	column := (n - (lanes-1)*2) / lanes
	if column < columnMin {
		for _, l := range b.Lanes {
			out = append(append(out, line{}), laneRows(l, mine, n)...)
		}
		return out
	}
	return append(append(out, line{}), beside(b.Lanes, mine, column)...)
}

// beside puts lanes next to each other.
func beside(lanes []control.Lane, mine, column int) []line {
	var columns [][]line
	most := 0
	for _, l := range lanes {
		rows := laneRows(l, mine, column)
		columns, most = append(columns, rows), max(most, len(rows))
	}
	out := make([]line, most)
	for i := range out {
		for c, rows := range columns {
			var cell line
			if i < len(rows) {
				cell = rows[i]
			}
			if c < len(columns)-1 {
				cell = spread(cell, line{}, column)
				cell = append(cell, span{"  ", plain})
			}
			out[i] = append(out[i], cell...)
		}
	}
	return out
}

func laneRows(l control.Lane, mine, n int) []line {
	count := itoa(l.Cards)
	if l.Limit > 0 {
		count += " of " + itoa(l.Limit)
	}
	out := []line{spread(line{{oneLine(l.Title), strong}}, line{{count, dim}}, n), {{strings.Repeat("─", n), dim}}}
	for _, c := range l.Items {
		mark, r := "□ ", plain
		if c.Done {
			mark, r = "■ ", dim
		}
		if c.Line == mine {
			r = accent
		}
		title := line{{mark, dim}, {oneLine(c.Title), r}}
		if c.Agent != "" {
			title = append(title, span{" @" + oneLine(c.Agent), dim})
		}
		out = append(out, fitLine(title, n))
	}
	return out
}

// head is the begin of a text of ASCII.
func head(s string, n int) string { return clean(s[:min(n, len(s))]) }
