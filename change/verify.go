package change

import "errors"

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
	// Structure: File has no problem of structure that it did not have before.
	Structure Test = "structure"
)

// Everywhere is a criterion's file for all notes of the folder.
const Everywhere = "*"

// Criterion is one thing that must hold once the work is done.
type Criterion struct {
	Test  Test   `json:"test"`
	File  string `json:"file"` // or Everywhere, for all but OnBoard
	Text  string `json:"text,omitempty"`
	Card  string `json:"card,omitempty"`
	Lane  string `json:"lane,omitempty"`
	State string `json:"state,omitempty"` // open or done
}

// Check is a criterion and whether it holds.
type Check struct {
	Criterion

	Passed bool   `json:"passed"`
	Detail string `json:"detail,omitempty"` // why not, or where
}

// Verification is the result of a look at the files.
type Verification struct {
	Passed    bool     `json:"passed"`
	Checks    []Check  `json:"checks"`
	Unchecked []string `json:"unchecked,omitempty"` // changed files that no criterion names
}

// MaxCriteria is how many criteria a verification may have.
const MaxCriteria = 50

// Verify compares criteria with the files as they are. Nobody's opinion is
// asked: a text is there or it is not. applied are all changes that were applied
// in this work, oldest first: what they were made of is what problems of
// structure are compared with, and each file that they changed has to be named
// by a criterion of its own, which Everywhere is not.
func Verify(f Folder, applied []Change, criteria []Criterion) (Verification, error) {
	return Verification{}, errors.New("nothing can be verified yet")
}
