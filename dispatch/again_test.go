package dispatch

import (
	"strings"
	"testing"
	"time"
)

// inReview is a desk whose only card has been worked on.
func inReview(t failer, outcome string) *desk {
	d := atWork(t)
	d.finish(outcome, "It works.\nThe live key is missing.")
	d.settle()
	return d
}

func TestSentBack(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome string
		act     func(*desk)
		want    []Do
		extra   []string
		why     string
	}{
		{"review, with a new line", Review, func(d *desk) { d.write2("Use the sandbox key."); d.move("Shop.md", "Card", "Plan") }, goesOn(), []string{"Use the sandbox key."}, ""},
		{"review, nothing new", Review, func(d *desk) { d.move("Shop.md", "Card", "Plan") }, nil, nil, "nothing was added since its run was over"},
		{"review, the line comes later", Review, func(d *desk) {
			d.move("Shop.md", "Card", "Plan")
			d.later(time.Hour)
			d.write2("Use the sandbox key.")
		}, goesOn(), []string{"Use the sandbox key."}, ""},
		{"review, a line inside our item", Review, func(d *desk) {
			d.edit("Shop.md", "- It works.\n", "- It works.\n\t\t- No, it does not.\n")
			d.move("Shop.md", "Card", "Plan")
		}, goesOn(), []string{"- No, it does not."}, ""},
		{"review, only indented anew", Review, func(d *desk) {
			d.edit("Shop.md", "\tWith a note.\n", "\t  With a note.\n")
			d.move("Shop.md", "Card", "Plan")
		}, nil, nil, "nothing was added"},
		{"review, without its item", Review, func(d *desk) {
			d.save("Shop.md", lanes("Plan: Card @pi\\nWith a note.\\nUse the sandbox key."))
		}, nil, nil, "ran on 30 November, its line is gone: an old copy may have been saved"},
		{"failed", Failed, func(d *desk) { d.move("Shop.md", "Card", "Plan") }, goesOn(), nil, ""},
		{"failed, to another board", Failed, func(d *desk) {
			item := d.cut("Shop.md", "Card")
			d.save("Else.md", strings.Replace(lanes("Review: Other"), "## Plan\n\n", "## Plan\n\n"+item, 1))
		}, goesOn(), nil, ""},
		{"failed, to a lane that starts nothing", Failed, func(d *desk) { d.move("Shop.md", "Card", "Done") }, nil, nil, ""},
		{"failed, to the working lane", Failed, func(d *desk) { d.move("Shop.md", "Card", "In Progress") }, nil, nil, ""},
		{"accepted, with a new line", Review, func(d *desk) {
			d.move("Shop.md", "Card", "Done")
			d.settle()
			d.write2("One thing more.")
			d.move("Shop.md", "Card", "Plan")
		}, goesOn(), []string{"One thing more."}, ""},
		{"accepted, nothing new", Review, func(d *desk) {
			d.move("Shop.md", "Card", "Done")
			d.settle()
			d.move("Shop.md", "Card", "Plan")
		}, nil, nil, "nothing was added"},
		{"to another project", Failed, func(d *desk) {
			d.edit("Shop.md", "Card @pi", "Card @pi #project/web")
			d.move("Shop.md", "Card", "Plan")
		}, nil, nil, `it ran in project "shop" and cannot go on in project "web"`},
		{"its project is another folder", Failed, func(d *desk) {
			d.set.Projects["shop"] = Project{Folder: "/new/shop"}
			d.move("Shop.md", "Card", "Plan")
		}, nil, nil, `it ran in /p/shop and project "shop" is another folder now`},
		{"beside cards that read the same", Failed, func(d *desk) {
			item := d.cut("Shop.md", "Card")
			d.edit("Shop.md", "## Review\n\n", "## Review\n\n- [ ] Card @pi\n")
			d.edit("Shop.md", "## Plan\n\n", "## Plan\n\n"+item)
			d.save("Else.md", lanes("Review: Card @pi"))
		}, goesOn(), nil, ""},
		{"without trust", Failed, func(d *desk) {
			d.set.Held = Reason{Text: "the work folder is not trusted"}
			d.move("Shop.md", "Card", "Plan")
		}, nil, nil, "the work folder is not trusted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := inReview(t, c.outcome)
			d.now = d.now.Add(time.Hour)
			c.act(d)
			if did := d.later(20 * time.Second); len(c.want) > 0 {
				equal(t, "did", did, c.want)
				equal(t, "extra", d.run().Extra, c.extra)
			} else if live(d) > 0 {
				t.Errorf("a run is live: %v", did)
			}
			contains(t, "why", strings.Join(d.reasons(), "\n"), c.why)
			same(t, "runs", len(d.runs), 1)
		})
	}
}

