// Package power proves that what deckhand has said to be done is there after the
// power was cut, on a disk that loses everything that was not synced.
package power

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
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

// cut runs a daemon until it has come to its nth point, takes the power there,
// and returns the points it had told before.
func (s *site) cut(ctx context.Context, n int) (told []string) {
	s.t.Helper()
	d := s.Spawn(ctx, robust.FaultEnv+"="+robust.ListPoints)
	text, ok := s.Log.Until(ctx, func(text string) bool { return len(robust.Points(text)) >= n })
	s.image.Cut()
	if !ok {
		s.t.Fatalf("it did not come to its point %d\n%s", n, text)
	}
	d.Kill()
	s.image.Back(s.Clear)
	return robust.Points(text)
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
// cards, whose row comes after their board is written.
func (s *site) lost(told []string) (rows, moves int) {
	s.t.Helper()
	have := map[string]int{}
	for _, log := range s.entries() {
		for _, e := range log {
			have[string(e.Kind)]++
		}
	}
	for kind, n := range logged(told) {
		miss := max(0, n-have[kind])
		rows += miss
		if kind == string(dispatch.Shown) {
			moves += miss
		}
	}
	for id, log := range s.entries() {
		if lane := shownIn(log); lane != "" && order(s.laneOf(id)) < order(lane) {
			moves++
			s.t.Logf("run %s: its log says %s, its board %q", id, lane, s.laneOf(id))
		}
	}
	return rows, moves
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

// order is how far a lane is on a card's way.
func order(lane string) int {
	return strings.Index("Plan In Progress Review", cmp.Or(lane, "Plan"))
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

// whole runs the boards without a cut and returns how many points there are.
func whole(t *testing.T, ctx context.Context) int {
	t.Helper()
	s := newSite(t)
	s.Once(ctx, robust.FaultEnv+"="+robust.ListPoints)
	n := len(robust.Points(s.Log.String()))
	if n < 30 {
		t.Fatalf("only %d points:\n%s", n, s.Log)
	}
	return n
}

// TestPowerCut takes the power while cards are at work: what was told to be
// done is there afterwards, and the next daemon finishes it, once.
func TestPowerCut(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	points := whole(t, ctx)
	cycles := suite.Rounds(20)
	if cycles < 3 {
		cycles = 3
	}
	rng := rand.New(rand.NewPCG(uint64(cycles), 4))
	var rows, moves, told, interrupted, entries int
	for i := range cycles {
		// Spread over the whole of it, and within each part by chance.
		n := 1 + (i*points+rng.IntN(points))/cycles
		t.Run(fmt.Sprintf("%d of %d", n, points), func(t *testing.T) {
			s := newSite(t)
			s.Options.Once = true
			acked := s.cut(ctx, n)
			s.Options.Once = false
			r, m := s.lost(acked)
			if r > 0 || m > 0 {
				t.Errorf("lost %d rows and %d moves", r, m)
			}
			rows, moves, told = rows+r, moves+m, told+sum(logged(acked))
			interrupted += s.settled(ctx)
			entries += s.journaled()
			if t.Failed() {
				t.Logf("%s\n%s", s.Log, s.Logs())
			}
		})
	}
	suite.Figure(t, "power cut at a random point", "%d times: of %d rows of logs that were told to be written %d lost, and %d moves; %d journal entries, each there once; %d cards interrupted", cycles, told, rows, moves, entries, interrupted)
}

// TestPowerCutWithoutSync is the control: the same program on a disk that says
// it has synced and has not. It must lose, else the proof above shows nothing.
func TestPowerCutWithoutSync(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	s := newSite(t)
	s.Behind(func(c robust.Call) robust.Verdict { return robust.Verdict{Lie: c.Op == "sync"} })
	s.Options.Once = true
	told := s.cut(ctx, 30)
	rows, moves := s.lost(told)
	if rows == 0 {
		t.Errorf("nothing of %d rows is lost without a sync:\n%s", sum(logged(told)), s.Log)
	}
	suite.Figure(t, "control: the same without sync", "of %d rows of logs that were told to be written %d lost, and %d moves", sum(logged(told)), rows, moves)
}
