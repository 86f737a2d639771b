// Package change computes what would become of notes, before anything is
// written.
//
// What it is for: a change of one file as a value, a batch of them planned on a
// virtual copy, whether the files are still what they were, what undoes them,
// whether they did what was wanted, the plan they belong to, and the diff that
// a person decides on.
//
// What it is not for: reading and writing files, and deciding. Contents are
// arguments; whoever applies a change hands what it says to internal/store.
//
// Contents are bytes in a string. Those that nobody meant to change stay: a BOM,
// each line's own end, a missing last line end. Texts of agents are matched
// without regard to how lines end, and written with the ends of the lines
// around them.
package change

import "io/fs"

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

// Path is where the file is once the change is applied; where it was, of a
// Delete.
func (c Change) Path() string {
	if c.Kind == Move {
		return c.To
	}
	return c.File
}

// Proposal is changes that wait for one decision: at most one of each file.
type Proposal struct {
	ID      string   `json:"id"`
	Reason  string   `json:"reason,omitempty"`
	Changes []Change `json:"changes"`
}

// Read gives the contents of a file of the work folder. The error of a file
// that is not there is fs.ErrNotExist; any other says why it cannot be read.
type Read func(file string) (string, error)

// over is the folder as read tells it, but for the files in set: nil is one
// that is not there.
func over(read Read, set map[string]*string) Read {
	return func(file string) (string, error) {
		text, known := set[file]
		switch {
		case !known:
			return read(file)
		case text == nil:
			return "", fs.ErrNotExist
		}
		return *text, nil
	}
}

// Applied is the folder as it would be with the changes applied.
func Applied(read Read, changes []Change) Read {
	set := map[string]*string{}
	for _, t := range touches(changes) {
		set[t.file] = t.after
	}
	return over(read, set)
}

// touch is what changes made of one path. Nil is: not there.
type touch struct {
	file          string
	before, after *string
}

// touches lists the paths that changes, applied one after the other, touch:
// each once, as it was before the first and is after the last, in the order of
// the first touch. A move touches two.
func touches(changes []Change) []touch {
	var all []touch
	at := map[string]int{}
	put := func(file string, before, after *string) {
		i, known := at[file]
		if !known {
			i = len(all)
			at[file] = i
			all = append(all, touch{file: file, before: before})
		}
		all[i].after = after
	}
	for i := range changes {
		c := &changes[i]
		switch c.Kind {
		case Create:
			put(c.File, nil, &c.After)
		case Edit:
			put(c.File, &c.Before, &c.After)
		case Delete:
			put(c.File, &c.Before, nil)
		case Move:
			put(c.File, &c.Before, nil)
			put(c.To, nil, &c.After)
		}
	}
	return all
}
