package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/internal/control"
)

// bounded is a context for one scene.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// watching starts a daemon in the background that ends with the test, and
// whatever its agents do with it.
func (p *placeT) watching(ctx context.Context) *runningT {
	p.t.Helper()
	o := p.o
	o.Once = false
	d := p.start(ctx, o)
	p.t.Cleanup(func() {
		if _, err := d.do("stop_all", ""); err != nil {
			p.t.Error(err)
		}
		d.until(func(s control.Status) bool {
			for _, r := range s.Runs {
				if r.Status == "working" || r.Status == "waiting" {
					return false
				}
			}
			return true
		})
		d.end()
	})
	return d
}

// save replaces a file as most editors do.
func (p *placeT) save(rel, text string) {
	p.t.Helper()
	tmp := p.at("." + filepath.Base(rel) + ".tmp")
	p.write(tmp, text)
	if err := os.Rename(tmp, p.at(rel)); err != nil {
		p.t.Fatal(err)
	}
}

func boardOf(plan string) string {
	return "---\nproject: shop\n---\n\n## Plan\n\n" + plan + "\n## In Progress\n\n## Review\n\n## Done\n"
}

// Cards of one folder run one after another, from the top, never two at once.
func TestQueueInBoardOrder(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] first @pi\n\t[record]\n- [ ] second @pi\n\t[record]\n- [ ] third @pi\n\t[record]\n"))
	p.once()
	data, err := os.ReadFile(filepath.Join(p.proj, "RECORD.log"))
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for l := range strings.Lines(string(data)) {
		for _, name := range []string{"first", "second", "third"} {
			if strings.Contains(l, name) {
				what := "end"
				if strings.Contains(l, "start") {
					what = "start"
				}
				steps = append(steps, what+" "+name)
			}
		}
	}
	if got, want := strings.Join(steps, ", "), "start first, end first, start second, end second, start third, end third"; got != want {
		t.Errorf("%s, want %s\n%s", got, want, data)
	}
}

// Case 17: an editor saves the copy it loaded before our move. The card goes
// back where it was, what the person added stays, and no second agent starts.
func TestOldCopySavedOverOurMove(t *testing.T) {
	ctx := bounded(t)
	old := boardOf("- [ ] Ship it @pi\n\t[record] [hang]\n")
	p := newPlace(t, fast, old)
	d := p.watching(ctx)
	p.shows(d, "In Progress", "pi works")
	d.until(working(1))
	p.save("Shop.md", strings.Replace(old, "\n## In Progress", "- [ ] Extra\n\n## In Progress", 1))
	p.shows(d, "In Progress", "Ship it @pi")
	p.shows(d, "In Progress", "pi works")
	if got := p.lane("Plan"); !strings.Contains(got, "- [ ] Extra") || strings.Contains(got, "Ship it") {
		t.Errorf("Plan:\n%s", got)
	}
	if n := p.lives(); n != 1 {
		t.Errorf("%d agents were started", n)
	}
}

// Cards that were there before their project was registered wait for a
// person's word, and one that is edited then starts.
func TestCardFromBeforeTheGrantWaits(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, strings.ReplaceAll(boardOf("- [ ] Ship it @pi\n"), "project: shop", "project: other"))
	d := p.watching(ctx)
	s := d.until(func(s control.Status) bool { return len(s.Held) == 1 })
	if want := `project "other" is not registered`; s.Held[0].Reasons[0] != want || len(s.Held[0].Hints) == 0 {
		t.Fatalf("held %+v, want %q and a hint", s.Held, want)
	}
	config, err := os.ReadFile(p.o.Config)
	if err != nil {
		t.Fatal(err)
	}
	p.write(p.o.Config, strings.Replace(string(config), "  shop:", "  other:", 1))
	s = d.until(func(s control.Status) bool {
		return len(s.Held) == 1 && strings.Contains(s.Held[0].Reasons[0], "here before")
	})
	p.save("Shop.md", strings.Replace(p.read("Shop.md"), "Ship it @pi", "Ship it now @pi", 1))
	p.shows(d, "Review", "🟢 pi: review")
	_ = s
}

