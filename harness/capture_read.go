package harness

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrKeeperGone is returned by Follow when the keeper is not there and did not
// say how the agent ended: it was killed, or never began.
var ErrKeeperGone = errors.New("the keeper is gone")

// Read gives the lines from seq on that are there now to fn, until fn returns
// an error. Other than Follow it waits for nothing.
func (l Life) Read(from int64, fn func(Line) error) error {
	r := captureReader{dir: l.Path, from: from}
	defer r.close()
	return r.each(fn)
}

// Capture reads a life's lines in steps. One goroutine uses it, and closes it.
type Capture struct{ r captureReader }

// Capture begins before the first line.
func (l Life) Capture() *Capture { return &Capture{captureReader{dir: l.Path}} }

// Each gives the lines that have come since to fn, until fn returns an error:
// the next call goes on behind the line that it was given then.
func (c *Capture) Each(fn func(Line) error) error { return c.r.each(fn) }

// Close lets go of the files.
func (c *Capture) Close() { c.r.close() }

// Perhaps lists the ids of the rows that the keeper passed on to the agent, or
// was about to when it was killed, in order.
func (l Life) Perhaps() ([]string, error) {
	r := captureReader{dir: l.Path, only: In}
	defer r.close()
	var ids []string
	err := r.each(func(line Line) error {
		row, ok := parseRow(line.Data)
		if ok {
			ids = append(ids, row.ID)
		}
		return nil
	})
	return ids, err
}

// ErrTail is the end of what the agent wrote to its standard error, at most 64
// KB, for a run that failed.
func (l Life) ErrTail() ([]byte, error) {
	const most = 64 << 10
	r := captureReader{dir: l.Path, only: Err}
	defer r.close()
	var tail []byte
	err := r.each(func(line Line) error {
		tail = append(append(tail, line.Data...), '\n')
		if len(tail) > 2*most {
			tail = append(tail[:0], tail[len(tail)-most:]...)
		}
		return nil
	})
	return tail[max(0, len(tail)-most):], err
}

// Follow gives every line of the capture to fn, from the first, and goes on
// with what comes until the life is over and all is read. It returns nil when
// the agent's end is known (State has it), ErrKeeperGone when the keeper went
// without a word, ErrRemoved when the folder was taken away, ctx's error, or
// fn's. When it returns one of the first two the keeper has ended. Memory is
// bounded by the longest line. Followers of many lives share news.
func (l Life) Follow(ctx context.Context, news *Watches, fn func(Line) error) error {
	ctx, cancel := context.WithCancel(ctx) // lets go of what waits for the keeper's death
	defer cancel()
	wake := make(chan struct{}, 1)
	stop := news.watch(l.Path, wake)
	defer stop()
	r := captureReader{dir: l.Path}
	defer r.close()
	var death <-chan struct{} // nil: not known how to wait for it
	for {
		// Before the lines: what a keeper wrote before it ended is there then.
		held, err := l.held()
		if err != nil {
			return err
		}
		err = r.each(func(line Line) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return fn(line)
		})
		if err != nil {
			return err
		}
		if !held {
			return l.over()
		}
		if death == nil {
			if death = keeperDeath(ctx, l.pid()); death != nil {
				continue // the lock must be seen held by the process we wait for
			}
		}
		if died, err := await(ctx, wake, death); err != nil {
			return err
		} else if died {
			death = nil
		}
	}
}

// over is how Follow ends when the lock is free.
func (l Life) over() error {
	ended, err := exists(filepath.Join(l.Path, exitFile))
	if err != nil || ended {
		return err
	}
	if err := l.there(); err != nil {
		return err // its exit went along
	}
	return ErrKeeperGone
}

// await waits for news. Without a way to wait for the death of the keeper the
// lock has to be looked at now and then.
func await(ctx context.Context, wake, death <-chan struct{}) (died bool, err error) {
	var again <-chan time.Time
	if death == nil {
		t := time.NewTimer(time.Second)
		defer t.Stop()
		again = t.C
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-death:
		return true, nil
	case <-wake:
	case <-again:
	}
	return false, nil
}

// captureReader reads the lines of a capture that may still grow. It is used by
// one goroutine.
type captureReader struct {
	dir  string
	from int64  // lines before are not read
	only Stream // if set, lines of other streams are not read

	idx    *os.File
	rows   *bufio.Reader
	half   []byte // of a row that is not whole yet
	seq    int64  // of the last line
	pieces map[Stream][]indexRow
	broken bool // a power cut spoilt the rest

	seg    *os.File
	segN   int
	ahead  []byte // what was read of the segment, from aheadAt on
	buffer []byte // of ahead
	at     int64
}

