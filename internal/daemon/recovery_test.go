package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/dispatch"
	"deckhand/harness"
)

// Each test is named after a row of the recovery table: what the log says last,
// whether there is a capture, whether the lock is held, whether the exit is
// known, and the claim. All kill with -9; rows that are missing here are points
// of TestKilledAtEveryPoint and of the stories.

const recorded = "- [ ] Ship it @pi\n\t[record]\n"

// crashed is a place whose daemon was killed at a point.
func crashed(t *testing.T, plan, point string) *placeT {
	t.Helper()
	p := newPlace(t, fast, boardOf(plan))
	p.killedAt(point)
	if !strings.Contains(p.logs(), `"claimed"`) {
		t.Fatalf("not claimed:\n%s", p.log)
	}
	return p
}

// working is a place whose daemon was killed while its agent worked.
func killedAtWork(t *testing.T, plan string) *placeT {
	t.Helper()
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf(plan))
	d, kill := p.process(ctx)
	d.until(working(1))
	for p.starts() == 0 && ctx.Err() == nil {
	}
	p.shows(d, "In Progress", "pi works")
	kill()
	return p
}

// edit changes config.yaml.
func (p *placeT) edit(old, now string) {
	p.t.Helper()
	data, err := os.ReadFile(p.o.Config)
	if err != nil || !strings.Contains(string(data), old) {
		p.t.Fatalf("config: %v\n%s", err, data)
	}
	p.write(p.o.Config, strings.Replace(string(data), old, now, 1))
}

func TestRowClaimedNoOutFreeNotOnBoard(t *testing.T) {
	p := crashed(t, recorded, "1 logged claimed")
	p.once()
	if n, logs := p.starts(), p.logs(); n != 1 || strings.Count(logs, `"released"`) != 1 || strings.Count(logs, `"claimed"`) != 2 {
		t.Errorf("started %d times; want the claim forgotten and the card judged anew\n%s", n, logs)
	}
}

func TestRowClaimedNoOutFreeClaimed(t *testing.T) {
	p := crashed(t, recorded, "1 card written")
	p.once()
	if n := p.starts(); n != 1 || strings.Contains(p.logs(), `"released"`) {
		t.Errorf("started %d times; want the same claim started\n%s", n, p.logs())
	}
}

func TestRowClaimedNoOutFreeClaimedButNotAllowed(t *testing.T) {
	p := crashed(t, recorded, "1 card written")
	p.edit("  shop:", "  other:")
	p.once()
	if n := p.starts(); n != 0 {
		t.Errorf("started %d times", n)
	}
	if got := p.read("Shop.md"); got != boardOf(recorded) {
		t.Errorf("the claim is not taken back as it was:\n%s\n%s", got, p.logs())
	}
}

func TestRowStartedOutHeldAsItWas(t *testing.T) {
	p := killedAtWork(t, "- [ ] Ship it @pi\n\t[record] [slow:200ms]\n")
	p.once()
	if n, got := p.starts(), p.lane("Review"); n != 1 || !strings.Contains(got, "🟢 pi: review") {
		t.Errorf("started %d times\n%s", n, got)
	}
}

func TestRowStartedOutHeldTicked(t *testing.T) {
	p := killedAtWork(t, "- [ ] Ship it @pi\n\t[record] [hang]\n")
	p.save("Shop.md", strings.Replace(p.read("Shop.md"), "- [ ] Ship", "- [x] Ship", 1))
	p.once()
	if got := p.lane("In Progress"); !strings.Contains(got, "- [x] Ship it @pi") || !strings.Contains(got, "⚪ pi stopped") {
		t.Errorf("a ticked card stops its run and stays:\n%s\n%s", p.read("Shop.md"), p.log)
	}
	if left := p.processes(); len(left) != 0 {
		t.Errorf("still there: %v", left)
	}
}

