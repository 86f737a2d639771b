package harness

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	lookMost  = 64 << 10        // bytes of what a program prints that are kept
	lookDelay = time.Second     // for what it printed last, when somebody else has the pipe
	lookSweep = 5 * time.Second // for those it left behind
)

// Look runs a program for a moment, for a driver that wants to know what it
// is, and returns the beginning of what it printed on both streams. env nil is
// our own. It ends with ctx, and what it started ends with it: its group, and on
// Linux whatever carries its token, wherever that went.
func Look(ctx context.Context, argv, env []string) (out []byte, err error) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return lookAs(ctx, "look/"+hex.EncodeToString(id[:]), argv, env)
}

func lookAs(ctx context.Context, token string, argv, env []string) (out []byte, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if env == nil {
		env = os.Environ()
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(slices.DeleteFunc(slices.Clone(env), isToken), TokenVar+"="+token)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, err
	}
	read := make(chan []byte, 1)
	go func() { read <- beginning(r) }()
	err = endGroup(ctx, cmd.Process)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookSweep)
	defer cancel()
	_, _, _ = Sweep(after, token, nil) // what will not end, or cannot be found here, changes nothing about what was seen
	_ = r.SetReadDeadline(time.Now().Add(lookDelay))
	return <-read, err
}

// endGroup waits for a process, not longer than ctx, and ends its group before
// it is reaped: until then its number is its own.
func endGroup(ctx context.Context, p *os.Process) error {
	exited := make(chan func() (*os.ProcessState, error), 1)
	go func() { exited <- waitExit(p) }()
	kill := func() { _ = unix.Kill(-p.Pid, unix.SIGKILL) }
	var reap func() (*os.ProcessState, error)
	var ended error
	select {
	case reap = <-exited:
	case <-ctx.Done():
		ended = ctx.Err()
		kill()
		reap = <-exited
	}
	kill()
	state, err := reap()
	switch {
	case ended != nil:
		return ended
	case err != nil:
		return err
	case !state.Success():
		return &exec.ExitError{ProcessState: state}
	}
	return nil
}

// beginning reads to the end and keeps the first bytes.
func beginning(r io.Reader) []byte {
	out, err := io.ReadAll(io.LimitReader(r, lookMost))
	if err == nil {
		_, _ = io.Copy(io.Discard, r)
	}
	return out
}
