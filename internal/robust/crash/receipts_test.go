package crash

import (
	"strings"
	"testing"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

// receipt is a command whose daemon is killed under it, and what it does once.
type receipt struct {
	name    string
	plan    string
	ready   func(*teller) bool // when it is sent
	command control.Command
	done    func(*teller) bool
	once    string // stands once in the logs, or on the board
	later   string // a point of what follows from it
}

func receipts() []receipt {
	allow := "allow"
	return []receipt{
		{
			name: "run", plan: recorded,
			ready:   func(s *teller) bool { return true },
			command: control.Command{ID: "one", Name: "run", Card: "Ship it"},
			done:    func(s *teller) bool { return s.has("Review", "🟢 pi: review") },
			once:    `"started"`,
			later:   "1 log show",
		},
		{
			name: "stop", plan: hangs,
			ready:   func(s *teller) bool { return starts(s.Place, "shop") == 1 },
			command: control.Command{ID: "one", Name: "stop", Run: "Ship it"},
			done:    func(s *teller) bool { return s.has("Review", "⚪ pi stopped") },
			once:    `"stopping"`,
		},
		{
			name: "stop all", plan: hangs,
			ready:   func(s *teller) bool { return starts(s.Place, "shop") == 1 },
			command: control.Command{ID: "one", Name: "stop_all"},
			done:    func(s *teller) bool { return s.has("Review", "⚪ pi stopped") },
			once:    `"stopping"`,
		},
		{
			name: "retry", plan: "- [ ] Ship it @pi\n\t[record] [fail]\n",
			ready: func(s *teller) bool {
				return s.has("Review", "🔴 pi failed") && strings.Contains(s.Logs(), `"ended"`)
			},
			command: control.Command{ID: "one", Name: "retry", Run: "Ship it"},
			done:    func(s *teller) bool { return s.has("Review", "🟢 pi: review") },
			once:    `"resumed"`,
		},
		{
			name: "answer", plan: "- [ ] Ship it @pi\n\t[record] [ask]\n",
			ready:   func(s *teller) bool { return s.has("In Progress", "🟡 pi asks") },
			command: control.Command{ID: "one", Name: "answer", Run: "Ship it", Value: &allow},
			done: func(s *teller) bool {
				return answers(s.Place) == "confirmed true" && s.has("Review", "🟢 pi: review")
			},
			once: `"kind":"answered"`,
		},
		{
			name: "add", plan: "- [ ] Nothing to do\n",
			ready:   func(s *teller) bool { return true },
			command: control.Command{ID: "one", Name: "add", Text: "Another one"},
			done:    func(s *teller) bool { return s.has("Plan", "- [ ] Another one") },
			once:    "- [ ] Another one\n",
		},
	}
}

// TestCommandsCountOnce: a command whose daemon is killed before it could
// answer, or right after, is carried out once, and the same id again gets one
// and the same result for ever.
func TestCommandsCountOnce(t *testing.T) {
	for _, c := range receipts() {
		tried := []string{"1 command done", ""}
		if c.later != "" {
			tried = append(tried, c.later)
		}
		for _, point := range tried {
			t.Run(c.name+" "+point, func(t *testing.T) {
				t.Parallel()
				c.try(t, point)
			})
		}
	}
}

func (c receipt) try(t *testing.T, point string) {
	settings := robust.Fast
	if c.command.Name == "run" {
		settings = "settle: 10ms\ntyping: 1h\n" // it starts by the command alone
	}
	s := &teller{Place: robust.NewPlace(t, settings, "shop"), t: t, ctx: bounded(t, whole)}
	s.Save("Shop.md", boardOf(c.plan))
	s.begin(point)
	s.until(func() bool { return c.ready(s) })
	first := s.command(c.command)
	if point == "" {
		s.d.Kill()
	}
	s.until(func() bool { return c.done(s) })
	if again := s.command(c.command); again.Text != first.Text || again.Run != first.Run || !again.OK {
		t.Errorf("first %+v, again %+v", first, again)
	}
	if s.kills != 1 {
		t.Errorf("%d kills", s.kills)
	}
	s.end()
	s.Once(s.ctx)
	if n := strings.Count(s.Logs()+s.Read("Shop.md"), c.once); n != 1 {
		t.Errorf("done %d times:\n%s\n%s", n, s.Logs(), s.Read("Shop.md"))
	}
	checkRecords(t, s.Place)
}