func TestRowStartedOutHeldMoved(t *testing.T) {
	p := killedAtWork(t, "- [ ] Ship it @pi\n\t[record] [hang]\n")
	s := &teller{placeT: p}
	s.move("Ship it", "Done", "")
	p.once()
	if got := p.lane("Done"); !strings.Contains(got, "Ship it @pi") || !strings.Contains(got, "⚪ pi stopped") {
		t.Errorf("a moved card stops its run and stays:\n%s\n%s", p.read("Shop.md"), p.log)
	}
}

func TestRowAnyOutFreeExit(t *testing.T) {
	p := killedAtWork(t, "- [ ] Ship it @pi\n\t[record] [slow:20ms] [exit:3]\n")
	s := &teller{placeT: p}
	s.move("Ship it", "Plan", "")
	for s.keepers() > 0 {
	}
	p.once()
	if n := p.starts(); n != 1 {
		t.Errorf("started %d times", n)
	}
	if got := p.lane("Plan"); !strings.Contains(got, "🔴 pi failed") {
		t.Errorf("the card moves from the working lane only:\n%s\n%s", p.read("Shop.md"), p.log)
	}
}

func TestRowAnyOutFreeNoExit(t *testing.T) {
	p := killedAtWork(t, "- [ ] Ship it @pi\n\t[record] [hang]\n")
	p.killAll("keep")
	p.once()
	if got := p.lane("In Progress"); !strings.Contains(got, "🟠 pi interrupted") {
		t.Errorf("In Progress:\n%s\n%s", got, p.log)
	}
	p.once()
	if n := p.starts(); n != 1 {
		t.Errorf("started %d times: never by itself", n)
	}
	if left := p.processes(); len(left) != 0 {
		t.Errorf("still there: %v", left)
	}
}

func TestRowAnyOutFreeNoExitResumes(t *testing.T) {
	p := killedAtWork(t, "- [ ] Ship it @pi\n\t[record] [hang]\n")
	p.edit("trust:", "on_interrupt: resume\ntrust:")
	p.killAll("keep")
	p.once()
	if got := p.lane("Review"); !strings.Contains(got, "🟢 pi: review") {
		t.Errorf("Review:\n%s\n%s", got, p.log)
	}
}

// A run that is interrupted each time it goes on by itself waits for a person in
// the end, and what a person says begins to count anew.
func TestRowResumesNotForEver(t *testing.T) {
	r := newRun(&dispatch.Run{ID: "R"}, harness.Dir{})
	r.apply(dispatch.Entry{Kind: dispatch.Claimed})
	for range mostResumes {
		r.apply(dispatch.Entry{Kind: dispatch.Interrupted})
		r.apply(dispatch.Entry{Kind: dispatch.Resumed, By: byItself})
	}
	if r.resumes != mostResumes {
		t.Errorf("counted %d", r.resumes)
	}
	if r.apply(dispatch.Entry{Kind: dispatch.Resumed, By: "command"}); r.resumes != 0 {
		t.Errorf("counted %d after a person's word", r.resumes)
	}
}

func TestRowClaimedNoOutHeld(t *testing.T) {
	ctx := bounded(t)
	p := crashed(t, recorded, "1 life made")
	locks, err := filepath.Glob(filepath.Join(p.o.State, "*/runs/*/1/lock"))
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
	d := p.watching(ctx)
	if s := d.until(working(1)); p.lives() != 1 {
		t.Errorf("a keeper that is starting is waited for: %+v", s)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	p.shows(d, "Review", "🟢 pi: review")
	if n := p.starts(); n != 1 {
		t.Errorf("started %d times", n)
	}
}

func TestRowFinishedFreeNotMoved(t *testing.T) {
	p := crashed(t, recorded, "1 logged finished")
	p.killAll("keep") // its turn was over
	p.once()
	if got := p.lane("Review"); !strings.Contains(got, "🟢 pi: review") {
		t.Errorf("Review:\n%s\n%s", got, p.logs())
	}
}