func goesOn() []Do { return []Do{DoResume, DoShow, DoStart} }

// write2 is a person who writes a line below the note of the card.
func (d *desk) write2(line string) {
	d.t.Helper()
	d.edit("Shop.md", "\tWith a note.\n", "\tWith a note.\n\t"+line+"\n")
}

// The verdict says when it goes on, and for whom it waits.
func TestVerdictOfACardThatGoesOn(t *testing.T) {
	d := oneBoard(t, lanes("Plan: Card @pi | Other @pi"))
	d.working()
	d.finish(Failed, "")
	d.settle() // the other one has the folder now
	d.move("Shop.md", "Card", "Plan")
	equal(t, "moved", failing(t, d, "Card"), []string{"~goes on in 3s", `~waits for the folder: "Other" is working there`})
	d.now = d.now.Add(1500 * time.Millisecond)
	equal(t, "moved", failing(t, d, "Card"), []string{"~goes on in 2s", `~waits for the folder: "Other" is working there`})
	same(t, "wake", d.last.Wake, d.now.Add(1500*time.Millisecond))
	d.now = d.now.Add(time.Minute)
	equal(t, "settled", failing(t, d, "Card"), []string{`~waits for the folder: "Other" is working there`})
	d.finish(Review, "done")
	equal(t, "free", d.settle(), []Do{DoShow, DoResume, DoShow, DoStart})
}

// A second turn: what was added goes along once, and the next end is judged by
// what comes after it.
func TestSecondTurn(t *testing.T) {
	d := inReview(t, Review)
	d.write2("First.")
	d.move("Shop.md", "Card", "Plan")
	equal(t, "did", d.later(10*time.Second), goesOn())
	d.now = d.now.Add(time.Minute)
	d.finish(Review, "Better.")
	d.settle()
	same(t, "stands", d.stands("Shop.md", "Card"), "Review review")
	d.move("Shop.md", "Card", "Plan")
	equal(t, "nothing new", d.later(time.Minute), nil)
	d.edit("Shop.md", "\tFirst.\n", "\tFirst.\n\tSecond.\n")
	equal(t, "did", d.later(10*time.Second), goesOn())
	equal(t, "extra", d.run().Extra, []string{"Second."})
	same(t, "cost", *d.run().Cost, 0.06)
}

// A retry by command of a card in review moves it back to the working lane.
func TestRetryFromReview(t *testing.T) {
	d := inReview(t, Failed)
	d.entry(d.run().ID, Entry{Kind: Resumed, By: "command"})
	equal(t, "did", d.later(time.Minute), []Do{DoShow, DoStart})
	same(t, "stands", d.stands("Shop.md", "Card"), "In Progress works")
	equal(t, "and it stays", d.later(time.Minute), nil)
}

// The grants are gone between the command and the start: the turn failed.
func TestRetryWithoutGrant(t *testing.T) {
	d := inReview(t, Failed)
	d.entry(d.run().ID, Entry{Kind: Resumed, By: "command"})
	d.set.Held = Reason{Text: "not trusted"}
	equal(t, "did", d.settle(), []Do{DoTakeBack, DoShow})
	same(t, "stands", d.stands("Shop.md", "Card"), "Review failed")
}

