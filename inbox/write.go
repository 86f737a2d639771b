package inbox

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	nothing = "# Nothing needs you"
	counted = "# Needs me: "
)

// page is Needs me as lines: the title and the sections, headings first.
type page struct {
	title    string
	sections [][]string
}

// NeedsMe is the whole page for these needs. Now only says which times are today's.
func NeedsMe(needs []Need, now time.Time) []byte {
	p := pageOf(needs, now)
	lines := []string{p.title}
	for _, s := range p.sections {
		lines = append(append(lines, ""), s...)
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

func pageOf(needs []Need, now time.Time) page {
	if len(needs) == 0 {
		return page{title: nothing}
	}
	p := page{title: fmt.Sprintf("%s%d", counted, len(needs))}
	sorted := slices.Clone(needs)
	slices.SortStableFunc(sorted, func(a, b Need) int { return b.Since.Compare(a.Since) })
	for _, n := range few(sorted) {
		p.sections = append(p.sections, n.lines(now))
	}
	return p
}

// most is how many cards that are held alike have a section of their own.
const most = 10

// few leaves the first of the cards that are held alike, and one section about
// the others: thousands of sections help nobody.
func few(needs []Need) []Need {
	all, seen := map[string]int{}, map[string]int{}
	for _, n := range needs {
		all[n.alike()]++
	}
	var out []Need
	for _, n := range needs {
		k := n.alike()
		seen[k]++
		switch {
		case k == "" || seen[k] <= most:
			out = append(out, n)
		case seen[k] == most+1:
			more := fmt.Sprintf("%d more like these", all[k]-most)
			out = append(out, Need{Kind: n.Kind, Card: more, Since: n.Since, Text: n.Text, Next: "deckhand status --json lists them all"})
		}
	}
	return out
}

// alike is what cards have in common that are held for one reason on one board:
// the reason, which names the board, without its numbers. What has a chat is
// like nothing else.
func (n Need) alike() string {
	if n.Kind != "held" || n.Chat != "" {
		return ""
	}
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, n.Text)
}

// lines is one section.
func (n Need) lines(now time.Time) []string {
	lines := []string{n.heading()}
	if links := n.links(now); links != "" {
		lines = append(lines, links)
	}
	lines = append(lines, said(n.Text)...)
	if strings.TrimSpace(n.Code) != "" {
		lines = append(append(lines, ""), code(n.Code)...)
		if n.Next != "" || len(n.Boxes) > 0 {
			lines = append(lines, "")
		}
	}
	if next := typed(n.Next); next != "" {
		lines = append(lines, next)
	}
	for _, box := range n.Boxes {
		lines = append(lines, ready(box))
	}
	return lines
}

func (n Need) heading() string {
	parts := []string{n.subject()}
	for _, s := range append([]string{n.Card}, n.Facts...) {
		if s = inLine(s); s != "" {
			parts = append(parts, s)
		}
	}
	return "## " + strings.Join(parts, " · ")
}

// subject says who wants what: an agent, or the state of the card.
func (n Need) subject() string {
	switch n.Kind {
	case "review", "held", "conflict", "":
	default:
		if n.Agent != "" {
			return inLine(n.Agent) + " " + inLine(n.Kind)
		}
	}
	kind := inLine(n.Kind)
	if kind == "" {
		kind = "held"
	}
	return strings.ToUpper(kind[:1]) + kind[1:]
}

// links is the line of links. How long it has been is said where a run waits
// or has stopped short, not where the result is what counts.
func (n Need) links(now time.Time) string {
	var parts []string
	for _, link := range []string{n.Board, n.Chat, n.Page} {
		if link = ready(link); link != "" {
			parts = append(parts, link)
		}
	}
	switch n.Kind {
	case "asks", "failed", "interrupted":
		if !n.Since.IsZero() {
			parts = append(parts, "since "+clock(n.Since, now))
		}
	}
	return strings.Join(parts, " · ")
}

// clock is a time of day, with the day when it is not today's.
func clock(t, now time.Time) string {
	if t.Format(time.DateOnly) == now.In(t.Location()).Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 15:04")
}
