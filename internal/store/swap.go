package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// tempName is a new name for a temp file: a dot file, which editors do not
// list and the watcher does not report.
func tempName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return ".deckhand-" + hex.EncodeToString(b[:]) + ".tmp"
}

// staged is a temp file that is ready to go in.
type staged struct {
	temp string
	mark string
	hash string
}

// stage writes a temp file that can take the place of cur (nil: of nothing),
// durable, with its row in the log. stands is the mark of what the swap should
// bring out, when that is not cur.
func (s *Store) stage(p place, cur *contents, out []byte, stands string) (staged, error) {
	if bytes.IndexByte(out, 0) >= 0 {
		return staged{}, ErrNUL
	}
	st := staged{temp: tempName()}
	if err := s.log.add(swapRow{Do: doBegin, Temp: st.temp, Dir: p.dirName, File: p.base}); err != nil {
		return staged{}, err
	}
	row := swapRow{Do: doReady, Temp: st.temp, Want: stands}
	var err error
	if st.hash, err = s.writeTemp(p, &row, cur, out); err != nil {
		s.discard(p, st.temp)
		return staged{}, fmt.Errorf("temp file: %w", err)
	}
	st.mark = row.Ours
	return st, nil
}

// createTemp makes the temp file. It gets its name when its rows are on the
// disk, or a power cut could leave a name that no row knows; where a file cannot
// be without, the rows are synced first.
func (s *Store) createTemp(p place, temp string, mode uint32) (f *os.File, named bool, err error) {
	f, err = s.disk.createUnnamed(p.dir, mode)
	if !errors.Is(err, unix.ENOTSUP) {
		return f, false, p.refused(err)
	}
	if err := s.log.sync(); err != nil {
		return nil, false, err
	}
	f, err = s.disk.create(p.dir, temp, mode)
	return f, true, p.refused(err)
}

// writeTemp writes and syncs the temp file; the log's sync and the hash are
// done meanwhile.
func (s *Store) writeTemp(p place, row *swapRow, cur *contents, out []byte) (hash string, err error) {
	mode := uint32(0o600)
	if cur == nil {
		mode = 0o644
	}
	f, named, err := s.createTemp(p, row.Temp, mode)
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := s.disk.fstat(f)
	if err != nil {
		return "", err
	}
	row.Inode = st.Ino
	logged, hashed := make(chan error, 1), make(chan string, 1)
	go func() { logged <- s.logReady(row, cur, out) }()
	go func() { hashed <- hashOf(out) }()
	err = p.refused(s.fill(f, cur, out)) // the log's own errors are not the folder's
	hash = <-hashed
	if err := errors.Join(err, <-logged); err != nil {
		return "", err
	}
	if !named {
		if err := s.disk.name(f, p.dir, row.Temp); err != nil {
			return "", p.refused(err)
		}
	}
	if st, err = s.disk.fstat(f); err != nil {
		return "", err
	}
	s.own.add(p.key, hash, row.Ours, st)
	return hash, nil
}

func (s *Store) logReady(row *swapRow, cur *contents, out []byte) error {
	if cur != nil {
		row.Read = cur.mark()
	}
	row.Ours = markOf(out)
	if err := s.log.add(*row); err != nil {
		return err
	}
	return s.log.sync()
}

func (s *Store) fill(f *os.File, cur *contents, out []byte) error {
	if err := s.disk.write(f, out); err != nil {
		return err
	}
	if cur != nil {
		if err := s.disk.setAttrs(f, cur); err != nil {
			return fmt.Errorf("attributes: %w", err)
		}
	}
	return s.disk.sync(f)
}

// discard removes a temp file that holds nothing but ours. When that fails the
// log still knows it.
func (s *Store) discard(p place, temp string) {
	if err := s.disk.remove(p.dir, temp); err == nil || errors.Is(err, unix.ENOENT) {
		s.log.gone(temp)
	}
}

// install gives p a first content; ErrExists when there is one.
func (s *Store) install(p place, out []byte) (hash string, err error) {
	st, err := s.stage(p, nil, out, "")
	if err != nil {
		return "", err
	}
	if err := s.disk.renameNew(p.dir, st.temp, p.base); err != nil {
		s.discard(p, st.temp)
		return "", p.refused(err)
	}
	s.log.gone(st.temp)
	return st.hash, s.disk.syncDir(p.dir)
}

