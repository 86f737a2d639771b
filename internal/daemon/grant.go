package daemon

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"deckhand/internal/control"
	"deckhand/internal/shell"
	"deckhand/internal/store"
)

// Grants say what a grant is to do beside being written down.
type Grants struct {
	Start bool // the cards that are there may start
	Trust bool // the folder was trusted just now: this machine runs it when none is named
	Here  bool // this machine takes the folder over from another
}

// claim is how far that goes.
func (g Grants) claim() claim {
	switch {
	case g.Here:
		return claimHere
	case g.Trust:
		return claimFree
	}
	return claimNone
}

// regrant compares what is granted with what was, and marks the cards that
// were there before. A configuration with errors takes nothing away: what it
// grants is not known.
func (d *daemon) regrant(start bool) {
	if d.badMachine {
		return
	}
	if err := d.f.grant(d.grants(), d.waiting(), start); err != nil {
		d.say("%v", err)
	}
	d.dirty = true
}

// Grant takes note of what config.yaml grants now, for commands that changed
// it while no daemon runs: which cards were there before, and which machine
// runs the folder.
func Grant(ctx context.Context, o Options, g Grants) error {
	f, err := openFolder(o.Dir, o.State)
	if err != nil {
		return err
	}
	if why := f.wasCopied(); why.Text != "" && !g.Here {
		return &control.Error{Text: tilde(f.dir) + ": " + why.Text, Hint: why.Hint, Code: control.CodeConflict}
	}
	if err := f.take(); err != nil {
		return err
	}
	defer f.release()
	m, s, err := scanned(o, f, f.path())
	if err != nil {
		return err
	}
	if m.badOutput != "" {
		return errors.Join(&control.Error{Text: m.badOutput, Hint: "output: in deckhand.yaml names it", Code: control.CodeConflict}, s.Close())
	}
	err = f.output(m.settings.Output)
	if err == nil && m.trusted() {
		var now machineState
		var took bool
		if now, took, err = takeMachine(ctx, s, f.dir, m.settings.Output, o.State, g.claim()); err == nil {
			err = f.sawMachine(now, took)
		}
	}
	if err == nil && !m.badMachine {
		err = f.grant(m.grants(), m.waiting(), g.Start)
	}
	return errors.Join(err, s.Close())
}

// Open reads the state of a work folder without a daemon. It writes nothing.
func Open(ctx context.Context, o Options) (control.Reader, error) {
	f, err := openFolder(o.Dir, o.State)
	if err != nil {
		return nil, err
	}
	m, s, err := scanned(o, f, "")
	if err != nil {
		return nil, err
	}
	if err := m.load(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	m.mine = readMachine(f.dir, m.settings.Output, o.State)
	for name := range m.mentioned() { // to look at a program takes time: only at those that matter
		m.agents[name] = m.probeNow(ctx, name)
	}
	return &offline{m: m, s: s}, nil
}

// scanned is a model with the files' side read from the disk. With a state
// folder the store may write, without one nothing does.
func scanned(o Options, f *folder, state string) (*model, *store.Store, error) {
	m := newModel(o, f)
	if err := m.configure(); err != nil {
		return nil, nil, err
	}
	s, err := store.Open(f.dir, store.Options{State: state})
	if err != nil {
		return nil, nil, err
	}
	paths, others, err := list(f.dir, m.skip())
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	for _, p := range others {
		m.files.put(p)
	}
	m.wiki = isDir(filepath.Join(f.dir, ".obsidian"))
	m.outputs()
	for _, file := range m.looker(s).all(paths) {
		m.take(file)
	}
	m.mem.Open = true
	return m, s, nil
}

// outputs makes sure that the present output: is known without writing it down.
func (m *model) outputs() {
	if m.badOutput == "" && !slices.Contains(m.f.file.Outputs, m.settings.Output) {
		m.f.file.Outputs = append(slices.Clone(m.f.file.Outputs), m.settings.Output)
	}
}

// mentioned are the configured agents that an open card of any board names.
func (m *model) mentioned() map[string]bool {
	out := map[string]bool{}
	for _, s := range m.boards {
		for _, c := range s.board.All() {
			for _, name := range c.Agents {
				if _, ok := m.machine.Agents[name]; ok && c.Open() {
					out[name] = true
				}
			}
		}
	}
	return out
}

// Adopt takes over the state of a folder that was moved: the one whose folder
// is not where it was and that is, by its inode, this one; else the only one
// of the same name that lost its folder.
func Adopt(o Options) (from string, err error) {
	f, err := openFolder(o.Dir, o.State)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(f.path("folder.json")); err == nil {
		return "", &control.Error{Text: f.dir + " has a state of its own already", Code: control.CodeConflict}
	}
	info, err := os.Stat(f.dir)
	if err != nil {
		return "", err
	}
	lost, err := lostStates(o.State)
	if err != nil {
		return "", err
	}
	var match []string
	for state, file := range lost {
		if file.Inode == inode(info) {
			match = append(match, state)
		}
	}
	if len(match) == 0 {
		for state, file := range lost {
			if filepath.Base(file.Path) == filepath.Base(f.dir) {
				match = append(match, state)
			}
		}
	}
	if len(match) != 1 {
		return "", &control.Error{Text: "no state of a folder that moved here is found", Hint: "deckhand trust " + shell.Path(tilde(f.dir)), Code: control.CodeError}
	}
	old := lost[match[0]]
	if err := os.Rename(match[0], f.state); err != nil {
		return "", err
	}
	f.file = old
	f.file.Path, f.file.Inode = f.dir, inode(info)
	return old.Path, f.save()
}

// lostStates are the states whose folder is not there any more.
func lostStates(state string) (map[string]folderFile, error) {
	out, err := states(state)
	maps.DeleteFunc(out, func(_ string, file folderFile) bool {
		_, err := os.Stat(file.Path)
		return !errors.Is(err, fs.ErrNotExist)
	})
	return out, err
}
