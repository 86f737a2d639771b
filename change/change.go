// Package change computes what would become of notes, before anything is
// written.
//
// What it is for: a change of one file as a value, a batch of them planned on a
// virtual copy, whether the files are still what they were, what undoes them,
// whether they did what was wanted, and the diff that a person decides on.
//
// What it is not for: reading and writing files, and deciding. Contents are
// arguments; whoever applies a change hands what it says to internal/store.
package change

// Kind is what becomes of a file.
type Kind string

// The kinds of changes.
const (
	Create Kind = "create" // File is not there before; After is its contents
	Edit   Kind = "edit"   // Before becomes After
	Delete Kind = "delete" // Before goes
	Move   Kind = "move"   // File becomes To; Before and After may differ too
)

// Change is what would become of one file. Paths are relative to the work
// folder, with slashes, and clean.
type Change struct {
	Kind   Kind   `json:"kind"`
	File   string `json:"file"`
	To     string `json:"to,omitempty"`     // of a move
	Before string `json:"before,omitempty"` // contents when it was proposed
	After  string `json:"after,omitempty"`  // contents when it is applied
	Reason string `json:"reason,omitempty"` // the agent's, as data
}

// Proposal is changes that wait for one decision: at most one of each file.
type Proposal struct {
	ID      string   `json:"id"`
	Reason  string   `json:"reason,omitempty"`
	Changes []Change `json:"changes"`
}
