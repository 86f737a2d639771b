package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"

	"deckhand/internal/control"
)

// receipt is the first result of a client's command; the same id again gets it.
// Begun alone says that the command was about to be carried out, by whoever was
// killed then.
type receipt struct {
	ID     string         `json:"id"`
	Begun  bool           `json:"begun,omitempty"`
	Result control.Result `json:"result,omitzero"`
}

// receiptsKept is how many receipts are kept. A client asks again within
// seconds, not within months.
const receiptsKept = 1000

// receipts are those of receipts.jsonl.
type receipts struct {
	byID  map[string]receipt
	order []string // ids, oldest first
	lines int      // of the file
}

// openReceipts reads the receipts. A line that a crash cut short is ended, so
// that it spoils nothing but itself.
func (f *folder) openReceipts() error {
	f.receipts = receipts{byID: map[string]receipt{}}
	data, err := readOptional(f.path("receipts.jsonl"), math.MaxInt64-1)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(data) {
		f.receipts.lines++
		var r receipt
		if json.Unmarshal(line, &r) == nil && r.ID != "" {
			f.receipts.add(r)
		}
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return f.rewriteReceipts()
	}
	return nil
}

func (r *receipts) add(n receipt) {
	if _, known := r.byID[n.ID]; !known {
		r.order = append(r.order, n.ID)
	}
	r.byID[n.ID] = n
	for len(r.order) > receiptsKept {
		delete(r.byID, r.order[0])
		r.order = r.order[1:]
	}
}

// keepReceipt writes a receipt before its command is answered.
func (f *folder) keepReceipt(r receipt) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f.receipts.add(r)
	if f.receipts.lines > 4*receiptsKept {
		return f.rewriteReceipts()
	}
	f.receipts.lines++
	file, err := os.OpenFile(f.path("receipts.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	if err = errors.Join(err, file.Sync()); err != nil {
		err = errors.Join(err, file.Truncate(size)) // half a line would spoil the next
	}
	return errors.Join(err, file.Close())
}

// rewriteReceipts leaves only those that are kept in the file.
func (f *folder) rewriteReceipts() error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, id := range f.receipts.order {
		if err := enc.Encode(f.receipts.byID[id]); err != nil {
			return err
		}
	}
	f.receipts.lines = len(f.receipts.order)
	return writeFile(f.path("receipts.jsonl"), b.Bytes())
}
