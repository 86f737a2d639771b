package dispatch

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// failing are the rules of a card that do not hold, as "reason (hint)".
func failing(t *testing.T, d *desk, title string) []string {
	t.Helper()
	d.look()
	var out []string
	for _, path := range slices.Sorted(maps.Keys(d.boards)) {
		for _, c := range d.boards[path].Board.All() {
			if !strings.HasPrefix(c.Title, title) {
				continue
			}
			v, ok := Judge(d.world(), path, c.Line)
			if !ok {
				t.Fatalf("%s:%d is not judged", path, c.Line)
			}
			for _, r := range v.Rules {
				if r.OK {
					continue
				}
				if r.Why.Text == "" || r.Why.Hint == "" && !r.Turn {
					t.Errorf("rule %q fails without a reason or without a next step: %+v", r.Name, r.Why)
				}
				text := r.Why.Text
				if r.Turn {
					text = "~" + text
				}
				if r.Why.Hint != "" {
					text += " (" + r.Why.Hint + ")"
				}
				out = append(out, text)
			}
			return out
		}
	}
	t.Fatalf("no card %q", title)
	return nil
}

// Each rule passes on the plain card, and fails for the one thing that breaks
// it, with a reason and what to do. A reason that goes away by itself begins
// with ~.
func TestEachRule(t *testing.T) {
	const plain = "Plan: Card @pi"
	for _, c := range []struct {
		name, board string
		change      func(*desk)
		want        []string
	}{
		{"plain", plain, nil, nil},
		{"ticked", "Plan: [x] Card @pi", nil, []string{"it is ticked (untick it)"}},
		{"another box", "Plan: [/] Card @pi", nil, []string{`its box holds "/", and only an empty one is open (empty its box)`}},
		{"another lane", "Review: Card @pi", nil, []string{`nothing starts in lane "Review"; the ready lanes are: Plan, Next (move it to a ready lane)`}},
		{"two agents", "Plan: Card @pi @claude", nil, []string{"it names 2 agents: @pi, @claude (leave one of them)"}},
		{"agent in the note", "Plan: Card\\nplease @pi", nil, []string{"@pi stands only in the note (name it in the first line)"}},
		{"unknown agent", "Plan: Card @who", nil, []string{"no agent is called @who (deckhand agents)"}},
		{"no agent", "Plan: Card", nil, []string{"it names no agent (name one in the first line, like @pi)"}},
		{"agent missing", plain, func(d *desk) {
			d.set.Agents["pi"] = Agent{Why: Reason{"@pi is not installed", "npm i -g pi"}}
		}, []string{"@pi is not installed (npm i -g pi)"}},
		{"agent is looked at", plain, func(d *desk) { d.set.Agents["pi"] = Agent{Pending: true} }, []string{"~@pi is being looked at"}},
		{"board is away", plain, func(d *desk) { d.boards["Shop.md"].Gone = "the file is gone" }, []string{"Shop.md: the file is gone (see to the file: it must be there, and a file that can be read and written)"}},
		{"folder not trusted", plain, func(d *desk) { d.set.Held = Reason{"the work folder is not trusted", "deckhand trust DIR"} }, []string{"the work folder is not trusted (deckhand trust DIR)"}},
		{"project not registered", "Plan: Card @pi #project/x", nil, []string{`project "x" is not registered (deckhand project add x FOLDER)`}},
		{"project refused", plain, func(d *desk) {
			d.set.Projects["shop"] = Project{Why: Reason{"project shop: the folder is gone", "bring it back"}}
		}, []string{"project shop: the folder is gone (bring it back)"}},
		{"reads like another", "Plan: Card @pi | Card  @pi", nil, []string{`2 cards read "Card": lines 7, 8 (make the titles differ)`}},
		{"reads like a done one", "Plan: Card @pi\nDone: Card @pi", nil, nil},
		{"reads like a ticked one", "Plan: Card @pi | [x] Card @pi", nil, nil},
		{"waits", "Plan: Card @pi\\nafter: [[Other]]\nReview: Other", nil, []string{`~after "Other" (Shop.md:18), which is not done`}},
		{"waited", "Plan: Card @pi\\nafter: [[Other]]\nDone: Other", nil, nil},
		{"budget", plain, func(d *desk) {
			d.set.Day = 10
			d.runs["X"] = &Run{ID: "X", Phase: PhaseOver, Spends: []Spend{{morning, 10.4}}}
		}, []string{"the day's budget of $10.00 is spent ($10.40) (wait for tomorrow, or raise day: in config.yaml)"}},
		{"yesterday's cost", plain, func(d *desk) {
			d.set.Day = 10
			d.runs["X"] = &Run{ID: "X", Phase: PhaseOver, Spends: []Spend{{morning.Add(-10 * time.Hour), 10.4}, {morning, 9.99}}}
		}, nil},
		{"typing", plain, func(d *desk) { d.edit("Shop.md", "Card", "Card two") }, []string{"~starts in 10s"}},
		{"just started", plain, func(d *desk) { d.mem.Open = false; d.boards["Shop.md"].Changed = d.now.Add(-time.Second) }, []string{"~deckhand has just started, and waits until the boards are quiet"}},
		{"run not known", "Plan: Card @pi\\n- 🟢 pi: review · 4m ^r-01kb7x2a", nil, []string{"its run is not known on this machine (delete its status line: it is a new card then)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := oneBoard(t, lanes(c.board))
			d.look()
			d.now = d.now.Add(time.Millisecond)
			if c.change != nil {
				c.change(d)
			}
			equal(t, "fails", failing(t, d, "Card"), c.want)
			starts := slices.ContainsFunc(d.look().Actions, func(a Action) bool { return a.Do == DoClaim })
			same(t, "starts", starts, len(c.want) == 0)
			// A verdict that holds nobody up is no call for a person.
			held := 0
			for _, w := range c.want {
				if !strings.HasPrefix(w, "~") {
					held++
				}
			}
			for _, v := range d.last.Cards {
				if strings.HasPrefix(v.Card.Title, "Card") {
					same(t, "held", len(v.Held()), held)
				}
			}
		})
	}
}

