package dispatch

import (
	"strings"
	"testing"
	"time"
)

// asking is a desk whose card asks.
func asking(t *testing.T, a Ask) *desk {
	t.Helper()
	d := atWork(t)
	d.ask(a)
	return d
}

// ask lets the agent of the newest run ask, and shows it.
func (d *desk) ask(a Ask) {
	d.t.Helper()
	d.entry(d.run().ID, Entry{Kind: Asked, Ask: &a})
	d.settle()
}

// offer is the id of the newest thing that can be ticked.
func (d *desk) offer() string {
	d.t.Helper()
	if n := len(d.run().Asks); n > 0 {
		return d.run().Asks[n-1].Offer
	}
	return d.run().Offer
}

// tick ticks a box on the board, as editors do.
func (d *desk) tick(text string) {
	d.t.Helper()
	d.edit("Shop.md", "- [ ] "+text, "- [x] "+text)
}

var (
	mayI   = Ask{ID: "1", Kind: "confirm", Title: "Run in web-ecommerce?", Message: "rm -rf build"}
	which  = Ask{ID: "1", Kind: "select", Title: "Which key?", Options: []string{"test", "live"}}
	name   = Ask{ID: "1", Kind: "input", Title: "Name of the branch?"}
	shallI = Ask{ID: "q7", Kind: "question", Title: "Shall I go on?"}
)

// Every ask as it stands on the card, what a person makes of it there, and what
// the agent is owed then.
func TestAnsweredOnTheCard(t *testing.T) {
	for _, c := range []struct {
		name  string
		ask   Ask
		shows string // below the head of the item
		tick  func(*desk)
		owed  Owed
		line  string // what stays
	}{
		{
			"allowed", mayI, "\t\t- Run in web-ecommerce?\n\t\t- rm -rf build\n\t\t- [ ] Allow once ^a0005-1\n\t\t- [ ] Deny ^a0005-2\n\t\t- why:\n",
			func(d *desk) { d.tick("Allow once") },
			Owed{Row: "answer-1", Kind: "answer", Ask: "1", Answer: Answer{Confirmed: yes(true)}},
			"\t\t- Allow once · board · 09:00\n",
		},
		{
			"denied with a reason", mayI, "\t\t- why:\n",
			func(d *desk) {
				d.edit("Shop.md", "- [ ] Deny ^a0005-2\n\t\t- why:\n", "- [X] Deny ✅ 2026-11-30 ^a0005-2\n\t\t- why: it is shared\n\t\t  and needed\n")
			},
			Owed{Row: "answer-1", Kind: "answer", Ask: "1", Answer: Answer{Confirmed: yes(false), Note: "it is shared\nand needed"}},
			"\t\t- Deny: it is shared and needed · board · 09:00\n",
		},
		{
			"ticked by Dataview", mayI, "", func(d *desk) {
				d.edit("Shop.md", "- [ ] Deny ^a0005-2", "- [x] Deny ^a0005-2 [completion:: 2026-11-30]")
			},
			Owed{Row: "answer-1", Kind: "answer", Ask: "1", Answer: Answer{Confirmed: yes(false)}},
			"\t\t- Deny · board · 09:00\n",
		},
		{
			"picked", which, "\t\t- Which key?\n\t\t- [ ] test ^a0005-1\n\t\t- [ ] live ^a0005-2\n",
			func(d *desk) { d.tick("live") },
			Owed{Row: "answer-1", Kind: "answer", Ask: "1", Answer: Answer{Value: says("live")}},
			"\t\t- live · board · 09:00\n",
		},
		{
			"written", name, "\t\t- Name of the branch?\n\t\t- reply:\n\t\t- [ ] send ^a0005-1\n",
			func(d *desk) {
				d.edit("Shop.md", "- reply:\n\t\t- [ ] send", "- reply: qris\n\t\t- [x] send")
			},
			Owed{Row: "answer-1", Kind: "answer", Ask: "1", Answer: Answer{Value: says("qris")}},
			"\t\t- qris · board · 09:00\n",
		},
		{
			"a question", shallI, "\t\t- Shall I go on?\n\t\t- reply:\n\t\t- [ ] send ^a0005-1\n",
			func(d *desk) {
				d.edit("Shop.md", "- reply:\n\t\t- [ ] send ^a0005-1\n", "- reply:\n\t\t- [x] send ^a0005-1\n\t\t/yes, with the sandbox\n")
			},
			Owed{Row: "answer-q7", Kind: "prompt", Ask: "q7", Answer: Answer{Value: says("/yes, with the sandbox")}, Text: "/yes, with the sandbox"},
			"\t\t- /yes, with the sandbox · board · 09:00\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := asking(t, c.ask)
			before := d.text("Shop.md")
			contains(t, "asked", before, " ^r-01run0001\n")
			contains(t, "shown", before, c.shows)
			c.tick(d)
			equal(t, "not settled", d.later(2*time.Second), nil)
			same(t, "wake", d.last.Wake, d.now.Add(time.Second))
			equal(t, "did", d.later(time.Second), []Do{DoAnswer, DoShow})
			same(t, "owed", len(d.run().Owed), 1)
			if got := d.run().Owed[0]; !sameOwed(got, c.owed) {
				t.Errorf("owed %+v, want %+v", got, c.owed)
			}
			same(t, "stands", d.stands("Shop.md", "Card"), "In Progress works")
			_, item, _ := strings.Cut(d.text("Shop.md"), "^r-01run0001\n")
			same(t, "the item is one line", item[:strings.Index(item, "\n")+1], c.line)
			same(t, "and nothing else", strings.Contains(item, "^a0005"), false)
			equal(t, "and stays so", d.later(time.Minute), nil)
		})
	}
}

