package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deckhand/harness"
)

// What the tests do with a place.

// edit changes config.yaml.
func (p *placeT) edit(old, now string) {
	p.t.Helper()
	data, err := os.ReadFile(p.o.Config)
	if err != nil || !strings.Contains(string(data), old) {
		p.t.Fatalf("config: %v\n%s", err, data)
	}
	p.write(p.o.Config, strings.Replace(string(data), old, now, 1))
}

// move takes the card with a text to another lane, as a person does, with what
// stands below it; not twice.
func (p *placeT) move(text, lane, add string) {
	p.t.Helper()
	board := p.text("Shop.md")
	at := strings.Index(board, "- [ ] "+text)
	if at < 0 {
		p.t.Fatalf("no card %s:\n%s", text, board)
	}
	end := at + strings.IndexByte(board[at:], '\n') + 1
	for end < len(board) && (board[end] == '\t' || board[end] == ' ') {
		end += strings.IndexByte(board[end:], '\n') + 1
	}
	card := board[at:end]
	first, rest, _ := strings.Cut(card, "\n")
	if add != "" {
		rest = "\t" + add + "\n" + rest
	}
	board = board[:at] + board[end:]
	head := "## " + lane + "\n"
	p.save("Shop.md", strings.Replace(board, head, head+"\n"+first+"\n"+rest, 1))
}

// text is a file that a swap may be replacing.
func (p *placeT) text(rel string) string {
	data, err := os.ReadFile(p.at(rel))
	if err != nil {
		return ""
	}
	return string(data)
}

// held reports whether a life, by its folder, has a keeper.
func held(path string) bool {
	state, err := harness.Life{Path: path}.State()
	return err != nil || state.Held
}

// inTurn looks by the agents' own record that no two of them overlapped.
func (p *placeT) inTurn() {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.proj, "RECORD.log"))
	if err != nil {
		p.t.Fatal(err)
	}
	busy := false
	for l := range strings.Lines(string(data)) {
		begins := strings.Contains(l, "start")
		if begins == busy {
			p.t.Fatalf("two at once:\n%s", data)
		}
		busy = begins
	}
}

// briefly runs a daemon that is ended before the test.
func (p *placeT) briefly(ctx context.Context) *runningT {
	p.t.Helper()
	o := p.o
	o.Once = false
	return p.start(ctx, o)
}

// lines are what the journal says of the only run, without times.
func (p *placeT) lines(d *runningT) []string {
	p.t.Helper()
	entries, err := d.client.Journal(d.ctx, time.Time{})
	if err != nil {
		p.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSpace(e.Status+" "+e.Reason))
	}
	return out
}
