// Package cli is the command line: commands, flags, help, exit codes, text and
// JSON output.
//
// A command parses its arguments, asks a daemon through the control socket, or
// the files when none runs, and prints the answer. What changes a work folder
// goes through the socket or ends with exit code 5: there is never a second
// writer. Only the machine's config.yaml is changed here, by splicing the
// person's bytes, and new files are made by init and demo.
//
// Text for people goes to the standard output, progress and errors to the
// standard error: "deckhand: what happened", then "hint: what to type", nothing
// else, never a stack trace. Whatever comes from cards, notes or agents is
// escaped on its way (escape.go). There is no colour, so NO_COLOR has nothing
// to turn off.
//
// Exit codes: 0 ok, 1 error, 2 usage, 3 done but something needs a person,
// 4 conflict, 5 no daemon, 130 interrupted.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/harness"
	"deckhand/internal/control"
	"deckhand/internal/daemon"
	"deckhand/internal/standin"
	"deckhand/review"
)

// Main runs the command line and returns the exit code.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	if len(args) > 0 {
		// The children are no commands for people: the keeper has to be small,
		// and all have to work whatever becomes of the command tree.
		switch args[0] {
		case "keep":
			return harness.KeepMain(args[1:])
		case "standin":
			return standin.Main(args[1:], in, out, errs)
		case "assistant":
			return assistantMain(args[1:], in, out, errs)
		}
	}
	a := &app{in: in, out: &output{w: out}, errs: errs}
	root := a.root()
	root.SetArgs(args)
	ctx, stop := untilSignal(context.Background())
	err := root.ExecuteContext(ctx)
	stop()
	return a.end(a.out.or(err), slices.Contains(args, "--json"))
}

// app is one call of the program.
type app struct {
	in       io.Reader
	out      *output
	errs     io.Writer
	dirFlag  string // --dir
	confFlag string // --config
}

func (a *app) say(format string, args ...any)  { fmt.Fprintf(a.out, format+"\n", args...) }
func (a *app) note(format string, args ...any) { fmt.Fprintf(a.errs, format+"\n", args...) }

// root is the command tree.
func (a *app) root() *cobra.Command {
	c := &cobra.Command{
		Use:   "deckhand",
		Short: "kanban boards in Markdown as the control plane of coding agents",
		Long: `deckhand watches a folder of Markdown notes and kanban boards. A card with a
mention, "- [ ] Checkout with QRIS @pi" in a lane like Plan, starts that agent
in the card's project; the card moves to In Progress and comes back in Review.

Without a command it opens the pane: what needs you, what works, and all of it
as it happens. It starts a daemon for as long as it is open when none runs. Where
the output is no terminal, it prints what runs and what to type next.

The work folder is --dir, else DECKHAND_DIR, else the nearest folder upward that
has a deckhand.yaml or is trusted.

Exit codes: 0 ok, 1 error, 2 usage, 3 done but something needs a person,
4 conflict, 5 no daemon, 130 interrupted.`,
		Args:          noCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	still := c.Flags().Bool("no-motion", false, "in the pane nothing moves by itself")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if a.interactive() {
			return a.pane(c.Context(), review.Look{Motion: !*still})
		}
		return a.overview(c.Context())
	}
	c.SetOut(a.out)
	c.SetErr(a.errs)
	c.SetIn(a.in)
	c.PersistentFlags().StringVar(&a.dirFlag, "dir", "", "the work folder")
	c.PersistentFlags().StringVar(&a.confFlag, "config", "", "the machine's configuration, in place of DECKHAND_CONFIG or the usual place")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(c, "%v", err)
	})
	c.AddCommand(
		a.initCmd(), a.watchCmd(), a.demoCmd(),
		a.statusCmd(), a.whyCmd(), a.promptCmd(), a.logCmd(), a.chatCmd(), a.journalCmd(),
		a.addCmd(), a.runCmd(), a.stopCmd(), a.retryCmd(), a.lanesCmd(),
		a.answerCmd(), a.steerCmd(), a.replyCmd(), a.acceptCmd(), a.approvalsCmd(),
		a.proposalsCmd(), a.diffCmd(), a.applyCmd(), a.rejectCmd(), a.revertCmd(),
		a.projectCmd(), a.trustCmd(), a.untrustCmd(),
		a.commitMessageCmd(), a.openCmd(), a.takeoverCmd(), a.agentsCmd(), a.doctorCmd(), a.adoptCmd(), a.replayCmd(), a.versionCmd(),
	)
	return c
}

// noCommand refuses arguments where only a command may follow.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := &control.Error{Text: fmt.Sprintf("no command %q", args[0]), Hint: c.CommandPath() + " --help", Code: control.CodeUsage}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		e.Hint = c.CommandPath() + " " + near[0]
	}
	return e
}

// usage is the error of a call that cannot be understood.
func usage(c *cobra.Command, format string, args ...any) error {
	return &control.Error{Text: fmt.Sprintf(format, args...), Hint: c.CommandPath() + " --help", Code: control.CodeUsage}
}

// name is a command's without the program's.
func name(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "deckhand ") }

// atLeast wants n words or more.
func atLeast(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return usage(c, "%s: %s is missing", name(c), what)
		}
		return nil
	}
}

// atMost wants n words or fewer.
func atMost(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return usage(c, "%s: %q is too much", name(c), args[n])
		}
		return nil
	}
}

// words is one RUN, CARD or TEXT: a title may be typed without quotes.
func words(args []string) string { return strings.Join(args, " ") }

// exit is an end that is neither good nor an error: what is to be said is said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// end is the one place that turns an error into text and an exit code.
func (a *app) end(err error, asJSON bool) int {
	var code exit
	var e *control.Error
	switch {
	case err == nil:
		return control.CodeOK
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, context.Canceled):
		return control.CodeInterrupted
	case errors.Is(err, daemon.ErrRunning):
		e = &control.Error{Text: err.Error(), Hint: "deckhand status", Code: control.CodeConflict}
	case !errors.As(err, &e):
		e = &control.Error{Text: err.Error(), Code: control.CodeError}
	}
	if asJSON {
		if err := a.json(*e); err == nil {
			return e.Code
		}
	}
	a.note("deckhand: %s", clean(e.Text))
	for i, m := range e.Matches {
		if i == most {
			a.note("  and %d more", len(e.Matches)-most)
			break
		}
		a.note("  %s", clean(m))
	}
	if e.Hint != "" {
		for hint := range strings.SplitSeq(e.Hint, "\n") {
			a.note("hint: %s", clean(hint))
		}
	}
	return e.Code
}
