// Package foreign proves that what other programs do to the notes while agents
// run loses no card and starts none twice: editors that save an old copy, git,
// programs that synchronise, and people who move folders.
package foreign

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

var suite = robust.Suite{Section: "foreign"}

func TestMain(m *testing.M) { suite.Main(m) }

// projects are where the two agents of a scene work.
var projects = []string{"shop", "blog"}

const lanes = "\n## In Progress\n\n## Review\n\n## Ideas\n\n- [ ] one of mine\n"

// cards are two that run until they are stopped.
const cards = "- [ ] Ship it #project/shop @pi\n\t[record] [hang]\n- [ ] Write it #project/blog @pi\n\t[record] [hang]\n"

const (
	before = "---\nproject: shop\n---\n\n## Plan\n" + lanes           // yesterday's board
	plan   = "---\nproject: shop\n---\n\n## Plan\n\n" + cards + lanes // as a person has saved it
)

// scene is a board whose two agents are at work.
type scene struct {
	*robust.Place
	*robust.Process
	t     *testing.T
	ctx   context.Context
	board string // where it is
}

// begin starts a daemon on a board whose cards are not there yet, lets prepare
// do what it wants with that, and adds the cards.
func begin(t *testing.T, board string, prepare func(*scene)) *scene {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	s := &scene{Place: robust.NewPlace(t, robust.Fast, append(projects, "gate")...), t: t, ctx: ctx, board: board}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\n%s\n%s", s.text(), s.Log, s.Logs())
		}
	})
	must(t, os.MkdirAll(s.At("Boards"), 0o700))
	s.Save(board, before)
	if prepare != nil {
		prepare(s)
	}
	s.Process = s.Start(ctx)
	s.Save(board, plan)
	s.working()
	s.Await(ctx, s.Gone(), func() bool { return len(s.Record("shop"))*len(s.Record("blog")) > 0 })
	return s
}

// text is the board, or nothing when it is away.
func (s *scene) text() string {
	data, _ := os.ReadFile(s.At(s.board))
	return string(data)
}

// shows waits until the board is as ok wants it.
func (s *scene) shows(ok func(text string) bool) {
	s.t.Helper()
	s.Await(s.ctx, s.Gone(), func() bool { return ok(s.text()) })
}

// working waits until both cards stand as they should while their agents work.
func (s *scene) working() {
	s.t.Helper()
	s.shows(func(text string) bool { return inLane(text, "In Progress", "🔵 pi works") })
}

// inLane: both cards are in that lane and show it, and are nowhere else.
func inLane(text, lane, shows string) bool {
	_, after, _ := strings.Cut(text, "## "+lane+"\n")
	in, _, _ := strings.Cut(after, "\n## ")
	for _, card := range []string{"- [ ] Ship it ", "- [ ] Write it "} {
		if strings.Count(text, card) != 1 || strings.Count(in, card) != 1 {
			return false
		}
	}
	return strings.Count(in, shows) == 2 && strings.Count(text, " ^r-") == 2
}

// says waits until the daemon says that of both runs, or nothing: then it has
// seen what was done, and has decided.
func (s *scene) says(reason string) {
	s.t.Helper()
	s.Until(func(st control.Status) bool {
		n := 0
		for _, r := range st.Runs {
			if reason == "" && r.Reason == "" || reason != "" && strings.Contains(r.Reason, reason) {
				n++
			}
		}
		return n == 2
	})
}

// goesOn checks that both agents live and were asked once, and that the board
// still serves: both are stopped and end in Review.
func (s *scene) goesOn() {
	s.t.Helper()
	s.working()
	s.once(projects...)
	if n := s.agents(); n != len(projects) {
		s.t.Errorf("%d agents live, want %d", n, len(projects))
	}
	if _, err := s.Do("stop_all", ""); err != nil {
		s.t.Error(err)
	}
	s.shows(func(text string) bool { return inLane(text, "Review", "⚪ pi stopped") })
	s.once(projects...)
	if got := s.text(); strings.Count(got, "- [ ] one of mine\n") != 1 {
		s.t.Errorf("the person's card is there %d times", strings.Count(got, "- [ ] one of mine\n"))
	}
}

// agents counts those that stand in the folders of the two projects.
func (s *scene) agents() (n int) {
	s.t.Helper()
	for _, p := range s.Procs() {
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.PID))
		if err == nil && p.Is("standin") && (cwd == s.Path("shop") || cwd == s.Path("blog")) {
			n++
		}
	}
	return n
}

// once checks the agents' own records.
func (s *scene) once(projects ...string) {
	s.t.Helper()
	for _, project := range projects {
		if n := strings.Count(strings.Join(s.Record(project), "\n"), "start "); n != 1 {
			s.t.Errorf("the agent in %s was prompted %d times", project, n)
		}
	}
}

// fence starts a card on another board and waits for its agent: whatever was
// saved before is seen and decided then.
func (s *scene) fence(n int) {
	s.t.Helper()
	name := fmt.Sprintf("Fence %d.md", n)
	s.Save(name, fmt.Sprintf("---\nproject: gate\n---\n\n## Plan\n\n- [ ] Gate %d @pi\n\n## In Progress\n\n## Review\n", n))
	s.Await(s.ctx, s.Gone(), func() bool { return strings.Contains(s.Read(name), "🟢 pi: review") })
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
