package harness

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// A capture is everything an agent said and was told in one life: out.000001,
// out.000002 … hold the bytes, out.idx says what they are. The keeper appends,
// anyone may read at any time.
//
//	segment = { line LF | piece }                 at most 64 MB each
//	index   = { seq SP time SP stream SP segment SP offset SP length LF }
//	stream  = "out" | "err" | "in" | "meta"       a whole line, or the end of one
//	        | "out+" | "err+"                     a piece of a line that goes on; seq is 0
//	        | "out!" | "err!"                     the line was too long: its pieces are void; seq is 0
//
// seq is 1, 2, 3 … over all streams, time is Unix milliseconds, offset and
// length are bytes, without the line end. Bytes are written before the row that
// names them, so a reader that goes by the rows sees no half line. Lines longer
// than a buffer come in pieces, so that the keeper holds none of them whole and
// an endless line on one stream does not keep back the other.
//
// Only rows of the stream "in" are synced as they are written, with everything
// before them: they decide that a line is never sent twice. What an agent says
// is synced when its life ends. A power cut between takes the agent with it,
// and what was done because of a line stands in the run's synced log.
const (
	segmentMax = 64 << 20 // bytes of a segment
	lineMax    = 64 << 20 // bytes of a line; more is counted, not kept
	indexFile  = "out.idx"
)

func segmentName(n int) string { return fmt.Sprintf("out.%06d", n) }

// indexRow is one row of out.idx.
type indexRow struct {
	seq     int64
	ms      int64
	stream  Stream
	kind    byte // 0: ends a line; pieceOf, voidOf
	segment int
	offset  int64
	length  int64
}

const (
	pieceOf = '+'
	voidOf  = '!'
)

func (r indexRow) time() time.Time { return time.UnixMilli(r.ms) }

func (r indexRow) append(b []byte) []byte {
	b = strconv.AppendInt(b, r.seq, 10)
	b = strconv.AppendInt(append(b, ' '), r.ms, 10)
	b = append(append(b, ' '), r.stream...)
	if r.kind != 0 {
		b = append(b, r.kind)
	}
	b = strconv.AppendInt(append(b, ' '), int64(r.segment), 10)
	b = strconv.AppendInt(append(b, ' '), r.offset, 10)
	b = strconv.AppendInt(append(b, ' '), r.length, 10)
	return append(b, '\n')
}

// parseIndexRow reads a row without its line end. Anything the keeper would not
// have written is refused: a power cut can leave zeros or old blocks behind.
func parseIndexRow(line []byte) (r indexRow, ok bool) {
	var name []byte
	var segment int64
	if r.seq, line, ok = cutInt(line); !ok {
		return r, false
	}
	if r.ms, line, ok = cutInt(line); !ok {
		return r, false
	}
	if name, line, ok = bytes.Cut(line, []byte{' '}); !ok {
		return r, false
	}
	if segment, line, ok = cutInt(line); !ok {
		return r, false
	}
	if r.offset, line, ok = cutInt(line); !ok {
		return r, false
	}
	if r.length, line, ok = cutInt(line); !ok || line != nil {
		return r, false
	}
	r.segment = int(segment)
	r.stream, r.kind, ok = parseStream(name)
	return r, ok && r.length <= lineMax && (r.kind == 0) == (r.seq > 0)
}

func parseStream(name []byte) (Stream, byte, bool) {
	switch string(name) {
	case "out":
		return Out, 0, true
	case "err":
		return Err, 0, true
	case "in":
		return In, 0, true
	case "meta":
		return Meta, 0, true
	case "out+":
		return Out, pieceOf, true
	case "err+":
		return Err, pieceOf, true
	case "out!":
		return Out, voidOf, true
	case "err!":
		return Err, voidOf, true
	}
	return "", 0, false
}

// cutInt reads a number up to a space or the end; rest is nil at the end.
func cutInt(b []byte) (n int64, rest []byte, ok bool) {
	for i, c := range b {
		if c == ' ' {
			return n, b[i+1:], i > 0
		}
		if c < '0' || c > '9' || n > 1<<58 {
			return 0, nil, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, nil, len(b) > 0
}