func sameOwed(a, b Owed) bool {
	return a.Row == b.Row && a.Kind == b.Kind && a.Ask == b.Ask && a.Text == b.Text && a.Answer.String() == b.Answer.String() &&
		(a.Answer.Confirmed == nil) == (b.Answer.Confirmed == nil) && (a.Answer.Value == nil) == (b.Answer.Value == nil)
}

func yes(b bool) *bool      { return &b }
func says(s string) *string { return &s }

// A tick that does not count, and what is said of it.
func TestTicksThatDoNotCount(t *testing.T) {
	for _, c := range []struct {
		name string
		tick func(*desk)
		why  string
	}{
		{"two boxes", func(d *desk) { d.tick("Allow once"); d.tick("Deny") }, "two boxes are ticked: leave one (Shop.md)"},
		{"another question", func(d *desk) {
			d.tick("Allow once")
			d.edit("Shop.md", "- rm -rf build", "- rm -rf /")
		}, "what is asked was changed: nothing is answered by that box (Shop.md)"},
		{"another text at the box", func(d *desk) {
			d.tick("Deny")
			d.edit("Shop.md", "] Deny", "] Never mind")
		}, "what is asked was changed: nothing is answered by that box (Shop.md)"},
		{"a box of an ask that is over", func(d *desk) {
			d.edit("Shop.md", "- [ ] Allow once ^a0005-1", "- [x] Allow once ^zzzzz-1")
		}, ""},
		{"no tick at all", func(d *desk) { d.edit("Shop.md", "- why:", "- why: I do not know yet") }, ""},
		{"cancelled", func(d *desk) { d.edit("Shop.md", "- [ ] Allow", "- [-] Allow") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := asking(t, mayI)
			c.tick(d)
			equal(t, "did", d.later(time.Hour), nil)
			same(t, "notes", d.notes(), c.why)
			same(t, "stands", d.stands("Shop.md", "Card"), "In Progress asks")
		})
	}
	t.Run("nothing written", func(t *testing.T) {
		d := asking(t, name)
		d.tick("send")
		equal(t, "did", d.later(time.Hour), nil)
		same(t, "notes", d.notes(), "nothing is written at reply (Shop.md)")
	})
	t.Run("an old copy brings the boxes of an answered ask back, ticked", func(t *testing.T) {
		d := asking(t, mayI)
		d.tick("Allow once")
		old := d.text("Shop.md")
		d.later(3 * time.Second)
		d.ask(Ask{ID: "2", Kind: "confirm", Title: "Run in web-ecommerce?", Message: "rm -rf dist"})
		d.save("Shop.md", old)
		equal(t, "it is put right", d.later(time.Hour), []Do{DoShow})
		same(t, "asks", len(d.run().Asks), 1)
		contains(t, "board", d.text("Shop.md"), "- [ ] Allow once ^"+d.offer()+"-1")
	})
}

