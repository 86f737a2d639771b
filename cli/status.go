package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
	"deckhand/internal/shell"
)

func (a *app) statusCmd() *cobra.Command {
	var short bool
	c := &cobra.Command{
		Use: "status", Short: "what works, waits, is queued, is held and was finished today", Args: atMost(0),
		Long: `Prints a line for each run that is open or was over today, and for each card
that waits or is held, beginning with where its card stands.

Exit codes: 0 ok, 1 error.`,
	}
	asJSON := jsonFlag(c)
	c.Flags().BoolVar(&short, "short", false, "one line for tmux or a prompt, empty when nothing goes on")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.ask(c.Context(), func(r control.Reader) error {
			s, err := r.Status(c.Context())
			switch {
			case err != nil:
				return err
			case *asJSON:
				return a.json(s)
			case short:
				if line := shortStatus(s); line != "" {
					a.say("%s", line)
				}
				return nil
			}
			a.printStatus(s)
			return nil
		})
	}
	return c
}

// overview is deckhand without a command.
func (a *app) overview(ctx context.Context) error {
	return a.ask(ctx, func(r control.Reader) error {
		s, err := r.Status(ctx)
		if err != nil {
			return err
		}
		line := shortStatus(s)
		if line == "" {
			line = "nothing runs"
		}
		a.say("%s: %s", clean(tilde(s.Dir)), line)
		next := [][]string{{"deckhand status", "every card that works, waits or is held"}, {"deckhand why CARD", "what holds a card back"}}
		if !s.Daemon {
			next = append([][]string{{"deckhand watch", "no daemon runs here: start it"}}, next...)
		}
		table(a.out, append(next, []string{"deckhand help", "all commands"}))
		return nil
	})
}

// shortStatus counts what goes on. A run that waits for a person is not one
// that works.
func shortStatus(s control.Status) string {
	n := map[string]int{}
	for _, r := range s.Runs {
		n[r.Status]++
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{n["working"], "working"}, {n["waiting"], "asks"}, {n["interrupted"], "interrupted"}, {n["queued"] + len(s.Queued), "queued"}, {len(s.Held), "held"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	return strings.Join(parts, " · ")
}

func (a *app) printStatus(s control.Status) {
	var rows [][]string
	for _, r := range s.Runs {
		rows = append(rows, []string{place(r.Board, r.Line), r.Status, title(r.Card), runDetail(r)})
		for _, line := range askRows(r) {
			rows = append(rows, []string{place(r.Board, r.Line), "asks", title(r.Card), line})
		}
		if len(r.Changed) > 0 {
			rows = append(rows, []string{
				place(r.Board, r.Line), "notes", title(r.Card),
				"not as it was told: " + strings.Join(r.Changed, ", ") + "; deckhand steer " + strings.ToLower(r.ID) + " --notes tells it",
			})
		}
	}
	rows = append(append(rows, queuedRows(s.Queued)...), heldRows(s.Held, true)...)
	table(a.out, rows)
	a.printProblems(s.Problems)
	if len(rows) == 0 {
		a.say("nothing runs, nothing waits")
	}
	if !s.Daemon {
		a.note("no daemon runs here: deckhand watch %s", clean(shell.Path(tilde(s.Dir))))
	}
}

func queuedRows(queued []control.Queued) (rows [][]string) {
	var f few
	for _, q := range queued {
		if f.shows(q.Board, q.Reason) {
			rows = append(rows, []string{place(q.Board, q.Line), "queued", title(q.Card), q.Reason})
		}
	}
	return append(rows, f.rest("queued")...)
}

// heldRows are the cards that are held, each with its reasons.
func heldRows(held []control.Held, hints bool) (rows [][]string) {
	var f few
	for _, h := range held {
		at, shown := place(h.Board, h.Line), false
		for _, reason := range h.Reasons {
			if f.shows(h.Board, reason) {
				rows, shown = append(rows, []string{at, "held", title(h.Card), reason}), true
			}
		}
		for _, hint := range h.Hints {
			if shown && hints {
				rows = append(rows, []string{at, "hint", title(h.Card), hint})
			}
		}
	}
	return append(rows, f.rest("held")...)
}

func (a *app) printProblems(problems []control.Problem) {
	var f few
	for _, p := range problems {
		if file, _, _ := strings.Cut(p.Where, ":"); f.shows(file, p.Text) {
			a.say("%s: %s", clean(strings.TrimSuffix(p.Where, ":")), clean(joined(p.Text, p.Hint)))
		}
	}
	for _, row := range f.rest("") {
		a.say("%s %s: %s", clean(row[0]), row[2], clean(row[3]))
	}
}

func runDetail(r control.Run) string {
	age := ""
	if r.Ended != nil {
		age = lasted(r.Ended.Sub(r.Started))
	} else if !r.Started.IsZero() {
		age = lasted(time.Since(r.Started))
	}
	return joined("@"+r.Agent, r.Project, age, cost(r.Cost), r.Reason, r.Next)
}
