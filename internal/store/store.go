// Package store is the only writer of the work folder.
//
// CONTRACT (to be completed by the owner of this package).
package store

import (
	"errors"
	"io/fs"
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
}

// Result of an Update.
type Result struct {
	Changed bool
	Hash    string // sha256 of what is there now, hex
	Bytes   []byte // what is there now
	Swaps   int    // 1, and more when a person saved in between
}

// Errors a caller branches on; wrapped with the path.
var (
	ErrOutside  = errors.New("outside the work folder")
	ErrLink     = errors.New("a symbolic link that leaves the work folder")
	ErrHardLink = errors.New("a file with several names (hard links)")
	ErrReadOnly = errors.New("read-only")
	ErrNUL      = errors.New("holds NUL bytes")
	ErrBusy     = errors.New("being written right now")
	ErrExists   = fs.ErrExist
)
