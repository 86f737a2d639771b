package change

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Problem is why a change cannot be applied now.
type Problem struct {
	File string `json:"file"` // of the change
	Text string `json:"text"` // for people and models: names the file
}

func (p Problem) Error() string { return p.Text }

// Preflight compares changes with the files as they are now and lists what
// keeps them from being applied: at most one problem a change, in their order.
// The changes are one batch, so they are looked at together: none may be
// written where another one writes.
func Preflight(changes []Change, read Read) []Problem {
	var problems []Problem
	taken := map[string]bool{}
	for _, c := range changes {
		if text := c.obstacle(read); text != "" {
			problems = append(problems, Problem{c.File, text})
		} else if taken[c.File] || taken[c.Path()] {
			problems = append(problems, Problem{c.File, c.File + " is changed twice"})
		}
		taken[c.File], taken[c.Path()] = true, true
	}
	return problems
}

// obstacle says what stands in the way of one change, or nothing.
func (c Change) obstacle(read Read) string {
	switch c.Kind {
	case Create:
		return mustNotExist(c.File, read)
	case Edit, Delete:
		return mustBe(c.File, c.Before, read)
	case Move:
		if text := mustBe(c.File, c.Before, read); text != "" {
			return text
		}
		return mustNotExist(c.To, read)
	}
	return fmt.Sprintf("%s: no change is called %q", c.File, c.Kind)
}

func mustNotExist(file string, read Read) string {
	_, err := read(file)
	switch {
	case err == nil:
		return file + " already exists"
	case errors.Is(err, fs.ErrNotExist):
		return ""
	}
	return file + " cannot be read: " + err.Error()
}

func mustBe(file, before string, read Read) string {
	now, err := read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file + " no longer exists"
	case err != nil:
		return file + " cannot be read: " + err.Error()
	case now != before:
		return file + " changed since it was proposed; ask for a new proposal"
	}
	return ""
}

// Invert is the change that takes c back.
func (c Change) Invert() Change {
	c.Before, c.After = c.After, c.Before
	switch c.Kind {
	case Create:
		c.Kind = Delete
	case Delete:
		c.Kind = Create
	case Move:
		c.File, c.To = c.To, c.File
	}
	return c
}

// Undo lists the changes that take changes back: the inverse of each, last
// first. They go through the same Preflight, so a file that was edited since
// is not overwritten.
func Undo(changes []Change) []Change {
	out := make([]Change, 0, len(changes))
	for _, c := range slices.Backward(changes) {
		out = append(out, c.Invert())
	}
	return out
}

// Split parts changes by a person's decision: those of the files, named as in
// File, and the rest. Each change stands on its own, so that any of them may be
// applied without the others. It fails on a file that none is of, so that a
// slip of the pen is no rejection.
func Split(changes []Change, files []string) (chosen, rest []Change, err error) {
	for _, file := range files {
		if !slices.ContainsFunc(changes, func(c Change) bool { return c.File == file }) {
			return nil, nil, fmt.Errorf("%s is not part of this proposal", file)
		}
	}
	for _, c := range changes {
		if slices.Contains(files, c.File) {
			chosen = append(chosen, c)
		} else {
			rest = append(rest, c)
		}
	}
	return chosen, rest, nil
}

// Lost lists the files that no longer hold what changes, applied one after the
// other, left in them.
func Lost(applied []Change, read Read) []Problem {
	var problems []Problem
	for _, t := range touches(applied) {
		now, err := read(t.file)
		text := ""
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			text = t.file + " cannot be read: " + err.Error()
		case t.after == nil && err == nil:
			text = t.file + " is there again"
		case t.after != nil && err != nil:
			text = t.file + " no longer exists"
		case t.after != nil && now != *t.after:
			text = t.file + " was edited since"
		}
		if text != "" {
			problems = append(problems, Problem{t.file, text})
		}
	}
	return problems
}
