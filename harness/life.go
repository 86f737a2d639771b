package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
)

// How a life is made. Each step is one that may be the last before a crash:
//
//	Next   a folder beside its place, and its lock: nothing that counts
//	Hire   its keeper, which waits: it ends when we do, and has done nothing
//	Write  what the keeper needs, on the disk
//	Place  the folder gets its place: the life is there, whole
//	Start  the keeper is told to start the agent
//
// Hire and Write wait for different things (a process, the disk), and for
// nothing that is decided meanwhile. Whoever wants an agent soon does both
// before it is known whether there will be one.

// KeepCommand is the hidden command that KeepMain stands behind.
const KeepCommand = "keep"

// Next begins the next life of a run and takes its lock. The caller goes on to
// Start or gives it up with Close.
func (d Dir) Next() (*Life, error) {
	lives, err := d.Lives()
	if err != nil {
		return nil, err
	}
	l := d.life(1)
	if len(lives) > 0 {
		l = d.life(lives[len(lives)-1].N + 1)
	}
	l.made = filepath.Join(d.Path, newFolder)
	if err := os.RemoveAll(l.made); err != nil {
		return nil, err
	}
	if err := os.Mkdir(l.made, 0o700); err != nil {
		return nil, err
	}
	if l.lock, err = lock(filepath.Join(l.made, lockFile)); err != nil {
		return nil, err
	}
	return &l, nil
}

// Hire starts the keeper of a life, `exe keep FOLDER`, with env as the
// environment of the agent; it is handed on as it is and written nowhere. The
// keeper waits for Start and ends when nobody is left who could say it. One
// that was hired before is let go.
func (l *Life) Hire(exe string, env []string) error {
	l.dismiss()
	log, err := os.OpenFile(filepath.Join(l.folder(), keeperLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	told, gate, err := os.Pipe()
	if err != nil {
		return err
	}
	defer told.Close()
	cmd := &exec.Cmd{
		Path: exe,
		Args: []string{"deckhand", KeepCommand, l.Path},
		// The keeper carries no token, or the sweep would end it.
		Env:        slices.DeleteFunc(slices.Clone(env), isToken),
		Dir:        "/",
		Stderr:     log,
		ExtraFiles: []*os.File{l.lock, told}, // descriptors 3 and 4
		// A session of its own and nothing else: a process that is made leader
		// of a group first cannot begin a session.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		gate.Close()
		return fmt.Errorf("start keeper of %s: %w", l.Token(), err)
	}
	l.gate = gate
	// The keeper is meant to outlive us. Should it end first, somebody has to
	// reap it; its end is told by the lock and exit.json.
	go func() { _ = cmd.Wait() }()
	return nil
}

// Write writes and syncs what the life is about; what it was about before is
// replaced. Format, Run and Life of the spec are filled in.
func (l *Life) Write(spec Spec, prompt []byte, first []Send) error {
	spec.Format, spec.Run, spec.Life = 1, l.Run, l.N
	run, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	rows, err := encodeRows(first)
	if err != nil {
		return err
	}
	dir := l.folder()
	err = together(
		func() error { return writeSynced(filepath.Join(dir, specFile), append(run, '\n')) },
		func() error { return writeSynced(filepath.Join(dir, promptFile), prompt) },
		func() error { return writeSynced(filepath.Join(dir, inFile), rows) })
	return errors.Join(err, syncDir(dir))
}

// Place gives the life its place: before, it was not there, now it is whole. The
// keeper syncs its name with that of the capture.
func (l *Life) Place() error {
	if err := os.Rename(l.made, l.Path); err != nil {
		return err
	}
	l.made = ""
	return nil
}

// Start lets the keeper start the agent, and returns before it has; the lock is
// the keeper's then. A keeper that has died is found dead by whoever follows
// the life, like one that dies a moment later.
func (l *Life) Start() error {
	if l.gate == nil {
		return fmt.Errorf("%s: no keeper was hired", l.Token())
	}
	_, err := l.gate.Write([]byte{goOn})
	if errors.Is(err, syscall.EPIPE) {
		err = nil
	}
	l.Close()
	return err
}

// Close lets go of a life: of one that is not to be started, of the keeper that
// waits and of the folder that is in no place, too.
func (l *Life) Close() {
	l.dismiss()
	if l.lock != nil {
		l.lock.Close()
		l.lock = nil
	}
	if l.made != "" {
		_ = os.RemoveAll(l.made) // what is left is removed by the next life
	}
}

func (l *Life) dismiss() {
	if l.gate != nil {
		l.gate.Close()
		l.gate = nil
	}
}

// folder is where the files of the life are.
func (l *Life) folder() string {
	if l.made != "" {
		return l.made
	}
	return l.Path
}