func TestAnotherAgent(t *testing.T) {
	begin := func(t *testing.T) *desk {
		d := inReview(t, Review)
		d.now = d.now.Add(time.Hour)
		d.edit("Shop.md", "Card @pi", "Card @claude")
		d.move("Shop.md", "Card", "Plan")
		return d
	}
	t.Run("a new run, the old result goes along", func(t *testing.T) {
		d := begin(t)
		d.write2("Try it with SDK A.")
		equal(t, "did", d.later(10*time.Second), []Do{DoClaim, DoShow, DoStart})
		r := d.run()
		same(t, "agent", r.Agent, "claude")
		same(t, "earlier", r.Earlier.Run+" "+r.Earlier.Agent+" "+r.Earlier.Answer, "01RUN0001 pi It works.\nThe live key is missing.")
		want := "## In Progress\n\n- [ ] Card @claude\n\tWith a note.\n\tTry it with SDK A.\n\t- 🔵 claude works · [[Card|chat]] ^r-01run0002\n\n"
		contains(t, "board", d.text("Shop.md"), want)
		same(t, "the old run", d.runs["01RUN0001"].Outcome, Review)
		d.finish(Review, "Better.")
		d.settle()
		same(t, "stands", d.stands("Shop.md", "Card"), "Review review")
		equal(t, "and stays", d.later(time.Hour), nil)
	})
	t.Run("what the person wrote in the item stays", func(t *testing.T) {
		d := begin(t)
		d.edit("Shop.md", "- It works.\n", "- It works.\n\t\t- No, it does not.\n")
		d.later(10 * time.Second)
		contains(t, "board", d.text("Shop.md"), "^r-01run0002\n\t\t- No, it does not.\n")
		if strings.Contains(d.text("Shop.md"), "live key") {
			t.Errorf("the old answer is still there:\n%s", d.text("Shop.md"))
		}
	})
	t.Run("an old copy with the old run's item", func(t *testing.T) {
		d := begin(t)
		was := d.text("Shop.md")
		d.later(10 * time.Second)
		for range 2 {
			d.save("Shop.md", was)
			equal(t, "put back", d.later(time.Minute), []Do{DoShow})
			contains(t, "board", d.text("Shop.md"), "## In Progress\n\n- [ ] Card @claude\n\tWith a note.\n\t- 🔵 claude works · [[Card|chat]] ^r-01run0002\n\n")
		}
		d.finish(Review, "done")
		d.settle()
		d.save("Shop.md", was)
		equal(t, "after the end it starts nothing", d.later(time.Hour), nil)
		contains(t, "why", strings.Join(d.reasons(), "\n"), "@claude has taken over since: an old copy may have been saved")
	})
	t.Run("an old copy that is ticked", func(t *testing.T) {
		d := begin(t)
		was := d.text("Shop.md")
		d.later(10 * time.Second)
		d.save("Shop.md", strings.Replace(was, "[ ] Card", "[x] Card", 1))
		equal(t, "did", d.later(time.Second), []Do{DoShow})
		same(t, "the first run is not accepted by that", d.runs["01RUN0001"].Outcome, Review)
	})
	t.Run("beside a card that reads the same", func(t *testing.T) {
		d := begin(t)
		d.edit("Shop.md", "## Review\n\n", "## Review\n\n- [ ] Card @claude\n")
		equal(t, "did", d.later(10*time.Second), []Do{DoClaim, DoShow, DoStart})
		contains(t, "board", d.text("Shop.md"), "## Review\n\n- [ ] Card @claude\n\n")
	})
	t.Run("and back to the first", func(t *testing.T) {
		d := begin(t)
		d.later(10 * time.Second)
		d.finish(Failed, "")
		d.settle()
		d.edit("Shop.md", "Card @claude", "Card @pi")
		d.move("Shop.md", "Card", "Plan")
		equal(t, "did", d.later(10*time.Second), []Do{DoClaim, DoShow, DoStart})
		same(t, "runs", len(d.runs), 3)
		same(t, "earlier", d.run().Earlier.Run, "01RUN0002")
	})
	t.Run("waits for typing, and for its agent", func(t *testing.T) {
		d := begin(t)
		d.set.Agents["claude"] = Agent{Why: Reason{"@claude: needs login", "claude login"}}
		equal(t, "fails", failing(t, d, "Card"), []string{"@claude: needs login (claude login)", "~starts in 10s"})
	})
	t.Run("taken back before anything was written: the old item stays", func(t *testing.T) {
		d := begin(t)
		d.settle()
		d.now = d.now.Add(10 * time.Second)
		d.act(d.look().Actions[0])
		d.edit("Shop.md", "Card @claude", "Card @pi @claude")
		equal(t, "did", d.settle(), []Do{DoTakeBack})
		same(t, "stands", d.stands("Shop.md", "Card"), "Plan review")
	})
	t.Run("only where its own run is over and a ready lane", func(t *testing.T) {
		d := inReview(t, Review)
		d.edit("Shop.md", "Card @pi", "Card @claude")
		equal(t, "did", d.later(time.Hour), nil)
		d.move("Shop.md", "Card", "In Progress")
		equal(t, "did", d.later(time.Hour), nil)
	})
}

func TestSameRunTwiceInAReadyLane(t *testing.T) {
	d := inReview(t, Failed)
	text := string(d.card("Shop.md", "Card").Span.Of(d.boards["Shop.md"].Board.Src))
	d.edit("Shop.md", "## Plan\n\n", "## Plan\n\n"+text)
	equal(t, "did", d.later(time.Hour), nil)
	contains(t, "why", strings.Join(d.reasons(), "\n"), "its run's line stands more than once: Shop.md:7, Shop.md:19")
}
