package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/internal/store"
)

// cardChange is an operation on a board: pure, and once more on what a person has
// saved meanwhile.
type cardChange func(*board.Board) (*board.Board, error)

// wrote is the result of writing a board.
type wrote struct {
	err   error
	board *board.Board // as it is now; nil when that is not known
}

// update is how the store writes: when the file is quiet, or now.
type update func(ctx context.Context, rel string, op store.Op) (store.Result, error)

// writeBoard changes a board outside the loop, behind other changes of it. done
// runs in the loop, after the model has what was written, or what was found there
// and made it impossible: else the same would be decided again.
func (d *daemon) writeBoard(path string, write update, do cardChange, done func(error)) {
	step, opts := d.step, d.optionsOf(path)
	known := d.boardAt(path)
	d.queues.add("board:"+path, func() any {
		var last, refused *board.Board
		res, err := write(d.ctx, path, func(cur []byte) ([]byte, error) {
			if cur == nil {
				return nil, board.ErrGone
			}
			now := reread(path, cur, known, opts)
			next, err := do(now)
			if err != nil {
				refused = now
				return nil, err
			}
			last, refused = next, nil
			d.o.at("card made")
			return next.Src, nil
		})
		d.o.at("card written")
		if err != nil || res.Bytes == nil {
			return wrote{err: err, board: refused}
		}
		return wrote{board: last.Reread(res.Bytes, opts)}
	}, func(v any) {
		w := v.(wrote)
		if w.board != nil {
			d.wrote(path, w.board, step)
		}
		done(w.err)
	})
}

// bytewise is a change by an operation that gives bytes.
func (d *daemon) bytewise(path string, op func(*board.Board) ([]byte, error)) cardChange {
	opts := d.optionsOf(path)
	return func(b *board.Board) (*board.Board, error) {
		src, err := op(b)
		if err != nil {
			return nil, err
		}
		return b.Reread(src, opts), nil
	}
}

// wrote takes over what a write has shown without waiting for the watcher. A look
// that came in between may have seen a save that is newer: then it is looked again.
func (d *daemon) wrote(path string, b *board.Board, step int64) {
	next := &seen{board: b}
	if old := d.boards[path]; old != nil {
		next.ctime = old.ctime
		if old.read > step {
			d.lookSoon(path, 0)
		}
	}
	d.setBoard(path, next)
	d.dirty = true
}

// show writes what a run's card shows.
func (d *daemon) show(r *run, a dispatch.Action) bool {
	announced := !r.InSync && r.Want.Word == a.Shows.Word && r.Want.To == a.Shows.To && slices.Equal(r.Want.Lines, a.Shows.Lines)
	to, first, turn := roleOf(a.Shows.To), firstClaim(r), r.turns
	up := board.Update{Run: a.Find, Key: a.Key, Put: a.Item}
	if !announced && !d.log(r, dispatch.Entry{
		Kind: dispatch.Show, Word: a.Shows.Word, To: a.Shows.To, Lines: a.Shows.Lines,
		Card: d.meant(r, a.Board, up, to, a.From),
	}) {
		return false
	}
	up.Wrote = slices.Concat(r.Wrote, r.Took)
	stillHere := d.stillHere()
	d.writeCard(r, a.Board, func(b *board.Board) (*board.Board, error) {
		if first {
			if err := stillHere(); err != nil {
				return nil, err
			}
		}
		up, err := moving(b, up, to, a.From, first)
		if err != nil {
			return nil, err
		}
		return b.Apply(up)
	}, func() {
		if r.turns != turn {
			return // it was told to go on meanwhile: what it shows then is decided anew
		}
		shown := dispatch.Entry{Kind: dispatch.Shown, Board: a.Board, Card: d.cardNow(r, a.Board)}
		if c := shown.Card; c != nil && c.Lane != r.Lane {
			shown.From = r.Lane
		}
		d.fact(r, shown)
		d.served(dispatch.CardID{Board: a.Board, Key: a.Key})
	})
	return true
}

// Between the decision and the write a card was moved, or was taken: a sync may
// have brought what another machine did.
var (
	errMoved = errors.New("the card was moved meanwhile")
	errTaken = errors.New("another run has taken the card meanwhile")
	errOld   = errors.New("an old copy of the board was saved meanwhile")
)

