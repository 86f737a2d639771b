package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/harness"
	"deckhand/internal/testkit"
)

// kanban is a board as Obsidian Kanban keeps it, with CRLF, limits, an archive
// and a settings footer.
var kanban = strings.ReplaceAll(`---

kanban-plugin: board
project: shop
tags:
  - board/shop

---

## Plan (5)

- [ ] Checkout with QRIS [[Specification#Payment|spec]] #agent/pi #feature ^pay01
	Use the official SDK. [tool:sleep 2; echo paid > out.txt]
	- [ ] sandbox first
- [ ] Invoice PDF @{2026-01-02} @@{10:30}
- [/] Half started #chore


## In Progress (2)

- [ ] Stock sync ^stk-2


## Review

**Complete**
- [x] Login page ^log7


***

## Archive

- [x] 2025-12-01 First sketch
- [ ] Old plan #agent/pi

%% kanban:settings
`+"```"+`
{"kanban-plugin":"board","list-collapse":[false,false,false],"lane-width":320}
`+"```"+`
%%`, "\n", "\r\n")

// The real pi, both generations, takes a card with a linked section from Plan
// to Review on an Obsidian Kanban board; the daemon is killed with -9 in the
// middle of it and started again. pi is started once, and a diff of the board
// shows the card's lines only.
func TestRealPiTakesACardThroughAKill(t *testing.T) {
	for _, pi := range testkit.RealPi(t) {
		t.Run(pi.Version, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			m := testkit.NewModel(t)
			p := newPlace(t, fast, "")
			p.write(p.o.Config+".env", strings.Join(testkit.PiHome(t, m), "\n")+"\n")
			p.write(p.o.Config, fmt.Sprintf("trust: [%s]\nenv_file: %s\nprojects:\n  shop: {folder: %s}\nagents:\n  pi: {driver: pi, command: [%s], model: %s}\n",
				p.work, p.o.Config+".env", p.proj, pi.Path, testkit.ScriptedModel))
			p.write(p.at("Specification.md"), "# Spec\n\n## Payment\n\nPay by QRIS within 15 minutes.\n\n## Secret\n\nnot linked\n")
			p.write(p.at("Shop.md"), kanban)

			d, kill := p.process(ctx)
			d.until(working(1))
			for len(m.Asked()) == 0 && ctx.Err() == nil {
			}
			kill()
			p.once()

			p.checkBoard(kanban)
			if data, err := os.ReadFile(filepath.Join(p.proj, "out.txt")); err != nil || string(data) != "paid\n" {
				t.Errorf("the work: %q %v", data, err)
			}
			asked := m.Asked()
			if len(asked) != 2 || asked[0] != asked[1] {
				t.Errorf("the model was asked %d times, want twice for one prompt (before and after the tool)", len(asked))
			}
			if !strings.Contains(asked[0], "Pay by QRIS within 15 minutes.") || strings.Contains(asked[0], "not linked") || strings.Contains(asked[0], p.work) {
				t.Errorf("prompt:\n%s", asked[0])
			}
			if n := p.lives(); n != 1 {
				t.Errorf("pi was started %d times", n)
			}
			t.Logf("%s\n%s", p.read("Shop.md"), p.log)
		})
	}
}

// checkBoard compares the board with what it was: without the card's own lines
// both are the same, and the card stands in Review with its item.
func (p *placeT) checkBoard(before string) {
	p.t.Helper()
	after := p.read("Shop.md")
	rest := func(s string) string {
		var out []string
		for l := range strings.Lines(s) {
			if !strings.Contains(l, "QRIS") && !strings.Contains(l, "official SDK") && !strings.Contains(l, "sandbox first") && !strings.HasPrefix(l, "\t") {
				out = append(out, l)
			}
		}
		return strings.Join(out, "")
	}
	if rest(before) != rest(after) {
		p.t.Errorf("other lines changed:\n%q\n%q", rest(before), rest(after))
	}
	if strings.Count(after, "\n") != strings.Count(after, "\r\n") {
		p.t.Error("a line without CR")
	}
	review := p.lane("Review\r")
	for _, want := range []string{
		"- [ ] Checkout with QRIS [[Specification#Payment|spec]] #agent/pi #feature ^pay01\r\n\tUse the official SDK.",
		"\t- [ ] sandbox first\r\n", "\t- 🟢 pi: review · ",
	} {
		if !strings.Contains(review, want) {
			p.t.Errorf("Review lacks %q:\n%s", want, review)
		}
	}
}

// lives counts how often an agent was started.
func (p *placeT) lives() int {
	p.t.Helper()
	runs, err := filepath.Glob(filepath.Join(p.o.State, "*", "runs", "*"))
	if err != nil || len(runs) != 1 {
		p.t.Fatalf("runs: %v %v", runs, err)
	}
	lives, err := harness.Dir{Path: runs[0]}.Lives()
	if err != nil {
		p.t.Fatal(err)
	}
	return len(lives)
}
