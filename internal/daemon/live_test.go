package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/internal/control"
)

// What changes under a daemon that runs.

func heldBy(text string) func(control.Status) bool {
	return func(s control.Status) bool {
		return len(s.Held) > 0 && slices.ContainsFunc(s.Held[0].Reasons, func(r string) bool { return strings.Contains(r, text) })
	}
}

// The work folder is moved away under a run and comes back.
func TestWorkFolderAwayAndBack(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[record] [slow:100ms]\n"))
	d := p.watching(ctx)
	for p.starts() == 0 && ctx.Err() == nil {
	}
	p.shows(d, "In Progress", "pi works")
	if err := os.Rename(p.work, p.work+".away"); err != nil {
		t.Fatal(err)
	}
	d.until(func(s control.Status) bool {
		return slices.ContainsFunc(s.Problems, func(p control.Problem) bool { return p.Text == "the work folder is gone" })
	})
	if err := os.Rename(p.work+".away", p.work); err != nil {
		t.Fatal(err)
	}
	p.shows(d, "Review", "🟢 pi: review")
	if n := p.starts(); n != 1 {
		t.Errorf("%d agents were started", n)
	}
}

// Another folder in the place of the work folder is not the one that was
// trusted: the daemon ends and says so.
func TestWorkFolderReplaced(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
	p.edit("trust: [", "trust: [/nowhere, ")
	o := p.o
	o.Once = false
	d := p.start(ctx, o)
	d.until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Status == "done" })
	if err := os.Rename(p.work, p.work+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.work, 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(p.at("Shop.md"), boardOf("- [ ] Foreign @pi\n"))
	select {
	case err := <-d.done:
		if err == nil || !strings.Contains(err.Error(), errReplaced.Error()) {
			t.Errorf("%v, want that the folder was replaced", err)
		}
	case <-ctx.Done():
		t.Fatal("the daemon goes on")
	}
	if got := p.read("Shop.md"); got != boardOf("- [ ] Foreign @pi\n") {
		t.Errorf("the other folder was written:\n%s", got)
	}
}

// A project's folder that goes away holds the next card, with the reason, and
// the run in it is brought to its end; when the folder is back the card starts.
func TestProjectFolderAwayAndBack(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf(""))
	d := p.watching(ctx)
	if err := os.Rename(p.proj, p.proj+".away"); err != nil {
		t.Fatal(err)
	}
	p.edit("trust:", "max_running: 3\ntrust:") // looked at with each change of the configuration
	d.until(func(control.Status) bool { return strings.Contains(p.text("Shop.md"), "Plan") })
	p.save("Shop.md", boardOf("- [ ] Ship it @pi\n\t[record]\n"))
	d.until(heldBy("is not there"))
	if err := os.Rename(p.proj+".away", p.proj); err != nil {
		t.Fatal(err)
	}
	p.edit("max_running: 3", "max_running: 2")
	p.shows(d, "Review", "🟢 pi: review")
}

// Cards of a board that only a grant makes one were there before it, also when
// the command tells the daemon before it has read the board.
func TestBoardThatAGrantMakesOne(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf(""))
	p.write(p.at("List.md"), "# List\n\n## Plan\n\n- [ ] Old @pi\n\n## In Progress\n\n## Review\n")
	p.write(p.at("deckhand.yaml"), fast+"boards: [Shop.md]\n")
	d := p.watching(ctx)
	p.edit("  shop: {folder: "+p.proj+"}", "  shop: {folder: "+p.proj+", boards: [List.md]}")
	if _, err := d.client.Do(ctx, control.Command{ID: "grant-1", Name: "grant"}); err != nil {
		t.Fatal(err)
	}
	s, err := d.client.Status(ctx)
	if err != nil || !heldBy("was here before")(s) {
		t.Errorf("%v %+v, want the card held", err, s.Held)
	}
	if _, err := d.client.Do(ctx, control.Command{ID: "grant-2", Name: "grant", Text: "start"}); err != nil {
		t.Fatal(err)
	}
	d.until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Status == "done" })
}

// A config.yaml that is broken when the daemon starts takes no grant away.
func TestBrokenConfigurationAtAStart(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
	data, err := os.ReadFile(p.o.Config)
	if err != nil {
		t.Fatal(err)
	}
	p.write(p.o.Config, "trust: [\n")
	d := p.watching(ctx)
	d.until(func(s control.Status) bool { return len(s.Problems) > 0 })
	p.write(p.o.Config, string(data))
	p.shows(d, "Review", "🟢 pi: review")
}

