package daemon

import (
	"fmt"
	"path"
	"time"

	"deckhand/board"
	"deckhand/change"
	"deckhand/chats"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/store"
)

// A proposal is asked like a question: its agent says it (hear), it is written
// into the log, shown on the card, in Needs me, in the chat and on a page of its
// own, and the first decision counts (decide.go). Before all that it is looked
// at: one that could not be applied, or that reaches where no agent may, is no
// question for a person. It is refused as a whole, and its agent is told why.

// Bounds of a proposal.
const (
	proposalChanges = 200
	proposalBytes   = 32 << 20 // of all contents
	proposalReason  = 2000     // characters
)

// proposed looks at a proposal outside the loop and logs what it finds.
func (d *daemon) proposed(r *run, entry dispatch.Entry, p *harness.Proposal) {
	key := keyOf(entry)
	if !r.takes(entry) || r.looking[key] {
		return
	}
	if r.looking == nil {
		r.looking = map[logKey]bool{}
	}
	r.looking[key] = true
	look := proposing{store: d.store, state: d.f.state, folder: d.notesAsChanged()}
	d.queues.add("propose:"+r.ID, func() any {
		batch, err := look.take(p)
		return proposing{batch: batch, err: err}
	}, func(v any) {
		delete(r.looking, key)
		if !r.takes(entry) {
			return // its turn is over meanwhile
		}
		done := v.(proposing)
		entry.Proposal = &done.batch
		if done.err != nil {
			entry.Reason = done.err.Error()
			d.say("%s: what @%s proposes for %q is refused: %s", r.Board, r.Agent, r.Card.Title, entry.Reason)
		} else {
			entry.Proposal.Path = d.pageName(time.Now(), r.Card.Title)
			again(r, entry.Proposal)
		}
		d.fact(r, entry)
		d.deliver(r)
	})
}

// again marks the changes that a person has rejected as they are.
func again(r *run, b *dispatch.Batch) {
	for i := range b.Changes {
		if p := r.RejectedBefore(b.Changes[i]); p != nil {
			b.Changes[i].Again = "you rejected this on " + p.At.Local().Format("2 Jan at 15:04")
			if p.Note != "" {
				b.Changes[i].Again += ": " + oneLine(p.Note)
			}
		}
	}
}

// notesAsChanged is the work folder as package change wants it: where deckhand
// writes, nobody else does, and boards are read as everywhere.
func (d *daemon) notesAsChanged() change.Folder {
	opts, named := d.options(), map[string]bool{}
	for path := range d.boards {
		named[path] = d.named(path)
	}
	return change.Folder{
		Closed: append([]string{d.settings.Output}, d.f.file.Outputs...),
		Board: func(file string) board.Options {
			o := opts
			o.Named = named[file]
			return o
		},
	}
}

// pageName is where a new proposal is shown.
func (d *daemon) pageName(now time.Time, title string) string {
	name := chats.FileName(now, title+" proposal", d.files.taken)
	at := path.Join(d.settings.Output, "proposals", name)
	d.files.put(at)
	return at
}

// proposing is a look at a proposal, and what it found.
type proposing struct {
	store  *store.Store
	state  string
	folder change.Folder

	batch dispatch.Batch
	err   error
}

// take checks a proposal and keeps its contents. The batch is told in any case,
// as far as it goes.
func (j proposing) take(p *harness.Proposal) (b dispatch.Batch, err error) {
	b = dispatch.Batch{ID: short(p.ID, 200), Reason: short(p.Reason, proposalReason), Changes: []dispatch.Change{}}
	changes, err := sized(p)
	if err != nil {
		return b, err
	}
	for _, c := range changes {
		b.Changes = append(b.Changes, dispatch.Change{
			Kind: string(c.Kind), File: c.File, To: c.To, Reason: short(c.Reason, proposalReason),
		})
	}
	if err := j.allowed(changes); err != nil {
		return b, err
	}
	if problems := change.Preflight(changes, beside(j.folder, changes, reader(j.store))); len(problems) > 0 {
		return b, problems[0]
	}
	for i, c := range changes {
		if err := j.keep(&b.Changes[i], c); err != nil {
			return b, fmt.Errorf("it cannot be kept: %w", err)
		}
	}
	return b, nil
}

