package machines

import (
	"os"
	"strings"
	"testing"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

// TestMovedAndRestored: yesterday's folder comes back in the place of today's,
// and today's is moved: no card that has run runs again.
func TestMovedAndRestored(t *testing.T) {
	ctx := bounded(t)
	p := robust.NewPlace(t, robust.Fast, "shop")
	p.Save("Shop.md", boardOf(card("Once", "")))
	yesterday := p.Read("Shop.md")
	p.Once(ctx)
	today := p.Read("Shop.md")
	p.Save("Shop.md", yesterday)
	p.Once(ctx)
	if said := p.Type(ctx, "why", "Once"); !strings.Contains(said.Out, "an old copy") {
		t.Errorf("why does not say that it ran: %+v", said)
	}
	p.Save("Shop.md", today)

	if err := os.Rename(p.Work, p.Path("moved")); err != nil {
		t.Fatal(err)
	}
	p.Work, p.Options.Dir = p.Path("moved"), p.Path("moved")
	if said := p.Type(ctx, "watch", "--once", p.Work); said.Code != control.CodeConflict || !strings.Contains(said.Err, "deckhand adopt") {
		t.Errorf("%+v", said)
	}
	if said := p.Type(ctx, "adopt", p.Work); said.Code != 0 {
		t.Fatalf("%+v", said)
	}
	if said := p.Type(ctx, "trust", p.Work); said.Code != 0 {
		t.Fatalf("%+v", said)
	}
	p.Save("Shop.md", yesterday)
	p.Once(ctx)
	if n := starts(p, "Once"); n != 1 {
		t.Errorf("%d agents were started", n)
	}
}
