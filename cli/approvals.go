package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
)

func (a *app) approvalsCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "approvals", Short: "permissions that were given for more than once", Args: noCommand,
		Long: `Lists what was allowed with --scope session, project or always: how far it reaches,
what is allowed, when, from where, and how often it has answered since. Each covers
the same question of the same agent, to the letter; anything else is asked again.`,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.ask(c.Context(), func(r control.Reader) error {
			list, err := r.Approvals(c.Context())
			switch {
			case err != nil:
				return err
			case *asJSON:
				return a.json(control.Approvals{Approvals: list})
			}
			a.printApprovals(list)
			return nil
		})
	}
	revoke := &cobra.Command{
		Use: "revoke ID", Short: "take a permission back", Args: atLeast(1, "ID"),
		Long: "ID may be the beginning of one. From the next question on a person is asked again.",
	}
	revokeJSON := jsonFlag(revoke)
	revoke.RunE = func(c *cobra.Command, args []string) error {
		return a.do(c.Context(), control.Command{Name: "revoke", Text: words(args), From: fromCLI}, *revokeJSON)
	}
	c.AddCommand(revoke)
	return c
}

func (a *app) printApprovals(list []control.Approval) {
	if len(list) == 0 {
		a.say("nothing is allowed for more than once")
		return
	}
	var rows [][]string
	for _, p := range list {
		where := p.Project
		if p.Scope == "always" {
			where = "everywhere"
		}
		used := "never used"
		if p.Used > 0 && p.Last != nil {
			used = count(p.Used, "time", "times") + ", last " + p.Last.Local().Format(time.DateTime)
		}
		rows = append(rows, []string{
			p.ID, p.Scope, "@" + p.Agent, where, joined(strings.TrimSpace(p.Title), p.Message, "given "+p.Given.Local().Format(time.DateTime)+" by the "+p.By, used),
		})
	}
	table(a.out, rows)
}
