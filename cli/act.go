package cli

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
	"deckhand/internal/shell"
)

// do sends one command to the daemon and prints its result.
func (a *app) do(ctx context.Context, cmd control.Command, asJSON bool) error {
	dir, err := a.folder(nil)
	if err != nil {
		return err
	}
	client, err := a.daemon(ctx, dir)
	if err != nil {
		return err
	}
	defer client.Close()
	return a.send(ctx, client, cmd, asJSON)
}

func (a *app) send(ctx context.Context, client *control.Client, cmd control.Command, asJSON bool) error {
	cmd.ID = rand.Text()
	result, err := client.Do(ctx, cmd)
	switch {
	case err != nil:
		return err
	case !result.OK:
		return &control.Error{Text: result.Text, Matches: result.Matches, Code: control.CodeError}
	case asJSON:
		return a.json(result)
	}
	a.say("%s", clean(result.Text))
	return nil
}

const runHelp = "RUN is an id, a unique beginning of one, or a unique part of its card's title."

func (a *app) runCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "run CARD", Short: "start a card now", Args: atLeast(1, "CARD"), ValidArgsFunction: a.cards,
		Long: `Starts a card without waiting for it to settle, also one that was there before
its folder was trusted. All other rules hold: see deckhand why CARD.`,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.do(c.Context(), control.Command{Name: "run", Card: words(args)}, *asJSON)
	}
	return c
}

func (a *app) stopCmd() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "stop RUN | --all", Short: "stop a run, or all", ValidArgsFunction: a.runs,
		Long: runHelp + `

The project folder of a run that is stopped is free for the next card of the
queue. deckhand untrust stops all runs and holds the queue too.`,
	}
	asJSON := jsonFlag(c)
	c.Flags().BoolVar(&all, "all", false, "every run of this folder")
	c.RunE = func(c *cobra.Command, args []string) error {
		if all == (len(args) > 0) {
			return usage(c, "stop wants either a RUN or --all")
		}
		if all {
			return a.stopAll(c.Context(), *asJSON)
		}
		return a.do(c.Context(), control.Command{Name: "stop", Run: words(args)}, *asJSON)
	}
	return c
}

// stopAll stops what runs, and says what starts now in its place: whoever wants
// quiet has to hold the queue too.
func (a *app) stopAll(ctx context.Context, asJSON bool) error {
	dir, err := a.folder(nil)
	if err != nil {
		return err
	}
	client, err := a.daemon(ctx, dir)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := a.send(ctx, client, control.Command{Name: "stop_all"}, asJSON); err != nil || asJSON {
		return err
	}
	s, err := client.Status(ctx)
	if err != nil {
		return err
	}
	if n := len(s.Queued); n > 0 {
		a.say("%s in turn: deckhand untrust %s holds the queue", count(n, "queued card starts", "queued cards start"), clean(shell.Path(tilde(dir))))
	}
	return nil
}

func (a *app) retryCmd() *cobra.Command {
	c := &cobra.Command{Use: "retry RUN", Short: "again, in the same session", Long: runHelp, Args: atLeast(1, "RUN"), ValidArgsFunction: a.runs}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.do(c.Context(), control.Command{Name: "retry", Run: words(args)}, *asJSON)
	}
	return c
}

func (a *app) addCmd() *cobra.Command {
	var board string
	c := &cobra.Command{
		Use: "add TEXT", Short: "a new card, from the terminal", Args: atLeast(1, "TEXT"),
		Long:    "The card goes to the end of the first ready lane of the board; --board may be left out where there is one board.",
		Example: `  deckhand add "Checkout with QRIS @pi" --board Shop.md`,
	}
	asJSON := jsonFlag(c)
	c.Flags().StringVar(&board, "board", "", "the board's file, relative to the work folder")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.do(c.Context(), control.Command{Name: "add", Board: board, Text: words(args)}, *asJSON)
	}
	return c
}

func (a *app) lanesCmd() *cobra.Command {
	lanes := &cobra.Command{Use: "lanes", Short: "the lanes of a board", Args: noCommand}
	lanes.RunE = func(c *cobra.Command, _ []string) error { return usage(c, "lanes wants a command") }
	add := &cobra.Command{Use: "add BOARD", Short: "add the working and review lane that a board lacks", Args: atLeast(1, "BOARD")}
	asJSON := jsonFlag(add)
	add.RunE = func(c *cobra.Command, args []string) error {
		return a.do(c.Context(), control.Command{Name: "lanes_add", Board: words(args)}, *asJSON)
	}
	lanes.AddCommand(add)
	return lanes
}

// stopRuns stops some runs of one daemon after their right to run was taken.
func (a *app) stopRuns(ctx context.Context, client *control.Client, runs []control.Run) error {
	for _, r := range runs {
		result, err := client.Do(ctx, control.Command{ID: rand.Text(), Name: "stop", Run: r.ID})
		if err != nil {
			return fmt.Errorf("stop %s: %w", r.ID, err)
		}
		a.say("%s", clean(result.Text))
	}
	return nil
}
