package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// What became of a temp file.
type What string

// Swept temp files held nothing of a person. The others did.
const (
	Swept     What = "swept"      // removed: ours, or the same as what was replaced
	PutBack   What = "put back"   // a person's contents are at the path again
	Kept      What = "kept"       // a person's older contents were moved to the state folder
	Reapplied What = "re-applied" // a late save was brought to the path, with our change
)

// Recovered is a temp file and what became of it.
type Recovered struct {
	Path string // the file it belongs to
	What What
	Kept string // with Kept: where the contents are now, absolute
}

// Recover looks at every temp file of an earlier life. What was being done is
// not known any more, so a person's contents that came out of a swap and were
// never answered go back to the path. It is for the start, before any write.
func (s *Store) Recover(ctx context.Context) ([]Recovered, error) {
	var all []Recovered
	var errs []error
	r := recovery{s: s, answered: map[string]bool{}}
	pending := s.log.pending()
	for _, o := range pending {
		r.answered[o.about(o.Ours)] = true
		if o.Want != "" {
			r.answered[o.about(o.Want)] = true // what an earlier swap of ours put in
		}
	}
	for _, o := range pending {
		if ctx.Err() != nil {
			return all, errors.Join(append(errs, ctx.Err())...)
		}
		got, err := r.one(ctx, &o)
		if err != nil {
			errs = append(errs, wrap(path.Join(o.Dir, o.File), err))
		}
		if got != nil {
			all = append(all, *got)
		}
	}
	return all, errors.Join(errs...)
}

// recovery goes through the open swaps, newest first.
type recovery struct {
	s *Store
	// answered holds contents, by file and mark, that need no place: ours, and
	// those of which a swap that took place was made.
	answered map[string]bool
}

func (r *recovery) one(ctx context.Context, o *openSwap) (*Recovered, error) {
	rel := path.Join(o.Dir, o.File)
	p, _, err := r.s.step(rel, o.Dir+"/"+o.File)
	if err == nil {
		p, err = p.keyed()
	}
	if errors.Is(err, unix.ENOENT) {
		r.s.log.gone(o.Temp) // the folder is gone, and the temp file with it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer p.close()
	unlock, err := r.s.keys.lock(ctx, p.key)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := r.unlink(p, o.Temp); err != nil {
		return nil, err
	}
	temp, same, err := r.s.readOut(p, o.Temp, nil)
	if same {
		temp, err = r.s.readStable(p.dir, o.Temp, false) // empty
	}
	if errors.Is(err, unix.ENOENT) {
		return nil, r.over(p, o)
	}
	if err != nil {
		return nil, err
	}
	return r.judge(p, o, &temp)
}

// over is a swap of which no temp file is there: it was let go after the swap,
// or never got its name. Ours at the path tells; where it cannot be told, what
// ours was made of counts as in need of a place.
func (r *recovery) over(p place, o *openSwap) error {
	base, err := r.s.disk.stat(p.dir, p.base)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	if err == nil && base.Ino == o.Inode {
		r.answered[o.about(o.Read)] = true
	}
	r.s.log.gone(o.Temp)
	return nil
}

// unlink finishes a swap by link that was cut between its steps: what was
// replaced is still under the second name.
func (r *recovery) unlink(p place, temp string) error {
	held := temp + "~"
	st, err := r.s.disk.stat(p.dir, held)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	if base, err := r.s.disk.stat(p.dir, p.base); err == nil && base.Ino == st.Ino {
		return r.s.disk.remove(p.dir, held) // not replaced yet
	}
	return retry(func() error { return unix.Renameat(fdOf(p.dir), held, fdOf(p.dir), temp) })
}

// about is a key for contents of the file of a swap.
func (o *openSwap) about(mark string) string { return o.Dir + "/" + o.File + "\x00" + mark }

// judge decides about contents that are in a temp file.
func (r *recovery) judge(p place, o *openSwap, temp *contents) (*Recovered, error) {
	// What a swap brings out is another file than the temp file that went in.
	swapped := o.Do == doReady && temp.stat.Ino != o.Inode
	if swapped {
		r.answered[o.about(o.Read)] = true
	}
	if !swapped && !o.back || r.answered[o.about(temp.mark())] {
		err := r.s.disk.remove(p.dir, o.Temp)
		if err != nil {
			return nil, err
		}
		r.s.log.gone(o.Temp)
		return &Recovered{Path: p.rel, What: Swept}, nil
	}
	return r.restore(p, o, temp)
}

// restore gives a person's contents their name back, when ours still has it.
func (r *recovery) restore(p place, o *openSwap, temp *contents) (*Recovered, error) {
	cur, err := r.s.readStable(p.dir, p.base, false)
	switch {
	case errors.Is(err, unix.ENOENT):
		if err := r.s.disk.renameNew(p.dir, o.Temp, p.base); err != nil {
			return nil, err
		}
		r.s.log.gone(o.Temp)
		return &Recovered{Path: p.rel, What: PutBack}, r.s.disk.syncDir(p.dir)
	case err != nil:
		return nil, err
	case cur.mark() != o.Ours:
		if !r.s.keep(p, o.Temp, temp.data) {
			return nil, errors.New("an older version of a person cannot be kept")
		}
		return &Recovered{Path: p.rel, What: Kept, Kept: r.s.keptName(o.Temp, p.base)}, nil
	}
	op := func(cur []byte) ([]byte, error) { return cur, nil }
	u := &update{s: r.s, p: p, op: op}
	t := turn{temp: o.Temp, want: &contents{mark: known(o.Read)}, ours: cur.data, mark: o.Ours}
	// What ours was made of is at the path no more, if it was a person's.
	delete(r.answered, o.about(o.Read))
	next, done, err := u.answer(t, temp)
	if err == nil && !done {
		_, err = u.settleOut(next)
	}
	return &Recovered{Path: p.rel, What: PutBack}, errors.Join(err, u.unsynced)
}

// keptName is where contents go that have lost their place.
func (s *Store) keptName(temp, base string) string {
	return filepath.Join(s.opts.State, "kept", temp[1:len(temp)-len(".tmp")]+"-"+base)
}

// keep moves a person's contents out of a temp file into the state folder.
func (s *Store) keep(p place, temp string, data []byte) bool {
	name := s.keptName(temp, p.base)
	if err := s.writeKept(name, data); err != nil {
		return false // it stays where it is, the log knows it
	}
	s.discard(p, temp)
	s.tell(Recovered{Path: p.rel, What: Kept, Kept: name})
	return true
}

func (s *Store) writeKept(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	return f.Sync()
}
