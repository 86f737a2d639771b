// Package journal writes and reads the Markdown record of what happened.
//
// CONTRACT (to be completed by the owner of this package).
package journal

import "time"

// Entry is one event. See design/files.md for the shape on disk.
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
