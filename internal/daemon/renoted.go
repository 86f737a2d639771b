package daemon

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	diff "deckhand/change"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/control"
	"deckhand/notes"
)

// What an agent was given of the notes is in the receipts and prompts of its
// lives, and in the log where it was told of changes. While its run is open, that
// is compared with what the notes are now: the card says what is another, and a
// person can have the agent told.

// given is a note as an agent has it.
type given struct {
	dispatch.Copied
	link string // as the card has it
}

// name is how people know a note.
func (g given) name() string {
	if g.Section == "" {
		return trimMD(g.Path)
	}
	return trimMD(g.Path) + "#" + g.Section
}

// givenTo reads what an agent was given in all lives of its run, what it was told
// last of each note.
func givenTo(dir harness.Dir) ([]given, error) {
	lives, err := dir.Lives()
	if err != nil {
		return nil, err
	}
	var all []given
	for _, life := range lives {
		inLife, err := givenIn(life)
		if err != nil {
			return nil, err
		}
		for _, g := range inLife {
			all = put(all, g)
		}
	}
	err = eachEntry(dir, func(e dispatch.Entry) {
		for _, c := range e.Notes {
			all = put(all, given{Copied: c})
		}
	})
	return all, err
}

// put adds what an agent was told of a note, in place of what it knew of it.
func put(all []given, g given) []given {
	i := slices.IndexFunc(all, func(o given) bool { return o.Path == g.Path && o.Section == g.Section })
	if i < 0 {
		return append(all, g)
	}
	g.link = cmp.Or(g.link, all[i].link)
	all[i] = g
	return all
}

// givenIn are the notes in the prompt of a life. What was not copied is none.
func givenIn(life harness.Life) (all []given, err error) {
	spec, err := life.Spec()
	if err != nil || len(spec.Receipt) == 0 {
		return nil, err
	}
	var pieces []control.Piece
	if err := json.Unmarshal(spec.Receipt, &pieces); err != nil {
		return nil, err
	}
	prompt, err := life.Prompt()
	if err != nil {
		return nil, err
	}
	texts := harness.NoteTexts(string(prompt))
	for _, p := range pieces {
		if p.Problem != "" || len(texts) == 0 {
			continue
		}
		all = append(all, given{dispatch.Copied{Path: p.Path, Section: p.Section, Hash: p.Hash, Text: texts[0]}, p.Link})
		texts = texts[1:]
	}
	return all, nil
}

// renoted is a note that is not what an agent was given.
type renoted struct {
	given
	now notes.Piece
}

// noteLook is what looking at the notes of a run gave.
type noteLook struct {
	paths   map[string]bool
	renoted []renoted
	err     error
}

// noteLooker returns how to look at them, outside the loop.
func (d *daemon) noteLooker(r *run) func() noteLook {
	dir, from, files := r.dir, r.Board, d.files
	limits := notes.Limits{PerNote: d.settings.Notes.PerNote, Total: d.settings.Notes.Total}
	return func() (l noteLook) {
		all, err := givenTo(dir)
		if err != nil {
			return noteLook{err: err}
		}
		var links []string
		l.paths = map[string]bool{}
		for _, g := range all {
			links = append(links, g.link)
			l.paths[g.Path] = true
		}
		limits.Links = len(all)
		now := files.copy([]byte(strings.Join(links, "\n\n")), from, d.readNote, limits)
		for _, g := range all {
			i := slices.IndexFunc(now, func(p notes.Piece) bool { return p.Link == g.link })
			if i >= 0 && now[i].Hash != g.Hash {
				l.renoted = append(l.renoted, renoted{g, now[i]})
				l.paths[now[i].Path] = true
			}
		}
		return l
	}
}

// noteChanged is told of each file that has changed.
func (d *daemon) noteChanged(path string) {
	for _, r := range d.runs {
		if r.noted[path] && r.Open() {
			d.lookNotes(r)
		}
	}
}

// lookNotes looks whether the notes that an agent was given are what they were.
func (d *daemon) lookNotes(r *run) {
	if r.noting {
		r.noteSeen = true
		return
	}
	r.noting, r.noteSeen = true, false
	look := d.noteLooker(r)
	d.queues.add("notes:"+r.ID, func() any { return look() }, func(v any) {
		r.noting = false
		d.tookNotes(r, v.(noteLook))
		if r.noteSeen {
			d.lookNotes(r)
		}
	})
}

// tookNotes logs which of them are others, when that is news. What cannot be read
// is looked at again when one of them changes.
func (d *daemon) tookNotes(r *run, l noteLook) {
	if l.err != nil || !r.Open() {
		return
	}
	r.noted = l.paths
	var names []string
	for _, n := range l.renoted {
		names = append(names, n.name())
	}
	if !slices.Equal(names, r.Renoted) {
		d.fact(r, dispatch.Entry{Kind: dispatch.Renoted, Lines: names})
	}
}

// steerNotes tells an agent at work what changed of the notes it was given, with
// what the person says.
func (d *daemon) steerNotes(r *run, c control.Command, done reply) {
	look := d.noteLooker(r)
	d.queues.add("notes:"+r.ID, func() any { return look() }, func(v any) {
		l := v.(noteLook)
		res := control.Result{Run: r.ID}
		err := cmp.Or(l.err, maySay(r))
		if err == nil && len(l.renoted) == 0 {
			err = refused(control.CodeConflict, "", "%s: the notes are as @%s was told", r.Card.Title, r.Agent)
		}
		if err != nil {
			done(res, err)
			return
		}
		e := dispatch.Entry{How: c.Name, By: from(c), Command: c.ID}
		var names []string
		e.Text, names, e.Notes = d.changesOf(r, l.renoted, strings.TrimSpace(c.Text))
		if !d.steer(r, e) {
			done(res, unwritable())
			return
		}
		d.lookNotes(r)
		res.Text = "told @" + r.Agent + " on " + r.Card.Title + " what changed: " + strings.Join(names, ", ")
		done(res, nil)
	})
}

// changesOf is what an agent is told of notes that changed, and what it has of
// them then.
func (d *daemon) changesOf(r *run, all []renoted, said string) (text string, names []string, has []dispatch.Copied) {
	var changed []harness.ChangedNote
	left := d.settings.Notes.Total
	for _, n := range all {
		c := n.change(left)
		left -= utf8.RuneCountInString(c.Diff)
		changed, names = append(changed, c), append(names, n.name())
		has = append(has, dispatch.Copied{Path: n.Path, Section: n.Section, Hash: n.now.Hash, Text: n.now.Text})
	}
	nonce := d.nonceOf(r, len(r.Told)+1_000_000) // of no turn
	return harness.NotesChanged(nonce, said, changed), names, has
}

// change is what an agent is told of a note, in at most so many characters.
func (n renoted) change(most int) harness.ChangedNote {
	c := harness.ChangedNote{Name: n.link, Section: n.Section}
	now := n.now.Text
	if now != "" && !strings.HasSuffix(now, "\n") {
		now += "\n"
	}
	lines := diff.Compare(n.Text, now).Unified(3)
	switch {
	case n.now.Problem != "":
		c.Problem = n.now.Problem
	case lines == "":
		c.Problem = "it changed only behind what is copied of it"
	case utf8.RuneCountInString(lines) > most:
		c.Problem = "its changes are longer than what may be copied"
	default:
		c.Diff = lines
	}
	return c
}
