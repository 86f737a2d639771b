package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// displaced is a copy that came out of a swap and was what it should be. It is
// kept for a while, because a program that opened the file before the swap may
// still write to it.
type displaced struct {
	place place // with an open folder of its own
	temp  string
	want  string // mark of what it should hold
	size  int    // and its length
	ops   []Op   // guarded by Store.mu: what was done to the file since
	stale bool   // guarded by Store.mu: a person's save came to the path by another way since
	due   time.Time
}

// setAside keeps temp, which should hold want, for the grace time.
func (s *Store) setAside(p place, temp string, want *contents, stale bool, op Op) {
	dir, err := dup(p.dir)
	if err != nil {
		return // no descriptor left: the next start looks at it, the log has it
	}
	p.dir = dir
	d := &displaced{
		place: p, temp: temp, want: want.mark(), size: len(want.data),
		ops: []Op{op}, stale: stale, due: time.Now().Add(s.opts.Grace),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aside = append(s.aside, d)
	s.arm(s.opts.Grace)
}

// arm starts the timer for the next look; mu is held.
func (s *Store) arm(after time.Duration) {
	if s.timer != nil || s.done {
		return
	}
	s.wg.Add(1)
	s.timer = time.AfterFunc(after, func() {
		defer s.wg.Done()
		s.lookDue(time.Now())
	})
}

func dup(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// lookDue looks at the copies whose time has come; those that somebody still
// writes to get another grace time.
func (s *Store) lookDue(now time.Time) {
	for _, d := range s.take(func(d *displaced) bool { return !d.due.After(now) }) {
		if !s.look(context.Background(), d) {
			d.due = now.Add(s.opts.Grace)
			s.giveBack(d)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = nil
	if len(s.aside) > 0 {
		next := slices.MinFunc(s.aside, func(a, b *displaced) int { return a.due.Compare(b.due) })
		s.arm(next.due.Sub(now))
	}
}

// take removes copies from the list for whoever looks at them.
func (s *Store) take(which func(*displaced) bool) []*displaced {
	s.mu.Lock()
	defer s.mu.Unlock()
	var taken, left []*displaced
	for _, d := range s.aside {
		if which(d) {
			taken = append(taken, d)
		} else {
			left = append(left, d)
		}
	}
	s.aside = left
	return taken
}

func (s *Store) giveBack(d *displaced) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aside = append(s.aside, d)
}

// Flush looks at all displaced copies now and lets them go. What cannot be let
// go yet stays for a later look, or for Recover.
func (s *Store) Flush(ctx context.Context) error {
	for range 3 { // a late save that was brought to the path is looked at too
		for _, d := range s.take(func(*displaced) bool { return true }) {
			if ctx.Err() != nil || !s.look(ctx, d) {
				s.giveBack(d)
			}
		}
	}
	return ctx.Err()
}

// asideOf lists the displaced copies of a file.
func (s *Store) asideOf(key string) []*displaced {
	s.mu.Lock()
	defer s.mu.Unlock()
	var of []*displaced
	for _, d := range s.aside {
		if d.place.key == key {
			of = append(of, d)
		}
	}
	return of
}

// follow adds an operation that came after earlier swaps: a late save into one
// of their copies has to get it too.
func (s *Store) follow(earlier []*displaced, op Op) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range earlier {
		d.ops = append(d.ops, op)
	}
}

// outdate marks the copies of a file when a person's contents come to the path
// by another way: from then on they are older than what is there.
func (s *Store) outdate(key string) {
	for _, d := range s.asideOf(key) {
		s.mu.Lock()
		d.stale = true
		s.mu.Unlock()
	}
}

// look looks at a displaced copy once more and deletes it. done: nothing of it
// is left to do.
func (s *Store) look(ctx context.Context, d *displaced) (done bool) {
	unlock, err := s.keys.lock(ctx, d.place.key)
	if err != nil {
		return false
	}
	defer unlock()
	defer func() {
		if done {
			d.place.close()
		}
	}()
	late, err := s.letGo(d)
	switch {
	case errors.Is(err, unix.ENOENT):
		s.log.gone(d.temp)
		return true
	case err != nil:
		return false
	case late == nil:
		s.log.gone(d.temp)
		return true
	}
	return s.lateSave(d, late)
}

// letGo deletes the copy while nobody can write to it, or returns what
// somebody wrote to it.
func (s *Store) letGo(d *displaced) (late *contents, err error) {
	check := func(c contents, err error) error {
		if err != nil {
			return err
		}
		if c.mark() != d.want {
			late = &c
			return nil
		}
		return s.disk.remove(d.place.dir, d.temp)
	}
	err = s.held(d.place, d.temp, func(f *os.File) error { return check(s.readOpen(f, true)) })
	if missing(err) {
		err = check(s.readStable(d.place.dir, d.temp, true))
	}
	return late, err
}

// lateSave brings a save that went into a displaced copy to the path. Added
// lines are added there. Other changes get everything that was done to the file
// since, when nobody else has saved there; when a person has, that is the newer
// state, and the late one is kept in the state folder.
func (s *Store) lateSave(d *displaced, late *contents) (done bool) {
	if len(late.data) > d.size && markOf(late.data[:d.size]) == d.want {
		return s.lateLines(d, late)
	}
	s.mu.Lock()
	ops, stale := slices.Clone(d.ops), d.stale
	s.mu.Unlock()
	cur, err := s.readStable(d.place.dir, d.place.base, true)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return false
	}
	if err != nil || stale || !s.own.has(d.place.key, cur.mark()) {
		return s.keep(d.place, d.temp, late.data)
	}
	u := &update{s: s, p: d.place, op: inTurn(ops), began: time.Now()}
	t := turn{temp: d.temp, want: &contents{mark: known(d.want)}, ours: cur.data, mark: cur.mark()}
	next, gone, err := u.answer(t, late)
	if err == nil && !gone {
		_, err = u.settleOut(next)
	}
	if err == nil {
		s.tell(Recovered{Path: d.place.rel, What: Reapplied})
	}
	// The copy was set aside again by answer, with what it holds now.
	return true
}

// lateLines adds lines that a program appended to a displaced copy to the file.
func (s *Store) lateLines(d *displaced, late *contents) (done bool) {
	added := late.data[d.size:]
	add := func(cur []byte) ([]byte, error) {
		if bytes.HasSuffix(cur, added) {
			return cur, nil
		}
		return slices.Concat(cur, added), nil
	}
	u := &update{s: s, p: d.place, op: add, began: time.Now()}
	ctx, cancel := context.WithTimeout(context.Background(), writeWait)
	defer cancel()
	if _, err := u.run(ctx); err != nil {
		return false
	}
	s.setAside(d.place, d.temp, late, true, add)
	s.tell(Recovered{Path: d.place.rel, What: Reapplied})
	return true
}

// inTurn applies operations one after the other, leaving out those that do not
// apply.
func inTurn(ops []Op) Op {
	return func(cur []byte) ([]byte, error) {
		for _, op := range ops {
			if out, err := op(cur); err == nil {
				cur = out
			}
		}
		return cur, nil
	}
}

func (s *Store) tell(r Recovered) {
	if s.opts.Late != nil {
		s.opts.Late(r)
	}
}
