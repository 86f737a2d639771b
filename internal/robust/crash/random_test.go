package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

const (
	cards    = 20
	projects = 4
	boards   = 2
)

// crowd is a place with cards on several boards in several projects, and the
// daemons that are killed on it.
type crowd struct {
	*robust.Place
	t    *testing.T
	ctx  context.Context
	rand *rand.Rand
	d    *robust.Process
	hit  map[string]int // by card: how often its keeper or agent was killed
	n    map[string]int // kills, by what was killed

	retries int
}

func newCrowd(t *testing.T, ctx context.Context, r *rand.Rand) *crowd {
	t.Helper()
	c := &crowd{t: t, ctx: ctx, rand: r, hit: map[string]int{}, n: map[string]int{}}
	var names []string
	for i := range projects {
		names = append(names, fmt.Sprint("shop", i))
	}
	c.Place = robust.NewPlace(t, robust.Fast, names...)
	for b := range boards {
		var plan strings.Builder
		for i := b; i < cards; i += boards {
			fmt.Fprintf(&plan, "- [ ] Card%02d @pi #project/%s\n\t[record]\n", i, names[i%projects])
		}
		c.Save(board(b), boardOf(plan.String()))
	}
	return c
}

func board(n int) string { return fmt.Sprintf("Board %d.md", n) }

// strike waits for a random number of the daemon's events and then kills
// something; false: everything was done before.
func (c *crowd) strike() bool {
	c.t.Helper()
	point := ""
	if c.rand.IntN(3) == 0 { // by the daemon itself, at a point of its work
		point = fmt.Sprint(1+c.rand.IntN(150), " ", robust.AnyPoint)
	}
	c.d = c.Spawn(c.ctx, robust.FaultEnv+"="+point)
	if !c.d.Ready(c.Place) || !c.events(1+c.rand.IntN(60)) {
		if err := c.d.Wait(); !robust.Killed(err) {
			c.t.Fatalf("the daemon ended by itself: %v\n%s", err, c.Log)
		}
		c.n["daemon at a point"]++
		return true
	}
	if c.done() {
		return false
	}
	c.kill()
	return true
}

// events waits for n events, or until everything is done, and says go on to what
// was interrupted by a kill or failed of it; false: the daemon ended before.
func (c *crowd) events(n int) bool {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	heard, over := false, make(chan struct{})
	go func() {
		defer close(over)
		heard = c.hear(ctx, n)
	}()
	done := c.Await(c.ctx, over, c.done)
	cancel()
	<-over
	return done || heard
}

// hear hears n events; false: the daemon or ctx ended before. A reader that does
// not keep up is let go, and comes back.
func (c *crowd) hear(ctx context.Context, n int) bool {
	for ctx.Err() == nil {
		events, err := c.d.Client.Events(ctx, 0)
		if err != nil {
			select {
			case <-c.d.Gone():
				return false
			default:
				continue // it is about to be gone, or had no time for us
			}
		}
		for e := range events {
			var s control.Status
			if e.Kind != "run" && e.Decode(&s) == nil {
				c.retry(ctx, s)
			}
			if n--; n <= 0 {
				return true
			}
		}
	}
	return false
}

// retry is a person's word for runs that a kill has ended. One that is refused,
// because another works in its folder, is said again with the next event.
func (c *crowd) retry(ctx context.Context, s control.Status) {
	for _, r := range s.Runs {
		if r.Status == "interrupted" || r.Status == "failed" {
			c.retries++
			_, _ = c.d.Client.Do(ctx, control.Command{ID: fmt.Sprint("retry-", c.retries), Name: "retry", Run: r.ID})
		}
	}
}

// kill kills the daemon, keepers, agents, or everything at once, and then
// the daemon in any case.
func (c *crowd) kill() {
	c.t.Helper()
	c.known()
	what := []string{"daemon", "daemon", "daemon", "daemon", "keeper", "agent", "keeper and agent", "everything"}[c.rand.IntN(8)]
	c.n[what]++
	if what == "daemon" {
		c.d.Kill()
		return
	}
	live := slices.DeleteFunc(c.Procs(), func(p robust.Proc) bool {
		return !(p.Is("keep") && what != "agent" || p.Is("standin") && what != "keeper")
	})
	if what != "everything" && len(live) > 0 { // those of one life
		one := life(live[c.rand.IntN(len(live))])
		live = slices.DeleteFunc(live, func(p robust.Proc) bool { return life(p) != one })
	}
	if what == "everything" {
		defer c.d.Kill()
	}
	for _, p := range live {
		c.hit[c.card(life(p))]++
		p.Kill()
	}
	if what != "everything" {
		c.d.Kill()
	}
}

