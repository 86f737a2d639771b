package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/rivo/uniseg"

	"deckhand/internal/control"
)

// json prints one object on one line. JSON itself escapes only some of what a
// terminal obeys; the rest is escaped here, which is the same JSON.
func (a *app) json(v any) error {
	data, err := control.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, cleanJSON(string(data)))
	return err
}

func cleanJSON(s string) string {
	if !strings.ContainsFunc(s, dangerous) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if !dangerous(c) {
			b.WriteRune(c)
			continue
		}
		for _, unit := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// folded makes rows of the lines of each last cell, one below the other.
func folded(rows [][]string) (out [][]string) {
	for _, row := range rows {
		last := len(row) - 1
		for i, line := range strings.Split(strings.TrimRight(row[last], "\r\n"), "\n") {
			if i > 0 {
				row = make([]string, last+1)
			}
			row[last] = strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    ")
			out = append(out, row)
		}
	}
	return out
}

// titleWidth is how wide a title may be among others.
const titleWidth = 80

// title is a card's title for a table: clean, and no wider than the others can bear.
func title(s string) string {
	s = clean(s)
	if uniseg.StringWidth(s) <= titleWidth {
		return s
	}
	var b strings.Builder
	width := 1 // the dots
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if width += g.Width(); width > titleWidth {
			break
		}
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}

// table prints rows with aligned columns. Each cell is cleaned; the last one of
// a row is not padded.
func table(w io.Writer, rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			row[i] = clean(cell)
			if i == len(width) {
				width = append(width, 0)
			}
			if i < len(row)-1 {
				width[i] = max(width[i], uniseg.StringWidth(row[i]))
			}
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-uniseg.StringWidth(cell)+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// place is where a card is, as compilers write it.
func place(board string, line int) string {
	if line <= 0 {
		return board + ":"
	}
	return fmt.Sprintf("%s:%d:", board, line)
}

// joined are the parts that say something.
func joined(parts ...string) string {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " · ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// lasted is a duration for people: 4m12s.
func lasted(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// cost is nothing when it is unknown: unknown is not 0.
func cost(c *float64) string {
	if c == nil {
		return ""
	}
	if *c > 0 && *c < 0.01 {
		return fmt.Sprintf("$%.4f", *c)
	}
	return fmt.Sprintf("$%.2f", *c)
}
