// Package board reads kanban boards in Markdown as byte spans and changes them
// by splices.
//
// Its goals: parse then serialise is the identity; an operation changes the
// lines of its card and nothing else, which every operation checks on its own
// result before it gives it away; an operation on its own result changes
// nothing. A change is read back only where it was made, which gives what a
// reading of everything gives. It is not a Markdown editor, knows nothing of
// agents, runs, files or time, and repairs nothing a person wrote.
//
// Grammar, on top of the lines of internal/markdown:
//
//	board  = [BOM] [header] { line } { lane } [archive] [footer]
//	lane   = heading [mark] { item | line }     level 2; in a Kanban file any level
//	heading= title [ "(" limit ")" ]
//	mark   = "**Complete**"                     in the languages Obsidian Kanban writes
//	card   = item whose content begins with a box; its bytes go up to the next item or the end of the list
//	box    = "[" one character "]" ( white space | end of line )
//	first  = text up to <br> or the end of the line
//	status = item in a card, without a box, that ends in "^r-" and a run id; with all lines indented deeper
//	archive= rule heading                       "Archive", in those languages; ends at the next heading
//	footer = "%% kanban:settings" up to the end of the file
//
// Several lists under a heading are one lane. Only items of outermost lists
// are cards. What internal/markdown masks holds nothing.
package board

import (
	"errors"

	"deckhand/internal/span"
)

// Role is what a lane means to deckhand. A lane without a role starts nothing.
type Role uint8

// The roles of a lane.
const (
	NoRole Role = iota
	Ready
	Working
	Review
	Done
)

// Options say how boards are read: the lane names of deckhand.yaml and the
// boards that the machine's configuration names.
type Options struct {
	Lanes map[Role][]string // a role that is not there has the names of DefaultLanes
	// Named reports whether a project's boards: names this file (recognition rule 4).
	Named bool
	// Agents are the configured agents' names. Nil: every well-formed mention counts.
	Agents []string
}

// Board is one parsed board. Nothing in it is ever changed: operations return
// new bytes, or a new board that shares what stayed.
type Board struct {
	Path     string // relative to the work folder, slashes
	Src      []byte
	Kanban   bool   // written by Obsidian Kanban (frontmatter kanban-plugin)
	Project  string // frontmatter project:, `[[Name]]` taken off
	Lanes    []Lane
	Inactive string // not empty: read-only and why ("merge markers, line 12"); starts nothing, never written
	Problem  string // not empty: the header cannot be read ("line 3: ..."); listed, starts nothing, status may still be written
	Hints    []Hint // "looks like a card, line 3"
	Archive  []Card // cards of the archive of Obsidian Kanban: never started, never a target

	items   []item
	footer  int             // where the settings footer begins; len(Src) without one
	written map[Role]string // titles of lanes that are added
	names   laneNames       // roles by name, the header's own among them
	options Options         // to read results the same way
	age     int             // how often it was read again since everything was parsed
}

// Hint is something a person should know about a line; it changes nothing.
type Hint struct {
	Line int // 1-based
	Text string
}

// Lane is a heading and the cards under it.
type Lane struct {
	Title string // source text without the limit, trimmed
	Role  Role
	Limit int // 0: none
	Line  int // 1-based line of the heading
	Head  span.Span
	Body  span.Span // from after the heading (and its underline) to the next lane, archive, footer or end
	Cards []Card

	mark int // where the lane's content begins: after heading and mark
}

// Card is one item with a box, with all its bytes up to the next item or the end of the list.
type Card struct {
	Span     span.Span
	Line     int // 1-based
	*Content     // never nil
}

// Content is what a card's bytes say, wherever they stand: boards that were
// read one from the other share it, and a card that moves up or down costs
// next to nothing. Offsets in it count from the card's first byte.
type Content struct {
	Status    *Status  // the status item, if one is there
	Box       string   // the character(s) in the box; " " is open
	First     string   // raw first line, without marker and box, `<br>` ends it
	Key       string   // identity before a run: see design/files.md; compare with ==
	Title     string   // for people: Key with links by their text and tags off
	Agents    []string // distinct configured agents mentioned on the first line, in order
	Unknown   []string // well-formed mentions of no configured agent
	NoteAgent string   // an agent mentioned only in the note: held, said
	Project   string   // #project/name on the first line
	After     []string // raw targets of after: lines, `[[…]]` taken off
	BlockID   string
	Recurring bool     // holds 🔁
	Lines     []string // the person's lines below the first, without the card's indentation and without the status item (`<br>` parts first)
	Text      []byte   // the person's bytes of the card: everything but the status item; hash of it says "unchanged"
	Hints     []string // what a person should know about the card; it changes nothing

	pad  int    // where the item's content begins
	para int    // where the paragraph of the first line ends
	unit string // indentation of the lines below the first; "" where there are none
}

// Open reports whether the card's box is empty (a blank or a no-break space).
func (c *Content) Open() bool { return c.Box == " " || c.Box == "\u00a0" || c.Box == "" }

// Ticked reports whether a person ticked the card.
func (c *Content) Ticked() bool { return c.Box == "x" || c.Box == "X" }

// Status is the one nested item that deckhand keeps under a card, as read back.
// Only word and run are read back, never the mark.
type Status struct {
	Run   string // whole run id, lower case
	Agent string
	Word  string    // works, asks, review, accepted, failed, stopped, interrupted
	Span  span.Span // in the card's bytes
	Lines []string  // the lines below its first, without indentation
	Head  string    // its first line, without indentation

	indent string   // of its first line
	kept   []string // the lines below its first as they are
}

// Item is a status item to write.
type Item struct {
	Run     string
	Agent   string
	Word    string   // one of the words of Status
	Details []string // joined by " · " between word and link; escaped by the writer
	Link    string   // the chat link, ready to write; may be empty
	Said    []string // text of the agent: at most 8 lines of 200 characters, escaped by the writer
	Boxes   []string // lines of our own, written as they are (boxes, "- why:"); nil in this version's daemon
	Text    bool     // marks: text
}

// Update changes one card in one go: its lane, its status item, or both.
// The zero value of each field leaves that part alone.
type Update struct {
	Run    string // find the card by its status item's run id, else
	Key    string // by its unique Key among open cards outside done lanes and archive
	To     Role   // move to the end of the first list of the first lane with this role (unless it is already in a lane of that role)
	ToLane string // or to the lane with this name (put back where it was)
	At     int    // with To or ToLane: the place among the lane's cards, from 1; 0: the end of its first list
	Put    *Item  // put or replace the status item
	Remove bool   // remove the status item
	// Wrote are lines deckhand wrote into the status item before (without indentation). Only these are
	// removed; any other line inside the item is the person's and stays below the card, and so do words a
	// person wrote into its first line, as an item of their own.
	Wrote []string
}

// Errors an Update can fail with; wrapped with file and line.
var (
	ErrGone      = errors.New("the card is not on the board")
	ErrAmbiguous = errors.New("two cards read the same")
	ErrNoLane    = errors.New("the board has no such lane")
	ErrInactive  = errors.New("the board is read-only now")
	ErrPlace     = errors.New("the card cannot be written without changing other lines")
)
