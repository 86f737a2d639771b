package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/text"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/store"
)

// boardOf makes a board of n cards, about 105 bytes each, with one more on top.
func boardOf(n int) []byte {
	var b bytes.Buffer
	b.WriteString("---\nkanban-plugin: board\nproject: web\n---\n\n## Plan\n\n- [ ] The one that moves @pi\n")
	for _, lane := range []string{"", "## In Progress\n\n", "## Review\n\n", "## Done\n\n"} {
		b.WriteString(lane)
		for i := range n / 4 {
			fmt.Fprintf(&b, "- [ ] Card %d with [[Specification#Part %d|a link]] and some words @pi #feature\n", i, i)
			if i%3 == 0 {
				b.WriteString("\tA line of the note, with `code` in it.\n\t- [ ] a step\n")
			}
		}
		b.WriteString("\n\n")
	}
	b.WriteString("%% kanban:settings\n```\n{\"kanban-plugin\":\"board\",\"list-collapse\":[false,false,false,false]}\n```\n%%")
	return b.Bytes()
}

// BenchmarkParse is reading a board, beside goldmark on the same bytes.
func BenchmarkParse(b *testing.B) {
	for _, cards := range []int{500, 5000} {
		src := boardOf(cards)
		opts := board.Options{Agents: []string{"pi"}}
		md := goldmark.DefaultParser()
		var ours, theirs times
		for range 10_000 / cards * 10 {
			theirs.take(func() { md.Parse(text.NewReader(src)) })
			ours.take(func() { board.Parse("Shop.md", src, opts) })
		}
		results.add(b, fmt.Sprintf("board of %d cards: parse / goldmark alone", cards), "×", ours.over(theirs), 1.5,
			fmt.Sprintf("%.2f ms / %.2f ms", ms(ours.median()), ms(theirs.median())))
	}
}

// BenchmarkSwap is putting a board in the place of another with nothing lost,
// and a whole move of a card with the two entries of its run's log, beside a
// write of the same bytes that is only durable.
func BenchmarkSwap(b *testing.B) {
	for _, cards := range []int{500, 5000} {
		m := newMover(b, boardOf(cards))
		var bare, swap, move times
		for i := range 200 {
			bare.take(func() { must(b, bareWrite(m.root, "Bare.md", m.src)) })
			swap.take(m.swap)
			m.restore()
			move.take(m.move)
			m.restore()
			if i%20 == 0 {
				must(b, m.store.Flush(b.Context()))
			}
		}
		must(b, m.store.Close())
		what := fmt.Sprintf("board of %d cards: ", cards)
		results.add(b, what+"swap / bare durable write", "×", swap.over(bare), 1.3,
			fmt.Sprintf("%.2f ms / %.2f ms", ms(swap.median()), ms(bare.median())))
		results.add(b, what+"whole move / bare durable write", "×", move.over(bare), 2.2,
			fmt.Sprintf("%.2f ms / %.2f ms", ms(move.median()), ms(bare.median())))
	}
}

// mover moves the top card of a board to In Progress, as a daemon does.
type mover struct {
	b     *testing.B
	root  string
	src   []byte
	other []byte       // src with one byte changed
	board *board.Board // as it was read last
	opts  board.Options
	store *store.Store
	dir   harness.Dir
}

func newMover(b *testing.B, src []byte) *mover {
	b.Helper()
	m := &mover{b: b, root: b.TempDir(), src: src, other: bytes.Replace(src, []byte("The one"), []byte("the one"), 1)}
	must(b, os.WriteFile(filepath.Join(m.root, "Shop.md"), src, 0o644))
	must(b, os.WriteFile(filepath.Join(m.root, "Bare.md"), src, 0o644))
	var err error
	m.opts = board.Options{Agents: []string{"pi"}}
	m.board = board.Parse("Shop.md", src, m.opts)
	state := b.TempDir()
	m.store, err = store.Open(m.root, store.Options{State: state})
	must(b, err)
	m.dir, err = harness.CreateDir(state, "01kb7x2m")
	must(b, err)
	m.log(dispatch.Claimed)
	return m
}

func (m *mover) update(op store.Op) {
	m.b.Helper()
	_, err := m.store.UpdateNow(m.b.Context(), "Shop.md", op)
	must(m.b, err)
}

// swap is the swap alone.
func (m *mover) swap() { m.update(func([]byte) ([]byte, error) { return m.other, nil }) }

// restore puts the first bytes back.
func (m *mover) restore() { m.update(func([]byte) ([]byte, error) { return m.src, nil }) }

// move announces what is to be shown, shows it, and says that it is shown.
func (m *mover) move() {
	m.b.Helper()
	m.log(dispatch.Show)
	m.update(func(cur []byte) ([]byte, error) {
		at := m.board.Reread(cur, m.opts)
		return at.Update(board.Update{
			Key: at.Lanes[0].Cards[0].Key, To: board.Working, Put: &board.Item{Run: "01kb7x2m", Agent: "pi", Word: "works"},
		})
	})
	m.log(dispatch.Shown)
}

func (m *mover) log(kind dispatch.Kind) {
	m.b.Helper()
	card := dispatch.Card{Board: "Shop.md", Lane: "Plan", Line: 8, Key: "The one that moves", Title: "The one that moves"}
	line, err := json.Marshal(dispatch.Entry{ID: "01KB7X2M", Time: time.Now(), Run: "01KB7X2M", Kind: kind, Card: &card})
	must(m.b, err)
	must(m.b, m.dir.AppendLog(line))
}

// bareWrite is what any program must do to replace a file durably.
func bareWrite(dir, name string, data []byte) error {
	temp := filepath.Join(dir, ".bare.tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close(), os.Rename(temp, filepath.Join(dir, name))); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
