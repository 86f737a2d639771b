package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"deckhand/internal/control"
	"deckhand/internal/daemon"
	"deckhand/internal/shell"
)

// askCards are what the person in the demo saves when they want to be asked: one
// card for each place in which they can answer.
const askCards = `- [ ] Checkout with QRIS [[Specification#Payment]] @pi #feature
	[ask]
- [ ] Invoice as a PDF @pi
	[ask]
- [ ] Stock as a table @pi
	[ask]
`

// askSettings are for a person who looks on: nobody types for long there.
const askSettings = "settle: 500ms\ntyping: 1s\n"

// demoAsk runs a daemon until every card is through, and says at each question
// where it can be answered. An agent that still waits when the person has had
// enough is ended.
func (a *app) demoAsk(ctx context.Context, o daemon.Options) error {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	over := make(chan error, 1)
	go func() {
		_, err := daemon.Run(running, o)
		over <- err
	}()
	client, err := met(ctx, o.Dir, over)
	if err != nil {
		return err
	}
	defer client.Close()
	err = a.answerAll(ctx, client, o.Dir)
	if _, stopped := client.Do(running, control.Command{ID: "end of the demo", Name: "stop_all"}); err == nil {
		err = stopped
	}
	end()
	return errors.Join(err, <-over)
}

// met waits for a daemon that has just been started.
func met(ctx context.Context, dir string, over <-chan error) (*control.Client, error) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-over:
			return nil, errors.Join(errors.New("the daemon ended"), err)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-look.C:
		}
		c, err := control.Connect(ctx, socket(dir))
		if err == nil {
			return c, nil
		}
	}
}

// answerAll follows the cards until none of them works, waits or is to start.
func (a *app) answerAll(ctx context.Context, client *control.Client, dir string) error {
	events, err := client.Events(ctx, 0)
	if err != nil {
		return err
	}
	said := map[string]bool{}
	for e := range events {
		if e.Kind == "run" {
			continue
		}
		var s control.Status
		if err := e.Decode(&s); err != nil {
			return err
		}
		open := len(s.Runs) < strings.Count(askCards, "[ask]")
		for _, r := range s.Runs {
			open = open || r.Ended == nil
			for _, q := range r.Asks {
				if !said[q.ID] {
					said[q.ID] = true
					a.say("%s", cleanText(howToAnswer(r, q, dir)))
				}
			}
		}
		if !open {
			return nil
		}
	}
	return ctx.Err()
}

// howToAnswer says what is asked, and the places in which it can be answered.
func howToAnswer(r control.Run, q control.Ask, dir string) string {
	at := shell.Quote(dir)
	return fmt.Sprintf(`@%s asks on %q: %s
  tick a box below the card in %s/Shop.md, or in %s/deckhand/Needs me.md
  or type in another terminal: deckhand answer --dir %s %s allow
  or open the pane: deckhand --dir %s
`, r.Agent, r.Card, joined(q.Title, q.Message), dir, dir, at, strings.ToLower(r.ID), at)
}
