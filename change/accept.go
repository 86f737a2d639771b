package change

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"deckhand/board"
)

// Accept reports why changes that somebody else computed are not to be shown to
// anyone as a proposal: a tool's, an agent's on a copy of the notes, or one that
// was read back from a file that anybody can edit. What Plan gives is accepted.
//
// Each is of a kind there is, of a note whose name Check lets through, and the
// only one of its files; contents are text and bring no control characters. And
// none changes the line that deckhand keeps under a card, or what stands below
// it: where a run has an answer ticked for it, a person must have done that.
func (f Folder) Accept(changes []Change) error {
	if len(changes) == 0 {
		return errors.New("the proposal changes nothing")
	}
	taken := map[string]bool{}
	lines := map[string]bool{} // those of runs, as they were
	for _, c := range changes {
		if err := f.acceptOne(c); err != nil {
			return err
		}
		from, to := diskName(c.File), diskName(c.Path())
		if taken[from] || taken[to] {
			return fmt.Errorf("%s is changed twice, or by a name that some disks take for the same", c.File)
		}
		taken[from], taken[to] = true, true
		for _, l := range f.runLines(c.File, c.Before) {
			lines[l] = true
		}
	}
	for _, c := range changes {
		for _, l := range f.runLines(c.Path(), c.After) {
			if !lines[l] {
				return fmt.Errorf("%s: the line of a run below a card is not changed by a proposal", c.File)
			}
		}
	}
	return nil
}

func (f Folder) acceptOne(c Change) error {
	if err := f.Check(c.File); err != nil {
		return err
	}
	switch c.Kind {
	case Create, Edit, Delete:
		if c.To != "" {
			return fmt.Errorf("%s: only a file that is moved goes elsewhere", c.File)
		}
	case Move:
		if err := f.Check(c.To); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s: no change is called %q", c.File, c.Kind)
	}
	if c.Kind == Create && c.Before != "" || c.Kind == Delete && c.After != "" {
		return fmt.Errorf("%s: a file that is not there has no contents", c.File)
	}
	if c.Path() == c.File && c.Before == c.After && c.Kind != Create && c.Kind != Delete {
		return fmt.Errorf("%s: this changes nothing", c.File)
	}
	return c.acceptText()
}

// diskName is the same for names that some disks take for the same.
func diskName(file string) string { return strings.ToLower(norm.NFC.String(file)) }

// acceptText looks at the contents: a proposal is sent and kept as JSON, which
// would change bytes that are no text.
func (c Change) acceptText() error {
	if !utf8.ValidString(c.Before) || !utf8.ValidString(c.After) || !utf8.ValidString(c.Reason) {
		return fmt.Errorf("%s is not UTF-8 text", c.File)
	}
	for _, r := range c.After {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && !strings.ContainsRune(c.Before, r) {
			return fmt.Errorf("%s: the new text holds the control character %U", c.File, r)
		}
	}
	return nil
}

// runLines are the status items of a file read as a board, each with its lines.
func (f Folder) runLines(file, text string) []string {
	if !strings.Contains(text, "^r-") {
		return nil
	}
	b := board.Parse(file, []byte(text), f.options(file))
	var out []string
	add := func(c *board.Card) {
		if c.Status != nil {
			out = append(out, c.Status.Head+"\n"+strings.Join(c.Status.Lines, "\n"))
		}
	}
	for _, c := range b.All() {
		add(c)
	}
	for i := range b.Archive {
		add(&b.Archive[i])
	}
	return out
}
