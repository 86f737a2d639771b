package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deckhand/internal/config"
	"deckhand/internal/control"
	"deckhand/internal/daemon"
)

// changeConfig splices config.yaml. The file is replaced in one durable step,
// and only if it still is what the change was made for: it may be open in the
// person's editor. byHand is what to do where a splice would be a guess.
func (a *app) changeConfig(byHand string, change func(src []byte) ([]byte, error)) error {
	path := realPath(a.configPath()) // a link into somebody's dotfiles stays one
	before, err := a.readConfig()
	if err != nil {
		return err
	}
	after, err := change(before)
	if errors.Is(err, config.ErrShape) {
		return &control.Error{Text: fmt.Sprintf("%s: %v", tilde(path), err), Hint: byHand, Code: control.CodeConflict}
	}
	if err != nil {
		return err
	}
	if bytes.Equal(before, after) && before != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replaceFile(path, before, after)
}

// replaceFile puts after in the place of before, with the mode that is there.
func replaceFile(path string, before, after []byte) error {
	mode := os.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".config-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(after)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if now, err := os.ReadFile(path); err == nil && !bytes.Equal(now, before) {
		return &control.Error{Text: tilde(path) + " changed meanwhile", Hint: "type the command again", Code: control.CodeConflict}
	}
	return os.Rename(f.Name(), path)
}

// grant makes a folder take note of new rights: its daemon, or we in its place.
func (a *app) grant(ctx context.Context, dir string, g daemon.Grants) error {
	client, err := control.Connect(ctx, socket(dir))
	if err != nil {
		return daemon.Grant(ctx, a.options(dir), g)
	}
	defer client.Close()
	var also []string
	if g.Start {
		also = append(also, "start")
	}
	if g.Trust {
		also = append(also, "trust")
	}
	if g.Here {
		also = append(also, "here")
	}
	_, err = client.Do(ctx, control.Command{ID: rand.Text(), Name: "grant", Text: strings.Join(also, " ")})
	return err
}

// grantAll does so for every trusted folder: a project is the machine's.
func (a *app) grantAll(ctx context.Context) error {
	m, err := a.machine()
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range m.Trust {
		if _, err := os.Stat(dir); err != nil {
			continue // a disk that is not there now: the daemon compares when it is
		}
		errs = append(errs, a.grant(ctx, dir, daemon.Grants{}))
	}
	return errors.Join(errs...)
}

// revoked says which runs a right that is gone leaves without, and stops them
// unless they are to be kept.
func (a *app) revoked(ctx context.Context, dir string, keep bool, concerns func(control.Run) bool) error {
	r, done, err := a.reader(ctx, dir)
	if err != nil {
		return err
	}
	defer done()
	s, err := r.Status(ctx)
	if err != nil {
		return err
	}
	var live []control.Run
	var rows [][]string
	for _, run := range s.Runs {
		if (run.Status == "working" || run.Status == "waiting" || run.Status == "queued") && concerns(run) {
			live = append(live, run)
			rows = append(rows, []string{place(run.Board, run.Line), run.Status, run.Card, "@" + run.Agent})
		}
	}
	if len(live) == 0 {
		return nil
	}
	table(a.out, rows)
	if keep {
		a.say("%s on: deckhand stop --all ends them", count(len(live), "agent goes", "agents go"))
		return nil
	}
	client, err := a.daemon(ctx, dir)
	if err != nil {
		return err
	}
	defer client.Close()
	return a.stopRuns(ctx, client, live)
}