// A configuration that is broken while the daemon runs does not count: the last
// good one stays, and every problem is named with its place.
func TestBrokenConfigurationKeepsTheLast(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, shopBoard)
	d := p.watching(ctx)
	p.shows(d, "Review", "🟢 pi: review")
	p.write(p.o.Config, "trust: [\n")
	s := d.until(func(s control.Status) bool { return len(s.Problems) > 0 })
	if !strings.Contains(s.Problems[0].Where, "config.yaml:") {
		t.Errorf("problems %+v, want the line", s.Problems)
	}
	p.save("Shop.md", strings.Replace(p.read("Shop.md"), "## Plan\n", "## Plan\n\n- [ ] Another one @pi\n", 1))
	p.shows(d, "Review", "Another one @pi")
}

// A stopped card moved back to a ready lane with a new line goes on in the same
// session, with that line as its prompt.
func TestSentBack(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
	d := p.watching(ctx)
	p.shows(d, "Review", "🟢 pi: review")
	text := p.read("Shop.md") // saved back while the agent's process is still going: no old copy either
	_, card, _ := strings.Cut(text, "## Review\n")
	card, _, _ = strings.Cut(card, "\n## Done")
	back := strings.Replace(text, card, "", 1)
	back = strings.Replace(back, "## Plan\n", "## Plan\n"+strings.Replace(strings.TrimLeft(card, "\n"), "@pi\n", "@pi\n\tUse the sandbox key.\n", 1), 1)
	p.save("Shop.md", back)
	d.until(working(1))
	p.shows(d, "Review", "🟢 pi: review")
	if n := p.lives(); n != 2 {
		t.Errorf("%d lives, want a second one in the same run", n)
	}
	chat, err := filepath.Glob(p.at("deckhand/chats/*/*.md"))
	if err != nil || len(chat) != 1 {
		t.Fatalf("chats %v %v, want the same one", chat, err)
	}
	data, err := os.ReadFile(chat[0])
	if err != nil || !strings.Contains(string(data), "Use the sandbox key.") {
		t.Errorf("chat:\n%s", data)
	}
}

// Nothing of ours is written into a folder that is not trusted (case 2).
func TestLookingIsNotWriting(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, "", "## Plan\r\n\r\n- [ ] Nothing to do here  \r\n\r\n\r\n## Review\r\n- [x] done\r\n\r\n")
	if err := os.RemoveAll(p.at("deckhand")); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(p.at("Shop.md"))
	if err != nil {
		t.Fatal(err)
	}
	d := p.watching(ctx)
	if _, err := d.client.Boards(ctx); err != nil {
		t.Fatal(err)
	}
	p.once2(ctx)
	after, err := os.Stat(p.at("Shop.md"))
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the board was written: %v %v", after.ModTime(), err)
	}
	entries, err := os.ReadDir(p.work)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, want the board alone", entries)
	}
}

// once2 reads the state beside a running daemon.
func (p *placeT) once2(ctx context.Context) {
	p.t.Helper()
	r, err := Open(ctx, p.o)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := r.Status(ctx); err != nil {
		p.t.Fatal(err)
	}
}

// An agent that is added while the daemon runs is known on the boards at once.
func TestAgentAddedWhileRunning(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @helper\n"))
	d := p.watching(ctx)
	config, err := os.ReadFile(p.o.Config)
	if err != nil {
		t.Fatal(err)
	}
	p.write(p.o.Config, strings.Replace(string(config), "  pi:", "  helper:", 1))
	d.until(func(s control.Status) bool {
		return len(s.Held) == 1 && strings.Contains(s.Held[0].Reasons[0], "here before")
	})
	first, err := d.client.Do(ctx, control.Command{ID: "run-1", Name: "run", Card: "Ship it"})
	if err != nil {
		t.Fatal(err)
	}
	p.shows(d, "Review", "🟢 helper: review")
	again, err := d.client.Do(ctx, control.Command{ID: "run-1", Name: "run", Card: "Ship it"})
	if err != nil || again.Text != first.Text {
		t.Errorf("the same command again: %+v %v, want its first result", again, err)
	}
	if n := p.lives(); n != 1 {
		t.Errorf("%d agents were started", n)
	}
}