// inPath finds the run in the arguments of a keeper or an agent.
var inPath = regexp.MustCompile(`/runs/([0-9A-Z]{26})`)

// life is the run a process belongs to.
func life(p robust.Proc) string {
	if m := inPath.FindStringSubmatch(strings.Join(p.Args, " ")); m != nil {
		return m[1]
	}
	return p.Run
}

// card is the title of a run's card, by its log.
func (c *crowd) card(run string) string {
	for _, r := range runsOf(c.t, c.Place) {
		if r.dir.Run() == run {
			return r.entries[0].Card.Title
		}
	}
	return "?"
}

// known looks that every agent that lives is one that the daemon knows of, and
// that no two share a project's folder.
func (c *crowd) known() {
	c.t.Helper()
	before := c.Procs()
	s, err := c.d.Client.Status(c.ctx)
	if err != nil {
		return // killed at its point just now
	}
	runs := map[string]string{}
	for _, r := range s.Runs {
		runs[r.ID] = r.Folder
	}
	folders := map[string]string{}
	for _, p := range before {
		id := life(p)
		if strings.HasPrefix(p.Run, "look/") {
			continue // asked for its version, by a daemon that looks what there is
		}
		if runs[id] == "" {
			c.t.Errorf("the daemon does not know of %v\n%s", p, c.Logs())
		}
		if other := folders[runs[id]]; p.Is("standin") && p.Run != "" && other != "" && other != id && runs[id] != "" {
			c.t.Logf("%s and %s stand in %s: one of them may be going", id, other, runs[id])
		}
		folders[runs[id]] = id
	}
}

// done reports whether every card is in Review.
func (c *crowd) done() bool {
	n := 0
	for b := range boards {
		n += strings.Count(c.Text(board(b)), "🟢 pi: review")
	}
	return n == cards
}

// finish has a daemon bring everything to its end.
func (c *crowd) finish() {
	c.t.Helper()
	c.d = c.Start(c.ctx)
	if !c.events(1 << 30) {
		c.t.Fatalf("the daemon ended: %v\n%s", c.d.Wait(), c.Log)
	}
	c.d.Kill()
	c.Once(c.ctx)
}

// check counts what the agents and the files say.
func (c *crowd) check() (interrupted int) {
	c.t.Helper()
	prompts := map[string]int{}
	for i := range projects {
		for _, line := range c.Record(fmt.Sprint("shop", i)) {
			if words := strings.Fields(line); words[0] == "start" {
				prompts[words[2]]++
			}
		}
	}
	for i := range cards {
		title := fmt.Sprintf("Card%02d", i)
		if n := prompts[title]; n < 1 || n > 1+c.hit[title] {
			c.t.Errorf("%s was prompted %d times, and its keeper or agent killed %d times", title, n, c.hit[title])
		}
		if c.hit[title] > 0 {
			interrupted++
		}
		if n := strings.Count(c.Lane(board(i%boards), "Review"), "- [ ] "+title+" "); n != 1 {
			c.t.Errorf("%s stands %d times in Review:\n%s", title, n, c.Read(board(i%boards)))
		}
	}
	if n := strings.Count(c.Read(board(0))+c.Read(board(1)), "- [ ] "); n != cards || !c.done() {
		c.t.Errorf("%d cards on the boards", n)
	}
	if left := c.Procs(); len(left) > 0 {
		c.t.Errorf("still there: %v", left)
	}
	checkRecords(c.t, c.Place)
	return interrupted
}

// seed is that of the kills; the figures name it.
const seed = 1851

// TestKilledAtRandomTimes kills daemons at random moments, and keepers, agents
// and everything at once, until the cards of a place are done, over and over:
// each card is prompted once (and once more for each time its keeper or agent was
// killed and a person said go on), stands in Review once, and nobody lives that
// the daemon does not know.
func TestKilledAtRandomTimes(t *testing.T) {
	want := suite.Rounds(500)
	r := rand.New(rand.NewPCG(seed, uint64(want)))
	killed, places, hit := map[string]int{}, 0, 0
	for left := want; left > 0 && !t.Failed(); places++ {
		c := newCrowd(t, bounded(t, 10*time.Minute), r)
		for left > 0 && c.strike() {
			left--
		}
		c.d.Kill()
		c.finish()
		hit += c.check()
		for what, n := range c.n {
			killed[what] += n
		}
		if t.Failed() {
			t.Logf("seed %d, %d kills left\n%s\n%s", seed, left, c.Log, c.Logs())
		}
		c.Clear()
	}
	suite.Figure(t, "kills at random times", "%d (seed %d) in %d places with %d cards each: %v; %d cards lost their keeper or agent", want, seed, places, cards, killed, hit)
}
