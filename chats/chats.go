// Package chats writes and reads a run's conversation as one Markdown file.
//
// What it is for: a conversation is appended to, its properties are kept up to
// date, and all of it is read back exactly as it was written, whatever the text
// of an agent looks like. People edit these files too: an operation adds bytes
// or changes values that are deckhand's, and what does not parse is text.
//
// What it is not for: it renders nothing, decides nothing about a run and knows
// no disk. A chat is never what recovery reads; loading one executes nothing.
//
// Grammar:
//
//	chat    = [BOM] header { section } [ draft ]
//	header  = "---" LF { key ": " value LF } "---" LF      flat YAML, see Props
//	section = LF "## " role LF { LF block }
//	role    = "You" | "Assistant" | the header's agent     in fences too
//	block   = text LF | tool | sent | ask
//	tool    = "> [!note]- " name [ " · `" title "`" ] " · " state LF { ">" [ " " line ] LF }
//	state   = "running" [ " · since 14:03" ] | ( "ok" | "failed" ) " · " duration
//	sent    = "> sent 14:09" LF
//	ask     = [ text LF LF ] box { box } [ "- why:" | "- reply:" text LF ]
//	box     = "- [ ] " text " ^" id LF
//	draft   = LF "## You" LF LF [ text LF LF ] "- [ ] send ^s" id LF
//
// Two blocks of one role share a heading unless both are text and nothing but
// the heading could tell where one ends.
//
// Two escapes make that exact. A line of a text that, after any number of
// backslashes, reads as a role heading, a sent line, a tool or a box gets one
// backslash more. A control character other than tab, LF and CR is written as
// its picture (U+2400 and up), and what else is hidden (C1, turned text, no
// width) as U+2426, its number in hex and ";", so that a chat is no binary file,
// drives no terminal and shows all it holds; n backslashes before it are
// doubled, and n before a picture of the text itself become 2n+1.
package chats

import "time"

// Roles that every chat knows; the third is its agent's name.
const (
	You       = "You"
	Assistant = "Assistant"
)

// Kinds of items.
const (
	Text    = "text"
	ToolUse = "tool"
	Sent    = "sent"
	Ask     = "ask"
)

// States of a tool. Running is never read as one of the others.
const (
	Running = "running"
	OK      = "ok"
	Failed  = "failed"
)

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
	Role  string // You, Assistant, or the agent's name; any other name is written as the agent's
	Kind  string // text, tool, sent, ask
	Text  string // text: the exact text, an empty one is not written. ask: the question. sent: nothing
	Tool  *Tool
	Time  time.Time // sent; read back with hours and minutes only
	Boxes []Box     // ask: what can be ticked; an ask without boxes is written, and read, as a text
	Field string    // ask: "why" or "reply", an open line below the boxes; may be empty
	Said  string    // ask: what a person wrote at Field and below it; never written
}

// Tool is a tool call as shown in a chat: `> [!note]- bash · `npm test` · ok · 3.2 s`.
type Tool struct {
	Name   string
	Title  string // one line, cut at 200 characters
	State  string // running, ok, failed
	Millis int64  // read back as precisely as it is shown
	Since  time.Time
	Output string // its last lines; written only when it no longer runs
}

// Box is one line a person can tick.
type Box struct {
	Text   string
	ID     string // a7k2m-1
	Ticked bool
}

// Draft is the block at the end of a chat in which a person writes.
type Draft struct {
	Text   string
	ID     string // of its send box, s4k2p-1
	Ticked bool
}

// Chat is a chat as read back.
type Chat struct {
	Props  Props
	Items  []Item // an item without a role stands before the first heading
	Draft  *Draft
	Broken string // why the header cannot be read; Props then hold what its lines say
}

// Read reads a chat. It never fails: what does not parse is text.
func Read(src []byte) Chat {
	d := parse(src)
	c := Chat{Items: d.items(d.draft)}
	c.Props, c.Broken = readProps(src)
	if d.draft < len(d.parts) {
		c.Draft = d.readDraft()
	}
	return c
}

// DraftOf is the draft at the end of a chat: what stands in it, whether its
// send box is ticked, and the box's id. The id is empty where there is none.
func DraftOf(src []byte) (text string, sendTicked bool, id string) {
	d := parse(src)
	if d.draft == len(d.parts) {
		return "", false, ""
	}
	draft := d.readDraft()
	return draft.Text, draft.Ticked, draft.ID
}
