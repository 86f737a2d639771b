package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"deckhand/change"
)

// ErrTooMuch is of a copy in which more was changed than one proposal can hold.
var ErrTooMuch = fmt.Errorf("more was changed than can be proposed at once (%d MB)", most>>20)

// Changes says what was changed in a copy: what can be proposed, in the order of
// paths, and what cannot, each with why. Skip is what was left out when it was
// made; what an agent makes there is left out too.
//
// What it reads is the agent's: nothing is followed out of the copy, nothing is
// read that is no file, and names that could not stand in a note are not taken.
func Changes(ctx context.Context, dir string, skip func(rel string, isDir bool) bool) (changes []change.Change, left []string, err error) {
	l, err := readList(dir)
	if err != nil {
		return nil, nil, err
	}
	notes, err := os.OpenRoot(filepath.Join(dir, notesDir))
	if err != nil {
		return nil, nil, err
	}
	defer notes.Close()
	base, err := os.OpenRoot(filepath.Join(dir, baseDir))
	if err != nil {
		return nil, nil, err
	}
	defer base.Close()

	c := comparison{notes: notes, base: base, was: make(map[string]file, len(l.Files))}
	for _, f := range l.Files {
		c.was[f.Path] = f
	}
	if err := walk(ctx, notes, skip, c.look); err != nil {
		return nil, nil, err
	}
	c.gone()
	c.moved()
	slices.SortFunc(c.changes, func(a, b change.Change) int { return cmp.Compare(a.File, b.File) })
	slices.Sort(c.left)
	return c.changes, c.left, c.err
}

// comparison is a copy beside what it was.
type comparison struct {
	notes, base *os.Root
	was         map[string]file // not seen yet
	changes     []change.Change
	left        []string
	bytes       int64 // of all changes
	err         error
}

// most is how much may be changed at once, in bytes before and after: nobody
// reviews more, and it is held in memory.
const most = 32 << 20

// add adds a change, as long as there is not too much.
func (c *comparison) add(ch change.Change) {
	if c.bytes += int64(len(ch.Before) + len(ch.After)); c.bytes > most {
		c.err = ErrTooMuch
		return
	}
	c.changes = append(c.changes, ch)
}

// look compares one thing that stands in the copy now.
func (c *comparison) look(rel string, info fs.FileInfo) {
	was, known := c.was[rel]
	delete(c.was, rel)
	switch {
	case !info.Mode().IsRegular():
		c.leave(rel, "it is no file")
		return
	case known && !was.Base:
		if info.Size() != was.Size || !info.ModTime().Equal(was.Time) {
			c.leave(rel, "it is no text, or too long")
		}
		return
	case !nameable(rel) || !known && strings.ContainsAny(rel, `\:*?"<>|`):
		c.leave(rel, "its name cannot be written down")
		return
	case info.Size() > largest:
		c.leave(rel, "it is too long")
		return
	}
	now, err := read(c.notes, rel)
	if err != nil {
		c.leave(rel, "it cannot be read")
		return
	}
	if !proposable(now) {
		c.leave(rel, "it is no text")
		return
	}
	if !known {
		c.add(change.Change{Kind: change.Create, File: rel, After: string(now)})
		return
	}
	before, err := read(c.base, rel)
	if err != nil {
		c.err = errors.Join(c.err, err)
		return
	}
	if string(before) != string(now) {
		c.add(change.Change{Kind: change.Edit, File: rel, Before: string(before), After: string(now)})
	}
}

// read reads a file that is no longer than one can be.
func read(root *os.Root, rel string) ([]byte, error) {
	f, err := root.OpenFile(rel, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, largest+1))
}

// gone are the files that are not there any more.
func (c *comparison) gone() {
	for rel, was := range c.was {
		if !was.Base {
			c.leave(rel, "it was deleted there; it is no text, or too long")
			continue
		}
		before, err := read(c.base, rel)
		if err != nil {
			c.err = errors.Join(c.err, err)
			continue
		}
		c.add(change.Change{Kind: change.Delete, File: rel, Before: string(before)})
	}
}

// moved makes one change of a file that went and one that came with the same
// text, when there is only one of each. Empty files are not told apart.
func (c *comparison) moved() {
	came, went := map[string][]int{}, map[string][]int{}
	for i, ch := range c.changes {
		switch {
		case ch.Kind == change.Create && ch.After != "":
			came[ch.After] = append(came[ch.After], i)
		case ch.Kind == change.Delete && ch.Before != "":
			went[ch.Before] = append(went[ch.Before], i)
		}
	}
	drop := map[int]bool{}
	for text, from := range went {
		to := came[text]
		if len(from) != 1 || len(to) != 1 {
			continue
		}
		old := &c.changes[from[0]]
		old.Kind, old.To, old.After = change.Move, c.changes[to[0]].File, text
		drop[to[0]] = true
	}
	kept := c.changes[:0]
	for i, ch := range c.changes {
		if !drop[i] {
			kept = append(kept, ch)
		}
	}
	c.changes = kept
}

func (c *comparison) leave(rel, why string) {
	c.left = append(c.left, strings.ToValidUTF8(rel, "\ufffd")+": "+why)
}

// nameable reports whether a path reads as what it is.
func nameable(rel string) bool {
	return fs.ValidPath(rel) && !strings.ContainsFunc(rel, func(r rune) bool {
		switch r {
		case '\u200c', '\u200d': // scripts and emoji need them
			return false
		case unicode.ReplacementChar:
			return true
		}
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	})
}
