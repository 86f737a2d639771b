package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
)

// ask finds the work folder and its reader for a command that only looks.
func (a *app) ask(ctx context.Context, do func(r control.Reader) error) error {
	dir, err := a.folder(nil)
	if err != nil {
		return err
	}
	r, done, err := a.reader(ctx, dir)
	if err != nil {
		return err
	}
	defer done()
	return do(r)
}

// jsonFlag adds --json.
func jsonFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print JSON, see docs/json.md")
}

// cards completes the titles of cards that could start, runs those of runs.
func (a *app) cards(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.complete(c.Context(), args, func(s control.Status) (titles []string) {
		for _, h := range s.Held {
			titles = append(titles, clean(h.Card))
		}
		for _, q := range s.Queued {
			titles = append(titles, clean(q.Card))
		}
		return titles
	})
}

func (a *app) runs(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.complete(c.Context(), args, func(s control.Status) (titles []string) {
		for _, r := range s.Runs {
			titles = append(titles, cobra.CompletionWithDesc(clean(r.Card), r.Status))
		}
		return titles
	})
}

func (a *app) complete(ctx context.Context, args []string, titles func(control.Status) []string) (out []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	err := a.ask(ctx, func(r control.Reader) error {
		s, err := r.Status(ctx)
		out = titles(s)
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

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
		rows = append(rows, []string{place(r.Board, r.Line), r.Status, r.Card, runDetail(r)})
		for _, q := range r.Asks {
			rows = append(rows, []string{place(r.Board, r.Line), "asks", r.Card, joined(q.Title, q.Message)})
		}
	}
	for _, q := range s.Queued {
		rows = append(rows, []string{place(q.Board, q.Line), "queued", q.Card, q.Reason})
	}
	for _, h := range s.Held {
		for _, reason := range h.Reasons {
			rows = append(rows, []string{place(h.Board, h.Line), "held", h.Card, reason})
		}
		for _, hint := range h.Hints {
			rows = append(rows, []string{place(h.Board, h.Line), "hint", h.Card, hint})
		}
	}
	table(a.out, rows)
	for _, p := range s.Problems {
		a.say("%s: %s", clean(strings.TrimSuffix(p.Where, ":")), clean(joined(p.Text, p.Hint)))
	}
	if len(rows) == 0 {
		a.say("nothing runs, nothing waits")
	}
	if !s.Daemon {
		a.note("no daemon runs here: deckhand watch %s", clean(quote(tilde(s.Dir))))
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

func (a *app) whyCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "why CARD", Short: "every rule that lets a card run or holds it back", Args: atLeast(1, "CARD"), ValidArgsFunction: a.cards,
		Long: "CARD is a unique part of the title, a block id or the id of its run.",
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.ask(c.Context(), func(r control.Reader) error {
			w, err := r.Why(c.Context(), words(args))
			switch {
			case err != nil:
				return err
			case *asJSON:
				return a.json(w)
			}
			a.printWhy(w)
			return nil
		})
	}
	return c
}

func (a *app) printWhy(w control.Why) {
	at, verdict := place(w.Board, w.Line), "does not start now"
	if w.Start {
		verdict = "would start now"
	}
	a.say("%s %s: %s", clean(at), clean(w.Card), verdict)
	var rows [][]string
	for _, r := range w.Rules {
		mark := "ok"
		if !r.OK {
			mark = "no"
		}
		rows = append(rows, []string{at, mark, r.Rule, r.Reason})
		if r.Hint != "" {
			rows = append(rows, []string{at, "hint", r.Rule, r.Hint})
		}
	}
	table(a.out, rows)
}

func (a *app) promptCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "prompt CARD", Short: "the prompt that would be sent, and its receipt", Args: atLeast(1, "CARD"), ValidArgsFunction: a.cards,
		Long: `Prints the prompt on the standard output and its receipt, what was copied from
which note and what was cut, on the standard error.

Control characters are shown as escapes; --json has the exact text.`,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.ask(c.Context(), func(r control.Reader) error {
			p, err := r.Prompt(c.Context(), words(args))
			switch {
			case err != nil:
				return err
			case *asJSON:
				return a.json(p)
			}
			a.say("%s", cleanText(strings.TrimRight(p.Text, "\n")))
			a.printReceipt(p)
			return nil
		})
	}
	return c
}

func (a *app) printReceipt(p control.Prompt) {
	rows := [][]string{{"receipt", "@" + p.Agent, fmt.Sprintf("%d bytes", len(p.Text)), p.Hash}}
	for _, n := range p.Notes {
		used := fmt.Sprintf("%d of %d bytes", n.Used, n.Bytes)
		if n.Cut {
			used += ", cut"
		}
		if n.Problem != "" {
			used = n.Problem
		}
		path := n.Path
		if n.Section != "" {
			path += "#" + n.Section
		}
		others := ""
		if len(n.Others) > 0 {
			others = "not " + strings.Join(n.Others, ", ")
		}
		rows = append(rows, []string{n.Link, path, used, joined(n.Hash, others)})
	}
	table(a.errs, rows)
}

func (a *app) chatCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "chat RUN", Short: "a run's conversation", Args: atLeast(1, "RUN"), ValidArgsFunction: a.runs,
		Long: "RUN is an id, a unique beginning of one, or a unique part of its card's title.",
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.ask(c.Context(), func(r control.Reader) error {
			chat, err := r.Chat(c.Context(), words(args))
			switch {
			case err != nil:
				return err
			case *asJSON:
				return a.json(chat)
			}
			a.note("%s", clean(chat.Path))
			a.say("%s", cleanText(strings.TrimRight(chat.Text, "\n")))
			return nil
		})
	}
	return c
}

func (a *app) journalCmd() *cobra.Command {
	var since string
	c := &cobra.Command{
		Use: "journal", Short: "what was done and decided", Args: atMost(0),
		Long: "--since is a time (2026-11-30, 2026-11-30T14:03:00+07:00) or how long ago (90m, 24h).",
	}
	asJSON := jsonFlag(c)
	c.Flags().StringVar(&since, "since", "", "from when on; without it today")
	c.RunE = func(c *cobra.Command, _ []string) error {
		from, err := parseSince(since, time.Now())
		if err != nil {
			return usage(c, "%v", err)
		}
		return a.ask(c.Context(), func(r control.Reader) error {
			entries, err := r.Journal(c.Context(), from)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return a.json(control.Journal{Entries: entries})
			}
			var rows [][]string
			for _, e := range entries {
				rows = append(rows, []string{e.Time.Local().Format("2006-01-02 15:04:05"), e.Status, e.Object, e.Reason})
			}
			table(a.out, rows)
			return nil
		})
	}
	return c
}

// parseSince reads a time, a day or how long ago. Nothing is the start of today.
func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location()), nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	return time.Time{}, errors.New("since " + s + " is neither a time nor how long ago")
}
