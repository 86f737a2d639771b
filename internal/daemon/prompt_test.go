package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/harness"
)

// What a person has added for a turn whose prompt never came to the session, its
// agent having been killed before, is told by the next one; what came is not
// told again.
func TestOwedLines(t *testing.T) {
	d := &daemon{model: newModel(Options{}, &folder{file: folderFile{Secret: "secret"}})}
	b := board.Parse("Shop.md", []byte(boardOf("- [ ] Ship it @pi\n\tthe card's own\n")), d.options())
	card := b.ByKey("Ship it @pi")[0]
	r := newRun(&dispatch.Run{ID: "R"}, harness.Dir{})
	r.apply(dispatch.Entry{Kind: dispatch.Claimed, Nonce: "0123456789abcdef", Card: &dispatch.Card{Board: "Shop.md", Key: "Ship it @pi"}})
	r.apply(dispatch.Entry{Kind: dispatch.Resumed, By: "command", Lines: []string{"first reply"}})
	r.apply(dispatch.Entry{Kind: dispatch.Resumed, By: "start"})
	r.apply(dispatch.Entry{Kind: dispatch.Resumed, By: "command", Lines: []string{"second reply"}})
	nonces := d.nonces(r)
	all := []string{"the card's own", "first reply", "second reply"}
	for _, c := range []struct {
		name    string
		session []string
		turn    int
		want    []string // of all, once each
	}{
		{"nothing came", nil, -1, all},
		{"only the card came", nonces[:1], 0, all[1:]},
		{"the card and the first reply came", nonces[:2], 1, all[2:]},
		{"it came to the next life", []string{nonces[0], nonces[2]}, 2, all[2:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			session := filepath.Join(t.TempDir(), "session.jsonl")
			if c.session != nil {
				if err := os.WriteFile(session, []byte(strings.Join(c.session, "\n")), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			turn, err := arrived(session, nonces)
			if err != nil || turn != c.turn {
				t.Fatalf("turn %d, %v; want %d", turn, err, c.turn)
			}
			text := d.prompter(r, "Shop.md", card)(turn).text
			if !strings.Contains(text, d.nonceOf(r, 3)) {
				t.Errorf("the prompt lacks its own nonce:\n%s", text)
			}
			left := all[:len(all)-len(c.want)]
			for _, line := range c.want {
				if strings.Count(text, line) != 1 {
					t.Errorf("%q stands %d times in\n%s", line, strings.Count(text, line), text)
				}
			}
			for _, line := range left {
				if strings.Contains(text, line) {
					t.Errorf("%q was told before:\n%s", line, text)
				}
			}
		})
	}
	if got := owed([][]string{{"a"}, nil, {"a", "b"}}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("told again: %q", got)
	}
	seen := map[string]bool{}
	for _, n := range append(nonces, d.nonceOf(r, 3)) {
		if seen[n] || len(n) != 16 {
			t.Errorf("nonce %q", n)
		}
		seen[n] = true
	}
}
