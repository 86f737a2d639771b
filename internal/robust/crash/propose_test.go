package crash

import (
	"path/filepath"
	"strings"

	"deckhand/internal/control"
)

// What stories about proposals find, and what is proposed.
const (
	proposeCard = "- [ ] Ship it @pi\n\t[record] [propose:changes.json]\n"
	three       = `[{"kind":"edit","file":"Launch.md","before":"May\n","after":"June\n"},
		{"kind":"create","file":"New/June.md","after":"new\n"}, {"kind":"delete","file":"Old.md","before":"old\n"}]`
	// The last of these cannot be written, and nobody can know that before: the
	// first is a file where the last wants a folder.
	impossible = `[{"kind":"create","file":"New.md","after":"new\n"}, {"kind":"edit","file":"Launch.md","before":"May\n","after":"June\n"},
		{"kind":"create","file":"New.md/June.md","after":"new\n"}]`
	asItWas  = "Launch.md:May\n New/June.md: Old.md:old\n New.md:"
	asItIs   = "Launch.md:June\n New/June.md:new\n Old.md: New.md:"
	applied3 = "decision applied Launch.md, New/June.md, Old.md"
)

// proposals are the stories about them.
func proposals() []story {
	return []story{
		{
			name: "a proposal applied by command and taken back", plan: proposeCard, changes: three, after: "log proposed",
			act: func(s *teller) {
				s.command(control.Command{ID: "apply", Name: "apply", Proposal: s.proposal()})
				s.until(func() bool { return s.notes() == asItIs })
				s.shows("Review", "🟢 pi: review")
				s.command(control.Command{ID: "revert", Name: "revert", Proposal: s.proposal()})
				s.notesAre(asItWas)
			},
			prompts: 1, answer: applied3,
		},
		{
			name: "a proposal applied by ticking", plan: proposeCard, changes: three, after: "log decided",
			act: func(s *teller) {
				s.proposal()
				s.edit(s.page, "[ ] apply ticked", "[x] apply ticked")
				s.shows("Review", "🟢 pi: review")
				s.notesAre(asItIs)
			},
			prompts: 1, answer: applied3,
		},
		{
			name: "a proposal of which one file cannot be written", plan: proposeCard, changes: impossible, after: "log decided",
			act: func(s *teller) {
				s.proposal()
				s.edit(s.page, "[ ] apply ticked", "[x] apply ticked")
				s.shows("Review", "🟢 pi: review")
				s.notesAre(asItWas)
			},
			prompts: 1, answer: "decision failed New.md/June.md",
		},
	}
}

// notes are those of the stories.
func (s *teller) notes() string {
	var out []string
	for _, name := range []string{"Launch.md", "New/June.md", "Old.md", "New.md"} {
		out = append(out, name+":"+s.Text(name))
	}
	return strings.Join(out, " ")
}

func (s *teller) notesAre(want string) {
	s.t.Helper()
	if got := s.notes(); got != want {
		s.t.Errorf("the notes are %q, want %q", got, want)
	}
}

// page is where the only proposal is shown; empty: it is not yet.
func (s *teller) page() string {
	all, err := filepath.Glob(s.At("deckhand/proposals/*.md"))
	if err != nil || len(all) != 1 {
		return ""
	}
	rel, err := filepath.Rel(s.Work, all[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return rel
}

// proposal waits until it is shown and gives its id.
func (s *teller) proposal() (id string) {
	s.t.Helper()
	s.until(func() bool {
		at := s.page()
		if at == "" {
			return false
		}
		_, after, _ := strings.Cut(s.Text(at), "\nproposal: ")
		id, _, _ = strings.Cut(after, "\n")
		return id != ""
	})
	return id
}

// prepare lays out the notes and the changes of a story about a proposal.
func (st story) prepare(s *teller) {
	if st.changes == "" {
		return
	}
	s.Save("Launch.md", "May\n")
	s.Save("Old.md", "old\n")
	s.Write(filepath.Join(s.Path("shop"), "changes.json"), st.changes)
}
