package daemon

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

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
	look := proposing{store: d.store, state: d.f.state, folder: change.Folder{Closed: d.outputs()}}
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
		}
		d.fact(r, entry)
		d.deliver(r)
	})
}

// outputs are the folders in which deckhand writes, and nobody else.
func (d *daemon) outputs() []string { return append([]string{d.settings.Output}, d.f.file.Outputs...) }

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
	if problems := change.Preflight(changes, reader(j.store)); len(problems) > 0 {
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
	switch n := len(p.Changes); {
	case n == 0:
		return nil, errors.New("it holds no change")
	case n > proposalChanges:
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

// allowed says why changes may not be made at all.
func (j proposing) allowed(changes []change.Change) error {
	taken := map[string]bool{}
	for _, c := range changes {
		names := []string{c.File}
		switch c.Kind {
		case change.Create, change.Edit, change.Delete:
		case change.Move:
			names = append(names, c.To)
		default:
			return fmt.Errorf("%q is no kind of change", short(string(c.Kind), 40))
		}
		for _, name := range names {
			if err := j.folder.Check(name); err != nil {
				return err
			}
			if err := j.store.Plain(name); err != nil {
				return err
			}
			key := strings.ToLower(norm.NFC.String(name))
			if taken[key] {
				return fmt.Errorf("%s: at most one change of a file, and no two names that some disks take for one", name)
			}
			taken[key] = true
		}
		if err := sound(c); err != nil {
			return err
		}
	}
	return nil
}

// sound looks at the contents.
func sound(c change.Change) error {
	switch {
	case strings.ContainsRune(c.After, 0):
		return fmt.Errorf("%s: a note holds no NUL bytes", c.File)
	case !utf8.ValidString(c.After):
		return fmt.Errorf("%s: a note is UTF-8", c.File)
	case c.Kind == change.Edit && c.Before == c.After:
		return fmt.Errorf("%s: before and after are the same", c.File)
	}
	return nil
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
	diff := c.Diff()
	to.Added, to.Removed = diff.Added, diff.Removed
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
