package crash

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

// story is something that a person and the daemon do together.
type story struct {
	name    string
	plan    string // cards of the lane Plan
	after   string // points before this one are another story's
	act     func(*teller)
	prompts int    // that say [record]
	answer  string // that the agent got, once; empty: none
	changes string // what it proposes; of such a story the full form tries every point
}

func boardOf(plan string) string {
	return "---\nproject: shop\n---\n\n## Plan\n\n" + plan + "\n## In Progress\n\n## Review\n\n## Done\n"
}

const hangs = "- [ ] Ship it @pi\n\t[record] [hang]\n"

var stories = []story{
	{
		name: "retry", plan: "- [ ] Ship it @pi\n\t[record] [fail]\n", after: "log resumed",
		act: func(s *teller) {
			s.shows("Review", "🔴 pi failed")
			s.command(control.Command{ID: "again", Name: "retry", Run: "Ship it"})
			s.shows("Review", "🟢 pi: review")
		},
		prompts: 1, // the second does not say it
	},
	{
		name: "stop", plan: hangs, after: "log stopping",
		act: func(s *teller) {
			s.until(func() bool { return starts(s.Place, "shop") == 1 })
			s.command(control.Command{ID: "halt", Name: "stop", Run: "Ship it"})
			s.shows("Review", "⚪ pi stopped")
		},
		prompts: 1,
	},
	{
		name: "asks before it acts", plan: "- [ ] Ship it @pi\n\t[record] [ask]\n", after: "log asked",
		act: func(s *teller) { s.asked(); s.stopped() }, prompts: 1,
	},
	{
		name: "answered by a box on the card", plan: "- [ ] Ship it @pi\n\t[record] [ask]\n", after: "log answered",
		act: func(s *teller) {
			s.asked()
			s.Save("Shop.md", strings.Replace(s.Read("Shop.md"), "[ ] Allow once", "[x] Allow once", 1))
			s.shows("Review", "🟢 pi: review")
		},
		prompts: 1, answer: "confirmed true",
	},
	{
		name: "answered in Needs me", plan: "- [ ] Ship it @pi\n\t[record] [ask]\n", after: "log answered",
		act: func(s *teller) {
			s.asked()
			s.edit(func() string { return "deckhand/Needs me.md" }, "[ ] Deny", "[x] Deny")
			s.shows("Review", "🟢 pi: review")
		},
		prompts: 1, answer: "confirmed false",
	},
	{
		name: "steered and answered by command", plan: "- [ ] Ship it @pi\n\t[record] [ask]\n", after: "log steered",
		act: func(s *teller) {
			s.asked()
			yes := "allow"
			s.command(control.Command{ID: "more", Name: "steer", Run: "Ship it", Text: "/more"})
			s.command(control.Command{ID: "yes", Name: "answer", Run: "Ship it", Value: &yes})
			s.shows("Review", "🟢 pi: review")
		},
		prompts: 1, answer: `confirmed true, message " /more"`,
	},
	{
		name: "a question answered, and a reply, in the chat", plan: "- [ ] Ship it @pi\n\t[record] [question]\n", after: "log answered",
		act: func(s *teller) {
			s.asked()
			s.edit(s.chat, "## You\n\n- [ ] send", "## You\n\nYes. [record]\n\n- [x] send")
			s.shows("Review", "🟢 pi: review")
			s.edit(s.chat, "## You\n\n- [ ] send", "## You\n\nAnd in blue. [record]\n\n- [x] send")
			s.until(func() bool { return starts(s.Place, "shop") == 3 })
			s.shows("Review", "🟢 pi: review")
		},
		prompts: 3,
	},
	{
		name: "said to one that is stopped before it reads it", plan: hangs, after: "log steered",
		act: func(s *teller) {
			s.until(func() bool { return starts(s.Place, "shop") == 1 })
			s.command(control.Command{ID: "more", Name: "steer", Run: "Ship it", Text: "And in blue. [record]"})
			s.command(control.Command{ID: "halt", Name: "stop", Run: "Ship it"})
			s.shows("Review", "⚪ pi stopped")
			s.command(control.Command{ID: "again", Name: "retry", Run: "Ship it"})
			s.shows("Review", "🟢 pi: review")
		},
		prompts: 2, // the second is what was said
	},
	{
		name: "ends in a question", plan: "- [ ] Ship it @pi\n\t[record] [question]\n", after: "log asked",
		act: func(s *teller) { s.asked(); s.stopped() }, prompts: 1,
	},
	{
		name: "two cards of one folder", plan: "- [ ] One @pi\n\t[record]\n- [ ] Two @pi\n\t[record]\n", after: "2 log claimed",
		act: func(s *teller) {
			s.until(func() bool { return strings.Count(s.Text("Shop.md"), "🟢 pi: review") == 2 })
		},
		prompts: 2,
	},
	{
		name: "sent back", plan: "- [ ] Ship it @pi\n\t[record]\n", after: "log resumed",
		act: func(s *teller) {
			s.shows("Review", "🟢 pi: review")
			s.Move("Shop.md", "Ship it", "Plan", "Now with the sandbox key. [record]")
			s.until(func() bool { return starts(s.Place, "shop") == 2 })
			s.shows("Review", "🟢 pi: review")
		},
		prompts: 2,
	},
}

