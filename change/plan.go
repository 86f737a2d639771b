package change

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plan computes what actions would change: one change a file at most, in the
// order in which the files are first touched. It works on a virtual copy: an
// action sees the results of those before it, and the first contents and the
// last make the change. A file that is created and then edited is created, one
// that is edited and then moved is moved with both, and one that is in the end
// what it was is not changed. What was deleted or moved is not touched again.
//
// It fails on the first action that cannot be done, and with none of them done.
// The error is for the one who asked: it says what to do about it.
func Plan(f Folder, actions []Action) ([]Change, error) {
	switch {
	case len(actions) == 0:
		return nil, errors.New("no action is given")
	case len(actions) > MaxActions:
		return nil, fmt.Errorf("%d actions are too many for one batch: at most %d", len(actions), MaxActions)
	}
	d := draft{folder: f, at: map[string]*entry{}}
	for i, a := range actions {
		if err := d.do(a); err != nil && len(actions) > 1 {
			return nil, fmt.Errorf("action %d, %s: %w", i+1, a.Do, err)
		} else if err != nil {
			return nil, err
		}
	}
	changes := d.changes()
	if len(changes) == 0 {
		return nil, errors.New("nothing would change: the files already are like this")
	}
	if err := f.Accept(changes); err != nil {
		return nil, err
	}
	return changes, nil
}

// draft is the virtual copy: what stands in it differs from the folder, or was
// looked at.
type draft struct {
	folder Folder
	order  []*entry
	at     map[string]*entry // by each path the file has had
}

// entry is one file of a draft.
type entry struct {
	file, now     string // its path before the batch, and now
	was, is       bool   // it was there before, it is there now
	before, after string
	locked        string // why it may not be touched again
	reasons       []string
}

// entry is the file at a path; a path that holds nothing is a file that is not
// there.
func (d *draft) entry(file string) (*entry, error) {
	if e := d.at[file]; e != nil {
		if e.locked != "" {
			return nil, fmt.Errorf("%s %s", file, e.locked)
		}
		return e, nil
	}
	if err := d.folder.Check(file); err != nil {
		return nil, err
	}
	e := &entry{file: file, now: file, is: true}
	text, err := d.folder.Read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.is = false
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", file, err)
	case !utf8.ValidString(text), strings.Contains(text, "\x00"):
		// a proposal is stored and sent as JSON, which would change these bytes
		return nil, fmt.Errorf("%s is not UTF-8 text, so it is not changed", file)
	}
	e.was, e.before, e.after = e.is, text, text
	d.at[file] = e
	d.order = append(d.order, e)
	return e, nil
}

// existing is the file at a path, which has to be there.
func (d *draft) existing(file string) (*entry, error) {
	e, err := d.entry(file)
	if err == nil && !e.is {
		return nil, fmt.Errorf("%s does not exist; list the files, or create it", file)
	}
	return e, err
}

func (d *draft) do(a Action) error {
	e, err := d.act(a)
	if err == nil && a.Reason != "" {
		e.reasons = append(e.reasons, a.Reason)
	}
	return err
}

func (d *draft) act(a Action) (*entry, error) {
	switch a.Do {
	case CreateFile:
		return d.create(a)
	case DeleteFile:
		return d.remove(a)
	case MoveFile:
		return d.move(a)
	}
	e, err := d.existing(a.File)
	if err != nil {
		return nil, err
	}
	text, err := d.folder.edited(e.now, e.after, a)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.File, err)
	}
	e.after = text
	return e, nil
}

// edited is a file's text after an action on what it holds.
func (f Folder) edited(file, text string, a Action) (string, error) {
	for _, s := range [...]string{a.Text, a.Old, a.New} {
		if err := writable(s); err != nil {
			return "", err
		}
	}
	switch a.Do {
	case EditText, InsertText, ReplaceAll:
		if f.isBoard(file, text) {
			return "", errors.New("this is a board: change its cards, not its text")
		}
	}
	var err error
	was := text
	switch a.Do {
	case EditText:
		text, err = editOnce(text, a.Old, a.New, 1)
	case ReplaceAll:
		text, err = replaceAll(text, a.Old, a.New)
	case InsertText:
		text, err = insert(text, a)
	case AddCard, MoveCard, EditCard, TickCard, UntickCard, RemoveCard:
		text, err = f.onBoard(file, text, a)
	default:
		return "", fmt.Errorf("no action is called %q", a.Do)
	}
	if err == nil && text == was {
		err = errors.New("this changes nothing: it already is like this")
	}
	return text, err
}

func (d *draft) create(a Action) (*entry, error) {
	e, err := d.entry(a.File)
	if err != nil {
		return nil, err
	}
	if e.is {
		return nil, fmt.Errorf("%s already exists; edit it, or take another name", a.File)
	}
	if err := writable(a.Text); err != nil {
		return nil, fmt.Errorf("%s: %w", a.File, err)
	}
	e.is, e.after = true, a.Text
	return e, nil
}

func (d *draft) remove(a Action) (*entry, error) {
	e, err := d.existing(a.File)
	if err != nil {
		return nil, err
	}
	e.is, e.locked = false, "is deleted in this batch: no other action may touch it"
	return e, nil
}

func (d *draft) move(a Action) (*entry, error) {
	e, err := d.existing(a.File)
	if err != nil {
		return nil, err
	}
	to, err := d.entry(a.To)
	if err != nil {
		return nil, err
	}
	if to.is {
		return nil, fmt.Errorf("%s already exists; take another name", a.To)
	}
	e.now, e.locked = a.To, "is moved in this batch: edit it before that action"
	d.at[a.To] = e
	return e, nil
}

// writable reports whether an agent's text may be written into a note: bytes
// that are no text, and those that drive a terminal, may not.
func writable(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("the text is not UTF-8")
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return fmt.Errorf("the text holds the control character %U", r)
		}
	}
	return nil
}

func (d *draft) changes() []Change {
	var out []Change
	for _, e := range d.order {
		if c, ok := e.change(); ok {
			c.Reason = strings.Join(e.reasons, "; ")
			out = append(out, c)
		}
	}
	return out
}

func (e *entry) change() (Change, bool) {
	switch {
	case !e.was && !e.is:
		return Change{}, false
	case !e.was:
		return Change{Kind: Create, File: e.now, After: e.after}, true
	case !e.is:
		return Change{Kind: Delete, File: e.file, Before: e.before}, true
	case e.now != e.file:
		return Change{Kind: Move, File: e.file, To: e.now, Before: e.before, After: e.after}, true
	}
	return Change{Kind: Edit, File: e.file, Before: e.before, After: e.after}, e.before != e.after
}
