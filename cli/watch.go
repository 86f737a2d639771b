package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
	"deckhand/internal/daemon"
)

func (a *app) watchCmd() *cobra.Command {
	var once, dry, lent bool
	c := &cobra.Command{
		Use: "watch [DIR]", Short: "the daemon, in the foreground", Args: atMost(1),
		Long: `Watches the work folder and starts agents until it is ended. Agents at work
outlive it; the next daemon takes them up again.

Exit codes: 0 ok, 1 error, 3 with --once: something waits for a person,
130 interrupted.`,
	}
	c.Flags().BoolVar(&once, "once", false, "every card counts as settled; end when nothing runs and nothing can start")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would start, with every reason, and change nothing")
	c.Flags().BoolVar(&lent, untilEOF, false, "end when the standard input does")
	if err := c.Flags().MarkHidden(untilEOF); err != nil {
		panic(err) // the flag is there
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		dir, err := a.folder(args)
		if err != nil {
			return err
		}
		o := a.options(dir)
		o.Once, o.DryRun, o.Log = once, dry, lines{a.errs}
		if dry {
			o.Log = lines{a.out}
		}
		ctx := c.Context()
		if lent {
			var cancel context.CancelCauseFunc
			ctx, cancel = context.WithCancelCause(ctx)
			defer cancel(nil)
			go func() {
				_, err := io.Copy(io.Discard, a.in)
				cancel(errors.Join(errTerminated, err))
			}()
		}
		return a.watch(ctx, o)
	}
	return c
}

// untilEOF is the flag of a daemon that the pane has started: it ends with the
// pane, however that ends.
const untilEOF = "until-eof"

func (a *app) watch(ctx context.Context, o daemon.Options) error {
	out, err := daemon.Run(ctx, o)
	if out.Live > 0 {
		a.note("%s on: deckhand stop --all ends them", count(out.Live, "agent goes", "agents go"))
	}
	switch {
	case err != nil:
		return err
	case errors.Is(context.Cause(ctx), errTerminated):
		return nil
	case ctx.Err() != nil:
		return exit(control.CodeInterrupted)
	case o.Once && out.Waiting > 0:
		return exit(control.CodeNeedsPerson)
	}
	return nil
}
