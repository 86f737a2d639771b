package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/harness"
	"deckhand/internal/control"
	"deckhand/internal/daemon"
)

// tellAgents lets a running daemon look at the agents too: a card that waits
// for a program that was installed meanwhile starts.
func (a *app) tellAgents(ctx context.Context) {
	client, err := control.Connect(ctx, socket(a.folderOrHere()))
	if err != nil {
		return
	}
	defer client.Close()
	_, _ = client.Do(ctx, control.Command{ID: rand.Text(), Name: "probe"}) // a daemon that is ending looks at its next start
}

func (a *app) agentsCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "agents", Short: "the configured agents, and whether they can start", Args: atMost(0),
		Long: "Looks at each agent's program without asking anybody: ready, needs login or missing, its version and place, and what it asks before it does it.",
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		list, err := daemon.Agents(c.Context(), a.options(a.folderOrHere()))
		a.tellAgents(c.Context())
		switch {
		case err != nil:
			return err
		case *asJSON:
			return a.json(control.Agents{Agents: list})
		}
		var rows [][]string
		for _, g := range list {
			rows = append(rows, []string{"@" + g.Name, g.State, joined(g.Version, g.Path, g.Reason), "asks before: " + g.Asks})
			if len(g.Tried) > 0 && g.Path == "" {
				rows = append(rows, []string{"", "tried", strings.Join(g.Tried, ", ")})
			}
			if g.Hint != "" {
				rows = append(rows, []string{"", "hint", g.Hint})
			}
		}
		table(a.out, rows)
		return nil
	}
	return c
}

func (a *app) doctorCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", Short: "look at everything deckhand needs", Args: atMost(0),
		Long: `Configuration, watch limits, agents, git, socket, disk, conflicts: each line is
ok, or says what to type.

Exit codes: 0 all is well, 1 something is not.`,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		checks, err := daemon.Doctor(c.Context(), a.options(a.folderOrHere()))
		if err != nil {
			return err
		}
		var rows [][]string
		var code error
		for _, k := range checks {
			mark := "ok"
			if !k.OK {
				mark, code = "no", exit(control.CodeError)
			}
			rows = append(rows, []string{mark, k.Name, k.Text})
			if k.Hint != "" {
				rows = append(rows, []string{"", "hint", k.Hint})
			}
		}
		if *asJSON {
			if err := a.json(control.Checks{Checks: checks}); err != nil {
				return err
			}
			return code
		}
		table(a.out, folded(rows))
		return code
	}
	return c
}

func (a *app) adoptCmd() *cobra.Command {
	return &cobra.Command{
		Use: "adopt [DIR]", Short: "take over the state of a work folder that was moved", Args: atMost(1),
		Long: "A work folder that was moved or renamed is found again by its inode and by its journal. This makes the state of its old place that of the new one.",
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := a.folder(args)
			if err != nil {
				return err
			}
			from, err := daemon.Adopt(a.options(dir))
			if err != nil {
				return err
			}
			a.say("%s has the state of %s now", clean(tilde(dir)), clean(tilde(from)))
			return nil
		},
	}
}

func (a *app) replayCmd() *cobra.Command {
	return &cobra.Command{
		Use: "replay RUNDIR", Short: "a recorded run through its driver again, without the agent",
		Args: cobra.MatchAll(atLeast(1, "RUNDIR"), atMost(1)),
		Long: "RUNDIR is runs/ID in the state folder of a work folder, or one life in it. What is printed is what deckhand made of each line of the agent.",
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			return daemon.Replay(c.Context(), dir, a.printReplayed)
		},
	}
}

// printReplayed prints one event of a recorded life.
func (a *app) printReplayed(life int, e harness.Event) {
	detail := e.Text
	switch {
	case e.Tool != nil:
		detail = joined(e.Tool.Name, e.Tool.Title, e.Tool.Output)
	case e.Ask != nil:
		detail = joined(e.Ask.Kind, e.Ask.Title, e.Ask.Message)
	case e.Usage != nil:
		detail = joined(e.Usage.Model, fmt.Sprintf("%d tokens", e.Usage.Tokens), cost(e.Usage.Cost))
	}
	a.say("%d/%d %s %s", life, e.Seq, e.Kind, clean(joined(e.Outcome, detail, e.Reason)))
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "the version of this program", Args: atMost(0),
		Run: func(*cobra.Command, []string) {
			a.say("deckhand %s (%s, %s/%s)", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}

// version is the module's, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(len(s.Value), 12)]
		}
	}
	return "devel"
}
