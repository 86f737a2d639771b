package crash

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

// Each test is named after a row of the recovery table: what the log says last,
// whether there is a capture, whether the lock is held, whether the exit is
// known, and the card. The daemon is killed with -9 there, and the next one does
// what the row says.

const recorded = "- [ ] Ship it @pi\n\t[record]\n"

// scene is a place whose daemon was killed.
type scene struct {
	*robust.Place
	t   *testing.T
	ctx context.Context
}

func newScene(t *testing.T, plan string) *scene {
	t.Helper()
	s := &scene{robust.NewPlace(t, robust.Fast, "shop"), t, bounded(t, whole)}
	s.Save("Shop.md", boardOf(plan))
	return s
}

// crashed is one whose daemon was killed at a point.
func crashed(t *testing.T, plan, point string) *scene {
	t.Helper()
	s := newScene(t, plan)
	if !s.OnceKilled(s.ctx, point) {
		t.Fatalf("not killed at %s:\n%s", point, s.Log)
	}
	return s
}

// atWork is one whose daemon was killed while its agent worked.
func atWork(t *testing.T, plan string) *scene {
	t.Helper()
	s := newScene(t, plan)
	d := s.Start(s.ctx)
	s.wait(func() bool {
		return starts(s.Place, "shop") == 1 && strings.Contains(s.Text("Shop.md"), "pi works") && strings.Contains(s.Logs(), `"bound"`)
	})
	d.Kill()
	return s
}

func (s *scene) wait(ok func() bool) {
	s.t.Helper()
	s.Await(s.ctx, nil, ok)
}

// edit changes config.yaml.
func (s *scene) edit(old, now string) {
	s.t.Helper()
	data, err := os.ReadFile(s.Options.Config)
	if err != nil || !strings.Contains(string(data), old) {
		s.t.Fatalf("config: %v\n%s", err, data)
	}
	s.Write(s.Options.Config, strings.Replace(string(data), old, now, 1))
}

// ends lets the next daemon do what is to be done, and compares with what is
// to come of it: how often the agent was prompted, and what stands in a lane.
func (s *scene) ends(prompts int, lane, text string) {
	s.t.Helper()
	s.Once(s.ctx)
	s.is(prompts, lane, text)
}

func (s *scene) is(prompts int, lane, text string) {
	s.t.Helper()
	if n := starts(s.Place, "shop"); n != prompts {
		s.t.Errorf("prompted %d times, want %d", n, prompts)
	}
	if got := s.Lane("Shop.md", lane); !strings.Contains(got, text) {
		s.t.Errorf("%s lacks %q:\n%s", lane, text, s.Read("Shop.md"))
	}
	if left := s.Procs(); len(left) > 0 {
		s.t.Errorf("still there: %v", left)
	}
	checkRecords(s.t, s.Place)
	if s.t.Failed() {
		s.t.Logf("%s\n%s", s.Log, s.Logs())
	}
}

func TestRowClaimedNoOutFreeNotOnBoard(t *testing.T) {
	s := crashed(t, recorded, "1 logged claimed")
	s.ends(1, "Review", "🟢 pi: review")
	if logs := s.Logs(); strings.Count(logs, `"released"`) != 1 || strings.Count(logs, `"claimed"`) != 2 {
		t.Errorf("want the claim forgotten and the card judged anew\n%s", logs)
	}
}

func TestRowClaimedNoOutFreeClaimed(t *testing.T) {
	s := crashed(t, recorded, "1 card written")
	s.ends(1, "Review", "🟢 pi: review")
	if logs := s.Logs(); strings.Contains(logs, `"released"`) || strings.Count(logs, `"claimed"`) != 1 {
		t.Errorf("want the same claim started\n%s", logs)
	}
}

func TestRowClaimedNoOutFreeClaimedButNotAllowed(t *testing.T) {
	s := crashed(t, recorded, "1 card written")
	s.edit("  shop:", "  other:")
	s.ends(0, "Plan", recorded)
	if got := s.Read("Shop.md"); got != boardOf(recorded) {
		t.Errorf("the claim is not taken back as it was:\n%s", got)
	}
}

