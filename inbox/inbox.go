// Package inbox writes and reads the files a person decides in: Needs me and Machine.md.
//
// CONTRACT (to be completed by the owner of this package).
package inbox

import "time"

// Need is one section of Needs me.
type Need struct {
	Kind  string // asks, review, interrupted, failed, held, conflict
	Agent string
	Card  string // title
	Board string // ready-made link
	Chat  string // ready-made link, may be empty
	Since time.Time
	Facts []string // after the title of a review: "4m", "$0.03"
	Text  string   // question, result or reason
	Code  string   // shown as an indented block: the command asked for
	Next  string   // what to type, e.g. "deckhand retry 01kb…" or "on the laptop: deckhand project add stock FOLDER"
	Boxes []string // lines of ours with ids; none in this version's daemon
}
