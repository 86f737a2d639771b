package daemon

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deckhand/dispatch"
	"deckhand/inbox"
	"deckhand/internal/store"
)

// machineState is which machine runs the folder, by deckhand/Machine.md.
type machineState struct {
	here  bool // it is this one
	named bool // one is named
	there bool // there is a Machine.md, whatever it says
	lost  bool // the disk would not give it, or our own name: nothing is known, and it is looked for again
	host  string
}

// elsewhere reports whether another machine is named.
func (s machineState) elsewhere() bool { return s.named && !s.here }

// held says why another machine's folder starts nothing here. A file that is
// missing or unreadable counts as another machine's: two laptops that meet
// again must not both start. So does one that names us again after it named
// another: sync brings old copies back, and the other one may be at work.
func (s machineState) held(away bool) dispatch.Reason {
	const hint = "deckhand trust --here"
	switch {
	case s.here && away:
		return dispatch.Reason{Text: "another machine has run this folder since this one did: an old copy of " + machineName + " may have come back", Hint: hint}
	case s.here:
		return dispatch.Reason{}
	case s.named:
		return dispatch.Reason{Text: s.host + " runs this folder", Hint: hint}
	}
	return dispatch.Reason{Text: "no machine is named to run this folder", Hint: hint}
}

// machineID is this machine's id. It is made of a random one, kept with the
// state, and of the system's own: a home folder that is copied to another
// computer takes the first along, and would make two machines one.
func machineID(state string) (string, error) {
	kept, err := keptID(state)
	if err != nil {
		return "", err
	}
	system, err := os.ReadFile("/etc/machine-id")
	if err != nil || len(system) == 0 {
		return kept, nil // no such system: a copy is not told from what it was copied from
	}
	sum := sha256.Sum256(append([]byte(kept+"\n"), bytes.TrimSpace(system)...))
	return hex.EncodeToString(sum[:8]), nil
}

// keptID is the random part, made once.
func keptID(state string) (string, error) {
	path := filepath.Join(state, "machine-id")
	data, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(data))) > 0 {
		return strings.TrimSpace(string(data)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return "", err
	}
	var raw [8]byte
	rand.Read(raw[:])
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return keptID(state)
	}
	if err != nil {
		return "", err
	}
	id := hex.EncodeToString(raw[:])
	_, err = fmt.Fprintln(f, id)
	return id, errors.Join(err, f.Sync(), f.Close())
}

// machineName is the file in output: that names the machine.
const machineName = "Machine.md"

// readMachine looks which machine Machine.md names. A link is not followed: it
// could lead to a file that says something else on every machine.
func readMachine(dir, output, state string) machineState {
	path := filepath.Join(dir, filepath.FromSlash(output), machineName)
	info, err := os.Lstat(path)
	if err != nil {
		return machineState{there: !errors.Is(err, fs.ErrNotExist), lost: diskFailed(err)}
	}
	if !info.Mode().IsRegular() {
		return machineState{there: true}
	}
	src, err := readRegular(path, settingsMost)
	if err != nil {
		return machineState{there: true, lost: diskFailed(err)}
	}
	id, host, ok := inbox.ReadMachine(src)
	mine, err := machineID(state)
	if err != nil {
		return machineState{there: true, lost: true} // that another machine is named would be kept for good
	}
	return machineState{here: ok && id == mine, named: ok, there: true, host: host}
}

// claim is how far a machine may go to run a folder.
type claim int

const (
	claimNone claim = iota // it only looks
	claimFree              // when there is no Machine.md
	claimHere              // a person says so
)

// takeMachine writes this machine into Machine.md when it may, and gives who
// runs the folder then; took is true when a claim has made it this one.
func takeMachine(ctx context.Context, s *store.Store, dir, output, state string, c claim) (now machineState, took bool, err error) {
	now = readMachine(dir, output, state)
	switch {
	case c == claimNone, c == claimFree && now.there:
		return now, false, nil
	case now.here:
		return now, true, nil
	}
	id, err := machineID(state)
	if err != nil {
		return now, false, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	_, err = s.UpdateNow(ctx, output+"/"+machineName, func([]byte) ([]byte, error) {
		return inbox.RenderMachine(id, host), nil
	})
	if err != nil {
		return now, false, err
	}
	now = readMachine(dir, output, state)
	return now, now.here, nil
}

// sawMachine keeps for good that another machine runs the folder, and that this
// one was told to.
func (f *folder) sawMachine(now machineState, took bool) error {
	was := f.file
	switch {
	case took:
		f.file.Away, f.file.Machine, f.copied = false, f.machine, false
	case now.elsewhere():
		f.file.Away = true
	}
	if was.Away == f.file.Away && was.Machine == f.file.Machine {
		return nil
	}
	return f.save()
}

// wasCopied says that the state is another machine's: it may be at work on the
// runs in it, and what a keeper there does cannot be seen from here.
func (f *folder) wasCopied() dispatch.Reason {
	if !f.copied {
		return dispatch.Reason{}
	}
	return dispatch.Reason{Text: "the state of this folder was copied from another machine, which may still run it", Hint: "deckhand trust --here"}
}

// lookMachine looks again which machine is named.
func (d *daemon) lookMachine() {
	dir, output, state := d.f.dir, d.settings.Output, d.o.State
	d.queues.add("machine", func() any { return readMachine(dir, output, state) }, func(v any) { d.runBy(v.(machineState), false) })
}

// runBy takes note of who runs the folder.
func (d *daemon) runBy(now machineState, took bool) {
	if now != d.mine || took {
		d.mine, d.dirty = now, true
	}
	if err := d.f.sawMachine(now, took); err != nil {
		d.say("%v", err)
	}
	if now.lost && !d.o.Once {
		d.lookSoon(d.settings.Output+"/"+machineName, pause)
	}
}

// elsewhere is the error of a claim that was decided when the folder was still
// this machine's.
type elsewhere struct{ now machineState }

func (e elsewhere) Error() string { return e.now.held(false).Text }

// stillHere gives a look at the machine that is named, for where a claim is
// written: what a sync has just brought may not have come to the model yet.
func (d *daemon) stillHere() func() error {
	dir, output, state := d.f.dir, d.settings.Output, d.o.State
	return func() error {
		if now := readMachine(dir, output, state); !now.here {
			return elsewhere{now}
		}
		return nil
	}
}

// takeFolder makes this machine the one that runs the folder, when it may; then
// is told how that ended.
func (d *daemon) takeFolder(c claim, then func(error)) {
	type taken struct {
		mine machineState
		took bool
		err  error
	}
	dir, output, state := d.f.dir, d.settings.Output, d.o.State
	d.queues.add("machine", func() any {
		mine, took, err := takeMachine(d.ctx, d.store, dir, output, state, c)
		return taken{mine, took, err}
	}, func(v any) {
		t := v.(taken)
		d.runBy(t.mine, t.took)
		d.dirty = true
		switch {
		case then != nil:
			then(t.err)
		case t.err != nil:
			d.say("%v", t.err)
		}
	})
}