// moving lets an update move its card only where that is deckhand's to do: to
// the working lane from where it was seen, onward only from the working lane. A
// card that was moved since stays where it was put, and is not taken, be it to
// the working lane. One that has lost the run's line was not moved: it is an old
// copy, and what has to be done about it is decided anew.
func moving(b *board.Board, up board.Update, to board.Role, from string, first bool) (board.Update, error) {
	cards := b.ByRun(up.Run)
	own := len(cards) > 0
	if !own {
		cards = b.ByKey(up.Key)
	}
	if to == board.NoRole || len(cards) != 1 {
		return up, nil // nothing is moved, or the update says what is wrong
	}
	lane := b.LaneOf(cards[0])
	if lane == nil {
		return up, nil // archived meanwhile
	}
	if err := asDecided(cards[0], lane, to, from, own, first); err != nil {
		return up, fmt.Errorf("%s:%d: %w", b.Path, cards[0].Line, err)
	}
	switch {
	case lane.Role == to:
	case lane.Title != from:
		return up, nil
	case own && to != board.Working && lane.Role != board.Working && (to != board.Done || lane.Role != board.Review):
		return up, nil
	}
	up.To = to
	return up, nil
}

// asDecided says why a card is not what it was when something was decided about it;
// own when the line that it had is still there, first when a claim was.
func asDecided(c *board.Card, lane *board.Lane, to board.Role, from string, own, first bool) error {
	there := lane.Title == from || lane.Role == to && (own || !first)
	switch {
	case first && !own && c.Status != nil:
		return errTaken
	case first && !there:
		return errMoved
	case !own && !there:
		return errOld
	}
	return nil
}

// firstClaim reports whether nothing of a run stands on a board yet.
func firstClaim(r *run) bool {
	return r.Phase == dispatch.PhaseClaimed && r.Life == 0 && r.Tries == 0
}

// writeCard changes the board a run's card is on. done runs in the loop when
// it is written.
func (d *daemon) writeCard(r *run, path string, do cardChange, done func()) {
	d.writing[r.ID] = true
	d.writeBoard(path, d.store.Update, do, func(err error) {
		if err != nil {
			d.cardFailed(r, path, err)
			return
		}
		delete(d.writing, r.ID)
		r.fault = trouble{}
		done()
	})
}

// cardFailed is a card that could not be written. What a person can have done
// is judged anew; what the machine did is tried again.
func (d *daemon) cardFailed(r *run, path string, err error) {
	if other, late := errors.AsType[elsewhere](err); late {
		d.runBy(other.now, false)
	}
	if firstClaim(r) && d.release(r, path, err) {
		return
	}
	if errors.Is(err, errOld) {
		delete(d.writing, r.ID)
		return
	}
	if r.fault.failed(time.Now(), err) {
		d.say("card of run %s: %v", r.ID, err)
	}
	if errors.Is(err, store.ErrBusy) {
		r.fault.again = time.Now().Add(pause / 10)
	}
}

// release gives a claim up whose card could not be written. When that is the
// file's fault nothing starts on it before it has changed: a new claim would
// fail in the same way.
func (d *daemon) release(r *run, path string, err error) bool {
	file := is(err, store.ErrReadOnly, store.ErrHardLink, store.ErrLink, store.ErrOutside, store.ErrNUL, store.ErrTooLarge, store.ErrNotFile)
	_, late := errors.AsType[elsewhere](err)
	if !file && !late && !is(err, board.ErrGone, board.ErrAmbiguous, board.ErrNoLane, board.ErrInactive, errMoved, errTaken) {
		return false
	}
	if !d.log(r, dispatch.Entry{Kind: dispatch.Released, Reason: err.Error()}) {
		return false
	}
	delete(d.writing, r.ID)
	d.lookSoon(path, 0)
	if file {
		d.refuse(path, err)
	}
	return true
}

// refuse lets nothing start on a board that cannot be written.
func (d *daemon) refuse(path string, err error) {
	s := d.boards[path]
	if s == nil {
		return
	}
	s.refused.failed(time.Now(), errors.New(strings.TrimPrefix(err.Error(), path+": ")))
	s.gone, d.dirty = s.refused.String(), true
}

// askBoard asks whether a board that refused a claim can be written by now. A
// folder or a disk that can be written again is no change of the file. It is
// only asked: a claim in vain would leave a run behind each time.
func (d *daemon) askBoard(path string) {
	d.queues.add("board:"+path, func() any { return d.store.Writable(d.ctx, path) }, func(v any) {
		s := d.boards[path]
		if s == nil || s.refused.text == "" {
			return // it has changed meanwhile
		}
		if err, _ := v.(error); err != nil {
			d.refuse(path, err)
			return
		}
		s.refused.text, s.gone, d.dirty = "", "", true // how often it failed stays, should a claim fail again
		d.say("%s can be written again", path)
	})
}