// Where boxes may stand on a card, and where not.
func TestBoxesOnKanbanCards(t *testing.T) {
	const elsewhere = "\t\t- Answer in the chat.\n"
	long := mayI
	long.Message = strings.Repeat("x", 201)
	two, turned := mayI, mayI
	two.Message, turned.Message = "rm -rf build\nrm -rf /", "rm \u202e-rf build"
	for _, c := range []struct {
		name   string
		kanban bool
		note   string
		ask    Ask
		boxes  bool
	}{
		{"plain", false, "With a note.", mayI, true},
		{"plain, a box in code", false, "```\n\t- [ ] x\n\t```", mayI, true},
		{"kanban", true, "With a note.", mayI, true},
		{"kanban, a box of the person", true, "- [ ] first this", mayI, true},
		{"kanban, a box in a fence", true, "```\n\t- [ ] x\n\t```", mayI, false},
		{"kanban, a numbered box", true, "1. [ ] x", mayI, false},
		{"kanban, an embed", true, "![[Note]]", mayI, false},
		{"kanban, a box in a quote", true, "> - [ ] x", mayI, false},
		{"a command that is too long", false, "", long, false},
		{"a command of two lines", false, "", two, false},
		{"a command that is turned around", false, "", turned, false},
		{"a question on a kanban card with an embed", true, "![[Note]]", shallI, false},
		{"a long question", false, "", Ask{ID: "q", Kind: "question", Title: strings.Repeat("x", 300) + "?"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			board := lanes("Plan: Card @pi")
			if c.note != "" {
				board = strings.Replace(board, "Card @pi\n", "Card @pi\n\t"+c.note+"\n", 1)
			}
			if c.kanban {
				board = strings.Replace(board, "project: shop\n", "project: shop\nkanban-plugin: board\n", 1)
			}
			d := oneBoard(t, board)
			d.working()
			d.ask(c.ask)
			same(t, "boxes:\n"+d.text("Shop.md"), strings.Contains(d.text("Shop.md"), "^a0005-1"), c.boxes)
			same(t, "elsewhere:\n"+d.text("Shop.md"), strings.Contains(d.text("Shop.md"), elsewhere), !c.boxes)
		})
	}
	t.Run("an embed that comes later", func(t *testing.T) {
		d := oneBoard(t, strings.Replace(lanes("Plan: Card @pi"), "project: shop\n", "project: shop\nkanban-plugin: board\n", 1))
		d.working()
		d.ask(mayI)
		d.tick("Allow once")
		d.edit("Shop.md", "Card @pi\n", "Card @pi\n\t![[Note]]\n")
		equal(t, "did", d.later(time.Hour), []Do{DoShow})
		contains(t, "the boxes go", d.text("Shop.md"), elsewhere)
	})
	t.Run("answers: terminal", func(t *testing.T) {
		d := atWork(t)
		d.set.Terminal = true
		d.ask(mayI)
		contains(t, "board", d.text("Shop.md"), "\t\t- Answer with `deckhand answer 01run0001`.\n")
		d.entry(d.run().ID, Entry{Kind: AskGone, Ask: &Ask{ID: "1"}})
		d.ask(shallI)
		contains(t, "a question is no permission", d.text("Shop.md"), "\t\t- [ ] send ^")
	})
	t.Run("answers: terminal, and a box that was there before", func(t *testing.T) {
		for _, by := range []string{ByBoard, ByNote, ByChat} {
			d := asking(t, mayI)
			if by == ByBoard {
				d.tick("Allow once")
			} else {
				d.made = []Made{{Offer: d.offer(), Ticked: []int{0}, By: by, Since: d.now, Path: "there.md"}}
			}
			d.set.Terminal = true
			d.now = d.now.Add(3 * time.Second)
			w := d.world()
			if got := Reconcile(w); len(got.Notes) != 1 || !strings.HasPrefix(got.Notes[0].Text, "a box answers nothing: answers: terminal leaves this to the pane and to deckhand answer 01run0001 (") {
				t.Errorf("%s: said %+v", by, got.Notes)
			}
			equal(t, by, d.later(time.Hour), []Do{DoShow})
			contains(t, by, d.text("Shop.md"), "\t\t- Answer with `deckhand answer 01run0001`.\n")
			same(t, by, len(d.run().Asks), 1)
		}
	})
}

