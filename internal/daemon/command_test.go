package daemon

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"deckhand/internal/control"
)

// The same command twice at once, and again later, is carried out once and has
// one answer.
func TestSameCommandAtOnce(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, "", boardOf("- [ ] Nothing to do\n"))
	d := p.watching(ctx)
	add := control.Command{ID: "add-1", Name: "add", Text: "Once"}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if res, err := d.client.Do(ctx, add); err != nil || res.Text != "Shop.md: Once" {
				t.Errorf("%+v %v", res, err)
			}
		})
	}
	wg.Wait()
	if res, err := d.client.Do(ctx, add); err != nil || !res.OK {
		t.Errorf("again: %+v %v", res, err)
	}
	if n := strings.Count(p.read("Shop.md"), "- [ ] Once\n"); n != 1 {
		t.Errorf("the card was added %d times:\n%s", n, p.read("Shop.md"))
	}
}

// A daemon that was killed between adding a card and its receipt does not add
// it again.
func TestAddAfterAKill(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, "", boardOf("- [ ] Once\n"))
	f, err := openFolder(p.work, p.o.State)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.openReceipts(); err != nil {
		t.Fatal(err)
	}
	if err := f.keepReceipt(receipt{ID: "add-1", Begun: true}); err != nil {
		t.Fatal(err)
	}
	d := p.watching(ctx)
	if _, err := d.client.Do(ctx, control.Command{ID: "add-1", Name: "add", Text: "Once"}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(p.read("Shop.md"), "- [ ] Once\n"); n != 1 {
		t.Errorf("%d cards", n)
	}
}

// Grants that come at the same time are all answered, and none frees a card
// that was there before.
func TestGrantsAtOnce(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, strings.ReplaceAll(boardOf("- [ ] Old @pi\n"), "project: shop", "project: other"))
	d := p.watching(ctx)
	p.edit("  shop:", "  other:")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := d.client.Do(ctx, control.Command{ID: fmt.Sprint("grant-", i), Name: "grant"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	d.until(heldBy("was here before"))
	if n := p.starts(); n != 0 {
		t.Errorf("%d agents were started", n)
	}
}

// A card that a person asked for by command is still asked for after a kill,
// and when it is gone it is forgotten.
func TestAskedForOutlivesAKill(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] First @pi\n\t[record] [hang]\n- [ ] Second @pi\n"))
	d, kill := p.process(ctx)
	for p.starts() == 0 && ctx.Err() == nil {
	}
	if _, err := d.client.Do(ctx, control.Command{ID: "run-1", Name: "run", Card: "Second"}); err != nil {
		t.Fatal(err)
	}
	kill()
	d = p.watching(ctx)
	asked := func() int {
		f, err := openFolder(p.work, p.o.State)
		if err != nil {
			t.Fatal(err)
		}
		return len(f.file.Forced)
	}
	if asked() != 1 {
		t.Error("what a person asked for is lost")
	}
	p.save("Shop.md", strings.Replace(p.read("Shop.md"), "- [ ] Second @pi", "- [ ] Third @pi", 1))
	d.until(func(s control.Status) bool { return len(s.Queued) == 1 && s.Queued[0].Card == "Third" })
	if asked() != 0 {
		t.Error("a card that is gone is still asked for")
	}
}

// The card is changed between the claim and its write: nothing starts, and the
// person's text stays as it is.
func TestEditedBetweenClaimAndWrite(t *testing.T) {
	for _, point := range []string{"logged claimed", "logged show"} {
		t.Run(point, func(t *testing.T) {
			p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[record]\n"))
			var once sync.Once
			p.o.Fault = func(at string) {
				if at == point {
					once.Do(func() {
						p.save("Shop.md", strings.Replace(p.read("Shop.md"), "Ship it @pi", "Ship it not yet", 1))
					})
				}
			}
			p.once()
			if n := p.starts(); n != 0 {
				t.Errorf("%d agents were started:\n%s", n, p.log)
			}
			if got := p.read("Shop.md"); got != boardOf("- [ ] Ship it not yet\n\t[record]\n") {
				t.Errorf("board:\n%s\n%s\n%s", got, p.log, p.logs())
			}
		})
	}
}

// The card is moved between the claim and its write: it is the person's.
func TestMovedBetweenClaimAndWrite(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[record]\n"))
	var once sync.Once
	p.o.Fault = func(at string) {
		if at == "logged show" {
			once.Do(func() { p.move("Ship it", "Done", "") })
		}
	}
	p.once()
	if n := p.starts(); n != 0 || !strings.Contains(p.lane("Done"), "- [ ] Ship it @pi\n\t[record]\n") || strings.Contains(p.read("Shop.md"), "^r-") {
		t.Errorf("%d agents were started:\n%s\n%s", n, p.read("Shop.md"), p.log)
	}
}

// Ended in the middle by a signal, the daemon leaves its agents at work, and
// the next one takes them up.
func TestEndedInTheMiddle(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[record] [slow:100ms]\n"))
	run, end := context.WithCancel(ctx)
	o := p.o
	o.Once = false
	ended := make(chan Outcome, 1)
	go func() {
		out, err := Run(run, o)
		if err != nil {
			t.Error(err)
		}
		ended <- out
	}()
	for p.starts() == 0 && ctx.Err() == nil {
	}
	end()
	if out := <-ended; out.Live != 1 {
		t.Errorf("outcome %+v, want one agent that goes on", out)
	}
	p.once()
	if n := p.starts(); n != 1 || !strings.Contains(p.lane("Review"), "🟢 pi: review") {
		t.Errorf("%d agents were started:\n%s", n, p.read("Shop.md"))
	}
}
