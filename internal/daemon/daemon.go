// Package daemon owns every goroutine and all state of a work folder: it turns
// events into actions and actions into effects.
//
// CONTRACT (to be completed by the owner of this package).
package daemon

import (
	"context"
	"io"

	"deckhand/internal/control"
)

// Options of a daemon.
type Options struct {
	Dir     string // the work folder
	Config  string // config.yaml
	State   string // $XDG_STATE_HOME/deckhand
	Runtime string // folder of the control socket
	Exe     string // the program to start keepers from; empty: /proc/self/exe
	Once    bool   // every card counts as settled; end when nothing runs and nothing can start
	DryRun  bool   // say what would start, write nothing
	Log     io.Writer
	Version string
}

// Outcome of a run of the daemon.
type Outcome struct {
	Waiting int // asks and reviews that wait for a person (exit 3 with Once)
	Live    int // agents that go on
}

// Run runs the daemon until ctx ends (or, with Once, until nothing is left to do).
func Run(ctx context.Context, o Options) (Outcome, error) { return Outcome{}, nil }

// Open reads the state of a work folder without a daemon. It writes nothing.
func Open(ctx context.Context, o Options) (control.Reader, error) { return nil, nil }