// asked waits until the question is where people look.
func (s *teller) asked() {
	s.t.Helper()
	s.until(func() bool {
		return s.has("In Progress", "🟡 pi asks") && strings.Contains(s.Text("deckhand/Needs me.md"), "## pi asks · Ship it")
	})
}

func (s *teller) stopped() {
	s.t.Helper()
	s.command(control.Command{ID: "halt", Name: "stop", Run: "Ship it"})
	s.shows("Review", "⚪ pi stopped")
}

// TestStoriesKilledAtEveryPoint: whatever the moment of a kill -9 in what a
// person does with a run, the next daemon finishes it, and nothing happens
// twice.
func TestStoriesKilledAtEveryPoint(t *testing.T) {
	var killed, tried atomic.Int64
	all := slices.Concat(stories, proposals())
	t.Run("story", func(t *testing.T) {
		for part, st := range all {
			t.Run(st.name, func(t *testing.T) {
				t.Parallel()
				for _, point := range st.points(t, part) {
					t.Run(point, func(t *testing.T) {
						t.Parallel()
						killed.Add(int64(st.tell(t, point).kills))
						tried.Add(1)
					})
				}
			})
		}
	})
	suite.Figure(t, "points of what people do with a run", "killed at %d of %d, in %d stories", killed.Load(), tried.Load(), len(all))
}

// tell tells the story to a daemon that is killed at a point.
func (st story) tell(t *testing.T, point string) *teller {
	t.Helper()
	s := &teller{Place: robust.NewPlace(t, robust.Fast, "shop"), t: t, ctx: bounded(t, whole)}
	st.prepare(s)
	s.Save("Shop.md", boardOf(st.plan))
	s.begin(point)
	st.act(s)
	s.end()
	s.Once(s.ctx)
	if n := starts(s.Place, "shop"); n != st.prompts {
		t.Errorf("prompted %d times, want %d", n, st.prompts)
	}
	if got := answers(s.Place); got != st.answer && !(st.changes != "" && strings.HasPrefix(got, st.answer)) {
		t.Errorf("answered %q, want %q", got, st.answer)
	}
	checkTurns(t, s.Place, "shop")
	checkRecords(t, s.Place)
	if left := s.Procs(); len(left) > 0 {
		t.Errorf("still there: %v", left)
	}
	if t.Failed() {
		t.Logf("%s\n%s\n%s", s.Text("Shop.md"), s.Log, s.Logs())
	}
	return s
}

// points are those of the story that this run tries: of each kind the first; in
// the short form another part of the kinds for each story.
func (st story) points(t *testing.T, part int) []string {
	t.Helper()
	all := points(st.tell(t, robust.ListPoints).Log.String(), st.after)
	if len(all) < 10 {
		t.Fatalf("only %d points behind %q", len(all), st.after)
	}
	var tried []string
	some := kinds(all)
	if suite.Full() && st.changes != "" {
		some = all
	}
	for i, point := range some {
		if suite.Full() || i%len(stories) == part {
			tried = append(tried, point)
		}
	}
	return tried
}

// answers are what people answered and said to an agent at work, by the record of the agent that got it. What
// is withdrawn with a stop is no answer.
func answers(p *robust.Place) string {
	var got []string
	for _, line := range p.Record("shop") {
		switch words := strings.Fields(line); {
		case words[0] == "answer" && words[1] != "cancelled":
			got = append(got, words[1]+" "+words[2])
		case words[0] == "decision":
			said, _, _ := strings.Cut(line, " 20") // the time
			got = append(got, said)
		case words[0] == "message":
			said, _, _ := strings.Cut(line, "\" 20") // the time
			got = append(got, said+"\"")
		}
	}
	return strings.Join(got, ", ")
}

// checkTurns looks by the agents' own record that no two of them overlapped.
func checkTurns(t *testing.T, p *robust.Place, project string) {
	t.Helper()
	busy := false
	for _, line := range p.Record(project) {
		begins := strings.HasPrefix(line, "start ")
		if !begins && !strings.HasPrefix(line, "end ") {
			continue // what it got meanwhile
		}
		if begins == busy {
			t.Errorf("two at once in %s:\n%s", project, strings.Join(p.Record(project), "\n"))
			return
		}
		busy = begins
	}
}