// How a run that stopped short goes on by a box, and how one is accepted and
// sent back without the board.
func TestBoxesOfRunsThatAreOver(t *testing.T) {
	t.Run("interrupted, go on", func(t *testing.T) {
		d := atWork(t)
		d.entry(d.run().ID, Entry{Kind: Interrupted, Reason: "its keeper was killed"})
		d.settle()
		contains(t, "boxes", d.text("Shop.md"), "\t\t- [ ] go on ^a0005-1\n\t\t- [ ] stop ^a0005-2\n")
		d.tick("go on")
		equal(t, "did", d.later(3*time.Second), []Do{DoResume, DoShow, DoStart})
		same(t, "stands", d.stands("Shop.md", "Card"), "In Progress works")
		same(t, "no box is left", strings.Contains(d.text("Shop.md"), "go on"), false)
	})
	t.Run("interrupted, stop", func(t *testing.T) {
		d := atWork(t)
		d.entry(d.run().ID, Entry{Kind: Interrupted, Reason: "its keeper was killed"})
		d.settle()
		d.tick("stop")
		equal(t, "did", d.later(3*time.Second), []Do{DoStop, DoShow})
		same(t, "stands", d.stands("Shop.md", "Card"), "Review stopped")
	})
	t.Run("failed, go on with what was written", func(t *testing.T) {
		d := atWork(t)
		d.finish(Failed, "")
		d.settle()
		contains(t, "box", d.text("Shop.md"), "\t\t- [ ] go on ^a0005-1\n")
		d.tick("go on")
		d.edit("Shop.md", "\tWith a note.\n", "\tWith a note.\n\tUse the sandbox.\n")
		equal(t, "did", d.later(3*time.Second), []Do{DoResume, DoShow, DoStart})
		same(t, "lines", strings.Join(d.run().Extra, "|"), "Use the sandbox.")
		same(t, "stands", d.stands("Shop.md", "Card"), "In Progress works")
	})
	t.Run("its folder is taken", func(t *testing.T) {
		d := oneBoard(t, lanes("Plan: Card @pi\nReview: Other @pi"))
		d.working()
		d.finish(Failed, "")
		d.settle()
		d.move("Shop.md", "Other", "Plan")
		equal(t, "other", d.later(10*time.Second), []Do{DoClaim, DoShow, DoStart})
		d.tick("go on")
		equal(t, "did", d.later(time.Minute), nil)
		same(t, "notes", d.notes(), `it goes on when there is room: "Other" is working in its folder`)
		d.finish(Review, "done")
		equal(t, "when it is free", d.settle(), []Do{DoResume, DoShow, DoShow, DoStart})
	})
	t.Run("accepted in Needs me", func(t *testing.T) {
		d := atWork(t)
		d.finish(Review, "It works.")
		d.settle()
		d.made = []Made{{Offer: d.offer(), Ticked: []int{0}, By: ByNote, Since: d.now}}
		equal(t, "did", d.later(3*time.Second), []Do{DoAccept, DoShow})
		same(t, "stands", d.stands("Shop.md", "Card"), "Done accepted")
		equal(t, "once", d.later(time.Hour), nil)
	})
	t.Run("sent back in Needs me", func(t *testing.T) {
		d := atWork(t)
		d.finish(Review, "It works.")
		d.settle()
		d.made = []Made{{Offer: d.offer(), Ticked: []int{1}, Text: "Use the sandbox.\n\nAnd test it.", By: ByNote, Since: d.now}}
		equal(t, "did", d.later(3*time.Second), []Do{DoResume, DoShow, DoStart})
		same(t, "lines", strings.Join(d.run().Extra, "|"), "Use the sandbox.\n\nAnd test it.")
		same(t, "stands", d.stands("Shop.md", "Card"), "In Progress works")
		equal(t, "once", d.later(30*time.Minute), nil)
	})
	t.Run("sent back without a word", func(t *testing.T) {
		d := atWork(t)
		d.finish(Review, "It works.")
		d.settle()
		d.made = []Made{{Offer: d.offer(), Ticked: []int{1}, By: ByNote, Since: d.now}}
		equal(t, "did", d.later(time.Hour), nil)
		same(t, "notes", d.notes(), "nothing is written at reply")
	})
	t.Run("a reply on the card goes with the move", func(t *testing.T) {
		d := atWork(t)
		d.finish(Review, "It works.")
		d.settle()
		d.edit("Shop.md", "\t\t- reply:\n", "\t\t- reply: Use the sandbox.\n")
		d.move("Shop.md", "Card", "Plan")
		equal(t, "did", d.later(3*time.Second), []Do{DoResume, DoShow, DoStart})
		same(t, "lines", strings.Join(d.run().Extra, "|"), "Use the sandbox.")
	})
}

