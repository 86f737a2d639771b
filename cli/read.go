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
	a.say("%s %s: %s", clean(at), title(w.Card), verdict)
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