// What a person said and the agent did not get before its turn was over: the run
// goes on with it.
func TestRowSteeredNotSent(t *testing.T) {
	s := newScene(t, "- [ ] Ship it @pi\n\t[record] [slow:1s]\n")
	d := s.Spawn(s.ctx, robust.FaultEnv+"=1 logged steered")
	s.wait(func() bool { return starts(s.Place, "shop") == 1 })
	if !d.Ready(s.Place) {
		t.Fatal("no daemon")
	}
	_, err := d.Client.Do(s.ctx, control.Command{ID: "more", Name: "steer", Run: "Ship it", Text: "And in blue. [record]"})
	if err == nil || !robust.Killed(d.Wait()) {
		t.Fatalf("not killed: %v\n%s", err, s.Log)
	}
	s.wait(func() bool { return strings.Contains(strings.Join(s.Record("shop"), "\n"), "end ") })
	s.ends(2, "Review", "🟢 pi: review")
	if logs := s.Logs(); strings.Count(logs, `"unread"`) != 1 || strings.Count(logs, `"by":"late"`) != 1 {
		t.Errorf("want it kept and gone on with, once\n%s", logs)
	}
}

func TestRowClaimedNoOutHeld(t *testing.T) {
	s := crashed(t, recorded, "1 life made")
	locks, err := filepath.Glob(filepath.Join(s.Options.State, "*/runs/*/1/lock"))
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	lock, err := os.Open(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	d := s.Start(s.ctx)
	d.Until(func(st control.Status) bool { return len(st.Runs) == 1 && st.Runs[0].Status == "working" })
	if lives, err := filepath.Glob(filepath.Join(s.Options.State, "*/runs/*/[0-9]")); err != nil || len(lives) != 1 {
		t.Errorf("a keeper that is starting is waited for: %v %v", lives, err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	s.wait(func() bool { return strings.Contains(s.Text("Shop.md"), "🟢 pi: review") })
	d.Kill()
	s.ends(1, "Review", "🟢 pi: review")
	if n := strings.Count(s.Logs(), `"by":"start"`); n != 1 {
		t.Errorf("%d lives were started because a keeper had come to nothing, want 1", n)
	}
}

func TestRowStartedOutHeldAsItWas(t *testing.T) {
	atWork(t, "- [ ] Ship it @pi\n\t[record] [slow:100ms]\n").ends(1, "Review", "🟢 pi: review")
}

func TestRowStartedOutHeldTicked(t *testing.T) {
	s := atWork(t, hangs)
	s.Save("Shop.md", strings.Replace(s.Read("Shop.md"), "- [ ] Ship", "- [x] Ship", 1))
	s.ends(1, "In Progress", "⚪ pi stopped")
}

func TestRowStartedOutHeldMoved(t *testing.T) {
	s := atWork(t, hangs)
	s.Move("Shop.md", "Ship it", "Done", "")
	s.ends(1, "Done", "⚪ pi stopped")
}

// Gone alone from its board, a card stops its run after two minutes; a board
// that is not there at all stops nothing. Here it comes back.
func TestRowStartedOutHeldGone(t *testing.T) {
	s := atWork(t, "- [ ] Ship it @pi\n\t[record] [slow:100ms]\n")
	board := s.Read("Shop.md")
	if err := os.Remove(s.At("Shop.md")); err != nil {
		t.Fatal(err)
	}
	d := s.Start(s.ctx)
	s.wait(func() bool { return strings.Contains(s.Logs(), `"finished"`) })
	s.Save("Shop.md", board)
	s.wait(func() bool { return strings.Contains(s.Text("Shop.md"), "🟢 pi: review") })
	d.Kill()
	s.ends(1, "Review", "🟢 pi: review")
}

func TestRowAnyOutFreeExit(t *testing.T) {
	s := atWork(t, "- [ ] Ship it @pi\n\t[record] [slow:10ms] [exit:3]\n")
	s.Move("Shop.md", "Ship it", "Plan", "")
	s.wait(func() bool { return len(s.exits()) == 1 && len(s.Procs()) == 0 })
	s.ends(1, "Plan", "🔴 pi failed") // it moves from the working lane only
}

// exits are the ends that keepers have written down.
func (s *scene) exits() []string {
	s.t.Helper()
	exits, err := filepath.Glob(filepath.Join(s.Options.State, "*/runs/*/*/exit.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	return exits
}

func TestRowAnyOutFreeNoExit(t *testing.T) {
	s := atWork(t, hangs)
	s.Kill("keep")
	s.ends(1, "In Progress", "🟠 pi interrupted")
	s.ends(1, "In Progress", "🟠 pi interrupted") // never by itself
	if n := strings.Count(s.Logs(), `"started"`); n != 1 {
		t.Errorf("started %d times", n)
	}
}

func TestRowAnyOutFreeNoExitResumes(t *testing.T) {
	s := atWork(t, hangs)
	s.edit("trust:", "on_interrupt: resume\ntrust:")
	s.Kill("keep")
	s.ends(1, "Review", "🟢 pi: review") // the second prompt does not say [record]
	if n := strings.Count(s.Logs(), `"started"`); n != 2 {
		t.Errorf("started %d times", n)
	}
}

func TestRowStopBegunOutHeld(t *testing.T) {
	s := newScene(t, hangs)
	d := s.Start(s.ctx, robust.FaultEnv+"=1 logged stopping")
	s.wait(func() bool { return starts(s.Place, "shop") == 1 })
	if _, err := d.Do("stop", "Ship it"); err == nil {
		t.Fatal("it was not killed")
	}
	if err := d.Wait(); !robust.Killed(err) {
		t.Fatal(err)
	}
	s.ends(1, "Review", "⚪ pi stopped")
}

func TestRowAskedOutHeld(t *testing.T) {
	s := crashed(t, "- [ ] Ship it @pi\n\t[record] [ask]\n", "1 logged asked")
	d := s.Start(s.ctx)
	waits := func(st control.Status) bool {
		return len(st.Runs) == 1 && st.Runs[0].Status == "waiting" && len(st.Runs[0].Asks) == 1
	}
	first := d.Until(waits).Runs[0].Asks[0]
	s.wait(func() bool { return strings.Contains(s.Text("deckhand/Needs me.md"), "Write SHIP.md?") })
	d.Kill()
	d = s.Start(s.ctx)
	if again := d.Until(waits).Runs[0].Asks[0]; again.ID != first.ID || again.Title != first.Title {
		t.Errorf("asked %+v, after a kill %+v", first, again)
	}
	if n := strings.Count(s.Logs(), `"asked"`); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if _, err := d.Do("stop", "Ship it"); err != nil {
		t.Fatal(err)
	}
	s.wait(func() bool { return strings.Contains(s.Text("Shop.md"), "⚪ pi stopped") })
	d.Kill()
	s.ends(1, "Review", "⚪ pi stopped")
}

func TestRowAnsweredNoRowHeld(t *testing.T) {
	s := newScene(t, "- [ ] Ship it @pi\n\t[record] [ask]\n")
	d := s.Start(s.ctx, robust.FaultEnv+"=1 logged answered")
	s.wait(func() bool { return strings.Contains(s.Text("Shop.md"), "[ ] Allow once") })
	s.Save("Shop.md", strings.Replace(s.Read("Shop.md"), "[ ] Allow once", "[x] Allow once", 1))
	if err := d.Wait(); !robust.Killed(err) {
		t.Fatal(err)
	}
	s.ends(1, "Review", "🟢 pi: review")
	if got := answers(s.Place); got != "confirmed true" {
		t.Errorf("answered %q", got)
	}
}

func TestRowFinishedOutHeld(t *testing.T) {
	crashed(t, recorded, "1 logged finished").ends(1, "Review", "🟢 pi: review")
}

func TestRowFinishedFreeNotMoved(t *testing.T) {
	s := crashed(t, recorded, "1 logged finished")
	s.Kill("keep") // its turn was over
	s.ends(1, "Review", "🟢 pi: review")
}