func TestBoardsThatCannotStart(t *testing.T) {
	const plan = "## Plan\n\n- [ ] Card @pi\n\n"
	for _, c := range []struct {
		name, path, text, want string
	}{
		{"no working lane", "Shop.md", header + plan + "## Review\n", `the board has no working lane (deckhand lanes add Shop.md)`},
		{"neither", "Shop.md", header + plan, `the board has no working and no review lane (deckhand lanes add Shop.md)`},
		{"no ready lane", "Shop.md", header + "## Stuff\n\n- [ ] Card @pi\n\n## In Progress\n\n## Review\n", "no lane of the board is a ready lane (name one of its lanes under lanes: in deckhand.yaml)"},
		{"no project", "Shop.md", plan + "## In Progress\n\n## Review\n", `neither the card nor its board names a project (deckhand project add NAME FOLDER --board Shop.md)`},
		{"case 26: conflict copy", "Shop.sync-conflict-20260102-101500-ABC1234.md", header + plan + "## In Progress\n\n## Review\n", "conflict copy of Shop.md, merge it by hand (copy what is missing into the other file and delete this one)"},
		{"case 27: merge markers", "Shop.md", header + "<<<<<<< HEAD\n" + plan + "=======\n>>>>>>> phone\n\n## In Progress\n\n## Review\n", "Shop.md: merge markers, line 5 (resolve the conflict in the file and save)"},
		{"NUL bytes", "Shop.md", header + plan + "## In Progress\n\n## Review\n\x00", "Shop.md: NUL bytes, line 12 (delete the NUL bytes, or bring an older copy of the file back)"},
		{"broken header", "Shop.md", "---\nproject: [\n---\n" + plan + "## In Progress\n\n## Review\n", "(mend the header between the --- lines and save)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			d.old(c.path, c.text)
			contains(t, "reason", strings.Join(failing(t, d, "Card"), "\n"), c.want)
			if dec := d.look(); len(dec.Actions) > 0 {
				t.Errorf("actions %v", dec.Actions)
			}
		})
	}
}

