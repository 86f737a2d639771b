package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
)

// What agents want changed in the notes, and what a person makes of it.

const proposalHelp = "ID is what deckhand proposals lists, or the beginning of it."

func (a *app) proposalsCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "proposals", Short: "what agents want changed in the notes", Args: noCommand,
		Long: `Lists the proposals that wait for a decision, with the files each would change.
Each has a page in deckhand/proposals too, where it can be decided by ticking.`,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.ask(c.Context(), func(r control.Reader) error {
			list, err := r.Proposals(c.Context())
			switch {
			case err != nil:
				return err
			case *asJSON:
				return a.json(control.Proposals{Proposals: list})
			case len(list) == 0:
				a.say("no proposal waits")
				return nil
			}
			a.printProposals(list)
			return nil
		})
	}
	return c
}

func (a *app) printProposals(list []control.Proposal) {
	for _, p := range list {
		a.say("%s", clean(joined(p.ID+" @"+p.Agent+" on "+p.Card+":", p.Reason)))
		var rows [][]string
		for _, ch := range p.Changes {
			name := ch.File
			if ch.To != "" {
				name += " → " + ch.To
			}
			rows = append(rows, []string{"  " + ch.Kind, name, fmt.Sprintf("+%d −%d", ch.Added, ch.Removed), ch.Reason})
		}
		table(a.out, rows)
		a.say("%s", clean("  deckhand diff "+p.ID+" shows them, deckhand apply "+p.ID+" and deckhand reject "+p.ID+" decide"))
	}
}

func (a *app) applyCmd() *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "apply ID [FILE...]", Short: "apply a proposal, or some of its files", Args: atLeast(1, "ID"), ValidArgsFunction: a.proposalIDs,
		Long: `Writes the changes of a proposal into the notes: of the FILEs alone, where some
are named; the others are rejected then. Before anything is written each file is
compared with what it was when it was proposed. One that has changed since keeps
all of them from being written.

` + proposalHelp + " deckhand revert takes it back.",
	}
	asJSON := jsonFlag(c)
	c.Flags().StringVar(&note, "note", "", "what the agent is told with it")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.do(c.Context(), control.Command{Name: "apply", Proposal: args[0], Files: args[1:], Note: note, From: fromCLI}, *asJSON)
	}
	return c
}

func (a *app) rejectCmd() *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "reject ID", Short: "reject a proposal", Args: exactly(1, "ID"), ValidArgsFunction: a.proposalIDs,
		Long: "Nothing is written, and the agent is told so. " + proposalHelp,
	}
	asJSON := jsonFlag(c)
	c.Flags().StringVar(&note, "note", "", "why; the agent reads it")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.do(c.Context(), control.Command{Name: "reject", Proposal: args[0], Note: note, From: fromCLI}, *asJSON)
	}
	return c
}

func (a *app) revertCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "revert ID", Short: "take back a proposal that was applied", Args: exactly(1, "ID"),
		Long: `Puts the files back to what they were, if each still is what was written. One
that has changed since keeps all of them as they are. The agent is told when it
is at work again. ` + proposalHelp,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.do(c.Context(), control.Command{Name: "revert", Proposal: args[0], From: fromCLI}, *asJSON)
	}
	return c
}

func (a *app) diffCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "diff ID | RUN", Short: "what a proposal does to the notes", Args: atLeast(1, "ID or RUN"), ValidArgsFunction: a.proposalIDs,
		Long: "Prints the unified diff of a proposal, decided or not, or of all proposals of a run. " + proposalHelp,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.ask(c.Context(), func(r control.Reader) error {
			d, err := r.Diff(c.Context(), words(args))
			switch {
			case err != nil:
				return err
			case *asJSON:
				return a.json(d)
			}
			fmt.Fprint(a.out, cleanText(d.Text))
			return nil
		})
	}
	return c
}

// exactly wants n words.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := atLeast(n, what)(c, args); err != nil {
			return err
		}
		return atMost(n)(c, args)
	}
}

// proposalIDs completes the ids of proposals that wait.
func (a *app) proposalIDs(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.complete(c.Context(), args, func(s control.Status) (ids []string) {
		for _, p := range s.Proposals {
			ids = append(ids, cobra.CompletionWithDesc(p.ID, clean(p.Card)))
		}
		return ids
	})
}
