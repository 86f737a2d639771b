package change

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"deckhand/board"
	"deckhand/notes"
)

// verifier looks at the files of criteria. Each is read once.
type verifier struct {
	folder  Folder
	applied []Change
	checks  []Check
	texts   map[string]*string // files that criteria name; nil: not there
	links   *linkCheck         // made when it is first asked for
}

// named checks the criteria that name a file.
func (v *verifier) named() {
	for i := range v.checks {
		c := &v.checks[i]
		if c.File == Everywhere {
			continue
		}
		text, known := v.texts[c.File]
		if !known {
			now, err := v.folder.Read(c.File)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				c.Detail = "it cannot be read: " + err.Error()
				continue
			}
			if err == nil {
				text = &now
			}
			v.texts[c.File] = text
		}
		c.Detail = v.fault(c.Criterion, text)
		c.Passed = c.Detail == ""
	}
}

// fault says why a criterion does not hold for a file; nil is one that is not
// there.
func (v *verifier) fault(c Criterion, text *string) string {
	if text == nil {
		if c.Test == Absent && c.Text == "" {
			return ""
		}
		return "the file is not there"
	}
	switch line := place(*text, c.Text); c.Test {
	case Present:
		if line == 0 {
			return "the text is not there"
		}
	case Absent:
		if c.Text == "" {
			return "the file is there"
		}
		if line > 0 {
			return fmt.Sprintf("the text is there, line %d", line)
		}
	case OnBoard:
		return v.folder.misplaced(c, *text)
	case Structure:
		return listed(v.flaws(c.File, *text))
	}
	return ""
}

// misplaced says why a card is not where a criterion wants it.
func (f Folder) misplaced(c Criterion, text string) string {
	if !f.isBoard(c.File, text) {
		return "it is no board"
	}
	b := board.Parse(c.File, []byte(text), f.options(c.File))
	card, err := cardOf(b, c.Card)
	if err != nil {
		return err.Error()
	}
	lane := b.LaneOf(card).Title
	switch {
	case c.Lane != "" && !board.SameName(lane, c.Lane):
		return fmt.Sprintf("the card is in %q, line %d", lane, card.Line)
	case c.State == Open && !card.Open(), c.State == Ticked && !card.Ticked():
		return fmt.Sprintf("the card's box is [%s], line %d", card.Box, card.Line)
	}
	return ""
}

// everywhere checks the criteria for all notes, in one walk over them.
func (v *verifier) everywhere() {
	var at []int
	for i := range v.checks {
		if v.checks[i].File == Everywhere {
			at = append(at, i)
			v.checks[i].Passed = v.checks[i].Test != Present
		}
	}
	if len(at) == 0 {
		return
	}
	faults := make([][]string, len(v.checks))
	files := v.folder.Files()
	slices.Sort(files)
	for _, file := range files {
		if v.folder.Check(file) != nil {
			continue
		}
		text, err := over(v.folder.Read, v.texts)(file)
		for _, i := range at {
			c := &v.checks[i]
			switch {
			case errors.Is(err, fs.ErrNotExist): // it went while we looked
			case err != nil:
				faults[i] = append(faults[i], file+" cannot be read: "+err.Error())
			case c.Test == Structure:
				for _, flaw := range v.flaws(file, text) {
					faults[i] = append(faults[i], file+":"+flaw)
				}
			case c.Test == Present:
				c.Passed = c.Passed || place(text, c.Text) > 0
			default:
				if line := place(text, c.Text); line > 0 {
					faults[i] = append(faults[i], fmt.Sprintf("%s:%d holds the text", file, line))
				}
			}
		}
	}
	for _, i := range at {
		v.checks[i].conclude(faults[i])
	}
}

// conclude says what was found in all notes.
func (c *Check) conclude(faults []string) {
	switch {
	case c.Test == Present && !c.Passed:
		c.Detail = "no note holds the text"
	case c.Test != Present && len(faults) > 0:
		c.Passed, c.Detail = false, listed(faults)
	}
}

// listed is the first few of faults as one line.
func listed(faults []string) string {
	const most = 5
	if more := len(faults) - most; more > 0 {
		faults = append(slices.Clone(faults[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(faults, "; ")
}

// flaws lists the flaws of a file that its contents before this work did not
// have, each with its line.
func (v *verifier) flaws(file, text string) []string {
	if v.links == nil {
		v.links = newLinkCheck(v.folder, v.applied)
	}
	now := notes.Structure([]byte(text), missing(v.links.now, file))
	if len(now) == 0 {
		return nil
	}
	had := map[string]int{}
	for _, f := range v.links.before(file, text) {
		had[f.Key]++
	}
	var out []string
	for _, f := range now {
		if had[f.Key]--; had[f.Key] < 0 {
			out = append(out, fmt.Sprintf("%d: %s", f.Line, f.Text))
		}
	}
	return out
}

// linkCheck knows which notes there are, and which there were before this work.
type linkCheck struct {
	now, was *notes.Index
	origin   map[string]origin // of the files that this work changed
}

// origin is what a file was made of: nil is nothing.
type origin struct {
	file string
	text *string
}

func newLinkCheck(f Folder, applied []Change) *linkCheck {
	l := &linkCheck{now: notes.NewIndex(), was: notes.NewIndex(), origin: origins(applied)}
	for _, file := range f.Files() {
		l.now.Put(file)
		l.was.Put(file)
	}
	for _, t := range touches(applied) {
		if t.before == nil {
			l.was.Drop(t.file)
		} else {
			l.was.Put(t.file)
		}
	}
	return l
}

// before lists the flaws that a file had before this work.
func (l *linkCheck) before(file, text string) []notes.Flaw {
	if o, changed := l.origin[file]; changed {
		if o.text == nil {
			return nil
		}
		file, text = o.file, *o.text
	}
	return notes.Structure([]byte(text), missing(l.was, file))
}

// missing tells which links in a file lead to notes that are not there. People
// link the same few notes again and again: each is looked for once.
func missing(ix *notes.Index, file string) func(notes.Link) bool {
	known := map[string]bool{}
	return func(l notes.Link) bool {
		gone, ok := known[l.Raw]
		if !ok {
			gone = ix.Missing(file, l)
			known[l.Raw] = gone
		}
		return gone
	}
}

// origins follows each file back to what it was before the first change.
func origins(applied []Change) map[string]origin {
	of := map[string]origin{}
	for i := range applied {
		c := &applied[i]
		was, known := of[c.File]
		if !known {
			was = origin{c.File, &c.Before}
			if c.Kind == Create {
				was.text = nil
			}
			of[c.File] = was
		}
		if c.Kind == Move {
			of[c.To] = was
		}
	}
	return of
}
