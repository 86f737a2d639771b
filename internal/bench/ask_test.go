package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/internal/control"
)

// BenchmarkAsk is the way of a question from the line that its agent's keeper
// took down to the board, and to a client of the socket, as the pane is one.
func BenchmarkAsk(b *testing.B) {
	p := newPlace(b)
	p.grant()
	p.write(p.at("Shop.md"), shop)
	d := p.watch()
	defer d.end()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	sockets, err := filepath.Glob(filepath.Join(p.o.Runtime, "*.sock"))
	must(b, err)
	if len(sockets) != 1 {
		b.Fatalf("%d sockets", len(sockets))
	}
	client, err := control.Connect(ctx, sockets[0])
	must(b, err)
	defer client.Close()
	events, err := client.Events(ctx, 0)
	must(b, err)
	var board, told times
	for i := range 30 {
		title := fmt.Sprintf("Card %d of the run", i)
		p.pause()
		p.edit("## Plan\n\n", "## Plan\n\n- [ ] "+title+" [ask] @pi\n")
		p.agentBegan()
		run, at := asks(b, events, title)
		asked := askedAt(ctx, b, client, run.ID)
		told = append(told, at.Sub(asked))
		board = append(board, p.shownAt("pi asks").Sub(asked))
		yes := "allow"
		_, err := client.Do(ctx, control.Command{ID: title, Name: "answer", Run: run.ID, Value: &yes, From: "pane"})
		must(b, err)
		p.inReview(i + 1)
	}
	results.add(b, "question to board, median", "ms", ms(board.median()), 200, fmt.Sprintf("worst of %d: %.0f ms", len(board), ms(board.quantile(1))))
	results.add(b, "question to a client of the socket, median", "ms", ms(told.median()), 50, fmt.Sprintf("worst %.0f ms", ms(told.quantile(1))))
}

// asks waits until a card's run asks, and says when that was known.
func asks(b *testing.B, events <-chan control.Event, title string) (control.Run, time.Time) {
	b.Helper()
	for e := range events {
		at := time.Now()
		if e.Kind != "snapshot" && e.Kind != "status" {
			continue
		}
		var s control.Status
		must(b, e.Decode(&s))
		for _, r := range s.Runs {
			if strings.HasPrefix(r.Card, title) && len(r.Asks) > 0 {
				return r, at
			}
		}
	}
	b.Fatalf("%s: it never asked", title)
	return control.Run{}, time.Time{}
}

// askedAt is when the question came, as the capture has it.
func askedAt(ctx context.Context, b *testing.B, c *control.Client, run string) time.Time {
	b.Helper()
	log, err := c.Log(ctx, run, 0)
	must(b, err)
	for _, e := range log.Events {
		if e.Kind == "ask" {
			return e.Time
		}
	}
	b.Fatal("the log has no question")
	return time.Time{}
}

// shownAt waits until the board has a text and says when the file was written.
func (p *place) shownAt(text string) time.Time {
	p.b.Helper()
	for range time.Tick(time.Millisecond) {
		if strings.Contains(p.read("Shop.md"), text) {
			break
		}
	}
	info, err := os.Stat(p.at("Shop.md"))
	must(p.b, err)
	return info.ModTime()
}
