package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"deckhand/internal/config"
	"deckhand/internal/control"
	"deckhand/internal/daemon"
	"deckhand/internal/shell"
)

func (a *app) trustCmd() *cobra.Command {
	g := daemon.Grants{Trust: true}
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "let cards of a work folder start agents", Args: atMost(1),
		Long: `Puts the folder into trust: of the machine's configuration. From then on a card
in it may start agents, in registered projects only.

Cards that are there already do not start: edit or move one, or deckhand run it.
--start lets them start all the same. --here takes the folder over from another
machine that ran it.`,
	}
	c.Flags().BoolVar(&g.Start, "start", false, "cards that were there before start too")
	c.Flags().BoolVar(&g.Here, "here", false, "this machine runs the folder from now on")
	c.RunE = func(c *cobra.Command, args []string) error { return a.trust(c.Context(), args, g) }
	return c
}

func (a *app) trust(ctx context.Context, args []string, g daemon.Grants) error {
	dir, err := a.folderHere(args)
	if err != nil {
		return err
	}
	if realPath(dir) == "/" {
		return &control.Error{Text: "/ is the whole machine, not a folder of notes", Code: control.CodeError}
	}
	byHand := "write into it: trust: [" + tilde(dir) + "]"
	err = a.changeConfig(byHand, func(src []byte) ([]byte, error) { return addTrust(src, dir) })
	if err != nil {
		return err
	}
	if err := a.grant(ctx, dir, g); err != nil {
		return err
	}
	a.say("%s is trusted: its cards may start agents in registered projects", clean(tilde(dir)))
	return a.saidBefore(ctx, dir, g.Start)
}

// folderHere is the argument, or the work folder, or the folder we are in.
func (a *app) folderHere(args []string) (string, error) {
	dir, err := a.folder(args)
	if err != nil && len(args) == 0 && a.dirFlag == "" {
		return existing(".")
	}
	return dir, err
}

// addTrust leaves a file alone that trusts the folder under another name.
func addTrust(src []byte, dir string) ([]byte, error) {
	m, _ := config.LoadMachine(src, "", home(), []string{"pi"})
	for _, t := range m.Trust {
		if realPath(t) == realPath(dir) {
			return src, nil
		}
	}
	return config.AddTrust(src, tilde(dir))
}

// saidBefore lists the cards that wait, so that nobody wonders why nothing starts.
func (a *app) saidBefore(ctx context.Context, dir string, start bool) error {
	r, done, err := a.reader(ctx, dir)
	if err != nil {
		return err
	}
	defer done()
	s, err := r.Status(ctx)
	if err != nil {
		return err
	}
	if len(s.Held) > 0 {
		a.say("%s:", count(len(s.Held), "card does not start", "cards do not start"))
		rows := heldRows(s.Held, false)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 1, 2) // that they are held is said
		}
		table(a.out, rows)
	}
	if !s.Daemon {
		if start && len(s.Queued) > 0 {
			a.say("%s when a daemon runs", count(len(s.Queued), "card starts", "cards start"))
		}
		a.say("next: deckhand watch %s", clean(shell.Path(tilde(dir))))
	}
	return nil
}

func (a *app) untrustCmd() *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use: "untrust [DIR]", Short: "take that back", Args: atMost(1),
		Long: "Nothing starts from the folder's cards any more. Agents at work are stopped, unless --keep lets them end by themselves.",
	}
	c.Flags().BoolVar(&keep, "keep", false, "agents at work go on")
	c.RunE = func(c *cobra.Command, args []string) error {
		dir, err := a.folderHere(args)
		if err != nil {
			return err
		}
		found := false
		err = a.changeConfig("take "+tilde(dir)+" out of trust: there", func(src []byte) ([]byte, error) {
			src, found, err = removeTrust(src, dir)
			return src, err
		})
		if err != nil {
			return err
		}
		if !found {
			return &control.Error{Text: tilde(dir) + " is not trusted", Code: control.CodeError}
		}
		if err := a.grant(c.Context(), dir, daemon.Grants{}); err != nil {
			return err
		}
		a.say("%s is not trusted any more: nothing starts from its cards", clean(tilde(dir)))
		return a.revoked(c.Context(), dir, keep, func(control.Run) bool { return true })
	}
	return c
}

// removeTrust takes every name of the folder out.
func removeTrust(src []byte, dir string) ([]byte, bool, error) {
	m, _ := config.LoadMachine(src, "", home(), []string{"pi"})
	found := false
	for _, t := range m.Trust {
		if realPath(t) != realPath(dir) {
			continue
		}
		next, ok, err := config.RemoveTrust(src, t, home())
		if err != nil {
			return src, false, err
		}
		src, found = next, found || ok
	}
	return src, found, nil
}
