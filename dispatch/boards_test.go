package dispatch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/board"
)

// The boards that look like real people's start exactly the cards that
// EXPECTED.json names: everything granted, lanes added, nothing running.
func TestBoardsStartWhatIsExpected(t *testing.T) {
	const dir = "../testdata/boards"
	data, err := os.ReadFile(filepath.Join(dir, "EXPECTED.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct {
		Start []string `json:"would_dispatch"`
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != 25 {
		t.Fatalf("%d boards, want 25", len(want))
	}
	for file, w := range want {
		t.Run(file, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			startsOf(t, file, src, w.Start)
		})
	}
}

// startsOf lets one card after the other start and be done, until none does.
func startsOf(t *testing.T, file string, src []byte, want []string) {
	t.Helper()
	opts := board.Options{Agents: []string{"claude", "pi"}}
	if file == "08-cjk.md" {
		opts.Lanes = map[board.Role][]string{board.Ready: {"计划"}, board.Working: {"进行中"}, board.Review: {"审查"}}
	}
	d := newDesk(t)
	d.set.AddLanes, d.set.Once = true, true
	b := board.Parse(file, src, opts)
	for len(b.Missing()) > 0 && b.Inactive == "" && len(b.Lanes) > 0 {
		d.boards[file] = &Seen{Board: b}
		dec := d.look()
		if len(dec.Actions) == 0 {
			break // no card of it asks for an agent
		}
		if dec.Actions[0].Do != DoAddLanes {
			t.Fatalf("actions %v, want lanes to be added first", dec.Actions)
		}
		out, err := b.AddLanes()
		if err != nil {
			t.Fatal(err)
		}
		b = board.Parse(file, out, opts)
	}
	d.set.Projects["all"] = Project{Folder: "/p/all", Boards: []string{file}}
	d.set.Projects[b.Project] = Project{Folder: "/p/all"}
	for _, c := range b.All() {
		d.set.Projects[c.Project] = Project{Folder: "/p/all"}
	}
	d.boards[file] = &Seen{Board: b}
	var started []string
	for range 10 {
		dec := d.look()
		if len(dec.Actions) == 0 {
			break
		}
		a := dec.Actions[0]
		if a.Do != DoClaim || len(dec.Actions) > 1 {
			t.Fatalf("actions %v, want one claim at a time", dec.Actions)
		}
		started = append(started, a.Card.Key)
		d.set.Before[CardID{file, a.Card.Key}] = Was{a.Card.Lane, Hash(cardAt(b, a.Card.Line))}
	}
	if len(started) != len(want) {
		t.Fatalf("started %q, want %q; %q", started, want, d.reasons())
	}
	for _, part := range want { // the list has no order
		if !slices.ContainsFunc(started, func(key string) bool { return strings.Contains(key, part) }) {
			t.Errorf("started %q, want %q too", started, part)
		}
	}
}

func cardAt(b *board.Board, line int) *board.Card {
	for _, c := range b.All() {
		if c.Line == line {
			return c
		}
	}
	return nil
}

// Of a board that is the reason itself one card is told, with the number of the
// others that ask.
func TestBoardWithAFaultIsToldOnce(t *testing.T) {
	d := newDesk(t)
	d.save("Shop.md", lanes("Plan: A @pi | No agent | B @pi | C @pi"))
	d.boards["Shop.md"].Gone = "read-only"
	cards := d.look().Cards
	if len(cards) != 1 || cards[0].Card.Key != "A @pi" || cards[0].More != 2 || len(cards[0].Held()) != 1 {
		t.Errorf("%+v, want the first of three", cards)
	}
}
