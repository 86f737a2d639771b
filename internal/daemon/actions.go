package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/store"
)

// pause is how long an effect that failed for a reason outside (disk, lock)
// waits before it is tried again.
const pause = 5 * time.Second

// act carries out one action: it logs it, and puts its effect on the way.
func (d *daemon) act(a dispatch.Action) {
	r := d.runs[a.Run]
	switch a.Do {
	case dispatch.DoClaim:
		d.claim(a)
	case dispatch.DoShow:
		d.show(r, a)
	case dispatch.DoStart:
		d.startLife(r)
	case dispatch.DoTakeBack:
		d.takeBack(r, a)
	case dispatch.DoStop:
		d.stop(r, a.By, a.Reason)
	case dispatch.DoResume:
		d.log(r, dispatch.Entry{Kind: dispatch.Resumed, By: a.By, Lines: a.Lines})
	case dispatch.DoAccept:
		d.log(r, dispatch.Entry{Kind: dispatch.Accepted})
	case dispatch.DoTimeout:
		d.log(r, dispatch.Entry{Kind: dispatch.AskGone, Life: r.Life, Ask: &dispatch.Ask{ID: a.Ask}, Reason: a.Reason})
	case dispatch.DoAddLanes:
		d.addLanes(a.Board)
	}
}

// log writes an entry to its run's log, and only then lets it count. An entry
// that cannot be written has not happened: nothing new is done for a while.
func (d *daemon) log(r *run, e dispatch.Entry) bool {
	now := time.Now().Truncate(time.Millisecond)
	e.ID, e.Time, e.Run = d.ids.next(now), now, r.ID
	d.o.at("log " + string(e.Kind))
	line, err := json.Marshal(e)
	if err == nil {
		err = r.dir.AppendLog(line)
	}
	d.o.at("logged " + string(e.Kind))
	if err != nil {
		d.say("log of run %s: %v", r.ID, err)
		d.stalled = now.Add(pause)
		d.dirty = true
		return false
	}
	r.apply(e)
	d.dirty = true
	d.record.note(d, r, e)
	return true
}

// claim makes a run for a card.
func (d *daemon) claim(a dispatch.Action) {
	now := time.Now()
	id := d.ids.next(now)
	dir, err := harness.CreateDir(d.f.state, id)
	if err != nil {
		d.say("%s:%d: %v", a.Board, a.Card.Line, err)
		d.stalled = now.Add(pause)
		return
	}
	card := a.Card
	r := newRun(&dispatch.Run{ID: id}, dir)
	d.runs[id] = r
	ok := d.log(r, dispatch.Entry{
		Kind: dispatch.Claimed, Card: &card, Agent: a.Agent, Project: a.Project, Folder: a.Folder, By: a.By,
		Nonce: d.nonce(card), Chat: d.chatName(now, card.Title),
	})
	if !ok {
		delete(d.runs, id)
		return
	}
	delete(d.forced, dispatch.CardID{Board: card.Board, Key: card.Key})
	d.say("%s:%d: @%s takes %q", card.Board, card.Line, a.Agent, card.Title)
}

// shown is the result of writing a card.
type shown struct {
	err   error
	bytes []byte
	hash  string
}

// show writes what a run's card shows.
func (d *daemon) show(r *run, a dispatch.Action) {
	announced := !r.InSync && r.Want.Word == a.Shows.Word && r.Want.To == a.Shows.To && slices.Equal(r.Want.Lines, a.Shows.Lines)
	if !announced && !d.log(r, dispatch.Entry{Kind: dispatch.Show, Word: a.Shows.Word, To: a.Shows.To, Lines: a.Shows.Lines}) {
		return
	}
	to := roleOf(a.Shows.To)
	up := board.Update{Run: strings.ToLower(r.ID), Key: r.Card.Key, Put: a.Item, Wrote: r.Wrote}
	d.writeCard(r, a.Board, func(b *board.Board) ([]byte, error) {
		return b.Update(moving(b, up, to))
	}, func() {
		d.log(r, dispatch.Entry{Kind: dispatch.Shown, Board: a.Board, Card: d.cardNow(r, a.Board)})
	})
}

// moving lets an update move its card only where that is deckhand's to do: to
// the working lane from anywhere, onward only from the working lane. A card
// without its item is an old copy and goes where it belongs.
func moving(b *board.Board, up board.Update, to board.Role) board.Update {
	if to != board.Working {
		for lane, c := range b.All() {
			if c.Status != nil && c.Status.Run == up.Run && lane.Role != board.Working {
				return up
			}
		}
	}
	up.To = to
	return up
}

// writeCard changes the board a run's card is on. done runs in the loop when
// it is written.
func (d *daemon) writeCard(r *run, path string, change func(*board.Board) ([]byte, error), done func()) {
	d.busy[r.ID] = true
	read := d.reader(path)
	op := func(cur []byte) ([]byte, error) {
		if cur == nil {
			return nil, board.ErrGone
		}
		return change(read(cur))
	}
	d.queues.add("board:"+path, func() any {
		res, err := d.store.Update(d.ctx, path, op)
		d.o.at("card written")
		return shown{err, res.Bytes, res.Hash}
	}, func(v any) {
		s := v.(shown)
		if s.err != nil {
			d.cardFailed(r, path, s.err)
			return
		}
		delete(d.busy, r.ID)
		r.fault = ""
		d.wrote(path, s)
		done()
	})
}