// readAhead is how much of a segment is read at once, for short lines.
const readAhead = 256 << 10

// each gives the lines that are there to fn.
func (r *captureReader) each(fn func(Line) error) error {
	for {
		row, ok, err := r.row()
		if err != nil || !ok {
			return err
		}
		line, ok, err := r.line(row)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := fn(line); err != nil {
			return err
		}
	}
}

// row reads the next whole row of the index.
func (r *captureReader) row() (row indexRow, ok bool, err error) {
	if r.broken {
		return row, false, nil
	}
	if r.idx == nil {
		if r.idx, err = os.Open(filepath.Join(r.dir, indexFile)); errors.Is(err, fs.ErrNotExist) {
			return row, false, nil
		} else if err != nil {
			return row, false, err
		}
		r.rows = bufio.NewReaderSize(r.idx, 64<<10)
		r.pieces = map[Stream][]indexRow{}
	}
	text, err := r.rows.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF):
		r.half = append(r.half, text...)
		return row, false, nil
	case errors.Is(err, bufio.ErrBufferFull):
		r.broken = true
		return row, false, nil
	case err != nil:
		return row, false, err
	}
	if len(r.half) > 0 {
		text = append(r.half, text...)
		r.half = nil
	}
	row, ok = parseIndexRow(text[:len(text)-1])
	if ok && row.kind == 0 {
		r.seq++
		ok = row.seq == r.seq
	}
	r.broken = !ok
	return row, ok, nil
}

// line makes a line out of its last row and the pieces before it; ok is false
// for a row that ends no line or one that is not wanted.
func (r *captureReader) line(row indexRow) (line Line, ok bool, err error) {
	switch row.kind {
	case pieceOf:
		r.pieces[row.stream] = append(r.pieces[row.stream], row)
		return line, false, nil
	case voidOf:
		delete(r.pieces, row.stream)
		return line, false, nil
	}
	parts := r.pieces[row.stream]
	delete(r.pieces, row.stream)
	if row.seq < r.from || r.only != "" && row.stream != r.only {
		return line, false, nil
	}
	total := row.length
	for _, p := range parts {
		total += p.length
	}
	if total > lineMax {
		r.broken = true
		return line, false, nil
	}
	data := make([]byte, 0, total)
	for _, p := range append(parts, row) {
		n := len(data)
		data = data[:n+int(p.length)]
		if ok, err := r.bytes(p, data[n:]); err != nil || !ok {
			return line, false, err
		}
	}
	return Line{Seq: row.seq, Time: row.time(), Stream: row.stream, Data: data}, true, nil
}

// bytes reads what a row names. Bytes that are not there were lost in a power
// cut, and what follows is not to be trusted.
func (r *captureReader) bytes(row indexRow, into []byte) (ok bool, err error) {
	if err := r.open(row.segment); err != nil {
		r.broken = errors.Is(err, fs.ErrNotExist)
		if r.broken {
			err = nil
		}
		return false, err
	}
	if len(into) > readAhead {
		return r.readAt(into, row.offset)
	}
	if row.offset < r.at || row.offset+row.length > r.at+int64(len(r.ahead)) {
		if r.buffer == nil {
			r.buffer = make([]byte, readAhead)
		}
		n, err := r.seg.ReadAt(r.buffer, row.offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		r.ahead, r.at = r.buffer[:n], row.offset
	}
	start := row.offset - r.at
	if start+row.length > int64(len(r.ahead)) {
		r.broken = true
		return false, nil
	}
	copy(into, r.ahead[start:])
	return true, nil
}

func (r *captureReader) readAt(into []byte, offset int64) (ok bool, err error) {
	_, err = r.seg.ReadAt(into, offset)
	if errors.Is(err, io.EOF) {
		r.broken = true
		return false, nil
	}
	return err == nil, err
}

func (r *captureReader) open(segment int) error {
	if r.seg != nil && r.segN == segment {
		return nil
	}
	f, err := os.Open(filepath.Join(r.dir, segmentName(segment)))
	if err != nil {
		return err
	}
	if r.seg != nil {
		r.seg.Close()
	}
	r.seg, r.segN, r.ahead = f, segment, nil
	return nil
}

func (r *captureReader) close() {
	if r.idx != nil {
		r.idx.Close()
	}
	if r.seg != nil {
		r.seg.Close()
	}
}
