package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
	"deckhand/internal/shell"
)

// fromCLI is who says it, in the records.
const fromCLI = "cli"

const textHelp = "TEXT may be typed without quotes; - reads it from the standard input."

func (a *app) answerCmd() *cobra.Command {
	var ask, scope, why string
	var end bool
	c := &cobra.Command{
		Use: "answer RUN [VALUE]", Short: "answer what an agent asks", Args: atLeast(1, "RUN"), ValidArgsFunction: a.runs,
		Long: `VALUE is allow or deny to a permission, one of the options of a choice, and else
a text; - reads it from the standard input. Without VALUE it says what is asked.

The first answer counts, wherever it is given: with this command, in the pane, or by a
ticked box on the card, in deckhand/Needs me.md or in the chat. A part of a card's
title of more than one word goes in quotes.

With --scope, allow also answers the same question again, to the letter: in this run
(session), in its project (project) or in every project of the work folder (always).
deckhand approvals lists such permissions, and takes them back. ` + runHelp,
		Example: `  deckhand answer 01kb allow
  deckhand answer "Checkout with QRIS" deny --why "the build folder is shared"`,
	}
	asJSON := jsonFlag(c)
	c.Flags().StringVar(&ask, "ask", "", "the ask's id, where the run asks more than one")
	c.Flags().StringVar(&scope, "scope", "", "how far the answer reaches: once, session, project or always")
	c.Flags().StringVar(&why, "why", "", "why; the agent reads it too")
	c.Flags().BoolVar(&end, "end", false, "end the run in place of an answer")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case end && len(args) > 1:
			return usage(c, "answer --end wants no VALUE")
		case end:
			return a.do(c.Context(), control.Command{Name: "end_ask", Run: args[0], Ask: ask, From: fromCLI}, *asJSON)
		case len(args) == 1:
			return a.ask(c.Context(), func(r control.Reader) error { return a.asks(c, r, args[0]) })
		}
		value, err := a.text(args[1:])
		if err != nil {
			return err
		}
		return a.do(c.Context(), control.Command{
			Name: "answer", Run: args[0], Ask: ask, Value: &value, Note: why, Scope: scope, From: fromCLI,
		}, *asJSON)
	}
	return c
}

// asks says what a run asks, and what to type.
func (a *app) asks(c *cobra.Command, r control.Reader, name string) error {
	s, err := r.Status(c.Context())
	if err != nil {
		return err
	}
	n := 0
	for _, run := range s.Runs {
		if !strings.HasPrefix(run.ID, strings.ToUpper(name)) && !strings.Contains(strings.ToLower(run.Card), strings.ToLower(name)) {
			continue
		}
		for _, row := range askRows(run) {
			a.say("%s", clean(row))
			n++
		}
	}
	if n == 0 {
		return &control.Error{Text: fmt.Sprintf("no run that matches %q asks anything", name), Hint: "deckhand status", Code: control.CodeError}
	}
	return exit(control.CodeNeedsPerson)
}

// askRows are the lines about what a run asks: the question, and what to type.
func askRows(r control.Run) (rows []string) {
	more := ""
	for _, q := range r.Asks {
		rows = append(rows, joined(q.Title, q.Message))
		if len(r.Asks) > 1 {
			more = " --ask " + q.ID
		}
		for _, v := range valuesOf(q) {
			rows = append(rows, "deckhand answer "+strings.ToLower(r.ID)+" "+v+more)
		}
	}
	return rows
}

// valuesOf is what an ask can be answered with, as it is typed.
func valuesOf(q control.Ask) []string {
	switch q.Kind {
	case "confirm":
		return []string{control.Allow, control.Deny}
	case "select":
		var out []string
		for _, o := range q.Options {
			out = append(out, typed(o, "OPTION"))
		}
		return out
	}
	return []string{"TEXT"}
}

func (a *app) steerCmd() *cobra.Command {
	var later, changed bool
	c := &cobra.Command{
		Use: "steer RUN TEXT", Short: "say something to an agent at work", ValidArgsFunction: a.runs,
		Long: `The agent reads it before its next step. The same is done in the pane, and by send
at the end of the chat. What it does not read before its turn is over is kept: a run
that was done goes on with it, any other begins with it when it goes on.

` + textHelp + `

An agent works with the notes as they were when it was started. When one of them has
changed since, its card and deckhand status say so: --notes tells it the difference,
with or without a TEXT.

` + runHelp,
		Args: func(c *cobra.Command, args []string) error {
			if changed {
				return atLeast(1, "RUN")(c, args)
			}
			return atLeast(2, "RUN or TEXT")(c, args)
		},
		Example: `  deckhand steer Checkout use the sandbox, not the live account
  deckhand steer "Checkout with QRIS" --notes`,
	}
	asJSON := jsonFlag(c)
	c.Flags().BoolVar(&later, "later", false, "it reads it when its turn would end")
	c.Flags().BoolVar(&changed, "notes", false, "what changed of the notes that it was given goes along")
	c.RunE = func(c *cobra.Command, args []string) error {
		name := "steer"
		if later {
			name = "follow_up"
		}
		return a.tell(c, control.Command{Name: name, Notes: changed}, args, *asJSON)
	}
	return c
}

func (a *app) replyCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "reply RUN TEXT", Short: "go on with a run that is over, in its session", Args: atLeast(2, "RUN or TEXT"), ValidArgsFunction: a.runs,
		Long: `The card goes back to work, and the agent reads TEXT in the session it had. While
another one works in its folder it waits for that.

The same is done in the pane, by send at the end of the chat, by Send back in
deckhand/Needs me.md, and by moving the card to a ready lane with new lines below it.

` + textHelp + "\n\n" + runHelp,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.tell(c, control.Command{Name: "reply"}, args, *asJSON)
	}
	return c
}

func (a *app) acceptCmd() *cobra.Command {
	c := &cobra.Command{Use: "accept RUN", Short: "a run in review is good", Long: `Its card goes to the done lane. The same is done in the pane, by Accept in
deckhand/Needs me.md, and by ticking the card or moving it to a done lane.

` + runHelp, Args: atLeast(1, "RUN"), ValidArgsFunction: a.runs}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.do(c.Context(), control.Command{Name: "accept", Run: words(args), From: fromCLI}, *asJSON)
	}
	return c
}

// tell sends a text to the agent of a run.
func (a *app) tell(c *cobra.Command, cmd control.Command, args []string, asJSON bool) error {
	text, err := a.text(args[1:])
	if err != nil {
		return err
	}
	cmd.Run, cmd.Text, cmd.From = args[0], text, fromCLI
	return a.do(c.Context(), cmd, asJSON)
}

// textMax is how long a text from the standard input may be: what an agent can
// be told in one line of its protocol, and far more than a person types.
const textMax = 1 << 20

// text is what was typed, or the standard input in place of a dash.
func (a *app) text(args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return words(args), nil
	}
	data, err := io.ReadAll(io.LimitReader(a.in, textMax+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the text: %w", err)
	case len(data) > textMax:
		return "", &control.Error{Text: "the text is longer than 1 MB", Code: control.CodeUsage}
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// typed is a word of others as it is typed, or what stands for it.
func typed(word, instead string) string {
	if word == "" || shell.Unfit(word) {
		return instead
	}
	return shell.Operand(word)
}
