package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// The swap log is what the next start knows of temp files: one JSON object a
// line. begin is written before the temp file is made, ready is synced before it
// has its name, back says that our contents were taken out again, end that the temp
// file is gone. The rows are written over zeros that are on disk already: then
// a sync is one write and waits for no other change of the file system.
const (
	doBegin = "begin"
	doReady = "ready"
	doBack  = "back"
	doEnd   = "end"
)

type swapRow struct {
	Do    string `json:"do"`
	Temp  string `json:"temp"`
	Dir   string `json:"dir,omitempty"`   // begin: folder in the work folder
	File  string `json:"file,omitempty"`  // begin
	Inode uint64 `json:"inode,omitempty"` // ready: the temp file's; what a swap brings out has another one
	Read  string `json:"read,omitempty"`  // ready: mark of what ours was made of; empty: a new file
	Ours  string `json:"ours,omitempty"`  // ready: mark of what goes in
	Want  string `json:"want,omitempty"`  // ready: mark of what should come out; empty: Read
}

// openSwap is what the rows of one temp file add up to.
type openSwap struct {
	swapRow      // begin and ready together
	back    bool // ours was taken out again
}

// blank is how many zeros are laid ahead of the rows at a time, enough for some
// hundred swaps; a log with more rows and no open swap begins again.
const blank = 64 << 10

type swapLog struct {
	disk *disk
	path string

	mu    sync.Mutex
	file  *os.File             // guarded by mu
	end   int64                // guarded by mu: of the rows
	zeros int64                // guarded by mu: end of the zeros after them
	open  map[string]*openSwap // guarded by mu: by temp name
	order []string             // guarded by mu: temp names as they began
}

// openSwapLog opens the log in a state folder; with none, one that takes no rows.
func openSwapLog(d *disk, state string) (*swapLog, error) {
	if state == "" {
		return &swapLog{disk: d, open: map[string]*openSwap{}}, nil
	}
	path := filepath.Join(state, "swaps.jsonl")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l := &swapLog{disk: d, path: path, file: f, open: map[string]*openSwap{}}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Close()
		return nil, err
	}
	rows, _, _ := bytes.Cut(data, []byte{0})
	for line := range bytes.Lines(rows) {
		var r swapRow
		if json.Unmarshal(line, &r) == nil {
			l.note(r)
		}
	}
	l.end, l.zeros = lastLine(rows), int64(len(data))
	return l, nil
}

// lastLine is where the last whole line ends: a line torn by a crash announced
// nothing that was done, and is written over.
func lastLine(rows []byte) int64 { return int64(bytes.LastIndexByte(rows, '\n') + 1) }

// note applies one row; mu is held, or nobody else knows l.
func (l *swapLog) note(r swapRow) {
	o := l.open[r.Temp]
	switch {
	case r.Do == doBegin:
		l.open[r.Temp] = &openSwap{swapRow: r}
		l.order = append(l.order, r.Temp)
	case o == nil:
	case r.Do == doReady:
		begun := o.swapRow
		o.swapRow = r
		o.Dir, o.File = begun.Dir, begun.File
	case r.Do == doBack:
		o.back = true
	case r.Do == doEnd:
		l.forget(r.Temp)
	}
}

func (l *swapLog) forget(temp string) {
	delete(l.open, temp)
	kept := l.order[:0]
	for _, t := range l.order {
		if l.open[t] != nil {
			kept = append(kept, t)
		}
	}
	l.order = kept
}

// write adds a line; mu is held.
func (l *swapLog) write(line []byte) error {
	if err := l.disk.at(pointLog); err != nil {
		return err
	}
	if need := l.end + int64(len(line)); need >= l.zeros { // one zero stays as the end
		if err := l.lay(l.zeros, need+blank); err != nil {
			return err
		}
		l.zeros = need + blank
	}
	if _, err := l.file.WriteAt(line, l.end); err != nil {
		return err
	}
	l.end += int64(len(line))
	return nil
}

// lay writes zeros from one offset to another, durable; mu is held.
func (l *swapLog) lay(from, to int64) error {
	if _, err := l.file.WriteAt(make([]byte, to-from), from); err != nil {
		return err
	}
	return l.file.Sync()
}

func (l *swapLog) add(r swapRow) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return fmt.Errorf("the store was opened without a state folder: %w", ErrReadOnly)
	}
	if err := l.write(append(line, '\n')); err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	l.note(r)
	return nil
}

// sync makes all rows so far durable.
func (l *swapLog) sync() error {
	if err := l.disk.at(pointLogSync); err != nil {
		return err
	}
	return dataSync(l.file)
}

// gone says that a temp file is gone. A row that cannot be written does no
// harm: the next start looks for the file and does not find it.
func (l *swapLog) gone(temp string) {
	_ = l.add(swapRow{Do: doEnd, Temp: temp})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(temp)
	if len(l.open) == 0 && l.end > blank && l.lay(0, l.end) == nil {
		l.end = 0
	}
}

// pending lists the open swaps, newest first.
func (l *swapLog) pending() []openSwap {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []openSwap
	for i := len(l.order) - 1; i >= 0; i-- {
		all = append(all, *l.open[l.order[i]])
	}
	return all
}

func (l *swapLog) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
