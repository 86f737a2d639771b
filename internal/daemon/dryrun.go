package daemon

import (
	"context"
	"fmt"
	"time"

	"deckhand/dispatch"
)

// dryRun says what would start, with every reason of what would not. It writes
// nothing.
func dryRun(ctx context.Context, o Options) error {
	r, err := Open(ctx, o)
	if err != nil {
		return err
	}
	m := r.(*offline).m
	m.o.Once = true
	decision := dispatch.Reconcile(m.world(time.Now()))
	for _, v := range decision.Cards {
		at := where(v.Board.Path, v.Card.Line, 0)
		if v.Start() {
			fmt.Fprintf(o.Log, "%s: %s: @%s would start\n", at, v.Card.Title, v.Card.Agents[0])
			continue
		}
		for _, rule := range v.Rules {
			if !rule.OK {
				fmt.Fprintf(o.Log, "%s: %s: %s\n", at, v.Card.Title, rule.Why.Text)
			}
		}
	}
	if len(decision.Cards) == 0 {
		fmt.Fprintln(o.Log, "no card asks for an agent")
	}
	return nil
}
