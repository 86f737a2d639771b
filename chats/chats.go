// Package chats writes and reads a run's conversation as one Markdown file.
//
// CONTRACT (to be completed by the owner of this package).
package chats

import "time"

// Props are the flat properties of a chat's header. Times are local, without offset.
type Props struct {
	Title   string
	Agent   string
	Model   string
	Project string
	Board   string // wikilink or Markdown link target as written, e.g. "[[Shop]]"
	Run     string // whole run id, upper case as ULIDs are written
	Status  string // works, asks, review, accepted, failed, stopped, interrupted
	Created time.Time
	Cost    *float64 // nil: unknown, left out
	Tokens  int64
}

// Item is one part of a conversation, in order.
type Item struct {
	Role  string // You, Assistant, or an agent's name; consecutive items of one role share a heading
	Kind  string // text, tool, sent, ask
	Text  string // text: the exact text. ask: the question. sent: nothing
	Tool  *Tool
	Time  time.Time // sent
	Boxes []Box     // ask: what can be ticked; empty in this version's daemon
}

// Tool is a tool call as shown in a chat: `> [!note]- bash · `npm test` · ok · 3.2 s`.
type Tool struct {
	Name   string
	Title  string
	State  string // running, ok, failed
	Millis int64
	Since  time.Time // running: shown
	Output string    // its last lines
}

// Box is one line a person can tick.
type Box struct {
	Text   string
	ID     string // a7k2m-1
	Ticked bool
}
