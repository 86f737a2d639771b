package foreign

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestOldCopySavedOverOurMove: an editor saves the buffer it loaded before the
// cards were moved, with a line of its own, twice.
func TestOldCopySavedOverOurMove(t *testing.T) {
	s := begin(t, "Shop.md", nil)
	old := plan
	for _, line := range []string{"- [ ] first line of mine\n", "- [ ] second line of mine\n"} {
		old += line
		s.Save("Shop.md", old)
		s.shows(func(text string) bool { return text != old })
		s.working()
		if !strings.HasSuffix(s.text(), line) {
			t.Errorf("%q is lost:\n%s", line, s.text())
		}
	}
	s.goesOn()
}

// TestHalfWrittenStates: the board is empty for a while, then begins, then is
// whole again; each state is one that the daemon has looked at.
func TestHalfWrittenStates(t *testing.T) {
	s := begin(t, "Shop.md", nil)
	whole := s.text()
	for i, state := range []string{"", whole[:40], whole[:len(whole)/2], whole[:strings.Index(whole, "## Ideas")]} {
		s.Write(s.At("Shop.md"), state)
		s.fence(i)
		s.once(projects...)
	}
	s.Write(s.At("Shop.md"), whole)
	s.goesOn()
}

// TestYesterdaysBoard: a sync brings a board from before the cards were there,
// and later today's again.
func TestYesterdaysBoard(t *testing.T) {
	s := begin(t, "Shop.md", nil)
	today := s.text()
	s.Save("Shop.md", before)
	s.says("others went at the same time; the run goes on")
	s.Save("Shop.md", today)
	s.says("")
	s.goesOn()
}

// TestConflictCopies: copies of the board appear, of the moment in which its
// cards were in Plan, with one that is nowhere else. None is started from and
// none is touched.
func TestConflictCopies(t *testing.T) {
	s := begin(t, "Shop.md", nil)
	copies := []string{
		"Shop.sync-conflict-20260102-101500-ABC1234.md", "Shop (Eka's conflicted copy 2026-01-02).md",
		"Shop (Conflicted copy laptop 202601021015).md", "Shop (case conflict).md",
	}
	text := func(n int) string {
		return strings.Replace(plan, "## Plan\n", fmt.Sprintf("## Plan\n\n- [ ] Only in copy %d #project/gate @pi\n\t[record]\n", n), 1)
	}
	for i, name := range copies {
		s.Save(name, text(i))
		s.fence(i)
	}
	if got := s.Record("gate"); got != nil {
		t.Errorf("started from a copy: %q", got)
	}
	for i, name := range copies {
		if got := s.Read(name); got != text(i) {
			t.Errorf("%s was changed:\n%s", name, got)
		}
		must(t, os.Remove(s.At(name)))
	}
	s.goesOn()
}

// TestMergeMarkers: the board has both sides in it for a while. Nothing is
// written into it, and it serves again when they are gone.
func TestMergeMarkers(t *testing.T) {
	s := begin(t, "Shop.md", nil)
	clean := s.text()
	marked := strings.Replace(clean, "- [ ] one of mine\n", "<<<<<<< HEAD\n- [ ] one of mine\n=======\n- [ ] one of yours\n>>>>>>> phone\n", 1)
	s.Save("Shop.md", marked)
	if _, err := s.Do("stop_all", ""); err != nil { // something to be shown on the board
		t.Fatal(err)
	}
	s.fence(0)
	if s.text() != marked {
		t.Errorf("written into a board in conflict:\n%s", s.text())
	}
	s.Save("Shop.md", clean)
	s.shows(func(text string) bool { return inLane(text, "Review", "⚪ pi stopped") })
	s.once(projects...)
}
