package load

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deckhand/internal/control"
	"deckhand/internal/daemon"
	"deckhand/internal/robust"
)

// files is how many descriptors a process has open.
func files(t *testing.T, pid int) int {
	t.Helper()
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func socket(p *robust.Place) string {
	return control.SocketPath(p.Options.Runtime, daemon.Key(p.Work))
}

// held is a board with so many cards that have no project, and one more.
func heldBoard(n int, more string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- [ ] Card %d that waits for a project @pi\n", i)
	}
	return board(b.String(), "- [ ] "+more+" @pi\n")
}

// TestReadersThatDoNotRead: clients ask for events and take none, while the
// status is long and changes all the time. Another client sees each change, the
// daemon stays small, and those that do not read are let go.
func TestReadersThatDoNotRead(t *testing.T) {
	ctx := bounded(t, 4*time.Minute)
	p := newPlace(t, 1)
	const cards, readers = 1000, 10
	p.Save("Held.md", heldBoard(cards, "Change 0"))
	d := p.Start(ctx)
	pid := d.Cmd.Process.Pid
	d.Until(func(s control.Status) bool { return len(s.Held) > cards })
	var deaf []net.Conn
	for range readers {
		c, err := net.Dial("unix", socket(p))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := fmt.Fprint(c, "GET /v1/events HTTP/1.1\r\nHost: deckhand\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err != nil { // it is answered
			t.Fatal(err)
		}
		deaf = append(deaf, c)
	}
	events, err := d.Client.Events(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	largest, changes := 0, 0
	for ; changes < 100 || slices.ContainsFunc(deaf, connected); changes++ {
		title := fmt.Sprintf("Change %d", changes+1)
		p.Save("Held.md", heldBoard(cards, title))
		if !sees(t, events, title) {
			t.Fatalf("a client that reads did not get to see change %d", changes)
		}
		largest = max(largest, memory(t, pid))
	}
	if !raced && largest > most {
		t.Errorf("%d bytes", largest)
	}
	suite.Figure(t, "clients that read nothing", "%d, let go within %d changes of a status with %d cards, each of which another client saw; at most %s", readers, changes, cards, megabytes(largest))
}

// again asks again and again for what /proc alone can tell.
func again(t *testing.T, ctx context.Context, ok func() bool) {
	t.Helper()
	for !ok() {
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
	}
}

// connected reports whether the other side still listens.
func connected(c net.Conn) bool {
	_, err := c.Write([]byte("\n"))
	return err == nil
}

// sees waits for a status that holds a card.
func sees(t *testing.T, events <-chan control.Event, title string) bool {
	t.Helper()
	for e := range events {
		var s control.Status
		if e.Kind == "run" {
			continue
		}
		if err := e.Decode(&s); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(s.Held, func(h control.Held) bool { return h.Card == title }) {
			return true
		}
	}
	return false
}

// TestComingBack: a client reads a log while its agent talks, loses its
// connection again and again, and comes back with the number it had. It gets
// each line once, in order; what it missed in half a minute it gets at once.
func TestComingBack(t *testing.T) {
	ctx := bounded(t, 4*time.Minute)
	p := newPlace(t, 1)
	d := p.Start(ctx)
	n := max(20_000, suite.Rounds(300_000))
	p.Save("Shop.md", board(card("Talk", 0, fmt.Sprintf("[stream:%d]", n))))
	run := d.Until(func(s control.Status) bool { return count(s, "working") == 1 }).Runs[0].ID
	var text strings.Builder
	since, last, back := int64(0), int64(0), 0
	for open := true; open; back++ {
		client, err := control.Connect(ctx, socket(p))
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + back%3 {
			log, err := client.Log(ctx, run, since)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range log.Events {
				if e.N <= last {
					t.Errorf("event %d came after %d", e.N, last)
				}
				last = e.N
				if e.Kind == "text" {
					text.WriteString(e.Text + "\n")
				}
			}
			since, open = log.Next, log.Open
		}
		client.Close()
	}
	if err := inOrder([]byte(text.String()), n); err != nil {
		t.Error(err)
	}
	suite.Figure(t, "a client that comes back", "%d times, for %d lines: none missed, none twice", back, n)
	missed(t, p, d)
}

// missed measures what 30 seconds at 200 lines a second take to catch up with.
func missed(t *testing.T, p *robust.Place, d *robust.Process) {
	t.Helper()
	const lines = 30 * 200
	p.Save("More.md", board(card("Missed", 0, fmt.Sprintf("[stream:%d] [ask]", lines))))
	s := d.Until(func(s control.Status) bool { return count(s, "waiting") == 1 })
	i := slices.IndexFunc(s.Runs, func(r control.Run) bool { return r.Status == "waiting" })
	began := time.Now()
	log, err := d.Client.Log(bounded(t, time.Minute), s.Runs[i].ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	suite.Figure(t, "30 s of missed lines, 200 a second", "there after %v", time.Since(began).Round(time.Millisecond))
	var text strings.Builder
	for _, e := range log.Events {
		if e.Kind == "text" {
			text.WriteString(e.Text + "\n")
		}
	}
	if err := inOrder([]byte(text.String()), lines); err != nil {
		t.Error(err)
	}
}
