package board

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const boardsDir = "../testdata/boards"

type expected struct {
	SHA256   string
	Bytes    int
	Lanes    [][]any
	Archived int
	Start    []string `json:"would_dispatch"`
}

func expectations(t *testing.T) map[string]expected {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(boardsDir, "EXPECTED.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]expected
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// optionsFor are the settings EXPECTED.json counts with.
func optionsFor(name string) Options {
	o := Options{Agents: []string{"pi", "claude"}}
	if strings.HasPrefix(name, "08") {
		o.Lanes = map[Role][]string{Ready: {"计划"}, Working: {"进行中"}, Review: {"审查"}}
	}
	return o
}

// starts lists the cards that start as far as the board alone decides.
func starts(b *Board) []*Card {
	var out []*Card
	for l, c := range b.All() {
		if b.Inactive == "" && b.Problem == "" && l.Role == Ready && c.Open() && len(c.Agents) == 1 &&
			c.Status == nil && len(b.ByKey(c.Key)) == 1 {
			out = append(out, c)
		}
	}
	return out
}

func TestSampleBoards(t *testing.T) {
	for name, want := range expectations(t) {
		t.Run(name, func(t *testing.T) {
			src := read(t, filepath.Join(boardsDir, name))
			sum := sha256.Sum256(src)
			if hex.EncodeToString(sum[:]) != want.SHA256 {
				t.Fatalf("the sample itself changed")
			}
			b := Parse(name, src, optionsFor(name))
			if len(b.Lanes) != len(want.Lanes) {
				t.Errorf("%d lanes, want %v", len(b.Lanes), want.Lanes)
			}
			for i := range min(len(b.Lanes), len(want.Lanes)) {
				l, w := b.Lanes[i], want.Lanes[i]
				if l.Title != w[0].(string) || len(l.Cards) != int(w[1].(float64)) {
					t.Errorf("lane %d is %q with %d cards, want %v", i, l.Title, len(l.Cards), w)
				}
			}
			if len(b.Archive) != want.Archived {
				t.Errorf("%d archived, want %d", len(b.Archive), want.Archived)
			}
			got := starts(b)
			if len(got) != len(want.Start) {
				t.Errorf("%d cards start, want %q", len(got), want.Start)
			}
			for _, c := range got {
				if !slices.ContainsFunc(want.Start, func(s string) bool { return strings.Contains(c.First, s) }) {
					t.Errorf("%q starts, want only %q", c.First, want.Start)
				}
			}
		})
	}
}