// ignore:, boards: and output: count without a restart.
func TestSettingsChange(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast+"ignore: [\"Old/**\"]\n", boardOf(""))
	if err := os.Mkdir(p.at("Old"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(p.at("Old/List.md"), boardOf("- [ ] Ship it @pi\n"))
	d := p.watching(ctx)
	paths := func() string {
		all, err := d.client.Boards(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, b := range all {
			out = append(out, b.Path)
		}
		return strings.Join(out, " ")
	}
	until := func(want string) {
		t.Helper()
		for got := paths(); got != want; got = paths() {
			if ctx.Err() != nil {
				t.Fatalf("boards %s, want %s", got, want)
			}
		}
	}
	until("Shop.md")
	p.save("deckhand.yaml", fast+"ignore: [Shop.md]\n")
	until("Old/List.md")
	d.until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Status == "done" })
	p.save("deckhand.yaml", fast+"output: hand\nboards: [Shop.md]\n")
	until("Shop.md")
	p.save("Shop.md", boardOf("- [ ] Another @pi\n"))
	p.shows(d, "Review", "🟢 pi: review")
	if _, err := os.Stat(p.at("hand/Machine.md")); err != nil {
		t.Error(err)
	}
}

// A card handed to another agent begins a run of its own, with the result of
// the first as data; the first one's line gives way.
func TestHandedToAnotherAgent(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[record]\n"))
	p.edit("  pi: {driver: pi, command: [", "  second: {driver: pi, command: ["+p.o.Exe+", standin]}\n  pi: {driver: pi, command: [")
	d := p.watching(ctx)
	p.shows(d, "Review", "🟢 pi: review")
	p.save("Shop.md", strings.Replace(p.read("Shop.md"), "Ship it @pi", "Ship it @second", 1))
	p.move("Ship it", "Plan", "")
	shown, err := d.client.Prompt(ctx, "Ship it")
	if err != nil {
		t.Fatal(err)
	}
	p.shows(d, "Review", "🟢 second: review")
	if got := p.read("Shop.md"); strings.Contains(got, "pi: review · 0s") && strings.Count(got, "^r-") != 1 {
		t.Errorf("the first line stays:\n%s", got)
	}
	prompts, err := filepath.Glob(filepath.Join(p.o.State, "*/runs/*/1/prompt.md"))
	if err != nil || len(prompts) != 2 {
		t.Fatal(prompts, err)
	}
	sent, err := os.ReadFile(prompts[1])
	if err != nil || !strings.Contains(string(sent), "SHIP.md holds what the card asks for") {
		t.Errorf("the second agent gets no result:\n%s", sent)
	}
	if string(sent) != shown.Text && strings.Contains(shown.Text, "SHIP.md holds") {
		t.Errorf("sent:\n%s\nshown:\n%s", sent, shown.Text)
	}
}

// The Tasks plugin copies a card that recurs, with our line: the new card is a
// card of its own.
func TestCardThatRecurs(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Water the plants 🔁 every day @pi\n"))
	d := p.watching(ctx)
	p.shows(d, "Review", "🟢 pi: review")
	_, after, _ := strings.Cut(p.read("Shop.md"), "## Review\n\n")
	card, _, _ := strings.Cut(after, "\n## Done")
	p.save("Shop.md", strings.Replace(p.read("Shop.md"), card, card+strings.Replace(card, "- [ ]", "- [x]", 1), 1))
	for strings.Count(p.text("Shop.md"), "^r-") != 1 {
		if _, err := d.client.Status(ctx); err != nil {
			t.Fatalf("%v\n%s\n%s", err, p.text("Shop.md"), p.log)
		}
	}
	if got := p.lane("Review"); !strings.Contains(got, "- [ ] Water the plants 🔁 every day @pi\n- [x] Water") {
		t.Errorf("Review:\n%s", got)
	}
}