// Of two answers the one that stood first counts.
func TestFirstAnswerCounts(t *testing.T) {
	d := asking(t, mayI)
	d.made = []Made{{Offer: d.offer(), Ticked: []int{1}, By: ByChat, Since: d.now}}
	d.now = d.now.Add(time.Second)
	d.tick("Allow once")
	d.later(3 * time.Second)
	same(t, "told", len(d.run().Told), 1)
	same(t, "what", d.run().Told[0].What+" "+d.run().Told[0].By, "Deny chat")
	same(t, "answered", d.run().ToldOf("1").What, "Deny")
}

// An ask of a run whose board cannot be read is answered elsewhere.
func TestAnsweredWhileTheBoardIsAway(t *testing.T) {
	d := asking(t, mayI)
	d.boards["Shop.md"].Gone = "the file is gone"
	d.made = []Made{{Offer: d.offer(), Ticked: []int{0}, By: ByChat, Since: d.now}}
	equal(t, "did", d.later(3*time.Second), []Do{DoAnswer})
	same(t, "phase", d.run().Phase, PhaseWorking)
}

// Text at the end of a chat is an answer, steering or a reply, by what the run is
// at.
func TestSentInTheChat(t *testing.T) {
	sent := func(d *desk) []Do {
		d.entry(d.run().ID, Entry{Kind: Offered, Offer: "s0001"})
		d.made = []Made{{Offer: "s0001", Ticked: []int{0}, Text: "In blue.", By: ByChat, Since: d.now}}
		return d.later(3 * time.Second)
	}
	t.Run("while it works", func(t *testing.T) {
		d := atWork(t)
		equal(t, "did", sent(d), []Do{DoSteer, DoShow})
		same(t, "owed", d.run().Owed[0].Kind+" "+d.run().Owed[0].Text, "steer In blue.")
		equal(t, "once", d.later(time.Minute), nil)
	})
	t.Run("while it asks for leave", func(t *testing.T) {
		d := asking(t, mayI)
		equal(t, "did", sent(d), []Do{DoSteer})
		same(t, "asks", len(d.run().Asks), 1)
	})
	t.Run("while it asks for a text", func(t *testing.T) {
		d := asking(t, name)
		equal(t, "did", sent(d), []Do{DoAnswer, DoShow})
		same(t, "owed", *d.run().Owed[0].Answer.Value, "In blue.")
	})
	t.Run("when it is over", func(t *testing.T) {
		d := atWork(t)
		d.finish(Review, "done")
		d.settle()
		equal(t, "did", sent(d), []Do{DoResume, DoShow, DoStart})
		same(t, "lines", strings.Join(d.run().Extra, "|"), "In blue.")
	})
	t.Run("when it is accepted", func(t *testing.T) {
		d := atWork(t)
		d.finish(Review, "done")
		d.settle()
		d.entry(d.run().ID, Entry{Kind: Accepted, By: "cli"})
		d.settle()
		equal(t, "did", sent(d), nil)
	})
}
