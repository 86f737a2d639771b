package review

import (
	"github.com/gdamore/tcell/v2"
)

// palette is how roles look.
type palette [roles]tcell.Style

// newPalette makes one for a terminal: by its own sixteen colours, which it
// has made fit for its background, with finer ones where there are 256, and by
// attributes alone where there is no colour. Nothing depends on what the
// background is: no text is put on a colour of ours but in the selected row,
// which has both.
func newPalette(colours int) palette {
	d := tcell.StyleDefault
	p := palette{plain: d, dim: d.Dim(true), strong: d.Bold(true), accent: d.Underline(true), needs: d.Bold(true), works: d, good: d, bad: d.Bold(true), quiet: d.Dim(true), code: d, bar: d.Bold(true)}
	if colours < 8 {
		return p
	}
	hue := map[role]int{accent: 6, needs: 3, works: 4, good: 2, bad: 1, bar: 3, code: 6}
	if colours >= 256 {
		hue = map[role]int{accent: 37, needs: 172, works: 68, good: 71, bad: 167, bar: 172, code: 73}
		p[dim] = d.Foreground(tcell.PaletteColor(244))
		p[quiet] = p[dim]
	}
	for r, n := range hue {
		p[r] = d.Foreground(tcell.PaletteColor(n))
	}
	p[needs], p[bad] = p[needs].Bold(true), p[bad].Bold(true)
	return p
}

// of is the style of a role, in the selected row or outside.
func (p palette) of(r role, colours int) tcell.Style {
	s := p[r&^marked]
	if r&marked == 0 {
		return s
	}
	if colours < 256 { // hues turned round would make a patchwork of it
		_, _, a := s.Decompose()
		return tcell.StyleDefault.Bold(a&tcell.AttrBold != 0).Reverse(true)
	}
	fg, _, _ := s.Decompose()
	if fg == tcell.ColorDefault {
		s = s.Foreground(tcell.PaletteColor(255))
	}
	if r&^marked == dim || r&^marked == quiet {
		s = s.Foreground(tcell.PaletteColor(250))
	}
	return s.Background(tcell.PaletteColor(237))
}

// Draw shows the pane on a screen. Each cell is written once, so that the screen
// sends what has changed and nothing else.
func Draw(m Model, s tcell.Screen) {
	f := m.frame()
	colours := s.Colors()
	p := newPalette(colours)
	for y := range m.h {
		var row line
		if y < len(f.rows) {
			row = f.rows[y]
		}
		x := 0
		for _, part := range row {
			x = put(s, x, y, m.w, part.text, p.of(part.role, colours))
		}
		for ; x < m.w; x++ {
			s.Put(x, y, " ", tcell.StyleDefault)
		}
	}
	if f.cursorX >= 0 {
		s.ShowCursor(f.cursorX, f.cursorY)
	} else {
		s.HideCursor()
	}
}

// put writes text up to the edge, and gives the column behind it.
func put(s tcell.Screen, x, y, edge int, text string, style tcell.Style) int {
	for text != "" && x < edge {
		rest, w := s.Put(x, y, text, style)
		if w == 0 { // a mark without anything to stand on
			break
		}
		x, text = x+w, rest
	}
	return x
}
