package inbox

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Proposal is a page in deckhand/proposals: changes of notes that an agent wants,
// and where a person decides them.
//
//	proposal = header LF "# Proposal · " title LF LF [ links LF ] { reason LF } { file } decide
//	header   = "---" LF "deckhand: proposal" LF { key ": " value LF } "---" LF
//	file     = LF "## " name LF LF ( box | "- " what ) LF { reason LF } [ LF fence "diff" LF { line LF } fence LF ]
//	decide   = LF "## Decide" LF LF ( box LF box LF "- note:" LF | "- " outcome LF [ "- " next LF ] )
//
// The box of a file is ticked when it is written: what is not wanted is taken
// out. The fence is longer than any run of backticks in the diff.
type Proposal struct {
	ID      string // what its boxes begin with
	Agent   string
	Title   string
	Status  string // waiting, applied, rejected, failed, reverted, interrupted
	Board   string // ready-made links
	Chat    string
	Created time.Time
	Reason  string
	Files   []ProposalFile
	Outcome string // what became of it; empty: a person decides
	Next    string // what can be typed then
}

// ProposalFile is the change of one note.
type ProposalFile struct {
	Kind    string // create, edit, delete, move
	Name    string // of a move both
	Reason  string
	Diff    string // unified
	Added   int    // lines
	Removed int
}

// openNote is the line that a person writes at.
const openNote = "- note:"

// diffLines is how many lines of a diff a page shows.
const diffLines = 2000

// pageLine is a line of a page with a key that it keeps in every state of it.
type pageLine struct {
	key, text string
	box, note bool // a person ticks it, or writes at it
}

// WriteProposal is the whole page.
func WriteProposal(p Proposal) []byte {
	var b strings.Builder
	for _, l := range p.lines() {
		b.WriteString(l.text + "\n")
	}
	return []byte(b.String())
}

func (p Proposal) lines() []pageLine {
	var out []pageLine
	part := func(name string, texts ...string) {
		for i, text := range texts {
			l := pageLine{key: name + " " + strconv.Itoa(i), text: text}
			if !strings.HasSuffix(name, " diff") && !strings.HasSuffix(name, " reason") {
				_, l.box = parseBox(text)
				l.note = text == openNote
			}
			out = append(out, l)
		}
	}
	part("header", p.header()...)
	part("title", "", "# Proposal · "+inLine(p.Title), "")
	part("about", p.about()...)
	for i, f := range p.Files {
		name := "file " + strconv.Itoa(i)
		part(name, "", "## "+inLine(f.Name), "", p.fileLine(i))
		part(name+" reason", said(f.Reason)...)
		part(name+" diff", f.fenced(p.ID)...)
	}
	part("decide", "", "## Decide", "")
	if p.Outcome == "" {
		part("boxes", p.box(" ", "apply ticked", len(p.Files)), p.box(" ", "reject", len(p.Files)+1), openNote)
		return out
	}
	part("outcome", "- "+inLine(p.Outcome))
	if p.Next != "" {
		part("next", "- "+typed(p.Next))
	}
	return out
}

func (p Proposal) header() []string {
	return []string{
		"---", "deckhand: proposal", "proposal: " + word(p.ID), "agent: " + word(p.Agent), "status: " + word(p.Status),
		"created: " + p.Created.Format("2006-01-02T15:04:05"), "---",
	}
}

// word is a value of the header that no YAML reader takes for more.
func word(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' {
			return c
		}
		return -1
	}, s)
}

func (p Proposal) about() []string {
	var links []string
	for _, link := range []string{p.Board, p.Chat} {
		if link = ready(link); link != "" {
			links = append(links, link)
		}
	}
	var out []string
	if len(links) > 0 {
		out = append(out, strings.Join(links, " · "))
	}
	return append(out, said(p.Reason)...)
}

// fileLine is what would become of a file, with its box while that can be chosen.
func (p Proposal) fileLine(i int) string {
	f := p.Files[i]
	text := inLine(f.Kind) + " " + inLine(f.Name) + " · " + Lines(f.Added, f.Removed)
	if p.Outcome != "" {
		return "- " + text
	}
	return p.box("x", text, i)
}

func (p Proposal) box(mark, text string, choice int) string {
	return fmt.Sprintf("- [%s] %s ^%s-%d", mark, text, word(p.ID), choice+1)
}

// Lines is how many lines a change adds and takes away, for people.
func Lines(added, removed int) string { return fmt.Sprintf("+%d −%d", added, removed) }

// fenced is the diff in its fence.
func (f ProposalFile) fenced(id string) []string {
	diff := strings.TrimRight(f.Diff, "\n")
	if diff == "" {
		return nil
	}
	lines := strings.Split(strings.ReplaceAll(diff, "\r\n", "\n"), "\n")
	more := ""
	if over := len(lines) - diffLines; over > 0 {
		lines, more = lines[:diffLines], fmt.Sprintf("%d more lines: deckhand diff %s", over, word(id))
	}
	ticks := 3
	for i, line := range lines {
		lines[i] = visible(line)
		ticks = max(ticks, run(line)+1)
	}
	fence := strings.Repeat("`", ticks)
	out := append([]string{"", fence + "diff"}, lines...)
	if out = append(out, fence); more != "" {
		out = append(out, more)
	}
	return out
}

// run is the longest run of backticks in a line.
func run(line string) int {
	n, longest := 0, 0
	for _, c := range line {
		if n++; c != '`' {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}
