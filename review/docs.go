package review

import (
	"strings"

	"deckhand/internal/control"
)

// markdown shows Markdown as it is written, with what stands out standing out:
// headings, fences, quotes, list marks. Nothing is left out but nothing is
// rendered either: what an agent wrote is data.
func markdown(s string, n int) []line {
	var out []line
	fence := false
	for part := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		part = strings.TrimSuffix(part, "\r")
		bare := strings.TrimLeft(part, " \t")
		r := plain
		switch {
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fence, r = !fence, dim
		case fence:
			r = code
		case strings.HasPrefix(bare, "#") && strings.HasPrefix(strings.TrimLeft(bare, "#"), " "):
			r = strong
		case strings.HasPrefix(bare, ">"), strings.HasPrefix(bare, "%%"):
			r = dim
		}
		out = append(out, hanging(part, bare, n, r)...)
	}
	return out
}

// hanging wraps a list item so that its text stands below itself.
func hanging(part, bare string, n int, r role) []line {
	for _, mark := range []string{"- [ ] ", "- [x] ", "- [X] ", "- ", "* ", "+ "} {
		if strings.HasPrefix(bare, mark) && r == plain {
			lead := clean(part[:len(part)-len(bare)]) + mark
			if width(lead) > n/2 {
				break
			}
			return indented(span{lead, dim}, paragraph(bare[len(mark):], n-width(lead), r))
		}
	}
	return paragraph(part, n, r)
}

// chatRows are a chat without its header, which the pane shows itself.
func chatRows(c control.Chat, n int) []line {
	text := c.Text
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			text = strings.TrimLeft(body, "\n")
		}
	}
	head := line{{c.Path, dim}}
	return append([]line{fitLine(line{{oneLine(head.String()), dim}}, n), {}}, markdown(text, n)...)
}

// promptRows are a prompt's receipt and its text.
func promptRows(p control.Prompt, n int) []line {
	out := []line{fitLine(line{{"Sent to ", dim}, {"@" + oneLine(p.Agent), plain}, {"  " + itoa(len(p.Text)) + " bytes", dim}, {"  sha256 " + head(p.Hash, 12), dim}}, n)}
	for _, piece := range p.Notes {
		out = append(out, pieceRows(piece, n)...)
	}
	if len(p.Notes) == 0 {
		out = append(out, line{{"no notes are linked", dim}})
	}
	return append(append(out, rule(n)), markdown(p.Text, n)...)
}

func pieceRows(p control.Piece, n int) []line {
	what := oneLine(p.Path)
	if what == "" {
		what = oneLine(p.Link)
	}
	if p.Section != "" {
		what += " > " + oneLine(p.Section)
	}
	switch {
	case p.Problem != "":
		return indented(span{"× ", bad}, append([]line{fitLine(line{{what, plain}}, n-2)}, paragraph(p.Problem, n-2, bad)...))
	case p.Cut:
		return []line{spread(line{{"! ", needs}, {what, plain}}, line{{"cut: " + itoa(p.Used) + " of " + itoa(p.Bytes) + " bytes", needs}}, n)}
	}
	return []line{spread(line{{"✓ ", good}, {what, plain}}, line{{itoa(p.Used) + " bytes", dim}}, n)}
}

// whyRows are the rules for a card, and before them what the list knows.
func whyRows(w control.Why, n int) []line {
	verdict := span{"does not start now", needs}
	if w.Start {
		verdict = span{"starts now", good}
	}
	out := []line{fitLine(line{{place(oneLine(w.Board), w.Line) + "  ", dim}, verdict}, n), {}}
	for _, r := range w.Rules {
		mark := span{"✓ ok  ", good}
		if !r.OK {
			mark = span{"× no  ", bad}
		}
		out = append(out, fitLine(line{mark, {oneLine(r.Rule), plain}}, n))
		if r.Reason != "" && !r.OK {
			out = append(out, indented(span{"      ", plain}, paragraph(r.Reason, n-6, needs))...)
		}
		if r.Hint != "" && !r.OK {
			out = append(out, hintRows(r.Hint, n, 6)...)
		}
	}
	return out
}

// hintRows are what to type.
func hintRows(hint string, n, indent int) []line {
	var out []line
	for h := range strings.SplitSeq(hint, "\n") {
		out = append(out, indented(span{strings.Repeat(" ", indent) + "$ ", dim}, paragraph(h, n-indent-2, code))...)
	}
	return out
}

// factsRows are what the status itself says of an item that has no run.
func factsRows(i item, n int) []line {
	var out []line
	for reason := range strings.SplitSeq(i.text, "\n") {
		out = append(out, indented(span{i.mark + " ", i.role}, paragraph(reason, n-2, plain))...)
	}
	if i.held != nil && i.held.More > 0 {
		out = append(out, line{{"  " + itoa(i.held.More) + " more cards of this board are held by the same", dim}})
	}
	for _, h := range i.hints {
		out = append(out, hintRows(h, n, 2)...)
	}
	return append(out, line{})
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

func rule(n int) line { return line{{strings.Repeat("─", max(0, n)), dim}} }

// head is the begin of a text of ASCII.
func head(s string, n int) string { return clean(s[:min(n, len(s))]) }
