package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"deckhand/change"
	"deckhand/dispatch"
	"deckhand/internal/store"
)

// applying writes the files of a decided proposal. All are compared with the
// disk first, and one that is not what it was keeps all from being written. The
// log has the decision before, and the end after: what a kill in between has
// left is told by the files themselves, because each is either what it was, or
// what it should be, or a person has changed it.
type applying struct {
	ctx     context.Context
	store   *store.Store
	state   string
	folder  change.Folder
	changes []dispatch.Change // in the order in which they are written
	undo    bool              // what is written is the inverse of each, last first
	resume  bool              // it may have been begun before
}

// errStuck: some files are changed, and others can neither be changed nor put
// back without writing over what a person did. Nothing more is touched.
var errStuck = errors.New("deckhand was ended in the middle of it, and since then")

// stand is where a file stands between a change and its inverse.
type stand int

const (
	unchanged stand = iota // as the change wants it
	changed                // as the change leaves it
	halfway                // a move of which only the new contents are missing
	foreign                // neither: a person has been there
)

// load gives the changes with their contents.
func (j *applying) load() ([]change.Change, error) {
	var out []change.Change
	for _, c := range j.changes {
		whole, err := changeOf(j.state, c)
		if err != nil {
			return nil, fmt.Errorf("what was proposed for %s is not kept any more: %w", c.File, err)
		}
		out = append(out, whole)
	}
	if j.undo {
		out = change.Undo(out)
	}
	return out, nil
}

// written is how writing went: begun says that files may have been changed.
type written struct {
	err   error
	begun bool
}

// write writes all files, or none.
func (j *applying) write() written {
	changes, err := j.load()
	if err != nil {
		return written{err: err, begun: j.resume}
	}
	stands := make([]stand, len(changes))
	if j.resume {
		if stands, err = j.standAll(changes); err != nil {
			return written{err: err}
		}
	} else if err := j.preflight(changes); err != nil {
		return written{err: err}
	}
	for i, c := range changes {
		if stands[i] == changed {
			continue
		}
		if err := j.one(c, stands[i]); err != nil {
			return written{err: refusal(c.File, err), begun: true}
		}
	}
	return written{}
}

// preflight says why not all of the changes can be made now.
func (j *applying) preflight(changes []change.Change) error {
	if problems := change.Preflight(changes, beside(j.folder, changes, reader(j.store))); len(problems) > 0 {
		return problems[0]
	}
	for _, c := range changes {
		names := []string{c.File, c.Path()}
		for _, name := range names {
			if err := j.store.Plain(name); err != nil {
				return err
			}
		}
		if c.Kind == change.Create {
			continue
		}
		if err := j.store.Writable(j.ctx, c.File); err != nil {
			return err
		}
	}
	return nil
}

// standAll says how far a batch has come that was begun before. A file that is
// neither what it was nor what it should be is a person's work.
func (j *applying) standAll(changes []change.Change) ([]stand, error) {
	stands := make([]stand, len(changes))
	var says []string
	mixed := false
	for i, c := range changes {
		at, err := j.stand(c)
		if err != nil && diskFailed(err) {
			return nil, err
		}
		stands[i], mixed = at, mixed || at == foreign
		says = append(says, c.File+" "+[...]string{"is not changed", "is changed", "is moved", "is neither what it was nor what it should be"}[at])
	}
	if mixed {
		return nil, fmt.Errorf("%w: %s", errStuck, strings.Join(says, ", "))
	}
	return stands, nil
}

// stand compares one file, or the two of a move, with the change.
func (j *applying) stand(c change.Change) (stand, error) {
	file, err := j.read(c.File)
	if err != nil {
		return foreign, err
	}
	if c.Kind != change.Move {
		was, is := &c.Before, &c.After
		switch c.Kind {
		case change.Create:
			was = nil
		case change.Delete:
			is = nil
		}
		switch {
		case j.stands(c, file, is):
			return changed, nil
		case j.stands(c, file, was):
			return unchanged, nil
		}
		return foreign, nil
	}
	to, err := j.read(c.To)
	switch {
	case err != nil:
		return foreign, err
	case same(file, &c.Before) && to == nil:
		return unchanged, nil
	case file == nil && same(to, &c.After):
		return changed, nil
	case file == nil && same(to, &c.Before):
		return halfway, nil
	}
	return foreign, nil
}

// stands compares contents as they are with those that are meant: of a board
// beside what deckhand keeps on it, unless that is what the change is about.
func (j *applying) stands(c change.Change, cur, want *string) bool {
	if same(cur, want) {
		return true
	}
	return c.Kind == change.Edit && cur != nil && !j.folder.Stands(c.File, c.Before, c.After) && j.folder.Stands(c.File, *want, *cur)
}

// same compares contents; nil is no file.
func same(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// read is the contents of a file; nil: there is none.
func (j *applying) read(rel string) (*string, error) {
	src, _, err := j.store.Read(rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	text := string(src)
	return &text, err
}

// one writes one file.
func (j *applying) one(c change.Change, at stand) error {
	was, is := []byte(c.Before), []byte(c.After)
	switch c.Kind {
	case change.Create:
		return j.store.Create(j.ctx, c.File, is)
	case change.Edit:
		return j.edit(c)
	case change.Delete:
		return j.store.Remove(j.ctx, c.File, was)
	}
	if at != halfway {
		if err := j.store.Move(j.ctx, c.File, c.To, was); err != nil {
			return err
		}
	}
	if c.Before == c.After {
		return nil
	}
	return j.store.Replace(j.ctx, c.To, was, is)
}

// edit writes a file that is there, when nobody has just saved it, and as it is
// then: of a board what deckhand keeps on it stays.
func (j *applying) edit(c change.Change) error {
	_, err := j.store.Update(j.ctx, c.File, func(cur []byte) ([]byte, error) {
		text := string(cur)
		if cur != nil && j.stands(c, &text, &c.After) {
			return cur, nil
		}
		next, ok := j.folder.Rebase(c.File, c.Before, c.After, text)
		if cur == nil || !ok {
			return nil, store.ErrChanged
		}
		return []byte(next), nil
	})
	return err
}

// takeBack puts back the files that were written, the last one first, and names
// those that could not be. A file that is not what was written stays.
func (j *applying) takeBack() error {
	changes, err := j.load()
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range slices.Backward(changes) {
		at, err := j.stand(c)
		switch {
		case err != nil:
			errs = append(errs, refusal(c.File, err))
			continue
		case at == unchanged || at == foreign:
			continue // nothing was written there, or a person has been there since
		}
		back := c.Invert()
		if at == halfway { // only its name is new
			back.Before = back.After
		}
		if err := j.one(back, unchanged); err != nil {
			errs = append(errs, fmt.Errorf("%s could not be put back: %w", c.Path(), refusal(c.Path(), err)))
		}
	}
	return errors.Join(errs...)
}

// refusal is an error of the store in the words of a preflight.
func refusal(file string, err error) error {
	switch {
	case errors.Is(err, store.ErrChanged):
		return fmt.Errorf("%s changed while it was being applied", file)
	case errors.Is(err, store.ErrExists):
		return fmt.Errorf("%s already exists", file)
	case strings.HasPrefix(err.Error(), file):
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}
