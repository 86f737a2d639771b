package daemon

import (
	"context"
	"crypto/rand"
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
	here  bool
	named bool
	host  string
}

// held says why another machine's folder starts nothing here. A file that is
// missing or unreadable counts as another machine's: two laptops that meet
// again must not both start.
func (s machineState) held() dispatch.Reason {
	switch {
	case s.here:
		return dispatch.Reason{}
	case s.named:
		return dispatch.Reason{Text: s.host + " runs this folder", Hint: "deckhand trust --here"}
	}
	return dispatch.Reason{Text: "no machine is named to run this folder", Hint: "deckhand trust --here"}
}

// machineID is this machine's id, made once.
func machineID(state string) (string, error) {
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
		return machineID(state)
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

// readMachine looks which machine Machine.md names.
func readMachine(dir, output, state string) machineState {
	src, err := readRegular(filepath.Join(dir, filepath.FromSlash(output), machineName))
	if err != nil {
		return machineState{}
	}
	id, host, ok := inbox.ReadMachine(src)
	mine, err := machineID(state)
	return machineState{here: ok && err == nil && id == mine, named: ok, host: host}
}

// takeMachine writes this machine into Machine.md, when none is named or when a
// person says so, and gives who runs the folder then.
func takeMachine(ctx context.Context, s *store.Store, dir, output, state string, here bool) (machineState, error) {
	now := readMachine(dir, output, state)
	if now.here || now.named && !here {
		return now, nil
	}
	id, err := machineID(state)
	if err != nil {
		return now, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	_, err = s.UpdateNow(ctx, output+"/"+machineName, func([]byte) ([]byte, error) {
		return inbox.RenderMachine(id, host), nil
	})
	if err != nil {
		return now, fmt.Errorf("%s: %w", machineName, err)
	}
	return readMachine(dir, output, state), nil
}

// lookMachine looks again which machine is named.
func (d *daemon) lookMachine() {
	dir, output, state := d.f.dir, d.settings.Output, d.o.State
	d.queues.add("machine", func() any { return readMachine(dir, output, state) }, func(v any) {
		if now := v.(machineState); now != d.mine {
			d.mine, d.dirty = now, true
		}
	})
}

// takeFolder makes this machine the one that runs the folder; then is told how
// that ended.
func (d *daemon) takeFolder(here bool, then func(error)) {
	type taken struct {
		mine machineState
		err  error
	}
	dir, output, state := d.f.dir, d.settings.Output, d.o.State
	d.queues.add("machine", func() any {
		mine, err := takeMachine(d.ctx, d.store, dir, output, state, here)
		return taken{mine, err}
	}, func(v any) {
		t := v.(taken)
		d.mine, d.dirty = t.mine, true
		switch {
		case then != nil:
			then(t.err)
		case t.err != nil:
			d.say("%v", t.err)
		}
	})
}
