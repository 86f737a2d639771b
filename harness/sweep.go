package harness

import "errors"

// Proc is a process that carried the token of a life.
type Proc struct {
	PID  int
	Name string
}

// ErrNotSwept is returned by Sweep where processes cannot be found by their
// environment.
var ErrNotSwept = errors.New("processes an agent left behind are not looked for on this system")
