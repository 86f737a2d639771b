package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
)

func (a *app) logCmd() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use: "log RUN", Short: "a run's trace", Args: atLeast(1, "RUN"), ValidArgsFunction: a.runs,
		Long: "RUN is an id, a unique beginning of one, or a unique part of its card's title.",
	}
	asJSON := jsonFlag(c)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run is over")
	c.RunE = func(c *cobra.Command, args []string) error {
		run := words(args)
		if follow {
			return a.follow(c.Context(), run, *asJSON)
		}
		return a.ask(c.Context(), func(r control.Reader) error {
			l, err := r.Log(c.Context(), run, 0)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return a.json(l)
			}
			return a.printEvents(l.Events, false)
		})
	}
	return c
}

func (a *app) printEvents(events []control.LogEvent, asJSON bool) error {
	if asJSON {
		for _, e := range events {
			if err := a.json(e); err != nil {
				return err
			}
		}
		return nil
	}
	var rows [][]string
	for _, e := range events {
		took := ""
		if e.Millis > 0 {
			took = lasted(time.Duration(e.Millis) * time.Millisecond)
		}
		rows = append(rows, []string{e.Time.Local().Format("15:04:05"), e.Kind, joined(e.Text, e.State, took)})
	}
	table(a.out, folded(rows))
	return a.out.err // who follows need not go on
}

// follow prints a run's trace until it is over. Events only say that there is
// more; the trace itself is asked for by number, so nothing is missed or doubled.
func (a *app) follow(ctx context.Context, run string, asJSON bool) error {
	dir, err := a.folder(nil)
	if err != nil {
		return err
	}
	r, done, err := a.reader(ctx, dir)
	if err != nil {
		return err
	}
	defer done()
	l, err := r.Log(ctx, run, 0)
	if err != nil {
		return err
	}
	if err := a.printEvents(l.Events, asJSON); err != nil || !l.Open {
		return err
	}
	client, ok := r.(*control.Client)
	if !ok {
		_, err := a.daemon(ctx, dir) // nobody writes the trace: says so, with the hint
		return err
	}
	return a.followLive(ctx, client, l, asJSON)
}

// askAgain is how often a trace is asked for when no event comes: what the
// daemon itself writes into it is no event of the agent.
const askAgain = time.Second

func (a *app) followLive(ctx context.Context, client *control.Client, l control.Log, asJSON bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := client.Events(ctx, 0)
	if err != nil {
		return err
	}
	tick := time.NewTicker(askAgain)
	defer tick.Stop()
	for l.Open {
		select {
		case e, open := <-events:
			if !open {
				events = nil // lost, or too slow for them: the clock is left
			} else if e.Run != l.Run {
				continue
			}
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if l, err = client.Log(ctx, l.Run, l.Next); err != nil {
			return err
		}
		if err := a.printEvents(l.Events, asJSON); err != nil {
			return err
		}
	}
	return nil
}
