package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"
)

// errGone is returned by a capture whose folder was taken away.
var errGone = errors.New("the folder of the life is gone")

// capture is the writing end of a capture. Its methods are safe for several
// goroutines. A write that fails is tried again until it works or the folder is
// gone: the caller stands still meanwhile, and through a full pipe so does the
// agent.
type capture struct {
	root  *os.Root
	limit int64            // of a segment
	now   func() time.Time // the keeper's clock
	wait  func()           // between two tries of a write
	gone  func() bool      // whether the folder was taken away

	mu     sync.Mutex // guards what follows
	seg    *os.File   // the last segment
	n      int        // its number
	size   int64      // its bytes
	idx    *os.File
	seq    int64
	rows   []byte         // rows not yet written
	closes sync.WaitGroup // full segments on their way to the disk
	failed error          // of those; guarded by failMu
	failMu sync.Mutex
}

// createCapture begins the capture of a life. It fails when there is one: that
// is how a life is started once. Its names are on the disk when it returns, and
// so is that of the life in the folder of its run.
func createCapture(root *os.Root, run string) (*capture, error) {
	c := &capture{
		root:  root,
		limit: segmentMax,
		now:   time.Now,
		wait:  func() { time.Sleep(time.Second) },
		gone:  func() bool { return false },
		rows:  make([]byte, 0, rowsFull+128),
	}
	seg, err := c.create(segmentName(1))
	if err != nil {
		return nil, err
	}
	c.seg, c.n = seg, 1
	if c.idx, err = c.create(indexFile); err == nil {
		err = together(c.syncNames, func() error { return syncDir(run) })
	}
	if err != nil {
		// Nothing has run yet. Left there, it would say that something perhaps has.
		return nil, errors.Join(err, c.undo())
	}
	return c, nil
}

// undo takes back a capture that could not be begun.
func (c *capture) undo() error {
	c.seg.Close()
	if c.idx != nil {
		c.idx.Close()
		if err := c.root.Remove(indexFile); err != nil {
			return err
		}
	}
	return c.root.Remove(segmentName(1))
}

func (c *capture) create(name string) (*os.File, error) {
	return c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// rowsFull is how many bytes of rows are written at once at the latest; one
// buffer of empty lines would make a thousand times its size of rows.
const rowsFull = 16 << 10

// lines stores whole lines, each with its line end.
func (c *capture) lines(s Stream, p []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.store(s, p)
}

func (c *capture) store(s Stream, p []byte) error {
	offset, err := c.put(p)
	if err != nil {
		return err
	}
	ms := c.now().UnixMilli()
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		c.seq++
		row := indexRow{seq: c.seq, ms: ms, stream: s, segment: c.n, offset: offset, length: int64(i)}
		if err := c.row(row); err != nil {
			return err
		}
		p = p[i+1:]
		offset += int64(i) + 1
	}
	return c.flush()
}

// say stores one line of our own, without its line end. With sync it is on the
// disk, and all before it, when say returns.
func (c *capture) say(s Stream, line []byte, sync bool) error {
	p := append(bytes.Clone(line), '\n')
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.store(s, p); err != nil || !sync {
		return err
	}
	return c.insist(func() error { return errors.Join(c.seg.Sync(), c.idx.Sync()) })
}

// piece stores a part of a line that goes on.
func (c *capture) piece(s Stream, p []byte) error {
	return c.part(indexRow{stream: s, kind: pieceOf, length: int64(len(p))}, p)
}

// end stores the last part of a line, without its line end; it may be empty.
func (c *capture) end(s Stream, p []byte) error {
	return c.part(indexRow{stream: s, length: int64(len(p))}, p)
}

// void says that the pieces of a line are to be forgotten.
func (c *capture) void(s Stream) error {
	return c.part(indexRow{stream: s, kind: voidOf}, nil)
}

func (c *capture) part(row indexRow, p []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	offset, err := c.put(p)
	if err != nil {
		return err
	}
	if row.kind != pieceOf {
		// For whoever reads the segment as text.
		if err := c.write(c.seg, []byte{'\n'}); err != nil {
			return err
		}
		c.size++
	}
	if row.kind == 0 {
		c.seq++
		row.seq = c.seq
	}
	row.ms, row.segment, row.offset = c.now().UnixMilli(), c.n, offset
	if err := c.row(row); err != nil {
		return err
	}
	return c.flush()
}

// put writes bytes to the segment, to a new one if they do not fit, and returns
// where they begin.
func (c *capture) put(p []byte) (offset int64, err error) {
	if c.size > 0 && c.size+int64(len(p))+1 > c.limit {
		if err := c.rotate(); err != nil {
			return 0, err
		}
	}
	offset = c.size
	if err := c.write(c.seg, p); err != nil {
		return 0, err
	}
	c.size += int64(len(p))
	return offset, nil
}

// rotate begins the next segment. The full one is synced beside: 64 MB take a
// while, and nothing waits for them before the end.
func (c *capture) rotate() error {
	var next *os.File
	err := c.insist(func() (err error) {
		next, err = c.create(segmentName(c.n + 1))
		return err
	})
	if err != nil {
		return err
	}
	full := c.seg
	c.closes.Go(func() {
		if err := errors.Join(full.Sync(), full.Close()); err != nil {
			c.failMu.Lock()
			c.failed = errors.Join(c.failed, err)
			c.failMu.Unlock()
		}
	})
	c.seg, c.n, c.size = next, c.n+1, 0
	return nil
}

func (c *capture) row(r indexRow) error {
	c.rows = r.append(c.rows)
	if len(c.rows) < rowsFull {
		return nil
	}
	return c.flush()
}

func (c *capture) flush() error {
	err := c.write(c.idx, c.rows)
	c.rows = c.rows[:0]
	return err
}

// write writes all of p, however often it takes.
func (c *capture) write(f *os.File, p []byte) error {
	return c.insist(func() error {
		n, err := f.Write(p)
		p = p[n:]
		return err
	})
}

// insist does something until it works. Nothing is dropped for a full disk.
func (c *capture) insist(do func() error) error {
	for {
		err := do()
		if err == nil {
			return nil
		}
		if c.gone() {
			return errGone
		}
		c.wait()
	}
}

// close syncs everything.
func (c *capture) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closes.Wait()
	err := c.insist(func() error { return errors.Join(c.seg.Sync(), c.idx.Sync()) })
	return errors.Join(err, c.failed, c.seg.Close(), c.idx.Close(), c.syncNames())
}

// syncNames makes the names in the folder durable.
func (c *capture) syncNames() error {
	d, err := c.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// tooLong puts a remark in the place of a line that was not kept.
func (c *capture) tooLong(s Stream, length int64) error {
	if err := c.void(s); err != nil {
		return err
	}
	line, err := json.Marshal(Remark{Event: RemarkTooLong, Stream: s, Bytes: length})
	if err != nil {
		return err
	}
	return c.say(Meta, line, false)
}
