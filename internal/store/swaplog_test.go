package store

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Cut at any byte, with what was there or with zeros behind it, the swap log says
// what its whole rows say, and takes new ones.
func TestSwapLogCutAtEveryByte(t *testing.T) {
	rows := []swapRow{
		{Do: doBegin, Temp: "a", Dir: "sub", File: "ü.md"},
		{Do: doReady, Temp: "a", Inode: 7, Read: "r", Ours: "o"},
		{Do: doBegin, Temp: "b", Dir: ".", File: "b.md"},
		{Do: doBack, Temp: "a"},
		{Do: doEnd, Temp: "a"},
		{Do: doReady, Temp: "b", Inode: 8, Read: "r", Ours: "o"},
	}
	next := swapRow{Do: doBegin, Temp: "c", Dir: ".", File: "c.md"}
	var whole []byte
	for _, r := range rows {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(append(whole, line...), '\n')
	}
	// said is what the first rows of the log say, and one more.
	said := func(n int) []openSwap {
		l := &swapLog{open: map[string]*openSwap{}}
		for _, r := range rows[:n] {
			l.note(r)
		}
		l.note(next)
		return l.pending()
	}
	for n := range len(whole) + 1 {
		for _, behind := range []int{0, 3, blank} {
			dir := t.TempDir()
			path := filepath.Join(dir, "swaps.jsonl")
			if err := os.WriteFile(path, append(whole[:n:n], make([]byte, behind)...), 0o600); err != nil {
				t.Fatal(err)
			}
			for again := range 2 { // opened with the next row, and once more to read it
				l, err := openSwapLog(&disk{}, dir)
				if err != nil {
					t.Fatal(err)
				}
				if again == 0 {
					if err := l.add(next); err != nil {
						t.Fatal(err)
					}
				}
				complete := strings.Count(string(whole[:n]), "\n")
				got := l.pending()
				if err := l.close(); err != nil {
					t.Fatal(err)
				}
				// A row that lacks its line end alone may count as well, until it is written over.
				if !reflect.DeepEqual(got, said(complete)) && !(again == 0 && complete < len(rows) && reflect.DeepEqual(got, said(complete+1))) {
					t.Fatalf("cut at %d, %d zeros, opened %d times: %+v", n, behind, again+1, got)
				}
			}
		}
	}
}
