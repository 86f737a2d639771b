package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// errAgain: what was read is gone already; start from the top.
var errAgain = errors.New("changed meanwhile")

const (
	// vimGap is how long a file may be missing before it counts as missing:
	// vim renames the old file away and creates the new one after it.
	vimGap = 25 * time.Millisecond
	// maxTurns bounds the swaps of one update. Each turn answers one save of a
	// person that fell into some hundred microseconds.
	maxTurns = 50
)

// Update applies op to the file rel, waiting until it is quiet.
func (s *Store) Update(ctx context.Context, rel string, op Op) (Result, error) {
	return s.update(ctx, rel, op, time.Duration(s.settle.Load()))
}

// UpdateNow is Update without the wait, for files that are ours (chats, Needs
// me): a person may write in them, so the swap is the same.
func (s *Store) UpdateNow(ctx context.Context, rel string, op Op) (Result, error) {
	return s.update(ctx, rel, op, 0)
}

func (s *Store) update(ctx context.Context, rel string, op Op, settle time.Duration) (Result, error) {
	p, err := s.locateFor(rel, op)
	if err != nil || p.dir == nil {
		return Result{}, wrap(rel, err)
	}
	defer p.close()
	unlock, err := s.keys.lock(ctx, p.key)
	if err != nil {
		return Result{}, wrap(rel, err)
	}
	defer unlock()
	earlier := s.asideOf(p.key)
	u := &update{s: s, p: p, op: op, settle: settle, began: time.Now()}
	res, err := u.run(ctx)
	if err != nil {
		return res, wrap(rel, err)
	}
	s.follow(earlier, op)
	return res, wrap(rel, u.unsynced)
}

// locateFor locates rel. A missing folder is made when op wants a file there;
// when it does not, the place is empty.
func (s *Store) locateFor(rel string, op Op) (place, error) {
	p, err := s.locate(rel)
	if !errors.Is(err, unix.ENOENT) {
		return p, err
	}
	if out, err := op(nil); err != nil || out == nil {
		return place{}, err
	}
	if err := s.mkdirs(path.Dir(rel)); err != nil {
		return place{}, err
	}
	return s.locate(rel)
}

// update is one operation on one file.
type update struct {
	s      *Store
	p      place
	op     Op
	settle time.Duration
	began  time.Time

	seen     unix.Stat_t // last state seen while waiting
	seenAt   time.Time   // since when
	unsynced error       // the last error of a sync of the folder
}

func (u *update) run(ctx context.Context) (Result, error) {
	for {
		res, err := u.try(ctx)
		if !errors.Is(err, errAgain) {
			return res, err
		}
		if err := sleep(ctx, leaseStep); err != nil {
			return Result{}, fmt.Errorf("%w: %w", ErrBusy, err)
		}
	}
}

func (u *update) try(ctx context.Context) (Result, error) {
	there, err := u.quiet(ctx)
	if err != nil {
		return Result{}, err
	}
	if !there {
		return u.fresh()
	}
	cur, err := u.read(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := u.writable(&cur); err != nil {
		return Result{}, err
	}
	out, err := u.op(cur.data)
	if err != nil {
		return Result{}, err
	}
	if bytes.Equal(out, cur.data) {
		return Result{Hash: hashOf(cur.data), Bytes: cur.data}, nil
	}
	if earlier := u.s.asideOf(u.p.key); len(earlier) > 0 && !u.s.own.has(u.p.key, cur.mark()) {
		u.s.outdate(u.p.key)
	}
	return u.swap(&cur, out)
}

// read reads for writing: in the next gap between two saves.
func (u *update) read(ctx context.Context) (contents, error) {
	limited, cancel := context.WithTimeout(ctx, max(writeWait, 10*u.settle))
	defer cancel()
	cur, err := u.s.read(limited, u.p.dir, u.p.base, true)
	if errors.Is(err, unix.ENOENT) {
		return cur, errAgain
	}
	return cur, err
}

// quiet waits until nobody but us has changed the file for settle, at most ten
// times that. It reports whether the file is there.
func (u *update) quiet(ctx context.Context) (there bool, err error) {
	for {
		st, err := u.s.disk.stat(u.p.dir, u.p.base)
		gone := errors.Is(err, unix.ENOENT)
		if err != nil && !gone {
			return false, err
		}
		wait := u.wait(&st, gone)
		if wait <= 0 || (!gone && time.Since(u.began) > 10*u.settle) {
			return !gone, nil
		}
		if err := sleep(ctx, min(wait, u.step(gone))); err != nil {
			return false, err
		}
	}
}

// step is how long a wait goes without a look: a file that is away is looked
// for often, because it is back in a moment.
func (u *update) step(gone bool) time.Duration {
	if gone {
		return time.Millisecond
	}
	return max(u.settle/4, time.Millisecond)
}

// wait is how much longer a file in this state has to be left alone. Its
// change time says since when it is as it is; a clock that is ahead (another
// machine's) is not believed, then the time since we first saw it counts.
func (u *update) wait(st *unix.Stat_t, gone bool) time.Duration {
	now := time.Now()
	if u.seenAt.IsZero() || !sameFile(st, &u.seen) {
		u.seen, u.seenAt = *st, now
	}
	if gone {
		return max(u.settle, vimGap) - now.Sub(u.seenAt)
	}
	if u.s.own.untouched(u.p.key, st) {
		return 0
	}
	since := time.Unix(ctime(st))
	if since.After(now) {
		since = u.seenAt
	}
	return u.settle - now.Sub(since)
}

// writable refuses files that a swap would break.
func (u *update) writable(c *contents) error {
	if c.stat.Nlink > 1 {
		return ErrHardLink
	}
	if c.stat.Mode&0o222 == 0 {
		return ErrReadOnly
	}
	err := retry(func() error { return unix.Faccessat(fdOf(u.p.dir), u.p.base, unix.W_OK, unix.AT_EACCESS) })
	if denial(err) != 0 {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	if bytes.IndexByte(c.data, 0) >= 0 {
		return ErrNUL
	}
	return nil
}

// Writable says why a file that is there cannot be written at the moment; nil:
// nothing is known against it. Nothing is written to find out.
func (s *Store) Writable(ctx context.Context, rel string) error {
	p, err := s.locate(rel)
	if err != nil {
		return wrap(rel, err)
	}
	defer p.close()
	limited, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	cur, err := s.read(limited, p.dir, p.base, true)
	if err == nil {
		err = (&update{s: s, p: p}).writable(&cur)
	}
	if err == nil {
		err = p.refused(retry(func() error { return unix.Faccessat(fdOf(p.dir), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS) }))
	}
	return wrap(rel, err)
}

// fresh makes a file that is not there.
func (u *update) fresh() (Result, error) {
	out, err := u.op(nil)
	if err != nil {
		return Result{}, err
	}
	if out == nil {
		return Result{}, nil
	}
	hash, err := u.s.install(u.p, out)
	if errors.Is(err, ErrExists) {
		return Result{}, errAgain
	}
	return Result{Changed: err == nil, Hash: hash, Bytes: out, Swaps: 1}, err
}
