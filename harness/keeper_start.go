package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// KeepCommand is the hidden command that KeepMain stands behind.
const KeepCommand = "keep"

// Start starts the keeper of a life, `exe keep FOLDER`, with env as the
// environment of the agent; it is handed on as it is and written nowhere. Start
// returns when the keeper runs, not when the agent is ready, and the lock is
// the keeper's then. A life that was found by Lives is locked first.
func (l *Life) Start(exe string, env []string) error {
	if l.lock == nil {
		f, err := lock(filepath.Join(l.Path, lockFile))
		if errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("%s: %w", l.Token(), ErrHeld)
		} else if err != nil {
			return err
		}
		l.lock = f
	}
	defer l.Close()
	if out, err := exists(filepath.Join(l.Path, segmentName(1))); err != nil {
		return err
	} else if out {
		return fmt.Errorf("%s: %w", l.Token(), ErrStarted)
	}
	log, err := os.OpenFile(filepath.Join(l.Path, keeperLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := &exec.Cmd{
		Path: exe,
		Args: []string{"deckhand", KeepCommand, l.Path},
		// The keeper carries no token, or the sweep would end it.
		Env:        slices.DeleteFunc(slices.Clone(env), isToken),
		Dir:        "/",
		Stderr:     log,
		ExtraFiles: []*os.File{l.lock}, // descriptor 3
		// A session of its own and nothing else: a process that is made leader
		// of a group first cannot begin a session.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start keeper of %s: %w", l.Token(), err)
	}
	// The keeper is meant to outlive us. Should it end first, somebody has to
	// reap it; its end is told by the lock and exit.json.
	go func() { _ = cmd.Wait() }()
	return nil
}

func isToken(entry string) bool { return strings.HasPrefix(entry, TokenVar+"=") }

// End asks the keeper to end the agent without a row in in.jsonl, for a disk
// that is full. A life without a keeper has ended.
func (l Life) End() error {
	err := signalKeeper(l, unix.SIGTERM)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// pid is the keeper's, as it wrote it into the lock; 0 when it did not yet.
func (l Life) pid() int {
	data, err := os.ReadFile(filepath.Join(l.Path, lockFile))
	if err != nil || !bytes.HasSuffix(data, []byte{'\n'}) {
		return 0
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil {
		return 0
	}
	return pid
}
