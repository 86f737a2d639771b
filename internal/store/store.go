// Package store is the only writer of the work folder.
//
// The files in it belong to somebody else: a person types in an editor, a sync
// program brings another machine's copy. A save of theirs and a write of ours
// can meet, and neither may be lost. So a file of theirs is never overwritten
// but swapped, and what came out is looked at before it is let go:
//
//	wait    until the file is unchanged for Settle (after ten times that: the next gap)
//	read    under a read lease, which the kernel grants when nobody writes
//	op      pure: the same operation on other bytes is the answer to a conflict
//	stage   temp file beside the target: same mode, owner, attributes; synced;
//	        its name and what both contents are in swaps.jsonl before it has it
//	swap    RENAME_EXCHANGE, sync the folder
//	settle  under a write lease compare what came out with what was read:
//	        same: keep it for Grace, look once more, delete it;
//	        other: op on THEIR bytes, swap again, until what comes out is ours;
//	        op does not apply to them: their file goes back
//
// A kill after the swap leaves a person's bytes in the temp file. Recover, at
// the next start, makes the comparison that was missed.
//
// Where the kernel has no leases (macOS, network and FUSE file systems) a read
// between two equal stats and the late look stand in; where it has no exchange,
// a hard link keeps what is replaced. Capabilities says which it is.
//
// Every path is relative to the work folder, with slashes. Links inside the
// folder are followed and stay links; links that leave it are refused.
//
// Not for: what the bytes mean, when to write, which folders may be written
// (its callers know), and state outside the work folder.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Op computes the new contents of a file from what is there now. It is pure
// and may be called several times, with what a person saved meanwhile. It
// returns its argument (same bytes) when nothing is to change. A file that is
// not there is nil. An error means that the operation does not apply to these
// bytes: nothing is written (or their bytes are put back).
type Op func(cur []byte) ([]byte, error)

// Options of a Store.
type Options struct {
	State  string        // folder in the machine's state for the names of temp files (swaps.jsonl); never inside the work folder
	Settle time.Duration // how long a file must be unchanged before it is written

	Grace time.Duration   // how long a displaced copy is kept (2 s)
	Late  func(Recovered) // told of what a late look at a displaced copy found; may be nil
	Fault func(string)    // called before each file operation with its name ("exchange", "compare", …), by tests that end the process there; nil in the program
}

// Result of an Update.
type Result struct {
	Changed bool
	Hash    string // sha256 of what is there now, hex
	Bytes   []byte // what is there now
	Swaps   int    // 1, and more when a person saved in between
}

// Info is what the file system says about a file that was read.
type Info struct {
	ModTime time.Time
	CTime   time.Time // last change of contents or attributes; nobody can set it
	Size    int64
	Inode   uint64
}

// Errors a caller branches on; wrapped with the path.
var (
	ErrOutside  = errors.New("outside the work folder")
	ErrLink     = errors.New("a symbolic link that leaves the work folder")
	ErrHardLink = errors.New("a file with several names (hard links)")
	ErrReadOnly = errors.New("read-only")
	ErrNUL      = errors.New("holds NUL bytes")
	ErrBusy     = errors.New("being written right now")
	ErrTooLarge = errors.New("larger than 64 MB")
	ErrNotFile  = errors.New("not a regular file")
	ErrExists   = fs.ErrExist
)

// maxSize bounds what is read into memory. Notes are small; a file above it is
// something else with the name of a note.
const maxSize = 64 << 20

// Store reads and writes the files of one work folder. Its methods may be
// called from several goroutines; writes of one file wait for each other.
type Store struct {
	root *os.Root
	opts Options
	disk *disk
	log  *swapLog
	own  *register
	keys *locks

	settle atomic.Int64 // opts.Settle, as it is now

	glances sync.Pool // room for glancers: *[glance]byte

	mu    sync.Mutex
	aside []*displaced   // guarded by mu: displaced copies in their grace time
	timer *time.Timer    // guarded by mu: set while aside is not empty
	wg    sync.WaitGroup // looks that a timer started
	done  bool           // guarded by mu: closed, no timer is set any more
}

// Open opens the work folder root. It writes nothing into it; call Recover
// before the first write. Without a state folder the store only reads, and
// nothing is written anywhere.
func Open(root string, o Options) (*Store, error) {
	if o.Grace == 0 {
		o.Grace = 2 * time.Second
	}
	if err := checkState(root, o.State); err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	d := &disk{}
	if o.Fault != nil {
		d.fault = func(point string) error { o.Fault(point); return nil }
	}
	log, err := openSwapLog(d, o.State)
	if err != nil {
		r.Close()
		return nil, err
	}
	s := &Store{root: r, opts: o, disk: d, log: log, own: newRegister(), keys: newLocks()}
	s.Settle(o.Settle)
	return s, nil
}

// Settle changes how long a file must be unchanged before it is written, from
// the next Update on.
func (s *Store) Settle(d time.Duration) { s.settle.Store(int64(d)) }

// checkState refuses a state folder inside the work folder: sync programs
// would carry it to other machines.
func checkState(root, state string) error {
	if state == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	at, err := filepath.EvalSymlinks(state)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(real, at); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("%s: state folder inside the work folder", strings.TrimSuffix(state, "/"))
	}
	return nil
}

// Close finishes what Flush can finish and lets go of the folder. Displaced
// copies that somebody still writes to stay for the Recover of the next start.
func (s *Store) Close() error {
	s.mu.Lock()
	s.done = true
	if s.timer != nil && s.timer.Stop() {
		s.wg.Done()
	}
	s.mu.Unlock()
	s.wg.Wait()
	err := s.Flush(context.Background())
	for _, d := range s.take(func(*displaced) bool { return true }) {
		d.place.close()
	}
	return errors.Join(err, s.log.close(), s.root.Close())
}

// wrap names the file an error is about, once.
func wrap(rel string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = fmt.Errorf("%s: %w", pe.Op, pe.Err)
	}
	return fmt.Errorf("%s: %w", rel, err)
}
