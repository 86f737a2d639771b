package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"deckhand/dispatch"
	"deckhand/journal"
)

// journalEvery is how long an entry may wait to be written with others; the
// promise is five seconds.
const journalEvery = time.Second

// recorder writes the journal: the entries of the logs, for people. What the
// file lacks is found by the events' ids, so an entry that a kill kept out is
// written at the next start, and none is written twice. Up to which event the
// journal is whole is kept in the state folder (journaled), so that a start
// need not read what was long ago.
type recorder struct {
	mark    string // path of that file
	wait    map[string][]journal.Entry
	due     time.Time // when what waits is written; zero: nothing does
	writing bool
	last    string // newest event that was noted
	trouble trouble
}

func newRecorder(f *folder) recorder {
	return recorder{mark: f.path("journaled"), wait: map[string][]journal.Entry{}}
}

// note puts a log entry on the way to the journal.
func (rec *recorder) note(d *daemon, r *run, e dispatch.Entry) {
	rec.last = max(rec.last, e.ID)
	all := d.journalEntries(r, e)
	if len(all) == 0 {
		return
	}
	file := path.Join(d.settings.Output, journal.File(all[0].Time))
	rec.wait[file] = append(rec.wait[file], all...)
	if rec.due.IsZero() {
		rec.due = time.Now().Add(journalEvery)
	}
}

// waits reports whether something waits that can still be hoped for.
func (rec *recorder) waits() bool { return len(rec.wait) > 0 && rec.trouble.tries < enough }

// flush writes what has waited long enough.
func (rec *recorder) flush(d *daemon, now time.Time) {
	if !rec.due.IsZero() && !now.Before(rec.due) {
		rec.write(d)
	}
}

// write adds what waits to the files, one after the other.
func (rec *recorder) write(d *daemon) {
	if rec.writing || len(rec.wait) == 0 {
		return
	}
	rec.due, rec.writing = time.Time{}, true
	wait, last := rec.wait, rec.last
	rec.wait = map[string][]journal.Entry{}
	whole := !d.owes()
	d.queues.add("journal", func() any {
		for file, entries := range wait {
			if err := d.addJournal(file, entries); err != nil {
				return err
			}
			delete(wait, file)
		}
		d.o.at("journal written")
		if !whole {
			return nil
		}
		return writeFile(rec.mark, []byte(last+"\n"))
	}, func(v any) {
		rec.writing = false
		err, _ := v.(error)
		if err == nil {
			rec.trouble = trouble{}
		} else {
			if rec.trouble.failed(time.Now(), err) {
				d.say("journal: %v", err)
			}
			for file, entries := range wait {
				rec.wait[file] = append(entries, rec.wait[file]...)
			}
			rec.due, rec.trouble.again = rec.trouble.again, time.Time{}
		}
		if len(rec.wait) > 0 && rec.due.IsZero() {
			rec.due = time.Now().Add(journalEvery)
		}
	})
}

// owes reports whether the disk still lacks entries of a log.
func (d *daemon) owes() bool {
	for _, r := range d.runs {
		if len(r.unlogged) > 0 {
			return true
		}
	}
	return false
}

func (d *daemon) addJournal(file string, entries []journal.Entry) error {
	_, err := d.store.UpdateNow(d.ctx, file, func(cur []byte) ([]byte, error) {
		lack := journal.Missing(entries, cur)
		if len(lack) == 0 {
			return cur, nil
		}
		for i := range lack {
			lack[i].Diff = journalDiff(d.f.state, lack[i])
		}
		return journal.Append(cur, lack), nil
	})
	return err
}

// missing notes again what a kill kept out: everything since the journal was
// known to be whole, and the last two days, where a person looks.
func (rec *recorder) missing(d *daemon) {
	mark, err := os.ReadFile(rec.mark)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.say("journal: %v", err)
	}
	whole, recent := strings.TrimSpace(string(mark)), time.Now().AddDate(0, 0, -1)
	for _, r := range d.sorted() {
		if r.LastID <= whole && r.LastTime.Before(recent) {
			continue
		}
		if err := eachEntry(r.dir, func(e dispatch.Entry) {
			if e.ID > whole || !e.Time.Before(recent) {
				rec.note(d, r, e)
			}
		}); err != nil {
			d.say("run %s: %v", r.ID, err)
		}
	}
	for _, entries := range rec.wait {
		slices.SortFunc(entries, func(a, b journal.Entry) int { return cmp.Compare(a.Event, b.Event) })
	}
}