func is(err error, any ...error) bool {
	return slices.ContainsFunc(any, func(e error) bool { return errors.Is(err, e) })
}

// takeBack undoes a claim that may not start any more.
func (d *daemon) takeBack(r *run, a dispatch.Action) bool {
	over := dispatch.Entry{Kind: dispatch.Released, Reason: "what allowed it to start is gone"}
	if r.Life > 0 {
		over = dispatch.Entry{Kind: dispatch.Ended, Reason: over.Reason}
	}
	if a.Board == "" || r.Life > 0 {
		return d.log(r, over)
	}
	up := board.Update{Run: strings.ToLower(r.ID), Key: a.Key, ToLane: r.Card.Lane, Remove: true, Wrote: r.Wrote}
	d.writeCard(r, a.Board, func(b *board.Board) (*board.Board, error) {
		up.At = placeBefore(b, r.Card.Lane, r.Card.Next)
		next, err := b.Apply(up)
		if errors.Is(err, board.ErrNoLane) { // a person has renamed it: the card stays where it is
			stays := up
			stays.ToLane, stays.At = "", 0
			return b.Apply(stays)
		}
		return next, err
	}, func() { d.log(r, over) })
	return true
}

// placeBefore is the place in a lane before the card that reads so, from 1; 0: there
// is no such card, or more than one.
func placeBefore(b *board.Board, lane, key string) int {
	l := b.LaneNamed(lane)
	if l == nil || key == "" {
		return 0
	}
	at := 0
	for i := range l.Cards {
		if l.Cards[i].Key == key {
			if at > 0 {
				return 0
			}
			at = i + 1
		}
	}
	return at
}

// clear takes the item that was copied with a task that recurs off the new card.
func (d *daemon) clear(r *run, a dispatch.Action) bool {
	up := board.Update{Key: a.Key, Remove: true, Wrote: r.Wrote}
	d.writeCard(r, a.Board, func(b *board.Board) (*board.Board, error) { return b.Apply(up) }, func() {
		d.said(r, 0, "the copied line was taken off the new card of a task that recurs")
	})
	return true
}

// addLanes adds the lanes that a board lacks.
func (d *daemon) addLanes(path string) bool {
	s := d.boards[path]
	if s == nil || d.adding[path] || time.Now().Before(s.lanes.again) {
		return false
	}
	d.adding[path] = true
	d.writeBoard(path, d.store.Update, d.bytewise(path, (*board.Board).AddLanes), func(err error) {
		delete(d.adding, path)
		now := d.boards[path]
		if err == nil || now == nil {
			return
		}
		now.lanes = s.lanes
		if now.lanes.failed(time.Now(), err) {
			d.say("lanes: %v", err)
		}
	})
	return true
}

// meant is a run's card as an update is about to leave it: in the lane it goes
// to, with everything a person has written below it by now. What they do from
// now on, be it in the middle of the write, they have done since.
func (d *daemon) meant(r *run, path string, up board.Update, to board.Role, from string) *dispatch.Card {
	b := d.boardAt(path)
	if b == nil {
		return nil
	}
	cards := b.ByRun(up.Run)
	if len(cards) == 0 {
		cards = b.ByKey(up.Key)
	}
	if len(cards) != 1 {
		return nil
	}
	lane := b.LaneOf(cards[0])
	if up, err := moving(b, up, to, from, false); err == nil && up.To != board.NoRole {
		lane = b.Lane(up.To)
	}
	card := cardIn(path, lane, cards[0])
	card.Lines = personLines(r, cards[0])
	return card
}

// cardNow is a run's card as it stands.
func (d *daemon) cardNow(r *run, path string) *dispatch.Card {
	s, ok := d.find(r)
	if !ok || s.path != path {
		return nil
	}
	return cardIn(path, s.lane, s.card)
}

func cardIn(path string, lane *board.Lane, c *board.Card) *dispatch.Card {
	out := &dispatch.Card{Board: path, Line: c.Line, Key: c.Key, Title: c.Title}
	if lane != nil {
		out.Lane = lane.Title
	}
	return out
}

// personLines are the lines of a run's card that deckhand did not write: those
// below the card's first, and those inside its item.
func personLines(r *run, c *board.Card) []string {
	lines := slices.Clone(c.Lines)
	if c.Status != nil {
		lines = append(lines, board.Added(slices.Concat(r.Wrote, r.Took), c.Status.Lines)...)
	}
	return lines
}
