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
		return dispatch.Reason{Text: s.host + " runs this folder", Hint: "deckhand trust --here takes over"}
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

// readMachine looks which machine Machine.md names.
func (m *model) readMachine() {
	src, err := os.ReadFile(filepath.Join(m.f.dir, filepath.FromSlash(m.settings.Output), "Machine.md"))
	if err != nil {
		m.mine = machineState{}
		return
	}
	id, host, ok := inbox.ReadMachine(src)
	mine, err := machineID(m.o.State)
	m.mine = machineState{here: ok && err == nil && id == mine, named: ok, host: host}
}

// takeFolder writes this machine into Machine.md: when none is named, or when
// a person says so.
func (m *model) takeFolder(ctx context.Context, s *store.Store, here bool) error {
	m.readMachine()
	if m.mine.here || m.mine.named && !here {
		return nil
	}
	id, err := machineID(m.o.State)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	_, err = s.UpdateNow(ctx, m.settings.Output+"/Machine.md", func([]byte) ([]byte, error) {
		return inbox.RenderMachine(id, host), nil
	})
	if err != nil {
		return fmt.Errorf("Machine.md: %w", err)
	}
	m.readMachine()
	return nil
}
