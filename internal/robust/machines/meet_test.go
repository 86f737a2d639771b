package machines

import (
	"context"
	"os"
	"strings"
	"testing"

	"deckhand/internal/robust"
)

// here makes a machine the one that runs the folder.
func here(t *testing.T, ctx context.Context, p *robust.Place) {
	t.Helper()
	if said := p.Type(ctx, "trust", "--here"); said.Code != 0 {
		t.Fatalf("%+v", said)
	}
}

// both writes a file on both machines, as a sync brings it.
func (s *pair) both(rel, text string) {
	s.t.Helper()
	s.put(s.a, rel, text, true)
	s.put(s.b, rel, text, true)
}

// meetings are what two machines may find when they see each other again. Until
// then each has said of itself, while it was away, that it runs the folder.
var meetings = map[string]struct {
	come  func(*pair)
	a, b  int  // how often a card that is planned after it is started
	stuck bool // what is there cannot be written over
}{
	"a conflict copy": {func(s *pair) { s.meet() }, 1, 0, false},
	"merge markers": {func(s *pair) {
		s.both(machineFile, "<<<<<<< HEAD\n"+s.a.Read(machineFile)+"=======\n"+s.b.Read(machineFile)+">>>>>>> laptop\n")
	}, 0, 0, false},
	"both names":                  {func(s *pair) { s.both(machineFile, s.a.Read(machineFile)+s.b.Read(machineFile)) }, 0, 0, false},
	"no name":                     {func(s *pair) { s.both(machineFile, "machine::\n") }, 0, 0, false},
	"zeros, as after a power cut": {func(s *pair) { s.both(machineFile, "\x00\x00\x00\x00") }, 0, 0, true},
	"no file":                     {func(s *pair) { s.put(s.a, machineFile, "", false); s.put(s.b, machineFile, "", false) }, 0, 0, false},
	"a folder": {func(s *pair) {
		for _, p := range []*robust.Place{s.a, s.b} {
			s.put(p, machineFile, "", false)
			s.put(p, machineFile+"/x", "", true)
		}
	}, 0, 0, true},
	"a link to what each machine has of its own": {func(s *pair) {
		for _, p := range []*robust.Place{s.a, s.b} {
			p.Write(p.Path("mine"), p.Read(machineFile))
			s.put(p, machineFile, "", false)
			if err := os.Symlink("../../mine", p.At(machineFile)); err != nil {
				s.t.Fatal(err)
			}
		}
	}, 0, 0, true},
}

// TestMeetAgain: two machines that were offline, and were each told to run the
// folder, meet. Whatever became of Machine.md, no card is started by both, and
// the one that is told so then runs the folder.
func TestMeetAgain(t *testing.T) {
	for name, meeting := range meetings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t)
			s := newPair(t)
			s.a.Save("Shop.md", boardOf(card("Before", "")))
			s.a.Once(ctx)
			for _, p := range []*robust.Place{s.a, s.b} {
				s.put(p, machineFile, "", false)
			}
			s.meet()
			here(t, ctx, s.b)
			here(t, ctx, s.a)
			meeting.come(s)
			plan(t, s.a, card("After", ""))
			s.put(s.b, "Shop.md", s.a.Read("Shop.md"), true)
			s.a.Once(ctx) // both at a time when neither knows what the other does
			s.b.Once(ctx)
			s.want("After", meeting.a, meeting.b)

			// A project that is added takes no folder over.
			for _, p := range []*robust.Place{s.a, s.b} {
				if name != "no file" {
					continue // that is the one it could take over
				}
				if said := p.Type(ctx, "project", "add", "more", p.Path("shop")); said.Code != 0 {
					t.Errorf("%+v", said)
				}
				p.Once(ctx)
			}
			s.want("After", meeting.a, meeting.b)
			s.want("Before", 1, 0)
			if meeting.stuck { // for a person to clear away
				if said := s.b.Type(ctx, "trust", "--here"); said.Code == 0 || !strings.Contains(said.Err, machineFile) {
					t.Errorf("%+v", said)
				}
				s.put(s.a, machineFile, "", false)
				s.put(s.b, machineFile, "", false)
			}
			s.meet()
			here(t, ctx, s.b)
			s.put(s.a, machineFile, s.b.Read(machineFile), true)
			s.b.Once(ctx)
			s.a.Once(ctx)
			s.want("After", meeting.a, 1-meeting.a)
			s.want("Before", 1, 0)
		})
	}
}

// TestYesterdaysCopy: a sync brings an old Machine.md back, alone or with
// everything else, first on the machine it names. It gave the folder away
// since, and another machine runs it: nothing is started twice.
func TestYesterdaysCopy(t *testing.T) {
	for _, whole := range []bool{false, true} {
		t.Run(map[bool]string{false: "Machine.md", true: "the whole folder"}[whole], func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t)
			s := newPair(t)
			s.a.Save("Shop.md", boardOf(card("Once", "")))
			yesterday := s.files(s.a)
			s.meet()
			here(t, ctx, s.b)
			s.put(s.a, machineFile, s.b.Read(machineFile), true)
			s.a.Once(ctx) // it has seen that
			s.b.Once(ctx)
			s.want("Once", 0, 1)
			for rel, text := range yesterday {
				if whole || rel == machineFile {
					s.put(s.a, rel, text, true)
				}
			}
			if !whole {
				plan(t, s.b, card("After", ""))
				s.put(s.a, "Shop.md", s.b.Read("Shop.md"), true)
			}
			s.a.Once(ctx)
			s.b.Once(ctx)
			s.want("Once", 0, 1)
			if !whole {
				s.want("After", 0, 1)
			}
			tells(t, ctx, s.a, map[bool]string{false: "After", true: "Once"}[whole], "an old copy")
			here(t, ctx, s.a) // a person's word, not a file's
			plan(t, s.a, card("Last", ""))
			s.a.Once(ctx)
			s.want("Last", 1, 0)
		})
	}
}
