// Package race proves that a save of a person and a write of ours that meet on
// one file are both there afterwards, however the person's program saves. The
// usual ways of writing run beside it in the same rounds and lose edits: without
// that, the rounds would show nothing.
package race

import (
	"os"
	"testing"

	"deckhand/internal/robust"
)

var suite = robust.Suite{Section: "race"}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "editor":
			editor(os.Stdin, os.Stdout)
			return
		case "writer":
			writer(os.Args[2], os.Args[3], os.Stdin, os.Stdout)
			return
		}
	}
	suite.Main(m)
}

// TestSavesAgainstWrites lets an editor save and deckhand move a card at the
// same moment, in every style. In each fourth round the usual way of writing a
// file and the careful form of it have their turn, and must lose some.
func TestSavesAgainstWrites(t *testing.T) {
	r := newReferee(t, user{}, user{})
	lost, tried := map[string]int{}, 0
	r.race("", ours, suite.Rounds(10_000), func(style string, n int) {
		if n%4 != 0 {
			return
		}
		tried++
		for _, way := range []string{naive, careful} {
			if r.round(style, n, way).missing != "" {
				lost[way]++
			}
		}
	})
	for _, way := range []string{naive, careful} {
		tried := tried
		for ; lost[way] == 0 && tried < 20_000; tried++ { // the race has to be shown, however short the run
			if r.round(styles[tried%len(styles)], tried, way).missing != "" {
				lost[way]++
			}
		}
		if lost[way] == 0 {
			t.Errorf("%s lost nothing in %d rounds: the race is too weak to show anything", way, tried)
		}
		suite.Figure(t, "saves lost by "+way, "%d of %d", lost[way], tried)
	}
	r.clean()
}

// TestSavesAgainstAnotherUser does it without root's rights: both are one
// ordinary user; and two, who share a folder, so that the kernel gives no
// leases on files that the other has made.
func TestSavesAgainstAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become two other users")
	}
	first, second := user{65534}, user{65533}
	for _, c := range []struct {
		who             string
		person, program user
	}{
		{"as an unprivileged user", first, first},
		{"over files of another user", first, second},
	} {
		r := newReferee(t, c.person, c.program)
		r.race(c.who, ours, suite.Rounds(1000), nil)
		r.clean()
	}
}

// TestSavesWithoutASignal: nothing says when the editor has saved. The writer
// looks again and again, and leaves what it finds alone until it is quiet.
func TestSavesWithoutASignal(t *testing.T) {
	r := newReferee(t, user{}, user{})
	r.race("by polling", poll, suite.Rounds(1000), nil)
	r.clean()
}

// TestKilledBetweenSwapAndCompare ends the writer with -9 when the board is
// swapped and nobody has looked yet at what came out: the person's save may be
// in a temp file and nowhere else. The next start gives it back.
func TestKilledBetweenSwapAndCompare(t *testing.T) {
	r := newReferee(t, user{}, user{})
	rounds, held := suite.Rounds(500), 0
	for _, style := range styles {
		for n := range rounds {
			got := r.killed(style, n)
			if got.missing != "" {
				t.Errorf("%s, round %d: %s", style, n, got.missing)
			}
			held += got.held
		}
	}
	for n := 0; held == 0 && n < 1000; n++ { // a save has to be at stake, however short the run
		held += r.killed(styles[n%len(styles)], n).held
	}
	if held == 0 {
		t.Error("no save was in a temp file when the writer was killed: nothing was at stake")
	}
	suite.Figure(t, "kills between swap and comparison", "%d, of which %d had the person's save in a temp file alone; none lost", rounds*len(styles), held)
	r.clean()
}