// swap puts out in the place of cur and settles what comes out.
func (u *update) swap(cur *contents, out []byte) (Result, error) {
	st, err := u.s.stage(u.p, cur, out, "")
	if err != nil {
		return Result{}, err
	}
	if err := u.s.disk.exchange(u.p.dir, st.temp, u.p.base); err != nil {
		u.s.discard(u.p, st.temp)
		if errors.Is(err, unix.ENOENT) {
			return Result{}, errAgain
		}
		return Result{}, fmt.Errorf("swap: %w", u.p.refused(err))
	}
	synced := make(chan error, 1)
	go func() { synced <- u.s.disk.syncDir(u.p.dir) }()
	res, err := u.settleOut(turn{temp: st.temp, want: cur, ours: out, mark: st.mark, hash: st.hash, changed: true})
	u.sync(<-synced)
	return res, err
}

// sync keeps the error of a sync of the folder for the end: the new contents
// are there, and what came out has to be looked at all the same.
func (u *update) sync(err error) {
	if err != nil {
		u.unsynced = fmt.Errorf("written, but the folder cannot be synced: %w", err)
	}
}

// turn is the state after a swap: ours is at the path, temp holds what came
// out, want is what should have.
type turn struct {
	temp    string
	want    *contents
	ours    []byte
	mark    string // of ours
	hash    string // of ours; empty: not known yet
	changed bool   // ours is our work, not a person's contents put back
	why     error  // why a person's contents were put back; nil: the operation held already

	theirs     *contents // what a person saved, of which ours was made; nil: they did not
	theirsTemp string    // where it is
}

// settleOut goes on until what came out is what should have come out. A
// person's save that came out is answered by op on their bytes. Somebody who
// saves in each of maxTurns turns is left to the later look.
func (u *update) settleOut(t turn) (Result, error) {
	for n := 1; ; n++ {
		came, same, err := u.s.readOut(u.p, t.temp, t.want.data)
		if err != nil {
			return u.unseen(t, n, err)
		}
		if same || n == maxTurns {
			u.setAside(t.temp, t.want, t.theirs != nil)
			return t.result(n), t.why
		}
		next, done, err := u.answer(t, &came)
		if err != nil || done {
			return next.result(n + 1), err
		}
		t = next
	}
}

func (t *turn) result(swaps int) Result {
	if t.hash == "" {
		t.hash = hashOf(t.ours)
	}
	return Result{Changed: t.changed, Hash: t.hash, Bytes: t.ours, Swaps: swaps}
}

// merge is op on what a person saved. When an earlier save was answered already
// and this one only adds lines to what that answer replaced (a script that
// appends), it adds them to the answer. Any other second save is the newer
// state of an editor; the earlier one is kept, it may be another program's.
func (u *update) merge(t turn, theirs *contents) ([]byte, error) {
	if t.theirs == nil {
		return u.op(theirs.data)
	}
	if added, ok := bytes.CutPrefix(theirs.data, t.want.data); ok {
		return u.op(slices.Concat(t.ours, added))
	}
	if !bytes.HasPrefix(theirs.data, t.theirs.data) {
		u.s.keep(u.p, t.theirsTemp, t.theirs.data)
	}
	return u.op(theirs.data)
}

// answer swaps a person's contents theirs, which came out into t.temp, back in
// with the operation applied; as they are when it does not apply, holds
// already, or cannot be written. done: nothing came out this time.
func (u *update) answer(t turn, theirs *contents) (next turn, done bool, err error) {
	out, why := u.merge(t, theirs)
	if why == nil && !bytes.Equal(out, theirs.data) {
		var st staged
		if st, why = u.s.stage(u.p, theirs, out, t.mark); why == nil {
			next = turn{temp: st.temp, want: t.stands(), ours: out, mark: st.mark, hash: st.hash, changed: true, theirs: theirs, theirsTemp: t.temp}
			return u.swapNext(t, next)
		}
	}
	next = turn{temp: t.temp, want: t.stands(), ours: theirs.data, mark: theirs.mark(), why: why}
	_ = u.s.log.add(swapRow{Do: doBack, Temp: t.temp})
	done, err = u.exchangeWaiting(t.temp)
	if err != nil {
		u.setAside(t.temp, t.want, false) // the later look tries again
	}
	if done || err != nil {
		err = errors.Join(err, why)
	}
	return next, done, err
}

