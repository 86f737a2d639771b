// Package power proves that what deckhand has said to be done is there after the
// power was cut, on a disk that loses everything that was not synced.
package power

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deckhand/dispatch"
	"deckhand/internal/robust"
)

var suite = robust.Suite{Section: "power"}

func TestMain(m *testing.M) { suite.Main(m) }

// boards are two projects with cards that work side by side.
var boards = map[string]string{
	"Shop.md": "---\nproject: shop\n---\n\n## Plan\n\n- [ ] Checkout @pi\n\t[record]\n- [ ] Invoice @pi\n\t[record]\n\n## In Progress\n\n## Review\n",
	"Blog.md": "---\nproject: blog\n---\n\n## Plan\n\n- [ ] Feed @pi\n\t[record]\n\n## In Progress\n\n## Review\n",
}

// cards are how many stand on them.
const cards = 3

// site is a place on a disk that loses power. The agents' record is elsewhere.
type site struct {
	*robust.Place
	t     *testing.T
	image *robust.Image
}

func newSite(t *testing.T) *site {
	t.Helper()
	image := robust.NewImage(t)
	p := robust.NewPlaceOn(t, image.Dir, robust.Fast, "shop", "blog")
	for name, text := range boards {
		p.Save(name, text)
	}
	image.Sync()
	return &site{p, t, image}
}

// dark is the line that stands in the daemon's log where the power went.
const dark = "the power is cut"

// cut runs a daemon until something is about to be synced for the nth time,
// takes the power there, and returns the points that the daemon had told
// before: between two syncs nothing becomes safe, so that none is a worse moment
// than this. It is false when the daemon was done before.
func (s *site) cut(ctx context.Context, n int, lie bool) (told []string, ok bool) {
	s.t.Helper()
	gone := make(chan error, 1)
	syncs := 0
	s.Behind(func(c robust.Call) robust.Verdict {
		if c.Op != "sync" {
			return robust.Verdict{}
		}
		if syncs++; syncs == n {
			gone <- errors.Join(c.Mark(dark), s.image.Cut())
		}
		return robust.Verdict{Lie: lie}
	})
	defer s.Open()
	s.Options.Once = true
	defer func() { s.Options.Once = false }()
	d := s.Spawn(ctx, robust.FaultEnv+"="+robust.ListPoints)
	select {
	case err := <-gone:
		if err != nil {
			s.t.Fatal(err)
		}
	case <-d.Gone():
		return nil, false
	case <-ctx.Done():
		s.t.Fatalf("%v\n%s", ctx.Err(), s.Log)
	}
	d.Kill()
	s.image.Back(s.Clear)
	text, _, _ := strings.Cut(s.Log.String(), dark)
	return robust.Points(text), true
}

// entries are the rows of all logs on the disk, by run.
func (s *site) entries() map[string][]dispatch.Entry {
	s.t.Helper()
	files, err := filepath.Glob(s.Path("state/deckhand/*/runs/*/log.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	all := map[string][]dispatch.Entry{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			s.t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var e dispatch.Entry
			if json.Unmarshal([]byte(line), &e) == nil {
				all[e.Run] = append(all[e.Run], e)
			}
		}
	}
	return all
}

// lost counts what was told and is not on the disk: rows of logs, and moves of
// cards, from Plan to In Progress and on to Review.
func (s *site) lost(told []string) (rows, moves int) {
	s.t.Helper()
	have, steps := map[string]int{}, 0
	for id, log := range s.entries() {
		for _, e := range log {
			have[string(e.Kind)]++
		}
		lane := s.laneOf(id)
		steps += order(lane)
		if shown := shownIn(log); order(lane) < order(shown) {
			moves++
			s.t.Logf("run %s: its log says %s, its board %q", id, shown, lane)
		}
	}
	for kind, n := range logged(told) {
		rows += max(0, n-have[kind])
	}
	return rows, max(moves, written(told)-steps)
}

// written is how many moves of cards were told to be done.
func written(points []string) (n int) {
	for _, p := range points {
		if strings.HasSuffix(p, " card written") {
			n++
		}
	}
	return n
}

