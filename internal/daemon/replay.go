package daemon

import (
	"context"
	"fmt"

	"deckhand/harness"
)

// Replay reads the captures of a recorded run folder through the driver again
// and writes one line an event. No agent is started.
func Replay(ctx context.Context, path string, write func(life int, e harness.Event)) error {
	dir := harness.Dir{Path: path}
	lives, err := dir.Lives()
	if err != nil {
		return err
	}
	if len(lives) == 0 {
		return fmt.Errorf("%s holds no recorded life", path)
	}
	for _, l := range lives {
		if err := decode(l, drivers(), 0, func(e harness.Event) { write(l.N, e) }); err != nil {
			return fmt.Errorf("life %d: %w", l.N, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