// sized bounds a proposal and makes changes of it.
func sized(p *harness.Proposal) ([]change.Change, error) {
	if n := len(p.Changes); n > proposalChanges {
		return nil, fmt.Errorf("it holds %d changes: %d are the most", n, proposalChanges)
	}
	size := 0
	var out []change.Change
	for _, c := range p.Changes {
		size += len(c.Before) + len(c.After)
		out = append(out, whole(c))
	}
	if size > proposalBytes {
		return nil, fmt.Errorf("it holds %d MB: %d are the most", size>>20, proposalBytes>>20)
	}
	return out, nil
}

// whole is a change as it is meant: what a kind has no use for is left out, and a
// move that says nothing of its contents leaves them as they are.
func whole(c harness.Change) change.Change {
	out := change.Change{Kind: change.Kind(c.Kind), File: c.File, To: c.To, Before: c.Before, After: c.After, Reason: c.Reason}
	switch out.Kind {
	case change.Create:
		out.Before, out.To = "", ""
	case change.Edit:
		out.To = ""
	case change.Delete:
		out.After, out.To = "", ""
	case change.Move:
		if out.After == "" {
			out.After = out.Before
		}
	}
	return out
}

// allowed says why changes may not be made at all: by what they are, and by where
// their paths lead.
func (j proposing) allowed(changes []change.Change) error {
	if err := j.folder.Accept(changes); err != nil {
		return err
	}
	for _, c := range changes {
		for _, name := range []string{c.File, c.Path()} {
			if err := j.store.Plain(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// beside reads notes for a preflight: a board that only deckhand has changed is
// still what it was.
func beside(f change.Folder, changes []change.Change, read change.Read) change.Read {
	return func(rel string) (string, error) {
		cur, err := read(rel)
		for _, c := range changes {
			if err == nil && c.Kind == change.Edit && c.File == rel && f.Stands(rel, c.Before, cur) {
				return c.Before, nil
			}
		}
		return cur, err
	}
}

// keep stores what a change is made of, and counts its lines.
func (j proposing) keep(to *dispatch.Change, c change.Change) (err error) {
	if c.Kind != change.Create {
		if to.Before, err = harness.KeepObject(j.state, []byte(c.Before)); err != nil {
			return err
		}
	}
	if c.Kind != change.Delete {
		if to.After, err = harness.KeepObject(j.state, []byte(c.After)); err != nil {
			return err
		}
	}
	to.Added, to.Removed = c.Count()
	return nil
}

// reader reads notes as package change wants them.
func reader(s *store.Store) change.Read {
	return func(rel string) (string, error) {
		src, _, err := s.Read(rel)
		return string(src), err
	}
}

// changeOf is a logged change with its contents.
func changeOf(state string, c dispatch.Change) (change.Change, error) {
	out := change.Change{Kind: change.Kind(c.Kind), File: c.File, To: c.To, Reason: c.Reason}
	for _, part := range []struct {
		hash string
		to   *string
	}{{c.Before, &out.Before}, {c.After, &out.After}} {
		if part.hash == "" {
			continue
		}
		data, err := harness.Object(state, part.hash)
		if err != nil {
			return out, err
		}
		*part.to = string(data)
	}
	return out, nil
}

// diffContext is how many lines of a file stand around a change of it.
const diffContext = 3

// diffOf is what a change does to its file, as a unified diff.
func diffOf(state string, c dispatch.Change) string {
	whole, err := changeOf(state, c)
	if err != nil {
		return "" // kept for a while only
	}
	return whole.Diff().Unified(diffContext)
}
