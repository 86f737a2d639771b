package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"deckhand/harness"
)

// A Recording is one life of an agent as it was seen.
type Recording struct {
	Name   string
	Lines  []harness.Line
	Code   int    // exit code, when Signal is empty
	Signal string // SIGKILL, SIGTERM, …
}

// epoch is when every recording begins: only distances matter.
func epoch() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// Read reads a recording: JSON lines {"t","dir","line"}, where t is milliseconds
// since the start and dir is out, err, in (as sent) or meta (what was done to
// the process: its input closed, a signal, its end).
func Read(name string, r io.Reader) (Recording, error) {
	rec := Recording{Name: name}
	in := bufio.NewReader(r)
	for {
		raw, err := in.ReadBytes('\n')
		if len(raw) > 0 {
			if err := rec.row(raw); err != nil {
				return rec, fmt.Errorf("%s: %w", name, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return rec, nil
		}
		if err != nil {
			return rec, fmt.Errorf("%s: %w", name, err)
		}
	}
}

func (r *Recording) row(raw []byte) error {
	var row struct {
		T    float64 `json:"t"`
		Dir  string  `json:"dir"`
		Line string  `json:"line"`
	}
	if err := json.Unmarshal(raw, &row); err != nil {
		return err
	}
	at := epoch().Add(time.Duration(row.T * float64(time.Millisecond)))
	switch row.Dir {
	case "out", "err":
		r.add(harness.Stream(row.Dir), at, []byte(row.Line))
	case "in":
		r.Sent(at, harness.Send{ID: fmt.Sprintf("recorded-%d", len(r.Lines)+1), Line: row.Line})
	case "meta":
		return r.meta(at, row.Line)
	default:
		return fmt.Errorf("unknown direction %q", row.Dir)
	}
	return nil
}

// meta takes what was done to the process; other notes of the recorder are
// passed over.
func (r *Recording) meta(at time.Time, line string) error {
	var m struct {
		Action string `json:"action"`
		Exit   *int   `json:"exit"`
		Signal string `json:"signal"`
	}
	if json.Unmarshal([]byte(line), &m) != nil {
		return nil // a sentence
	}
	if m.Exit != nil {
		r.Code = *m.Exit
	}
	r.Signal = m.Signal
	switch m.Action {
	case "close stdin":
		r.Sent(at, harness.Send{ID: "eof", Do: "eof"})
	case "SIGTERM":
		r.Sent(at, harness.Send{ID: "term", Do: "term"})
	}
	// A KILL or INT in a recording came from elsewhere, as far as we know.
	return nil
}

// Sent adds a row as the keeper would write it down.
func (r *Recording) Sent(at time.Time, s harness.Send) {
	row, err := json.Marshal(s)
	if err != nil {
		panic("conformance: " + err.Error()) // three strings
	}
	r.add(harness.In, at, row)
}

func (r *Recording) add(s harness.Stream, at time.Time, data []byte) {
	r.Lines = append(r.Lines, harness.Line{Seq: int64(len(r.Lines) + 1), Time: at, Stream: s, Data: data})
}
