package cli

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
	"deckhand/internal/daemon"
)

func (a *app) openCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "open RUN", Short: "the project folder of a run in your editor", Args: atLeast(1, "RUN"), ValidArgsFunction: a.runs,
		Long: runHelp + `

The editor is VISUAL, else EDITOR, with its arguments ("code -n"); it gets the
folder and starts in it.`,
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		dir, err := a.folder(nil)
		if err != nil {
			return err
		}
		editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
		if editor == "" {
			return &control.Error{Text: "no editor is set", Hint: "export EDITOR=vim", Code: control.CodeError}
		}
		desk, err := daemon.FindDesk(a.options(dir), words(args))
		if err != nil {
			return err
		}
		// As git does it: the variable is a command line of the person's shell.
		desk.Argv = []string{"/bin/sh", "-c", editor + ` "$@"`, editor, desk.Folder}
		return a.sitDown(c.Context(), desk)
	}
	return c
}
