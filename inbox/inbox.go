// Package inbox writes and reads the files a person decides in: Needs me, the
// pages of proposals and Machine.md.
//
// What it is for: Needs me lists what waits for a person, says what to type or
// tick, and is written anew while that person may be writing in it. So what is
// written is merged with what stands there: lines that deckhand did not write
// stay, below the section they were put in, and a tick stays a tick. What it is
// not for: it decides nothing, delivers nothing and knows no disk.
//
// Grammar:
//
//	needs me = "# Needs me: " n LF { LF section } | "# Nothing needs you" LF
//	section  = "## " subject " · " title { " · " fact } LF
//	           [ board " · " chat " · " page " · since " time LF ]  what there is of it
//	           { line LF } [ LF { "    " code LF } LF ] [ next LF ] { box LF }
//	next     = words | code span                            where it may be read as more
//	subject  = agent ( " asks" | " failed" | " interrupted" | … ) | "Review" | "Held" | "Conflict"
//	box      = "- [ ] " text " ^" id | "- why:" | "- reply:"
//	proposal: see Proposal
//	machine  = "machine:: " id " " host LF                  once
//
// Newest stands first. Of cards that are held alike on one board the first ten
// have a section each, and the others one together. Text of an agent is at most
// eight lines of at most 200 characters, and nothing in it is a heading, item,
// box, link, comment, tag or fence; a command is an indented block, shown whole
// up to 4,000 characters. Characters that drive a terminal or turn a line around
// are shown as <U+202E>.
package inbox

import "time"

// Need is one section of Needs me.
type Need struct {
	Kind  string // asks, review, interrupted, failed, held, conflict
	Agent string
	Card  string // title; of a conflict the file
	Board string // ready-made link
	Chat  string // ready-made link, may be empty
	Page  string // ready-made link to where it is decided, may be empty
	Since time.Time
	Facts []string // after the title of a review: "4m", "$0.03"
	Text  string   // question, result or reason
	Code  string   // shown as an indented block: the command asked for
	Next  string   // what to type, e.g. "deckhand retry 01kb…" or "on the laptop: deckhand project add stock FOLDER"
	Boxes []string // lines of ours with ids, and a field
	Offer string   // what their ids begin with; not written by itself
}

// Section is a section of Needs me as read back.
type Section struct {
	Title   string   // without "## "; empty: what stands before the first section
	Ours    bool     // the heading is one that deckhand wrote
	Boxes   []Box    // of ours, with their state
	Field   string   // "why" or "reply", empty where there is no such line
	Said    string   // what a person wrote there and below
	Taken   []string // the lines that Said is made of, as they stand
	Foreign []string // the lines that deckhand did not write, in order, those of Said too
	Lines   []string // those that it did write, without boxes and the field
}

// Box is a box of ours.
type Box struct {
	Text   string
	ID     string
	Ticked bool
}