// reader reads a board, taking over what did not change since it was read last.
func (m *model) reader(path string) func(src []byte) *board.Board {
	opts := m.options()
	opts.Named = m.named(path)
	if s := m.boards[path]; s != nil {
		return func(src []byte) *board.Board { return s.board.Reread(src, opts) }
	}
	return func(src []byte) *board.Board { return board.Parse(path, src, opts) }
}

// wrote takes over what we wrote without waiting for the watcher.
func (d *daemon) wrote(path string, s shown) {
	if s.bytes == nil {
		return
	}
	old := d.boards[path]
	next := &seen{board: d.reader(path)(s.bytes), hash: s.hash}
	if old != nil {
		next.ctime = old.ctime
	}
	d.boards[path] = next
	d.dirty = true
}

// cardFailed is a card that could not be written. What a person can have done
// is judged anew; what the machine did is tried again.
func (d *daemon) cardFailed(r *run, path string, err error) {
	gone := errors.Is(err, board.ErrGone) || errors.Is(err, board.ErrAmbiguous) || errors.Is(err, board.ErrNoLane)
	first := r.Phase == dispatch.PhaseClaimed && r.Board == r.Card.Board && r.Tries <= 1 && r.Life == 0
	if gone && first {
		delete(d.busy, r.ID)
		d.log(r, dispatch.Entry{Kind: dispatch.Released, Reason: err.Error()})
		return
	}
	r.fault = err.Error()
	r.again = time.Now().Add(pause)
	d.say("%s: card of run %s: %v", path, r.ID, err)
	if errors.Is(err, store.ErrBusy) {
		r.again = time.Now().Add(pause / 10)
	}
}

// takeBack undoes a claim that may not start any more.
func (d *daemon) takeBack(r *run, a dispatch.Action) {
	over := dispatch.Entry{Kind: dispatch.Released, Reason: "what allowed it to start is gone"}
	if r.Life > 0 {
		over = dispatch.Entry{Kind: dispatch.Ended, Reason: over.Reason}
	}
	if a.Board == "" || r.Life > 0 {
		d.log(r, over)
		return
	}
	up := board.Update{Run: strings.ToLower(r.ID), Key: r.Card.Key, ToLane: r.Card.Lane, Remove: true, Wrote: r.Wrote}
	d.writeCard(r, a.Board, func(b *board.Board) ([]byte, error) { return b.Update(up) }, func() { d.log(r, over) })
}

func (d *daemon) addLanes(path string) {
	if d.busyLook[path] {
		return
	}
	d.busyLook[path] = true
	opts := d.options()
	d.queues.add("board:"+path, func() any {
		res, err := d.store.Update(d.ctx, path, func(cur []byte) ([]byte, error) {
			if cur == nil {
				return nil, board.ErrGone
			}
			return board.Parse(path, cur, opts).AddLanes()
		})
		return shown{err, res.Bytes, res.Hash}
	}, func(v any) {
		delete(d.busyLook, path)
		if s := v.(shown); s.err != nil {
			d.say("%s: lanes: %v", path, s.err)
			d.stalled = time.Now().Add(pause)
		} else {
			d.wrote(path, s)
		}
	})
}

// cardNow is a run's card as it stands, with everything a person has written
// below it: what comes later is what they added.
func (d *daemon) cardNow(r *run, path string) *dispatch.Card {
	s := d.boards[path]
	if s == nil {
		return nil
	}
	for lane, c := range s.board.All() {
		if c.Status == nil || !strings.EqualFold(c.Status.Run, r.ID) {
			continue
		}
		lines := append([]string{}, c.Lines...)
		lines = append(lines, board.Added(r.Wrote, c.Status.Lines)...)
		return &dispatch.Card{Board: path, Lane: lane.Title, Line: c.Line, Key: c.Key, Title: c.Title, Lines: lines}
	}
	return nil
}

func roleOf(name string) board.Role {
	for _, r := range []board.Role{board.Ready, board.Working, board.Review, board.Done} {
		if r.String() == name {
			return r
		}
	}
	return board.NoRole
}

// find is the place of a run's card on the boards, by its item.
func (m *model) find(r *run) (path string, lane *board.Lane, card *board.Card) {
	for p, s := range m.boards {
		for l, c := range s.board.All() {
			if c.Status != nil && strings.EqualFold(c.Status.Run, r.ID) {
				return p, l, c
			}
		}
	}
	return "", nil, nil
}

func (m *model) onBoard(r *run) bool {
	_, _, c := m.find(r)
	return c != nil
}

// stop ends the agent of a run before its turn is over.
func (d *daemon) stop(r *run, by, reason string) {
	if r.Phase == dispatch.PhaseStopping {
		return
	}
	if !d.log(r, dispatch.Entry{Kind: dispatch.Stopping, By: by, Reason: reason}) {
		return
	}
	d.say("%s: stopping @%s on %q: %s", r.Board, r.Agent, r.Card.Title, reason)
	switch {
	case r.runner != nil:
		r.runner.stop(d.ctx)
	case !r.starting: // else follow sees that it is to be stopped
		d.log(r, dispatch.Entry{Kind: dispatch.Ended, Reason: reason})
	}
}

func short(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

func usd(v *float64) string {
	if v == nil {
		return "cost unknown"
	}
	return dispatch.Money(*v)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
