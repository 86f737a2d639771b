package machines

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/internal/robust"
)

// pair are two machines that hold copies of one work folder, kept in step by
// meet: as a sync program does it, when the two can see each other.
type pair struct {
	t    *testing.T
	a, b *robust.Place
	last map[string]string // the files as they were on both when they met last
}

// newPair makes two machines that both trust the folder; a is named to run it.
func newPair(t *testing.T) *pair {
	t.Helper()
	s := &pair{t: t, a: robust.NewPlace(t, robust.Fast, "shop"), b: robust.NewPlace(t, robust.Fast, "shop"), last: map[string]string{}}
	s.empty(s.b)
	s.meet()
	return s
}

func (s *pair) empty(p *robust.Place) {
	s.t.Helper()
	for rel := range s.files(p) {
		s.put(p, rel, "", false)
	}
}

// files are those of a work folder that a sync program copies. One that goes
// while we look is left for the next time.
func (s *pair) files(p *robust.Place) map[string]string {
	s.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(p.Work, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			return nil
		}
		if data, err := os.ReadFile(path); err == nil {
			rel, _ := filepath.Rel(p.Work, path)
			out[rel] = string(data)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// put makes a file what it is on the other machine.
func (s *pair) put(p *robust.Place, rel, text string, there bool) {
	s.t.Helper()
	if !there {
		if err := os.RemoveAll(p.At(rel)); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(p.At(rel)), 0o700); err != nil {
		s.t.Fatal(err)
	}
	p.Save(rel, text)
}

// meet copies what one machine has changed to the other. What both have changed
// stays what it is on a, and what it was on b goes beside it.
func (s *pair) meet() {
	s.t.Helper()
	a, b := s.files(s.a), s.files(s.b)
	all := maps.Clone(a)
	maps.Copy(all, b)
	maps.Copy(all, s.last)
	for _, rel := range slices.Sorted(maps.Keys(all)) {
		was, known := s.last[rel]
		onA, inA := a[rel]
		onB, inB := b[rel]
		switch {
		case onA == onB && inA == inB:
		case onB == was && inB == known:
			s.put(s.b, rel, onA, inA)
		case onA == was && inA == known:
			s.put(s.a, rel, onB, inB)
			onA, inA = onB, inB
		default:
			ext := filepath.Ext(rel)
			beside := strings.TrimSuffix(rel, ext) + ".sync-conflict-20261130-101010-ABCDEFG" + ext
			for _, p := range []*robust.Place{s.a, s.b} {
				s.put(p, beside, onB, inB)
			}
			s.last[beside] = onB
			s.put(s.b, rel, onA, inA)
		}
		if s.last[rel] = onA; !inA {
			delete(s.last, rel)
		}
	}
}

// starts is how often both machines' agents were asked to do a card.
func (s *pair) starts(title string) (a, b int) { return starts(s.a, title), starts(s.b, title) }

// want looks that a card was started so often on each machine.
func (s *pair) want(title string, a, b int) {
	s.t.Helper()
	if gotA, gotB := s.starts(title); gotA != a || gotB != b {
		s.t.Errorf("%q was started %d times on a and %d times on b, want %d and %d\na: %s\nb: %s", title, gotA, gotB, a, b, s.a.Log, s.b.Log)
	}
}

// plan adds cards to Plan on one machine, as a person does.
func plan(t *testing.T, p *robust.Place, cards ...string) {
	t.Helper()
	p.Save("Shop.md", strings.Replace(p.Read("Shop.md"), "## Plan\n", "## Plan\n\n"+strings.Join(cards, ""), 1))
}