func TestCardThatWasHereBefore(t *testing.T) {
	const want = `was here before; edit or move it, or deckhand run (deckhand run Card)`
	id := CardID{"Shop.md", "Card @pi"}
	begin := func(t *testing.T) *desk {
		d := oneBoard(t, lanes("Plan: Card @pi"))
		d.set.Before[id] = Was{"Plan", Hash(d.card("Shop.md", "Card"))}
		equal(t, "fails", failing(t, d, "Card"), []string{want})
		equal(t, "did", d.later(time.Hour), nil)
		return d
	}
	t.Run("edited", func(t *testing.T) {
		d := begin(t)
		d.edit("Shop.md", "Card @pi", "Card @pi\n\twith a note")
		equal(t, "at once", d.settle(), nil)
		equal(t, "after typing", d.later(10*time.Second), []Do{DoClaim, DoShow, DoStart})
	})
	t.Run("moved", func(t *testing.T) {
		d := begin(t)
		d.move("Shop.md", "Card", "Next")
		equal(t, "at once", d.settle(), nil)
		equal(t, "after settle", d.later(3*time.Second), []Do{DoClaim, DoShow, DoStart})
	})
	t.Run("by command", func(t *testing.T) {
		d := begin(t)
		d.set.Forced[id] = true
		equal(t, "at once", d.settle(), []Do{DoClaim, DoShow, DoStart})
	})
}

func TestEqualCardOnAnotherBoard(t *testing.T) {
	d := oneBoard(t, lanes("Plan: Card @pi | Other @pi"))
	d.old("Work/Copy.md", lanes("Review: Card @pi\nPlan: Other @claude"))
	equal(t, "fails", failing(t, d, "Card"), []string{"the same card stands at Shop.md:7 and Work/Copy.md:17 (make the titles differ)"})
	d.set.Agents["claude"] = Agent{Why: Reason{Text: "away"}}
	equal(t, "another agent", d.settle(), []Do{DoClaim, DoShow, DoStart})
	same(t, "card", d.run().Card.Title, "Other")
	d.finish(Review, "done")
	d.settle()
	// Case 26: what a conflict copy holds is no other card.
	d.boards["Shop.sync-conflict-20260102-101500-ABC1234.md"] = nil
	delete(d.boards, "Work/Copy.md")
	d.old("Shop.sync-conflict-20260102-101500-ABC1234.md", lanes("Plan: Card @pi"))
	equal(t, "beside a conflict copy", d.settle(), []Do{DoClaim, DoShow, DoStart})
	same(t, "card", d.run().Card.Board, "Shop.md")
}

func TestLanesAreAdded(t *testing.T) {
	const text = header + "## Plan\n\n- [ ] Card @pi\n"
	d := oneBoard(t, text)
	equal(t, "did", d.settle(), nil)
	d.set.AddLanes = true
	d.set.Held = Reason{Text: "not trusted"}
	equal(t, "not trusted", d.settle(), nil)
	d.set.Held = Reason{}
	equal(t, "did", d.settle(), []Do{DoAddLanes, DoClaim, DoShow, DoStart})
	d.old("Notes.md", header+"## Plan\n\n- [ ] Nobody's card\n\n- [ ] Another\n\tfor @pi\n")
	equal(t, "for nobody", d.settle(), nil)
}

func TestJudgeOfAQueuedCard(t *testing.T) {
	d := oneBoard(t, lanes("Plan: First @pi | Second @pi"))
	equal(t, "before", failing(t, d, "Second"), []string{`~waits for the folder: "First" goes first`})
	d.settle()
	equal(t, "while it works", failing(t, d, "Second"), []string{`~waits for the folder: "First" is working there`})
	equal(t, "works", failing(t, d, "First"), []string{
		`nothing starts in lane "In Progress"; the ready lanes are: Plan, Next (move it to a ready lane)`,
		"its run is not over (deckhand stop 01run0001)",
		`~waits for the folder: "First" is working there`,
	})
	if _, ok := Judge(d.world(), "Shop.md", 1); ok {
		t.Error("the header was judged")
	}
	if _, ok := Judge(d.world(), "None.md", 1); ok {
		t.Error("a board that is not there was judged")
	}
}
