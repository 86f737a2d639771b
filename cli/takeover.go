package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"github.com/spf13/cobra"

	"deckhand/internal/daemon"
)

func (a *app) takeoverCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "takeover RUN", Short: "go on with a run yourself, in the agent's own program", Args: atLeast(1, "RUN"), ValidArgsFunction: a.runs,
		Long: runHelp + `

Starts the agent's own program in this terminal, in the project folder, on the
session of the run: what it did is above, and you go on. Only for a run that is
over. deckhand does not follow what happens there and does not ask before
anything; leave the program before the card goes on, because two on one session
lose what one of them says.

Exit codes: 4 its agent is at work; else that of the program.`,
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		dir, err := a.folder(nil)
		if err != nil {
			return err
		}
		desk, err := daemon.Takeover(a.options(dir), words(args))
		if err != nil {
			return err
		}
		a.note("%s in %s", clean(desk.Card), clean(tilde(desk.Folder)))
		return a.sitDown(c.Context(), desk)
	}
	return c
}

// sitDown gives a program this terminal until it ends; its exit code is ours.
// The keys that end a program are for it.
func (a *app) sitDown(ctx context.Context, desk daemon.Desk) error {
	keys := make(chan os.Signal, 1)
	signal.Notify(keys, os.Interrupt)
	defer signal.Stop(keys)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), desk.Argv[0], desk.Argv[1:]...)
	cmd.Dir, cmd.Env = desk.Folder, desk.Env
	// The output itself, not what counts its faults: a program must see a terminal.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.out.w, a.errs
	err := cmd.Run()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed) && failed.ExitCode() > 0:
		return exit(failed.ExitCode())
	case err != nil:
		return fmt.Errorf("%s: %w", desk.Argv[0], err)
	}
	return nil
}
