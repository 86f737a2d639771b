package daemon

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"deckhand/internal/control"
)

// Cut at any byte, the receipts that are whole are there, and those that come
// later are not spoilt by the rest of one that is not.
func TestReceiptsCutAtEveryByte(t *testing.T) {
	f, err := openFolder(t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(f.path(), 0o700); err != nil {
		t.Fatal(err)
	}
	open := func() *folder {
		t.Helper()
		if err := f.openReceipts(); err != nil {
			t.Fatal(err)
		}
		return f
	}
	open()
	var ends []int // where each receipt is whole, but for its line end
	for i := range 4 {
		r := receipt{ID: fmt.Sprintf("id-%d", i), Result: control.Result{OK: true, Text: "a \"card\" ü"}}
		if err := f.keepReceipt(r); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(f.path("receipts.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(info.Size())-1)
	}
	whole, err := os.ReadFile(f.path("receipts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		if err := os.WriteFile(f.path("receipts.jsonl"), bytes.Clone(whole[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open().keepReceipt(receipt{ID: "next", Begun: true}); err != nil {
			t.Fatal(err)
		}
		open()
		for i, end := range ends {
			if r, there := f.receipts.byID[fmt.Sprintf("id-%d", i)]; there != (end <= n) || there && !r.Result.OK {
				t.Fatalf("cut at %d: receipt %d: %v %+v", n, i, there, r)
			}
		}
		if !f.receipts.byID["next"].Begun {
			t.Fatalf("cut at %d: the next receipt is lost", n)
		}
	}
}
