package review

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deckhand/internal/control"
)

func TestMain(m *testing.M) {
	if err := os.Setenv("TZ", "UTC"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "write the golden files anew")

// scene is a day with everything in it.
func scene(t *testing.T, w, h int) *story {
	t.Helper()
	s := tell(t, w, h)
	ask := confirm("A1")
	ask.Message = "rm -rf build\nThe old build is in the way of the new one."
	select_ := control.Ask{ID: "A2", Kind: "select", Title: "Which icon set?", Options: []string{"Lucide", "Tabler", "Phosphor"}, Scopes: []string{"once"}, Since: noon()}
	failed := over("R5", "Broken build", "failed")
	failed.Reason, failed.Next = "the model answered with an error: overloaded", "deckhand retry 01kb7x2m"
	accepted := over("R7", "Read me first", "done")
	accepted.Accepted = true
	st := status(
		asking("R1", "Checkout with QRIS", ask), asking("R2", "Icon set", select_),
		aRun("R3", "Invoice PDF 在线支付 🧾", "working"), over("R4", "Changelog", "done"), failed, over("R6", "Old idea", "stopped"), accepted,
	)
	st.Queued = []control.Queued{{Card: "Footer links", Board: "Shop.md", Line: 9, Reason: "web-ecommerce is busy: Checkout with QRIS"}}
	st.Held = []control.Held{{Card: "Tax for exports", Board: "Shop.md", Line: 10, Reasons: []string{`project "none" is not registered`}, Hints: []string{"deckhand project add none FOLDER"}}}
	st.Problems = []control.Problem{{Where: "deckhand.yaml:3:1", Text: "settle: 3 is no duration", Hint: "settle: 3s"}}
	s.later(95 * time.Second)
	s.connected(st)
	s.answer()
	s.later(time.Second) // what is new has been seen
	return s
}

// answer gives the pane what it asks for until it asks no more.
func (s *story) answer() {
	s.t.Helper()
	for all := s.effects(); len(all) > 0; all = s.effects() {
		for _, e := range all {
			switch e := e.(type) {
			case askLog:
				s.happens(gotLog{s.at(), e.key, sceneLog(e.since), nil})
			case askChat:
				s.happens(gotChat{s.at(), e.key, control.Chat{Path: "deckhand/chats/2026-11/2026-11-30 Checkout with QRIS.md", Text: "---\nrun: 01kb\n---\n\n## Ada · 12:00\n\nThe card.\n\n> a quote\n\n## pi · 12:01\n\n- it looks\n- it writes a route that is long enough to be wrapped at the edge of the pane\n\n```go\nfunc main() {}\n```\n"}, nil})
			case askPrompt:
				s.happens(gotPrompt{s.at(), e.key, control.Prompt{Agent: "pi", Text: "You work on a card.\n\n# Checkout with QRIS\n", Hash: "0123456789abcdef", Notes: []control.Piece{
					{Path: "Specification.md", Section: "Payment", Bytes: 812, Used: 812}, {Path: "Long.md", Bytes: 90000, Used: 20000, Cut: true}, {Link: "[[Gone]]", Problem: "no note has this name"},
				}}, nil})
			case askWhy:
				s.happens(gotWhy{s.at(), e.key, control.Why{Board: "Shop.md", Line: 10, Rules: []control.Rule{
					{Rule: "open", OK: true}, {Rule: "in a ready lane", OK: true}, {Rule: "a registered project", Reason: `project "none" is not registered`, Hint: "deckhand project add none FOLDER"},
				}}, nil})
			case askBoards:
				s.happens(gotBoards{s.at(), []control.Board{{Path: "Shop.md", Project: "web-ecommerce", Lanes: []control.Lane{
					{Title: "Plan", Role: "ready", Cards: 2, Items: []control.Card{{Title: "Footer links", Line: 9, Agent: "pi"}, {Title: "Tax for exports", Line: 10, Agent: "pi"}}},
					{Title: "In Progress", Role: "working", Limit: 3, Cards: 1, Items: []control.Card{{Title: "Checkout with QRIS", Line: 12, Agent: "pi"}}},
					{Title: "Review", Role: "review", Cards: 1, Items: []control.Card{{Title: "Changelog", Line: 20, Agent: "pi"}}},
					{Title: "Done", Role: "done", Cards: 1, Items: []control.Card{{Title: "Read me first", Line: 25, Done: true, Agent: "pi"}}},
				}}}, nil})
			}
		}
	}
}

func sceneLog(since int64) control.Log {
	if since > 0 {
		return control.Log{Next: since, Open: true}
	}
	return control.Log{Next: 9, Open: true, Events: []control.LogEvent{
		logged(1, "claimed", "@pi on Shop.md:12 in ~/web-ecommerce"),
		logged(2, "started", "life 1"),
		logged(3, "thought", "The card wants QRIS. The specification has a section on payment."),
		logged(4, "text", "I look at the project first, then I write the **route** and a test for it."),
		{N: 5, Time: noon(), Kind: "tool", Text: "bash go test ./...\n--- FAIL: TestPay\nexit 1", State: "failed", Millis: 4200},
		{N: 6, Time: noon(), Kind: "tool", Text: "edit pay.go\nok", State: "ok", Millis: 12},
		logged(7, "note", "the model is overloaded: again in 2s"),
		{N: 8, Time: noon(), Kind: "plan", Steps: []control.Step{{Text: "Read the specification", State: "completed"}, {Text: "Write the route", State: "in_progress"}, {Text: "Run the tests", State: "pending"}}},
		{N: 9, Time: noon(), Kind: "tool", Text: "bash go test ./pay", State: "running"},
	}}
}

// Each view at the least size and at a large one, as text that can be read.
func TestGolden(t *testing.T) {
	views := map[string][]string{
		"ask":      nil,
		"select":   {"j", "a", "down"},
		"working":  {"j", "j"},
		"unfolded": {"j", "j", "t"},
		"chat":     {"c"},
		"prompt":   {"p"},
		"why":      {"j", "j", "j", "j", "w"},
		"board":    {"b"},
		"review":   {"n", "j", "j", "j", "j"},
		"failed":   {"n", "j", "j", "j", "j", "j"},
		"problem":  {"G"},
		"text":     {"D", "n", "o", ",", " ", "a", "s", "k", "alt+enter", "m", "e"},
		"help":     {"?"},
	}
	for name, keys := range views {
		for _, size := range [][2]int{{80, 24}, {200, 60}} {
			full := fmt.Sprintf("%s-%dx%d", name, size[0], size[1])
			t.Run(full, func(t *testing.T) {
				s := scene(t, size[0], size[1])
				for _, k := range keys {
					s.happens(keyed{s.at(), k})
					s.answer()
				}
				compare(t, full, s.shown())
			})
		}
	}
}

// A proposal, with what it changes.
func TestGoldenProposal(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		s := tell(t, size[0], size[1])
		s.connected(proposed(s))
		diffed(s)
		s.later(time.Minute)
		s.happens(ticked{s.at()})
		s.press("2")
		compare(t, fmt.Sprintf("proposal-%dx%d", size[0], size[1]), s.shown())
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./review -update writes it anew):\n%s", path, got)
	}
}
