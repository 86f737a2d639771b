package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// demoAsk runs a daemon until every card is through, in a terminal until the
// person has had enough, and says where it can be answered. An agent that still
// waits then is ended.
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
	a.say("%s", cleanText(a.places(o.Dir)))
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

// answerAll follows the cards until none of them works, waits or is to start, and
// where a person sits in front of it until they end it.
func (a *app) answerAll(ctx context.Context, client *control.Client, dir string) error {
	events, err := client.Events(ctx, 0)
	if err != nil {
		return err
	}
	said, through := map[string]bool{}, false
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
					a.say("%s", clean(fmt.Sprintf("@%s asks on %q: %s", r.Agent, r.Card, joined(q.Title, q.Message))))
				}
			}
		}
		if !open && !a.interactive() {
			return nil
		}
		if !open && !through {
			through = true
			a.say("%s", cleanText(a.more()))
		}
	}
	if through {
		return nil
	}
	return ctx.Err()
}

// places says where the questions can be answered.
func (a *app) places(dir string) string {
	const at = "$DECKHAND_DIR"
	return fmt.Sprintf(`the stand-in asks on one card after the other. Answer each where you like, in another
terminal, after  export DECKHAND_DIR=%s

  vim %s/Shop.md                 tick one of the boxes below the card, and save
  vim "%s/deckhand/Needs me.md"  the same there; or in the chat that the card names
  %s answer Checkout allow            or deny, --why "the reason"
  %s                                  the pane
`, shell.Quote(dir), at, at, program(), program())
}

// more says what else can be tried.
func (a *app) more() string {
	return fmt.Sprintf(`
all three cards are through. Still to be tried, until you press Ctrl-C:

  %s reply Checkout "Again. [ask]"    it goes on in its session, and asks again
  %s stop Checkout                    ends it while it asks
  in Shop.md: write below a card what is wrong and move it back to Plan; tick one that is good
`, program(), program())
}

// program is how this program is called.
func program() string {
	self, err := os.Executable()
	if err != nil {
		return "deckhand"
	}
	if found, err := exec.LookPath("deckhand"); err == nil && realPath(found) == realPath(self) {
		return "deckhand"
	}
	return shell.Path(self)
}
