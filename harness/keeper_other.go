//go:build !linux

package harness

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// KeeperExe is the program to start keepers from.
func KeeperExe() (string, error) { return os.Executable() }

// leftBehind is sent to those left in an agent's group; nobody comes after.
const leftBehind = unix.SIGKILL

// waitExit waits for the end of a child.
func waitExit(p *os.Process) (reap func() (*os.ProcessState, error)) {
	state, err := p.Wait()
	return func() (*os.ProcessState, error) { return state, err }
}

// signalKeeper signals the keeper.
func signalKeeper(l Life, sig unix.Signal) error {
	pid := l.pid()
	if held, err := l.held(); err != nil || !held || pid == 0 {
		return errors.Join(err, unix.ESRCH)
	}
	return unix.Kill(pid, sig)
}

// keeperDeath is not known here: the lock is looked at every second.
func keeperDeath(context.Context, int) <-chan struct{} { return nil }