// journalEntry is a log entry as the journal has it; false for those that are
// only about how deckhand works.
func (m *model) journalEntry(r *run, e dispatch.Entry) (journal.Entry, bool) {
	j := journal.Entry{
		Time: e.Time.Local(), Object: r.Card.Title, Event: e.ID, Run: r.ID, Reason: e.Reason,
	}
	at := path.Join(m.settings.Output, "journal", "x")
	if r.Board != "" {
		j.From = dispatch.Link(at, r.Board, trimMD(path.Base(r.Board)), m.wiki)
	}
	j.Chat = dispatch.Link(at, m.chatPath(r), "chat", m.wiki)
	var ok bool
	j.Status, j.Reason, ok = told(e)
	return j, ok
}

// told is the status word of an entry in the journal and its reason.
func told(e dispatch.Entry) (status, reason string, ok bool) {
	switch e.Kind {
	case dispatch.Claimed:
		return "claimed", fmt.Sprintf("@%s in %s", e.Agent, e.Project), true
	case dispatch.Asked:
		if e.Ask == nil {
			return "", "", false
		}
		return "asked", oneLine(e.Ask.Title + " " + e.Ask.Message), true
	case dispatch.Finished:
		switch e.Outcome {
		case dispatch.Failed:
			return "failed", e.Reason, true
		case dispatch.Stopped:
			return "", "", false // the stop was told
		}
		return "finished", e.Reason, true
	case dispatch.Stopping:
		return "stopped", e.Reason, true
	case dispatch.Shown:
		if e.Card != nil && e.From != "" {
			return "moved", e.From + " → " + e.Card.Lane, true
		}
	case dispatch.Released:
		return "stopped", "the claim was taken back: " + e.Reason, true
	case dispatch.Started, dispatch.Interrupted, dispatch.Accepted:
		return string(e.Kind), e.Reason, true
	case dispatch.Ended:
		return "failed", e.Reason, e.Reason != ""
	}
	return toldTalk(e)
}

// toldTalk is the same of what people answer and say.
func toldTalk(e dispatch.Entry) (status, reason string, ok bool) {
	switch e.Kind {
	case dispatch.Resumed:
		return "steered", withWords("it goes on ("+goesOn(e.By)+")", strings.Join(e.Lines, "\n")), true
	case dispatch.Answered:
		if e.Ask == nil || e.Answer == nil {
			return "", "", false
		}
		return "answered", withWords(oneLine(e.Answer.String())+" ("+source(e)+")", e.Ask.Title), true
	case dispatch.Steered:
		switch {
		case e.How == dispatch.HowReply:
			return "steered", withWords("it goes on when there is room ("+e.By+")", e.Text), true
		case len(e.Notes) > 0:
			return "steered", withWords(e.How+" ("+e.By+"), with what changed of its notes", e.Text), true
		}
		return "steered", withWords(e.How+" ("+e.By+")", e.Text), true
	case dispatch.Unread:
		return "steered", withWords("not read before its turn was over, and kept for the next", e.Text), true
	case dispatch.AskGone:
		return "timed out", e.Reason, timedOut(e)
	}
	return toldProposal(e)
}

// goesOn is who lets a run go on, or what.
func goesOn(by string) string {
	if by == dispatch.ByLate {
		return "with what it had not read"
	}
	return by
}

// source is where an answer came from, and the permission that it used or gave.
func source(e dispatch.Entry) string {
	if e.Approval == "" {
		return e.By
	}
	return e.By + ", " + e.Approval
}

// withWords is a reason with what it is about, at a length that a journal bears.
func withWords(reason, words string) string {
	if words = short(oneLine(words), 200); words == "" {
		return reason
	}
	return reason + ": " + words
}

// timedOut reports whether an ask is gone because nobody answered: then, and not
// with an answer, its agent has gone on by itself.
func timedOut(e dispatch.Entry) bool { return strings.HasPrefix(e.Reason, "nobody answered") }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