// logged are the rows that were told to be written, by kind.
func logged(points []string) map[string]int {
	n := map[string]int{}
	for _, p := range points {
		if _, kind, ok := strings.Cut(p, " logged "); ok {
			n[kind]++
		}
	}
	return n
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// shownIn is the lane in which a run's card stood when it was last written.
func shownIn(log []dispatch.Entry) (lane string) {
	for _, e := range log {
		if e.Kind == dispatch.Shown && e.Card != nil {
			lane = e.Card.Lane
		}
	}
	return lane
}

// laneOf is the lane in which a run's item stands.
func (s *site) laneOf(run string) string {
	for name := range boards {
		lane := ""
		for line := range strings.Lines(s.Read(name)) {
			if heading, ok := strings.CutPrefix(line, "## "); ok {
				lane = strings.TrimSpace(heading)
			}
			if strings.Contains(line, "^r-"+strings.ToLower(run)) {
				return lane
			}
		}
	}
	return ""
}

// order is how many moves it took a card to come to a lane.
func order(lane string) int {
	return max(0, slices.Index([]string{"Plan", "In Progress", "Review"}, lane))
}

// settled lets a new daemon finish, and checks that nothing was done twice and
// nothing is missing.
func (s *site) settled(ctx context.Context) (interrupted int) {
	s.t.Helper()
	s.Once(ctx)
	starts := map[string]int{}
	for _, project := range []string{"shop", "blog"} {
		for _, line := range s.Record(project) {
			if words := strings.Fields(line); words[0] == "start" {
				starts[words[2]]++
			}
		}
	}
	for _, card := range []string{"Checkout", "Invoice", "Feed"} {
		if starts[card] > 1 {
			s.t.Errorf("%s was prompted %d times", card, starts[card])
		}
	}
	text := ""
	for name := range boards {
		text += s.Read(name)
	}
	interrupted = strings.Count(text, "🟠 pi: interrupted") + strings.Count(text, "🟠 pi interrupted")
	if review := strings.Count(text, "🟢 pi: review"); review+interrupted != cards {
		s.t.Errorf("%d in review, %d interrupted, want %d:\n%s", review, interrupted, cards, text)
	}
	for _, name := range s.Leftovers() {
		s.t.Errorf("%s was left behind", name)
	}
	return interrupted
}

// journaled checks that each entry of the logs that people are told of stands
// in the journal once.
func (s *site) journaled() (n int) {
	s.t.Helper()
	files, err := filepath.Glob(s.At("deckhand/journal/*.md"))
	if err != nil {
		s.t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			s.t.Fatal(err)
		}
		text.Write(data)
	}
	for _, log := range s.entries() {
		for _, e := range log {
			switch e.Kind {
			case dispatch.Claimed, dispatch.Started, dispatch.Finished, dispatch.Interrupted:
			default:
				continue
			}
			n++
			if times := strings.Count(text.String(), "event:: "+e.ID); times != 1 {
				s.t.Errorf("%s %s stands %d times in the journal", e.Kind, e.ID, times)
			}
		}
	}
	return n
}

// TestPowerCut takes the power while cards are at work: what was told to be
// done is there afterwards, and the next daemon finishes it, once.
func TestPowerCut(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	syncs := syncsOf(t, ctx)
	cuts := max(4, suite.Rounds(syncs))
	var cut, rows, moves, entries, interrupted, told, toldMoves int
	for i := range cuts {
		n := 1 + (i*syncs+syncs/2)/cuts
		t.Run(fmt.Sprintf("%d of %d", n, syncs), func(t *testing.T) {
			s := newSite(t)
			points, ok := s.cut(ctx, n, false)
			if !ok {
				return // this time it took fewer
			}
			cut++
			r, m := s.lost(points)
			if r > 0 || m > 0 {
				t.Errorf("lost %d rows and %d moves", r, m)
			}
			rows, moves = rows+r, moves+m
			told, toldMoves = told+sum(logged(points)), toldMoves+written(points)
			interrupted += s.settled(ctx)
			entries += s.journaled()
			if t.Failed() {
				t.Logf("%s\n%s", s.Log, s.Logs())
			}
		})
	}
	if cut == 0 {
		t.Error("the power was never cut")
	}
	suite.Figure(t, "power cut before a sync", "%d times: lost %d of %d rows of logs and %d of %d moves that were told to be done; %d journal entries, each there once; %d of %d cards interrupted",
		cut, rows, told, moves, toldMoves, entries, interrupted, cards*cut)
}

// syncsOf is how often something is synced until all cards are done.
func syncsOf(t *testing.T, ctx context.Context) int {
	t.Helper()
	var n atomic.Int32
	s := newSite(t)
	s.Behind(func(c robust.Call) robust.Verdict {
		if c.Op == "sync" {
			n.Add(1)
		}
		return robust.Verdict{}
	})
	s.Once(ctx)
	if s.settled(ctx) > 0 || n.Load() < 50 {
		t.Fatalf("only %d syncs, or a card that did not come to Review", n.Load())
	}
	return int(n.Load())
}

// TestPowerCutWithoutSync is the control: the same program on a disk that says
// it has synced and has not. It must lose, else the proof above shows nothing.
func TestPowerCutWithoutSync(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	s := newSite(t)
	points, ok := s.cut(ctx, 50, true)
	rows, moves := s.lost(points)
	if !ok || rows == 0 || moves == 0 {
		t.Errorf("lost %d of %d rows and %d of %d moves without a sync:\n%s", rows, sum(logged(points)), moves, written(points), s.Log)
	}
	suite.Figure(t, "control: the same on a disk that only says it has synced", "lost %d of %d rows of logs and %d of %d moves", rows, sum(logged(points)), moves, written(points))
}
