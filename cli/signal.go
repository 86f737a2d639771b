package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// errTerminated is the cause of a context that SIGTERM or SIGHUP ended: whoever
// sends these wants the end, so it is a good one.
var errTerminated = errors.New("terminated")

// untilSignal is a context that ends with the first signal. The second one
// finds the usual behaviour again and ends the program at once.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			if s == os.Interrupt {
				cancel(context.Canceled)
			} else {
				cancel(errTerminated)
			}
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, func() { cancel(nil) }
}
