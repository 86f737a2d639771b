package daemon

import (
	"cmp"
	"fmt"
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
// written at the next start, and none is written twice.
type recorder struct {
	wait map[string][]journal.Entry // by file
	due  time.Time
	busy map[string]bool
}

func (rec *recorder) open(*daemon) {
	rec.wait, rec.busy = map[string][]journal.Entry{}, map[string]bool{}
}

// note puts a log entry on the way to the journal.
func (rec *recorder) note(d *daemon, r *run, e dispatch.Entry) {
	j, ok := d.journalEntry(r, e)
	if !ok {
		return
	}
	file := path.Join(d.settings.Output, journal.File(j.Time))
	rec.wait[file] = append(rec.wait[file], j)
	if rec.due.IsZero() {
		rec.due = time.Now().Add(journalEvery)
	}
}

// write adds what waits to the files.
func (rec *recorder) write(d *daemon) {
	rec.due = time.Time{}
	for file, entries := range rec.wait {
		if rec.busy[file] {
			rec.due = time.Now().Add(journalEvery)
			continue
		}
		rec.busy[file] = true
		delete(rec.wait, file)
		d.queues.add("journal:"+file, func() any {
			_, err := d.store.UpdateNow(d.ctx, file, func(cur []byte) ([]byte, error) {
				lack := journal.Missing(entries, cur)
				if len(lack) == 0 {
					return cur, nil
				}
				return journal.Append(cur, lack), nil
			})
			d.o.at("journal written")
			return err
		}, func(v any) {
			delete(rec.busy, file)
			if err, _ := v.(error); err != nil {
				d.say("%s: %v", file, err)
				rec.wait[file] = append(entries, rec.wait[file]...)
				rec.due = time.Now().Add(pause)
			}
		})
	}
}

// catchUp writes again what a kill kept out: the entries of today and yesterday.
func (rec *recorder) catchUp(d *daemon) {
	since := time.Now().AddDate(0, 0, -1)
	for _, r := range d.sorted() {
		if r.LastTime.Before(since) {
			continue
		}
		if err := eachEntry(r.dir, func(e dispatch.Entry) {
			if !e.Time.Before(since) {
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
		return "asked", oneLine(e.Ask.Title + " " + e.Ask.Message), true
	case dispatch.Finished:
		if e.Outcome == dispatch.Failed {
			return "failed", e.Reason, true
		}
		return "finished", e.Reason, true
	case dispatch.Stopping:
		return "stopped", e.Reason, true
	case dispatch.Shown:
		if e.Card != nil {
			return "moved", "stands in " + e.Card.Lane, true
		}
	case dispatch.Resumed:
		return "resumed", "by " + e.By, true
	case dispatch.Started, dispatch.Interrupted, dispatch.Accepted, dispatch.Released:
		return string(e.Kind), e.Reason, true
	case dispatch.Ended:
		return "ended", e.Reason, e.Reason != ""
	}
	return "", "", false
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
