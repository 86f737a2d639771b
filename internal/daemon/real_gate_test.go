package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/internal/control"
	"deckhand/internal/testkit"
)

// realPi makes a place whose agent is a real pi with a scripted model, and a
// project with something to lose.
func realPi(t *testing.T, pi testkit.Pi, ask, board string) (*placeT, *testkit.Model) {
	t.Helper()
	m := testkit.NewModel(t)
	p := newPlace(t, fast, "")
	p.write(p.o.Config+".env", strings.Join(testkit.PiHome(t, m), "\n")+"\n")
	p.write(p.o.Config, fmt.Sprintf("trust: [%s]\nenv_file: %s\nprojects:\n  shop: {folder: %s}\nagents:\n  pi: {driver: pi, command: [%s], model: %s, ask: %s}\n",
		p.work, p.o.Config+".env", p.proj, pi.Path, testkit.ScriptedModel, ask))
	if err := os.MkdirAll(filepath.Join(p.proj, "build", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write(p.at("Shop.md"), board) // last: a card that was there before its agent waits
	return p, m
}

// The real pi wants to delete a folder: it asks, and what a person says on the
// card, in Needs me, in the chat, on the command line or in the pane decides, with
// the reason that the model is told.
func TestRealPiAsksBeforeItDeletes(t *testing.T) {
	const refused = "A person did not allow this"
	on := func(old, now string) func(*placeT, *runningT) {
		return func(p *placeT, _ *runningT) {
			p.save("Shop.md", strings.Replace(p.read("Shop.md"), old, now, 1))
		}
	}
	by := func(from, value, note string) func(*placeT, *runningT) {
		return func(p *placeT, d *runningT) {
			run, ask := d.asked()
			if ask.Kind != "confirm" || ask.Message != "rm -rf build" || ask.Title != "Run in shop? (deletes folders)" {
				p.t.Errorf("asked %+v", ask)
			}
			if _, err := d.command(control.Command{Name: "answer", Run: run.ID, Ask: ask.ID, Value: &value, Note: note, From: from}); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	for _, pi := range testkit.RealPi(t) {
		for _, c := range []struct {
			name   string
			answer func(*placeT, *runningT)
			gone   bool
			told   string
		}{
			{"allowed on the card", on("[ ] Allow once", "[x] Allow once"), true, "(no output)"},
			{"denied on the card", on("[ ] Deny", "[x] Deny"), false, refused + ". Do not try the same in another way."},
			{"denied with why", func(p *placeT, _ *runningT) {
				board := strings.Replace(p.read("Shop.md"), "- why:", "- why: make clean is enough", 1)
				p.save("Shop.md", strings.Replace(board, "[ ] Deny", "[x] Deny", 1))
			}, false, refused + ": make clean is enough"},
			{"by the command", by("cli", "allow", ""), true, "(no output)"},
			{"in Needs me", func(p *placeT, d *runningT) {
				page := strings.Replace(p.page(d, p.needsMe, "- [ ] Deny ^"), "- why:\n", "- why: it is shared\n", 1)
				p.save(p.needsMe(), strings.Replace(page, "[ ] Deny", "[x] Deny", 1))
			}, false, refused + ": it is shared"},
			{"in the chat", func(p *placeT, d *runningT) {
				p.save(p.chatOfRun(), strings.Replace(p.page(d, p.chatOfRun, "- [ ] Allow once ^"), "[ ] Allow once", "[x] Allow once", 1))
			}, true, "(no output)"},
			{"in the pane", by("pane", "deny", "/not: now"), false, refused + ": /not: now"},
		} {
			t.Run(pi.Version+" "+c.name, func(t *testing.T) {
				p, m := realPi(t, pi, "risky", one("[tool:rm -rf build]"))
				d := p.watching(bounded(t))
				d.until(func(s control.Status) bool {
					if len(s.Held) > 0 {
						t.Fatalf("held: %+v", s.Held)
					}
					return len(s.Runs) == 1 && len(s.Runs[0].Asks) == 1
				})
				p.shows(d, "In Progress", "🟡 pi asks")
				if _, err := os.Stat(filepath.Join(p.proj, "build")); err != nil {
					t.Fatal("it ran before anybody was asked")
				}
				c.answer(p, d)
				d.reviewed()
				if _, err := os.Stat(filepath.Join(p.proj, "build")); os.IsNotExist(err) != c.gone {
					t.Errorf("build: %v", err)
				}
				if told := m.Told(); len(told) != 1 || told[0] != c.told {
					t.Errorf("the model was told %q, want %q", told, c.told)
				}
			})
		}
	}
}
