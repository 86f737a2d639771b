package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// What a Send may do instead of being a line.
const (
	DoEOF  = "eof"  // close the agent's standard input
	DoTerm = "term" // SIGTERM to its process group
	DoKill = "kill" // SIGKILL to its process group
)

// in.jsonl is read twice, side by side: lines and eof in their order by
// passLines, which stands still while the agent does not read; term and kill by
// passOrders, which therefore overtakes them. Rows need no queue this way: they
// wait in the file.

// passLines writes lines to the agent. Each row is in the capture, on the disk,
// before its line goes out: a row that is there was perhaps delivered, a row
// that is not there was not.
func (k *keeper) passLines(wake <-chan struct{}) {
	k.follow(wake, func(raw []byte) {
		row, ok := parseRow(raw)
		switch {
		case !ok:
			k.remark(Remark{Event: RemarkBadRow, Text: "a row of in.jsonl is not JSON, perhaps cut short"})
			return
		case row.Do == DoTerm || row.Do == DoKill:
			return
		}
		to := k.input()
		if to != nil && k.cap.say(In, raw, true) != nil {
			return // the folder is gone
		}
		switch {
		case row.Do == DoEOF:
			k.closeStdin()
		case to == nil || !k.tell(to, row.Line):
			k.remark(Remark{Event: RemarkNotTaken, ID: row.ID, Text: "the agent reads no more"})
		}
	})
}

// passOrders signals the agent. The signal comes before its row: it is
// harmless twice, and must come through when the disk is full.
func (k *keeper) passOrders(wake <-chan struct{}) {
	k.follow(wake, func(raw []byte) {
		row, ok := parseRow(raw)
		if !ok {
			return
		}
		switch row.Do {
		case DoTerm:
			k.signal(unix.SIGTERM)
		case DoKill:
			k.signal(unix.SIGKILL)
		default:
			return
		}
		_ = k.cap.say(In, raw, true)
	})
}

// follow gives each row of in.jsonl to act, once for each id, until the agent
// is over. A row counts when it has its line end. Both who follow read the file
// that was opened before anything ran: an agent at work is not to be ended for
// want of a descriptor.
func (k *keeper) follow(wake <-chan struct{}, act func(raw []byte)) {
	from := io.NewSectionReader(k.in, 0, math.MaxInt64)
	rows := rowReader{r: bufio.NewReader(from), seen: map[string]bool{}}
	for {
		for raw := rows.next(); raw != nil && !k.over(); raw = rows.next() {
			act(raw)
		}
		if k.isGone() {
			k.endAgent(errGone.Error())
		}
		select {
		case <-wake:
		case <-k.quit:
			return
		}
	}
}

// over reports whether the agent has ended.
func (k *keeper) over() bool {
	select {
	case <-k.quit:
		return true
	default:
		return false
	}
}

// rowReader reads whole rows of a file that grows.
type rowReader struct {
	r    *bufio.Reader
	half []byte
	seen map[string]bool
}

// next is the next row whose id is new, nil when there is none yet.
func (rr *rowReader) next() []byte {
	for {
		part, err := rr.r.ReadBytes('\n')
		rr.half = append(rr.half, part...)
		if err != nil {
			return nil
		}
		raw := bytes.TrimSpace(rr.half)
		rr.half = nil
		var row struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(raw, &row) == nil {
			if row.ID != "" && rr.seen[row.ID] {
				continue
			}
			rr.seen[row.ID] = true
		}
		if len(raw) > 0 {
			return raw
		}
	}
}

func parseRow(raw []byte) (Send, bool) {
	var row Send
	err := json.Unmarshal(raw, &row)
	return row, err == nil && row.ID != ""
}

// input is the agent's standard input, nil when it is closed.
func (k *keeper) input() *os.File {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stdin
}

// tell writes a line to the agent and waits until it took it, or never will.
func (k *keeper) tell(to *os.File, line string) (taken bool) {
	if _, err := to.WriteString(line + "\n"); err != nil {
		k.closeStdin()
		return false
	}
	return true
}

func (k *keeper) closeStdin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stdin != nil {
		k.stdin.Close()
		k.stdin = nil
	}
}

// signal signals the agent's group, never the agent alone: many are a shim
// around the real one.
func (k *keeper) signal(s unix.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.group > 0 {
		_ = unix.Kill(-k.group, s)
	}
}

// endAgent ends the agent for a reason of the keeper's own: politely, then not.
func (k *keeper) endAgent(why string) {
	k.mu.Lock()
	first := k.why == ""
	if first {
		k.why = why
		k.last = time.AfterFunc(3*time.Second, func() { k.signal(unix.SIGKILL) })
	}
	k.mu.Unlock()
	if first {
		k.closeStdin()
		k.signal(unix.SIGTERM)
	}
}
