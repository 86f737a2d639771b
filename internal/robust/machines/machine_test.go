package machines

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

const machineFile = "deckhand/Machine.md"

// tells looks that a machine says why it starts nothing, wherever a person asks.
func tells(t *testing.T, ctx context.Context, p *robust.Place, card, why string) {
	t.Helper()
	for _, command := range [][]string{{"status"}, {"why", card}, {"doctor"}} {
		said := p.Type(ctx, command...)
		if !strings.Contains(said.Out, why) || !strings.Contains(said.Out, "deckhand trust --here") {
			t.Errorf("%v does not say %q and what to type:\n%s%s", command, why, said.Out, said.Err)
		}
	}
}

// holds waits until a daemon holds a card for a reason.
func holds(d *robust.Process, card, why string) {
	d.Until(func(s control.Status) bool {
		return slices.ContainsFunc(s.Held, func(h control.Held) bool {
			return h.Card == card && strings.Contains(strings.Join(h.Reasons, "\n"), why)
		})
	})
}

// TestOnlyTheNamedMachineStarts: a folder that is synced, and one that is
// shared, is run by the machine that Machine.md names; the other says so.
func TestOnlyTheNamedMachineStarts(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("synced", func(t *testing.T) {
		ctx := bounded(t)
		s := newPair(t)
		s.a.Save("Shop.md", boardOf(card("One", ""), card("Two", "")))
		s.meet()
		s.b.Once(ctx)
		s.want("One", 0, 0)
		tells(t, ctx, s.b, "One", host+" runs this folder")
		s.a.Once(ctx)
		s.meet()
		s.b.Once(ctx)
		s.want("One", 1, 0)
		s.want("Two", 1, 0)
	})
	t.Run("shared", func(t *testing.T) {
		ctx := bounded(t)
		a, b := robust.NewPlace(t, robust.Fast, "shop"), robust.NewPlace(t, robust.Fast, "shop")
		b.Work, b.Options.Dir = a.Work, a.Work
		if said := b.Type(ctx, "trust"); said.Code != 0 {
			t.Fatalf("%+v", said)
		}
		a.Save("Shop.md", boardOf(card("One", "")))
		b.Once(ctx)
		tells(t, ctx, b, "One", host+" runs this folder")
		if n := starts(b, "One"); n != 0 {
			t.Errorf("%d agents were started", n)
		}
		a.Once(ctx)
		if n := starts(a, "One"); n != 1 {
			t.Errorf("the machine that runs it has started %d agents", n)
		}
	})
}

// TestTakeOver: `trust --here` on another machine takes the folder over. The
// first starts nothing more when it sees that, and says so; what runs there
// goes on and is still looked after. And back.
func TestTakeOver(t *testing.T) {
	ctx := bounded(t)
	s := newPair(t)
	s.a.Save("Shop.md", boardOf(card("Long", "[hang]")))
	s.meet()
	a, b := s.a.Start(ctx), s.b.Start(ctx)
	working := a.Until(func(c control.Status) bool {
		return len(c.Runs) == 1 && c.Runs[0].Status == "working" && starts(s.a, "Long") == 1
	})
	a.Until(func(control.Status) bool { return strings.Contains(s.a.Lane("Shop.md", "In Progress"), "pi works") })
	s.meet()

	if said := s.b.Type(ctx, "trust", "--here"); said.Code != 0 {
		t.Fatalf("%+v", said)
	}
	s.meet()
	plan(t, s.a, card("Next", ""))
	holds(a, "Next", "runs this folder")
	tells(t, ctx, s.a, "Next", "runs this folder")
	if left := s.a.Processes(); len(left) == 0 {
		t.Error("what ran on a was ended")
	}
	s.meet()
	b.Until(func(control.Status) bool {
		return strings.Contains(s.b.Lane("Shop.md", "Review"), "Next @pi")
	})
	s.meet()
	if _, err := a.Do("stop", working.Runs[0].ID); err != nil {
		t.Fatal(err)
	}
	a.Until(func(control.Status) bool { return strings.Contains(s.a.Lane("Shop.md", "Review"), "pi stopped") })
	s.meet()
	s.want("Next", 0, 1)

	if said := s.a.Type(ctx, "trust", "--here"); said.Code != 0 {
		t.Fatalf("%+v", said)
	}
	s.meet()
	plan(t, s.b, card("Third", ""))
	holds(b, "Third", "runs this folder")
	s.meet()
	a.Until(func(control.Status) bool {
		return strings.Contains(s.a.Lane("Shop.md", "Review"), "Third @pi")
	})
	s.want("Third", 1, 0)
	s.want("Long", 1, 0)
}
