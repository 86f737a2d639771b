// Package notes finds what a card links to and takes the right part of it.
//
// CONTRACT (to be completed by the owner of this package).
package notes

import "deckhand/internal/span"

// Link is one wikilink or relative Markdown link of a text.
type Link struct {
	Raw    string    // as written
	Span   span.Span // in the text it was found in
	Target string    // file part, trimmed; empty: the same file
	Heads  []string  // `#A#B`
	Block  string    // `#^id`
	Alias  string
	Embed  bool
}

// Limits bound what goes into a prompt (deckhand.yaml, notes:), in characters (runes).
type Limits struct{ Links, PerNote, Total int }

// Piece is one linked note as it goes into a prompt, or why it does not.
type Piece struct {
	Link    string   // as written
	Path    string   // relative, slashes; empty when nothing was found
	Section string   // "Payment", "^id", or empty: the whole note
	Text    string   // empty when Problem is not empty
	Bytes   int      // of the section, before the cut
	Cut     bool     // Text is not all of it
	Hash    string   // sha256 of the section's bytes, hex
	Others  []string // other files of that name, when the name is ambiguous
	Problem string   // "note not found", "note found, section missing", "outside the work folder", "more than 10 links: not copied", "not sent: binary", …
}
