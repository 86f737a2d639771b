package change

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Test is what a criterion asks.
type Test string

// The tests.
const (
	// Present: Text stands in File; without Text, File is there.
	Present Test = "present"
	// Absent: File is there and Text is not in it; without Text, File is gone.
	Absent Test = "absent"
	// OnBoard: Card stands on the board File, in Lane and in State where these
	// are given.
	OnBoard Test = "board"
	// Structure: File has no flaw of structure that it did not have before.
	Structure Test = "structure"
)

// Everywhere is a criterion's file for all notes of the folder. Present then
// asks for one of them, Absent and Structure for all.
const Everywhere = "*"

// The states of a card on a board.
const (
	Open   = "open"   // its box is empty
	Ticked = "ticked" // a person, or an action, ticked it
)

// Criterion is one thing that must hold once the work is done.
type Criterion struct {
	Test  Test   `json:"test"`
	File  string `json:"file"` // or Everywhere, but for OnBoard
	Text  string `json:"text,omitempty"`
	Card  string `json:"card,omitempty"`
	Lane  string `json:"lane,omitempty"`
	State string `json:"state,omitempty"` // Open or Ticked
}

// Check is a criterion and whether it holds.
type Check struct {
	Criterion

	Passed bool   `json:"passed"`
	Detail string `json:"detail,omitempty"` // why it does not, and where
}

// Verification is the result of a look at the files.
type Verification struct {
	Passed    bool     `json:"passed"`
	Checks    []Check  `json:"checks"`
	Unchecked []string `json:"unchecked,omitempty"` // changed files that no criterion names
}

// MaxCriteria is how many criteria a verification may have; it has one at
// least.
const MaxCriteria = 50

// Verify compares criteria with the files as they are. Nobody's opinion is
// asked: a text is there or it is not. applied are all changes that were applied
// in this work, oldest first: flaws of structure count when the contents before
// the first of them did not have them. Each file that they changed has to be
// named by a criterion of its own, which Everywhere is not; else nothing passes.
//
// It fails on criteria that ask nothing, with what to write instead.
func Verify(f Folder, applied []Change, criteria []Criterion) (Verification, error) {
	if len(criteria) == 0 || len(criteria) > MaxCriteria {
		return Verification{}, fmt.Errorf("a verification has 1 to %d criteria, not %d", MaxCriteria, len(criteria))
	}
	v := verifier{folder: f, applied: applied, checks: make([]Check, len(criteria)), texts: map[string]*string{}}
	for i, c := range criteria {
		if err := v.folder.asks(c); err != nil {
			return Verification{}, fmt.Errorf("criterion %d: %w", i+1, err)
		}
		v.checks[i] = Check{Criterion: c}
	}
	v.named()
	v.everywhere()
	out := Verification{Passed: true, Checks: v.checks, Unchecked: unchecked(applied, criteria)}
	for _, c := range out.Checks {
		out.Passed = out.Passed && c.Passed
	}
	out.Passed = out.Passed && len(out.Unchecked) == 0
	return out, nil
}

// asks reports what is wrong with a criterion.
func (f Folder) asks(c Criterion) error {
	everywhere := c.File == Everywhere
	if !everywhere {
		if err := f.Check(c.File); err != nil {
			return err
		}
	}
	switch {
	case !slices.Contains([]Test{Present, Absent, OnBoard, Structure}, c.Test):
		return fmt.Errorf("no test is called %q: use present, absent, board or structure", c.Test)
	case everywhere && (c.Test == Present || c.Test == Absent) && c.Text == "":
		return errors.New("say which text")
	case c.Test == OnBoard && everywhere:
		return errors.New("name the board")
	case c.Test == OnBoard && c.Card == "":
		return errors.New("say which card")
	case !slices.Contains([]string{"", Open, Ticked}, c.State):
		return fmt.Errorf("no card is %q: use open or ticked", c.State)
	}
	return nil
}

// unchecked lists the changed files that no criterion names. Of a file that was
// moved it is the one at its new place.
func unchecked(applied []Change, criteria []Criterion) []string {
	moved := map[string]bool{}
	for _, c := range applied {
		if c.Kind == Move {
			moved[c.File] = true
		}
	}
	var out []string
	for _, t := range touches(applied) {
		gone := t.after == nil
		same := t.before == nil && gone || t.before != nil && !gone && *t.before == *t.after
		named := slices.ContainsFunc(criteria, func(c Criterion) bool { return c.File == t.file })
		if !same && !named && !(gone && moved[t.file]) {
			out = append(out, t.file)
		}
	}
	return out
}

// place is where a text stands in another one: its line, without regard to how
// lines end; 0 where it is not. Texts are only parted into lines where it is.
func place(src, text string) int {
	text = foldLines(text)
	if strings.Contains(text, "\n") {
		src = foldLines(src)
	}
	i := strings.Index(src, text)
	if i < 0 {
		return 0
	}
	return 1 + strings.Count(src[:i], "\n")
}