// Many boards, each with many cards, in a few projects: never more agents than
// allowed, never two in a folder, and each card once.
func TestManyBoards(t *testing.T) {
	const boards, cards, projects, atOnce = 30, 20, 6, 4
	if testing.Short() {
		t.Skip("agents for many cards")
	}
	p := newPlace(t, fast, boardOf(""))
	config := fmt.Sprintf("max_running: %d\ntrust: [%s]\nprojects:\n", atOnce, p.work)
	for i := range projects {
		dir := fmt.Sprintf("%s%d", p.proj, i)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		config += fmt.Sprintf("  p%d: {folder: %s}\n", i, dir)
	}
	p.write(p.o.Config, config+fmt.Sprintf("agents:\n  pi: {driver: pi, command: [%s, standin, --pace, 1ms]}\n", p.o.Exe))
	if err := Grant(context.Background(), p.o, Grants{Trust: true}); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for b := range boards {
		var plan strings.Builder
		for c := range cards {
			mention := ""
			if c%10 == b%10 {
				mention, asked = " @pi\n\t[record]", asked+1
			}
			fmt.Fprintf(&plan, "- [ ] Card %d of %d%s\n", c, b, mention)
		}
		p.write(p.at(fmt.Sprintf("Board %02d.md", b)), strings.Replace(boardOf(plan.String()), "project: shop", fmt.Sprintf("project: p%d", b%projects), 1))
	}
	most := 0
	p.o.Fault = func(point string) {
		if point == "logged started" {
			most = max(most, len(p.running()))
		}
	}
	p.once()
	if most > atOnce {
		t.Errorf("%d agents at once, want at most %d", most, atOnce)
	}
	starts := 0
	for i := range projects {
		p.proj = strings.TrimSuffix(p.proj, fmt.Sprint(i-1)) + fmt.Sprint(i)
		p.inTurn()
		starts += p.starts()
	}
	if starts != asked {
		t.Errorf("%d cards were worked on, want %d", starts, asked)
	}
}

// running are the lives that have a keeper.
func (p *placeT) running() []string {
	var out []string
	locks, err := filepath.Glob(filepath.Join(p.o.State, "*/runs/*/1/lock"))
	if err != nil {
		p.t.Error(err)
	}
	for _, l := range locks {
		if life := filepath.Dir(l); held(life) {
			out = append(out, life)
		}
	}
	return out
}

// What is known after a kill -9 and another start, and what is known without a
// daemon, is byte for byte what was known before.
func TestSameStatusAfterAKill(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] One @pi\n- [ ] Two @pi\n\t[ask]\n- [ ] Three @pi\n- [ ] Four @nobody\n- [ ] Five @pi @pi2\n"))
	d, kill := p.process(ctx)
	d.until(func(s control.Status) bool { return len(s.Runs) == 2 && s.Runs[1].Status == "waiting" })
	p.shows(d, "In Progress", "🟡 pi asks")
	p.shows(d, "Review", "🟢 pi: review")
	shape := func(r control.Reader) string {
		t.Helper()
		s, err := r.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		s.Daemon, s.PID, s.Watch = false, 0, ""
		data, err := json.MarshalIndent(s, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var before, files string
	d.until(func(control.Status) bool { // when what stands on the board has come back to the daemon
		offline, err := Open(ctx, p.o)
		if err != nil {
			t.Fatal(err)
		}
		before, files = shape(d.client), shape(offline)
		return files == before || ctx.Err() != nil
	})
	if files != before {
		t.Errorf("without a daemon:\n%s\nwith one:\n%s", files, before)
	}
	kill()
	d, kill = p.process(ctx)
	var after string
	d.until(func(s control.Status) bool { // when its agents are looked at and its captures read
		after = shape(d.client)
		return after == before || ctx.Err() != nil
	})
	if after != before {
		t.Errorf("after a kill:\n%s\nbefore:\n%s", after, before)
	}
	kill()
	p.stopAll()
}

// The prompt that is shown is the prompt that is sent, byte for byte.
func TestPromptIsWhatIsSent(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it [[Specification#Payment]] @pi\n\tUse [[Nowhere]].\n"))
	p.write(p.at("Specification.md"), "# Spec\n\n## Payment\n\nUse QRIS.\n")
	r, err := Open(bounded(t), p.o)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := r.Prompt(context.Background(), "Ship it")
	if err != nil {
		t.Fatal(err)
	}
	p.once()
	sent, err := os.ReadFile(p.only(filepath.Join(p.o.State, "*/runs/*/1/prompt.md")))
	if err != nil || string(sent) != shown.Text {
		t.Errorf("%v\nsent:\n%s\nshown:\n%s", err, sent, shown.Text)
	}
	if strings.Contains(shown.Text, p.work) || !strings.Contains(shown.Text, "Use QRIS.") || len(shown.Notes) != 2 {
		t.Errorf("notes %+v in:\n%s", shown.Notes, shown.Text)
	}
	p.move("Ship it", "Plan", "And the receipt.")
	r, err = Open(bounded(t), p.o)
	if err != nil {
		t.Fatal(err)
	}
	if shown, err = r.Prompt(context.Background(), "Ship it"); err != nil {
		t.Fatal(err)
	}
	ctx := bounded(t)
	d := p.watching(ctx)
	d.until(func(st control.Status) bool { return p.lives() == 2 })
	sent, err = os.ReadFile(p.only(filepath.Join(p.o.State, "*/runs/*/2/prompt.md")))
	if err != nil || string(sent) != shown.Text {
		t.Errorf("%v\nsent:\n%s\nshown:\n%s", err, sent, shown.Text)
	}
}
