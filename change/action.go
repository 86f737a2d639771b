package change

import (
	"deckhand/board"
)

// Verb is what an action does.
type Verb string

// The verbs. Those of notes work on text and refuse boards; those of boards
// work on cards and refuse notes. Deleting and moving take both.
const (
	CreateFile Verb = "create"      // File with Text
	EditText   Verb = "edit"        // Old, which stands in File exactly once, becomes New
	InsertText Verb = "insert"      // Text as lines of their own: as line Line, or below Heading
	ReplaceAll Verb = "replace_all" // Old becomes New wherever it stands in File
	DeleteFile Verb = "delete"      // File
	MoveFile   Verb = "move"        // File becomes To

	AddCard    Verb = "add_card"    // Text, in Lane, else the first ready lane; further lines go below the card
	MoveCard   Verb = "move_card"   // Card to Lane, as its last
	EditCard   Verb = "edit_card"   // Old, which stands in Card exactly once, becomes New
	TickCard   Verb = "tick_card"   // Card
	UntickCard Verb = "untick_card" // Card
	RemoveCard Verb = "remove_card" // Card
)

// MaxActions is how many actions a batch may hold.
const MaxActions = 20

// Action is one thing an agent wants done to one file. Which fields count says
// the verb. Its JSON is what an agent writes: text of others, checked when it is
// planned.
type Action struct {
	Do      Verb   `json:"do"`
	File    string `json:"file"`
	To      string `json:"to,omitempty"`
	Text    string `json:"text,omitempty"`
	Old     string `json:"old_text,omitempty"`
	New     string `json:"new_text,omitempty"`
	Line    int    `json:"line,omitempty"`    // 1-based, as files are shown with line numbers; one more than the last: at the end
	Heading string `json:"heading,omitempty"` // with or without its marks; must be there once
	Card    string `json:"card,omitempty"`    // the text of its first line, or a part of it that no other card has
	Lane    string `json:"lane,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Folder is the work folder as changes are planned and checked. Nothing is
// written through it.
type Folder struct {
	Read Read
	// Files lists the paths of the folder's files, as links may lead to them:
	// notes and others, those of Closed too. Verify needs it, Plan does not.
	Files func() []string
	// Closed are folders in which nothing is ever changed: where deckhand
	// writes, and where it ever wrote.
	Closed []string
	// Board says how a file is read as a board. Nil: as where nobody says
	// otherwise.
	Board func(file string) board.Options
}

func (f Folder) options(file string) board.Options {
	if f.Board == nil {
		return board.Options{}
	}
	return f.Board(file)
}

// isBoard reports whether a file with this text is a board.
func (f Folder) isBoard(file, text string) bool {
	return board.Recognise(file, []byte(text), f.options(file))
}