// swapNext swaps next in. Only then are theirs safe in it; until then their
// copy counts as not looked at.
func (u *update) swapNext(t, next turn) (turn, bool, error) {
	done, err := u.exchangeWaiting(next.temp)
	if err != nil {
		u.s.discard(u.p, next.temp)
		u.setAside(t.temp, t.want, false)
		return t, false, err
	}
	u.s.outdate(u.p.key)
	u.setAside(t.temp, next.theirs, false)
	return next, done, nil
}

func (u *update) setAside(temp string, want *contents, stale bool) {
	u.s.setAside(u.p, temp, want, stale, u.op)
}

// stands is what the next swap should bring out: what this one put in.
func (t *turn) stands() *contents { return &contents{data: t.ours, mark: known(t.mark)} }

func known(mark string) func() string { return func() string { return mark } }

// goneLimit is how long a file may be away in the middle of a swap before its
// contents are given the free name: an editor creates it in a moment.
const goneLimit = time.Second

// exchangeWaiting swaps temp in, through the moment in which an editor has
// renamed the file away. done: there was nothing to swap with, temp has the
// name now.
func (u *update) exchangeWaiting(temp string) (done bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), goneLimit)
	defer cancel()
	for {
		err := u.s.disk.exchange(u.p.dir, temp, u.p.base)
		if err == nil {
			u.sync(u.s.disk.syncDir(u.p.dir))
		}
		if !errors.Is(err, unix.ENOENT) {
			return false, u.p.refused(err)
		}
		if sleep(ctx, leaseStep) == nil {
			continue
		}
		err = u.s.disk.renameNew(u.p.dir, temp, u.p.base)
		if err == nil {
			u.sync(u.s.disk.syncDir(u.p.dir))
			u.s.log.gone(temp)
			return true, nil
		}
		if !errors.Is(err, ErrExists) {
			return false, u.p.refused(err)
		}
	}
}

// unseen: what came out cannot be read now. It is kept, and the later look
// makes the comparison. Only what is no file any more goes back at once.
func (u *update) unseen(t turn, n int, err error) (Result, error) {
	if !errors.Is(err, ErrNotFile) {
		u.setAside(t.temp, t.want, t.theirs != nil)
		return t.result(n), t.why
	}
	_ = u.s.log.add(swapRow{Do: doBack, Temp: t.temp})
	if back := u.s.disk.exchange(u.p.dir, t.temp, u.p.base); back != nil {
		return Result{}, errors.Join(err, u.p.refused(back))
	}
	u.sync(u.s.disk.syncDir(u.p.dir))
	u.setAside(t.temp, t.stands(), false)
	return Result{}, err
}

// readOut compares what a swap brought out with what it should be, and reads it
// when it is something else: when nobody has it open for writing any more,
// because then it is whole and nobody can still write to it. Whoever does not
// let go is not waited for without end; the later look sees what came.
func (s *Store) readOut(p place, temp string, want []byte) (c contents, same bool, err error) {
	if err := s.disk.at(pointCompare); err != nil {
		return c, false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeWait)
	defer cancel()
	for {
		err = s.held(p, temp, func(f *os.File) (err error) {
			if same, err = s.disk.holds(f, want); err == nil && !same {
				c, err = s.readOpen(f, true)
			}
			return err
		})
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, ErrBusy) {
			if sleep(ctx, leaseStep) == nil {
				continue
			}
		} else if !missing(err) {
			return c, same, err
		}
		c, err = s.readStable(p.dir, temp, true)
		return c, err == nil && bytes.Equal(c.data, want), err
	}
}

// held calls do with the file open and leased, so that nobody can write to it
// meanwhile. EAGAIN: somebody has it open for writing. A read lease is enough
// when others only read.
func (s *Store) held(p place, name string, do func(*os.File) error) error {
	f, err := s.openFile(p.dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	err = s.disk.lease(f, writeLease)
	if errors.Is(err, unix.EAGAIN) {
		err = s.disk.lease(f, readLease)
	}
	if errors.Is(err, unix.EACCES) {
		err = unix.ENOTSUP // leases are for the owner of a file
	}
	if err != nil {
		return err
	}
	defer func() { _ = s.disk.lease(f, noLease) }()
	return do(f)
}
