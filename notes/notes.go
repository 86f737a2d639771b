// Package notes finds what a card links to and takes the right part of it.
//
// It reads links out of text, resolves them to file names it was told of,
// finds a section or block in a note's bytes and copies it within limits. It
// knows no disk and no board, changes no file, renders nothing, and follows no
// link inside what it copies.
//
// Grammar of links, outside code, HTML, comments and the header:
//
//	wiki    = ["!"] "[[" name { "#" part } ["|" alias] "]]"        on one line
//	mdlink  = ["!"] "[" text "](" (dest | "<" dest ">") [title] ")"  its target on one line
//	part    = heading | "^" block
//	block   = letters, digits and "-", in either case
//
// Blanks around name, part and alias do not count. A backslash takes its
// meaning from the punctuation after it, but "\|" parts name from alias as "|"
// does: so it is written in tables. Without name a link leads into its own
// file; with neither name nor part it is text. A "!" makes it an embed, which
// is read like a link. Destinations with a scheme or "//" are no links of
// ours, nor are reference links ("[text][ref]").
//
// A heading is one that is not inside a list or quote. Its section goes to the
// next heading of the same or a higher level; "#A#B" is B below A.
//
// Text of notes is data: what is copied is the note's bytes as they are, also
// where they are not UTF-8.
package notes

import (
	"strings"

	"deckhand/internal/span"
)

// Link is one wikilink or relative Markdown link of a text. Target and Heads
// are without backslash escapes and may hold %XX, which Resolve and Section
// try as written first.
type Link struct {
	Raw    string    // as written
	Span   span.Span // in the text it was found in
	Target string    // file part, trimmed; empty: the same file
	Heads  []string  // `#A#B`
	Block  string    // `#^id`
	Alias  string    // or the text of a Markdown link
	Embed  bool
}

func (l Link) wiki() bool { return strings.HasPrefix(strings.TrimPrefix(l.Raw, "!"), "[[") }

// Limits bound what goes into a prompt (deckhand.yaml, notes:), in characters
// (runes). They are taken literally: zero copies nothing.
type Limits struct{ Links, PerNote, Total int }

// Piece is one linked note as it goes into a prompt, or why it does not.
type Piece struct {
	Link    string   // as written
	Path    string   // relative, slashes; empty when nothing was found
	Section string   // "Payment", "A#B", "^id", or empty: the whole note
	Text    string   // empty when Problem is not empty; the note's bytes, then CutMark's line when Cut
	Bytes   int      // of the section, before the cut
	Cut     bool     // Text is not all of it
	Hash    string   // sha256 of the section's bytes, hex
	Others  []string // other files of that name, when the name is ambiguous
	More    int      // how many there are beyond Others
	Problem string   // NotFound, NoSection, Outside, Hidden, Binary, "more than 10 links: not copied", …
}
