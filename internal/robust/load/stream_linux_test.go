package load

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

// Twenty agents that say 200 things a second for ten minutes.
const (
	agents  = 20
	perLife = 200 * 600
)

// lines are the numbers of "line N" in a text, in its order.
func lines(text []byte, each func(n int)) {
	for in := bufio.NewScanner(bytes.NewReader(text)); in.Scan(); {
		var n int
		if _, err := fmt.Sscanf(in.Text(), "line %d", &n); err == nil {
			each(n)
		}
	}
}

// inOrder says what is wrong with lines that should be 1 to n.
func inOrder(text []byte, n int) error {
	next := 1
	var wrong error
	lines(text, func(got int) {
		if got != next && wrong == nil {
			wrong = fmt.Errorf("line %d where line %d should be", got, next)
		}
		next = got + 1
	})
	if wrong == nil && next != n+1 {
		wrong = fmt.Errorf("it ends before line %d of %d", next, n)
	}
	return wrong
}

// TestTwentyAgents: twenty agents say as much as in ten minutes of hard work, as
// fast as they can. Each line is in the log and in the chat, once and in order;
// the daemon's memory stays small and does not grow, the files that it keeps are
// little more than what was said, and a card that is saved meanwhile is done
// meanwhile.
func TestTwentyAgents(t *testing.T) {
	ctx := bounded(t, 20*time.Minute)
	p := newPlace(t, agents+1)
	d := p.Start(ctx)
	n := max(fewest, suite.Rounds(perLife))
	var cards []string
	for i := range agents {
		cards = append(cards, card(fmt.Sprintf("Stream %d", i), i, fmt.Sprintf("[stream:%d]", n)))
	}
	began := time.Now()
	p.Save("Shop.md", board(cards...))
	m := watchMemory(t, ctx, d)
	besides(t, p, d)
	last := d.Until(func(s control.Status) bool { return count(s, "done") == agents+1 })
	took := time.Since(began)
	m.judge(t)
	said, kept := 0, 0
	for _, r := range last.Runs {
		if r.Project != besideProject {
			mustHold(t, p, r, n)
			s, k := sizes(t, life(t, p, r.ID))
			said, kept = said+s, kept+k
		}
	}
	factor := float64(kept) / float64(said)
	if factor > 1.3 {
		t.Errorf("%d bytes are kept of %d that were said", kept, said)
	}
	suite.Figure(t, "agents that talk at once", "%d with %d lines each in %v, %.0f a second; none lost in logs and chats, %.2f bytes on disk for a byte said", agents, n, took.Round(time.Millisecond), float64(agents*n)/took.Seconds(), factor)
}

// besideProject is where the card is worked on that is saved while others talk.
const besideProject = "p20"

// besides saves a card when all others are at work, and waits until it is done.
func besides(t *testing.T, p *robust.Place, d *robust.Process) {
	t.Helper()
	d.Until(func(s control.Status) bool { return count(s, "working")+count(s, "done") == agents })
	began := time.Now()
	p.Save("Beside.md", board(card("Beside", agents, "")))
	s := d.Until(func(s control.Status) bool {
		return slices.ContainsFunc(s.Runs, func(r control.Run) bool { return r.Project == besideProject && r.Status == "done" })
	})
	took := time.Since(began)
	if count(s, "working") == 0 {
		t.Error("nobody talked any more: this run shows nothing")
	}
	suite.Figure(t, "a card beside them", "in review after %v, with %d agents still at it", took.Round(time.Millisecond), count(s, "working"))
}

// mustHold looks for each line of a run in its log and its chat.
func mustHold(t *testing.T, p *robust.Place, r control.Run, n int) {
	t.Helper()
	var text strings.Builder
	for _, e := range traceOf(t, p, r.ID).Events {
		if e.Kind == "text" {
			text.WriteString(e.Text + "\n")
		}
	}
	if err := inOrder([]byte(text.String()), n); err != nil {
		t.Errorf("log of %s: %v", r.Card, err)
	}
	if err := inOrder([]byte(p.Read(r.Chat)), n); err != nil {
		t.Errorf("chat of %s: %v", r.Card, err)
	}
}

// sizes are the bytes that an agent said in a life, and those of all its files.
func sizes(t *testing.T, dir string) (said, kept int) {
	t.Helper()
	files, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		kept += int(info.Size())
		if strings.HasPrefix(info.Name(), "out.0") {
			said += int(info.Size())
		}
	}
	return said, kept
}
