package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/control"
)

// Desk is where a person goes on by hand with what a run did.
type Desk struct {
	Card   string // its title
	Folder string // of the project
	Argv   []string
	Env    []string // of Argv; nil: the person's own
}

// FindDesk finds the project folder of a run, and changes nothing.
func FindDesk(o Options, name string) (Desk, error) {
	_, _, desk, err := findDesk(o, name)
	return desk, err
}

// Takeover is the agent's own program for a terminal, on the session of a run
// that is over: of two programs on one session one would lose what it says.
func Takeover(o Options, name string) (Desk, error) {
	m, r, desk, err := findDesk(o, name)
	if err != nil {
		return desk, err
	}
	id := strings.ToLower(r.ID)
	if r.Phase != dispatch.PhaseOver {
		return desk, &control.Error{Text: "the agent of " + strconv.Quote(r.Card.Title) + " is at work", Hint: "deckhand stop " + id, Code: control.CodeConflict}
	}
	if r.Agent == assistantName {
		return desk, &control.Error{Text: "the assistant has no program for a terminal", Hint: "deckhand reply " + id + " TEXT", Code: control.CodeError}
	}
	session := sessionOf(r.dir)
	if _, err := os.Stat(session); errors.Is(err, fs.ErrNotExist) {
		return desk, &control.Error{Text: "the agent of " + strconv.Quote(r.Card.Title) + " has left no session", Hint: "deckhand retry " + id, Code: control.CodeError}
	}
	a, driver, err := m.harnessAgent(r.Agent)
	if err != nil {
		return desk, err
	}
	desk.Env = forTerminal(a.Env)
	desk.Argv, err = driver.Terminal(a.Agent, session)
	return desk, err
}

func findDesk(o Options, name string) (*model, *run, Desk, error) {
	f, err := openFolder(o.Dir, o.State)
	if err != nil {
		return nil, nil, Desk{}, err
	}
	m := newModel(o, f)
	if err := m.configure(); err != nil {
		return nil, nil, Desk{}, err
	}
	if err := m.load(); err != nil {
		return nil, nil, Desk{}, err
	}
	r, fault := m.run(name)
	if fault != nil {
		return nil, nil, Desk{}, fault
	}
	if !isDir(r.Folder) {
		return nil, nil, Desk{}, &control.Error{Text: "the project folder " + tilde(r.Folder) + " is not there", Hint: "deckhand project list", Code: control.CodeError}
	}
	return m, r, Desk{Card: r.Card.Title, Folder: r.Folder}, nil
}

// sessionOf is where an agent keeps the session of a run.
func sessionOf(d harness.Dir) string { return filepath.Join(d.Path, "session.jsonl") }

// forTerminal gives an agent's environment back what a terminal needs.
func forTerminal(env []string) []string {
	own := []string{"TERM", "COLORTERM", "NO_COLOR"}
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(own, name)
	})
	for _, name := range own {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
