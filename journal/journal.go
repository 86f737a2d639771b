// Package journal writes and reads the Markdown record of what happened.
//
// What it is for: every event of a work folder as people read it, one file a
// day, only ever added to. What it is not for: recovery. That reads the logs in
// the machine's state; a journal can be edited by anyone, so entries read back
// are data for people and tools, and one with a wrong shape has no effect.
//
// Grammar:
//
//	day    = entry { LF entry }
//	entry  = "## 14:03 · " status " · " object LF
//	         LF [ links LF ] [ "reason:: " reason LF ] [ LF ]
//	         [ fence "diff" LF { diff line LF } fence LF ]
//	         "%% " { key ":: " value " " } "%%" LF
//	links  = from | from " → " chat | "→ " chat
//	key    = "event" | "run" | "before" | "after" | "at"    each once, empty ones left out
//
// An entry is complete when its last line is there; a crash can only cut the
// last one. Object and reason are one line with control and direction
// characters shown as <U+202E> and with a backslash before what Markdown or
// Obsidian would obey. A diff line that begins like no line of a unified diff
// gets a blank in front, so that no line of an agent's text is a heading, a
// fence or an event; the fence is longer than any run of backticks inside.
package journal

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"time"

	"deckhand/internal/span"
)

// Entry is one event.
type Entry struct {
	Time   time.Time // with offset and milliseconds
	Status string    // claimed, started, asked, answered, steered, finished, failed, stopped, moved, accepted; proposed, applied, rejected, interrupted, reverted
	Object string    // file name or card title
	From   string    // ready-made link to the board, may be empty
	Chat   string    // ready-made link to the chat, may be empty
	Reason string    // one line
	Diff   string    // unified lines, may be empty
	Event  string    // id of the event, rises over all runs
	Run    string
	Before string // sha256-…, may be empty
	After  string
}

// Parsed is one entry as found in a file.
type Parsed struct {
	Entry   Entry
	Span    span.Span // from its heading to the end of its last line
	Problem string    // not empty: the entry is data of no effect, and why
}

// known are the statuses of entries, those of changes first.
func known(status string) (change, ok bool) {
	switch status {
	case "proposed", "applied", "rejected", "reverted":
		return true, true
	case "claimed", "started", "asked", "answered", "steered", "finished", "failed",
		"stopped", "moved", "accepted", "interrupted":
		return false, true
	}
	return false, false
}

// File is the day's file, below deckhand's folder. It is never a bare date,
// which is the name of people's daily notes.
func File(day time.Time) string {
	return path.Join("journal", day.Format(time.DateOnly)+" journal.md")
}

// Append adds entries at the end of a day's file, which may not be there yet.
// A line end that is missing there is repaired first.
func Append(cur []byte, entries []Entry) []byte {
	out := slices.Clone(cur)
	for _, e := range entries {
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		if len(out) > 0 {
			out = append(out, '\n')
		}
		out = append(out, Render(e)...)
	}
	return out
}

// Missing are the entries whose event is not in the file. Only the line that
// ends an entry counts, so one that a crash cut short is missing, and one whose
// other lines a person edited is not.
func Missing(entries []Entry, src []byte) []Entry {
	there := map[string]bool{}
	for line := range bytes.Lines(src) {
		if m, ok := parseMarker(trimEnd(line)); ok {
			there[m["event"]] = true
		}
	}
	var missing []Entry
	for _, e := range entries {
		if !there[token(e.Event)] {
			missing = append(missing, e)
		}
	}
	return missing
}

// outside reports whether a file's name leads out of the work folder.
func outside(name string) bool {
	return name == "" || path.IsAbs(name) || path.Clean(name) != name || name == ".." ||
		strings.HasPrefix(name, "../") || strings.Contains(name, `\`) || len(name) > 1 && name[1] == ':'
}
