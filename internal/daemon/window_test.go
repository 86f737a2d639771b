package daemon

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"deckhand/inbox"
	"deckhand/internal/control"
)

// A person sends a card back in the moments in which the end of its run is being
// written: wherever in the write their save falls, it is taken for what it is.
func TestSentBackWhileItsEndIsWritten(t *testing.T) {
	for _, point := range []string{"logged show", "card made", "card written"} {
		t.Run(point, func(t *testing.T) {
			p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
			var finished, saved atomic.Bool
			p.o.Fault = func(at string) {
				finished.CompareAndSwap(false, at == "logged finished")
				if at == point && finished.Load() && saved.CompareAndSwap(false, true) {
					if err := p.sendBack("Ship it @pi", "Use the sandbox key."); err != nil {
						t.Error(err)
					}
				}
			}
			ctx := bounded(t)
			d := p.watching(ctx)
			p.shows(d, "Review", "Use the sandbox key.")
			if n := p.lives(); n != 2 {
				t.Errorf("%d lives, want a second one in the same run\n%s\n%s", n, p.read("Shop.md"), p.log)
			}
		})
	}
}

// An old copy that falls into the moment in which the end of a run is written is
// put right as at any other time.
func TestOldCopyWhileItsEndIsWritten(t *testing.T) {
	for _, point := range []string{"logged show", "card made"} {
		t.Run(point, func(t *testing.T) {
			old := boardOf("- [ ] Ship it @pi\n")
			p := newPlace(t, fast, old)
			var finished, begun atomic.Bool
			saved := make(chan struct{})
			p.o.Fault = func(at string) {
				finished.CompareAndSwap(false, at == "logged finished")
				if at == point && finished.Load() && begun.CompareAndSwap(false, true) {
					p.save("Shop.md", old)
					close(saved)
				}
			}
			ctx := bounded(t)
			d := p.watching(ctx)
			select {
			case <-saved:
			case <-ctx.Done():
				t.Fatalf("no old copy was saved\n%s", p.log)
			}
			p.shows(d, "Review", "🟢 pi: review")
			if n := p.lives(); n != 1 {
				t.Errorf("%d lives\n%s", n, p.logs())
			}
		})
	}
}

// sendBack moves a card to Plan with a line below it, as an editor saves. Any
// goroutine may call it.
func (p *placeT) sendBack(first, add string) error {
	text := p.text("Shop.md")
	at := strings.Index(text, "- [ ] "+first)
	if at < 0 {
		return fmt.Errorf("no card %s:\n%s", first, text)
	}
	end := at + strings.IndexByte(text[at:], '\n') + 1
	for end < len(text) && (text[end] == '\t' || text[end] == ' ') {
		end += strings.IndexByte(text[end:], '\n') + 1
	}
	head, rest, _ := strings.Cut(text[at:end], "\n")
	text = strings.Replace(text[:at]+text[end:], "## Plan\n", "## Plan\n\n"+head+"\n\t"+add+"\n"+rest, 1)
	if err := os.WriteFile(p.at(".Shop.md.tmp"), []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(p.at(".Shop.md.tmp"), p.at("Shop.md"))
}

// A claim that is taken back leaves its card where it stood.
func TestTakenBackToItsPlace(t *testing.T) {
	plan := "- [ ] First\n- [ ] Ship it @pi\n\t[record]\n- [ ] Last\n"
	p := newPlace(t, fast, boardOf(plan))
	p.killedAt("1 logged shown")
	if got := p.lane("In Progress"); !strings.Contains(got, "🔵 pi works") {
		t.Fatalf("nothing is claimed:\n%s", p.read("Shop.md"))
	}
	p.edit("  shop:", "  other:")
	p.once()
	if got := p.read("Shop.md"); got != boardOf(plan) || p.starts() != 0 {
		t.Errorf("%d starts, board:\n%s", p.starts(), got)
	}
}

// An agent that has ended while its card is being put back is no reason to
// write the card once more: each write counts as an old copy that was put right.
func TestPutBackOnceWhileTheAgentEnds(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
	var working string // the board as it was while the agent worked
	var finished, saved, waited atomic.Bool
	ended := make(chan struct{})
	p.o.Fault = func(at string) {
		switch {
		case at == "logged finished":
			working = p.text("Shop.md")
			finished.Store(true)
		case at == "logged shown" && finished.Load() && saved.CompareAndSwap(false, true):
			if err := os.WriteFile(p.at("Shop.md"), []byte(working), 0o644); err != nil {
				t.Error(err)
			}
		case at == "card made" && saved.Load() && waited.CompareAndSwap(false, true):
			<-ended
		case at == "logged ended":
			close(ended)
		}
	}
	p.once()
	if got := p.lane("Review"); !strings.Contains(got, "🟢 pi: review") || !waited.Load() {
		t.Fatalf("Review:\n%s", got)
	}
	if n := strings.Count(p.logs(), `"kind":"shown"`); n != 3 {
		t.Errorf("written %d times, want claim, end and once more\n%s", n, p.logs())
	}
}

// What a sync brings between a claim and its write counts, though nobody has
// looked at it yet: the card that another machine has taken, and that another
// machine runs the folder.
func TestSyncBetweenClaimAndWrite(t *testing.T) {
	const theirs = "- [ ] Ship it @pi\n\t- 🔵 pi works ^r-01m8q1wyefbyh7kxqs79na7bfa\n"
	taken := strings.Replace(boardOf(""), "## In Progress\n", "## In Progress\n\n"+theirs, 1)
	for _, c := range []struct{ name, file, text, why string }{
		{"the card", "Shop.md", taken, "another run has taken the card meanwhile"},
		{"the machine", "deckhand/Machine.md", string(inbox.RenderMachine("0123456789abcdef", "desk")), "desk runs this folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
			var synced atomic.Bool
			p.o.Fault = func(at string) {
				if at == "logged claimed" && synced.CompareAndSwap(false, true) {
					p.save(c.file, c.text)
				}
			}
			p.once()
			if n := p.lives(); n != 0 || !synced.Load() || p.read(c.file) != c.text {
				t.Errorf("%d lives, %s:\n%s\n%s", n, c.file, p.read(c.file), p.log)
			}
			if logs := p.logs(); strings.Count(logs, `"kind":"claimed"`) != 1 || !strings.Contains(logs, c.why) {
				t.Errorf("no claim was given up because %q:\n%s", c.why, logs)
			}
		})
	}
}

// What came to an agent is told once, also when its turn is over before it was
// written down that it came there.
func TestAnswerIsNotToldAgain(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[question]\n"))
	ended := make(chan struct{})
	var once atomic.Bool
	p.o.Fault = func(at string) {
		switch {
		case at == "row sent":
			<-ended
		case at == "logged ended" && once.CompareAndSwap(false, true):
			close(ended)
		}
	}
	d := p.briefly(bounded(t))
	s := d.until(func(s control.Status) bool { return len(s.Runs) == 1 && len(s.Runs[0].Asks) == 1 })
	if _, err := d.command(control.Command{Name: "answer", Run: s.Runs[0].ID, Value: says("Yes.")}); err != nil {
		t.Fatal(err)
	}
	<-ended
	d.end()
	p.once()
	if n := p.lives(); n != 1 {
		t.Errorf("%d lives\n%s", n, p.logs())
	}
}
