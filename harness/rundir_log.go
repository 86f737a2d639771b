package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// AppendLog adds a line to log.jsonl and returns when it is on the disk. The
// line is one JSON object without line breaks. After an error the line is not
// there.
func (d Dir) AppendLog(line []byte) error {
	if !isRow(line) {
		return fmt.Errorf("%s: not one line of a JSON object", filepath.Join(d.Path, logFile))
	}
	path := filepath.Join(d.Path, logFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	// When the file is new, so may be the folders around it.
	runs := filepath.Dir(d.Path)
	return appendRows(f, append(bytes.Clone(line), '\n'),
		func() error { return syncDir(d.Path) },
		func() error { return syncDir(runs) },
		func() error { return syncDir(filepath.Dir(runs)) })
}

// ReadLog gives every line of log.jsonl to fn, oldest first, until fn returns
// an error. Each begins like an object. One that a crash cut short may be among
// them, wherever it stands: no cut of a JSON object is one, so whoever decodes
// the lines leaves it out.
func (d Dir) ReadLog(fn func(line []byte) error) error {
	data, err := os.ReadFile(filepath.Join(d.Path, logFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for line := range bytes.Lines(data) {
		if line[0] != '{' {
			continue
		}
		if err := fn(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
			return err
		}
	}
	return nil
}

// Send appends rows to in.jsonl, for the keeper to pass on, and returns when
// they are on the disk. Rows whose id is there already are left out. It is
// fine to send to a life that has ended: then nobody reads them.
func (l Life) Send(rows ...Send) error {
	f, err := os.OpenFile(filepath.Join(l.Path, inFile), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	// Two senders must not both find an id missing.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	known, torn, err := sentIDs(f)
	if err != nil {
		return err
	}
	var fresh []Send
	for _, s := range rows {
		if !known[s.ID] {
			known[s.ID] = true
			fresh = append(fresh, s)
		}
	}
	data, err := encodeRows(fresh)
	if err != nil || len(data) == 0 && !torn {
		return err
	}
	return appendRows(f, data)
}

// sentIDs are the ids of the rows that are there; torn says that the last of them
// lacks its line end: whoever reads them does not see it before it has one.
func sentIDs(f *os.File) (known map[string]bool, torn bool, err error) {
	known = map[string]bool{}
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		var row struct {
			ID string `json:"id"`
		}
		// A whole row that only lacks its line end counts: an append gives it one.
		if isRow(bytes.TrimSuffix(line, []byte{'\n'})) && json.Unmarshal(line, &row) == nil {
			known[row.ID], torn = true, err != nil
		}
		if errors.Is(err, io.EOF) {
			return known, torn, nil
		} else if err != nil {
			return nil, false, err
		}
	}
}

func encodeRows(rows []Send) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, s := range rows {
		if err := checkRow(s); err != nil {
			return nil, err
		}
		if err := enc.Encode(s); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func checkRow(s Send) error {
	switch {
	case s.ID == "":
		return errors.New("a row for the agent needs an id")
	case !utf8.ValidString(s.ID):
		return fmt.Errorf("row %q: an id is text", s.ID) // JSON would make another of it
	case s.Do != "" && s.Do != DoEOF && s.Do != DoTerm && s.Do != DoKill:
		return fmt.Errorf("row %s: cannot do %q", s.ID, s.Do)
	case strings.ContainsRune(s.Line, '\n'):
		return fmt.Errorf("row %s: more than one line", s.ID)
	case len(s.Line) > lineMax/2: // escaped it must still be a line of a capture
		return fmt.Errorf("row %s: too long", s.ID)
	}
	return nil
}

// appendRows adds whole lines to a file opened for appending and syncs it; with
// the first ones, whatever whenNew syncs. A torn last line gets its line
// end first, so that it spoils nothing but itself. What fails is taken back.
func appendRows(f *os.File, rows []byte, whenNew ...func() error) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size > 0 {
		whenNew = nil
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			rows = append([]byte{'\n'}, rows...)
		}
	}
	_, err = f.Write(rows)
	if err = errors.Join(err, together(append(whenNew, f.Sync)...)); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}

// isRow reports whether line is one JSON object on one line.
func isRow(line []byte) bool {
	return len(line) > 0 && line[0] == '{' && bytes.IndexByte(line, '\n') < 0 && json.Valid(line)
}
