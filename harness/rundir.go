package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// TokenVar is the variable that marks every process of a life. Its value is
// Life.Token.
const TokenVar = "DECKHAND_RUN"

// The files of a run folder and of the folders of its lives.
const (
	logFile    = "log.jsonl"  // run: what was intended and done
	specFile   = "run.json"   // life: a Spec
	promptFile = "prompt.md"  // life: the prompt as sent, with its receipt
	inFile     = "in.jsonl"   // life: rows for the agent, one Send a line
	lockFile   = "lock"       // life: flock held while a keeper lives; its pid inside
	exitFile   = "exit.json"  // life: an Exit, written last
	keeperLog  = "keeper.log" // life: what the keeper has to complain about
	runsFolder = "runs"       // state folder: one folder a run
	newFolder  = "new"        // run: a life that is not whole yet
)

// ErrRemoved is returned by State and Follow when the folder of the life was
// taken away, by a person or by the agent. How it ended will never be known;
// a keeper that is still there ends the agent.
var ErrRemoved = fmt.Errorf("the folder of the run was removed: %w", fs.ErrNotExist)

// Dir is the folder of one run, in the state folder.
type Dir struct{ Path string }

// CreateDir makes the folder of a new run in the state folder of a work folder.
// It is on the disk when the first line of its log is.
func CreateDir(state, run string) (Dir, error) {
	if run == "" || run != filepath.Base(run) || !filepath.IsLocal(run) {
		return Dir{}, fmt.Errorf("run %q: not a name for a folder", run)
	}
	runs := filepath.Join(state, runsFolder)
	if err := os.MkdirAll(runs, 0o700); err != nil {
		return Dir{}, err
	}
	d := Dir{Path: filepath.Join(runs, run)}
	return d, os.Mkdir(d.Path, 0o700)
}

// OpenDir returns the folder of a run that exists.
func OpenDir(state, run string) (Dir, error) {
	d := Dir{Path: filepath.Join(state, runsFolder, run)}
	if info, err := os.Stat(d.Path); err != nil {
		return Dir{}, err
	} else if !info.IsDir() {
		return Dir{}, fmt.Errorf("%s: not a folder", d.Path)
	}
	return d, nil
}

// Run is the run's id.
func (d Dir) Run() string { return filepath.Base(d.Path) }

// Lives lists the lives of a run, first to last. Each is whole: a life whose
// making was cut short is not there.
func (d Dir) Lives() ([]Life, error) {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		return nil, err
	}
	var lives []Life
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 && e.IsDir() {
			lives = append(lives, d.life(n))
		}
	}
	slices.SortFunc(lives, func(a, b Life) int { return a.N - b.N })
	return lives, nil
}

func (d Dir) life(n int) Life {
	return Life{Path: filepath.Join(d.Path, strconv.Itoa(n)), Run: d.Run(), N: n}
}

// together does things at once that wait for the disk: one commit of the file
// system serves all of them.
func together(do ...func() error) error {
	errs := make([]error, len(do))
	var wg sync.WaitGroup
	for i, f := range do {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Life is one process of an agent in a run, and the folder that outlives it.
// Its methods are safe for several goroutines, except those that make it: Hire,
// Write, Place, Start and Close.
type Life struct {
	Path string
	Run  string
	N    int

	made string   // where its folder is before Place; empty: at Path
	lock *os.File // held from Next to Start
	gate *os.File // by which its keeper is told to start; nil: it has none
}

// Token is what TokenVar is set to in the processes of the life: run/number.
func (l Life) Token() string { return l.Run + "/" + strconv.Itoa(l.N) }

// Spec reads run.json.
func (l Life) Spec() (Spec, error) {
	var s Spec
	data, err := os.ReadFile(filepath.Join(l.Path, specFile))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: %w", filepath.Join(l.Path, specFile), err)
	}
	if s.Format != 1 {
		return s, fmt.Errorf("%s: format %d is not known", filepath.Join(l.Path, specFile), s.Format)
	}
	return s, nil
}

// Prompt reads prompt.md: what Write was given.
func (l Life) Prompt() ([]byte, error) {
	return os.ReadFile(filepath.Join(l.Path, promptFile))
}

// Exit is how a life ended, as its keeper saw it; it is exit.json.
type Exit struct {
	Code   int       `json:"code"`             // -1: by a signal, or it never ran
	Signal string    `json:"signal,omitempty"` // SIGKILL, SIGTERM, …
	Time   time.Time `json:"time"`
	Reason string    `json:"reason,omitempty"` // one sentence, when the agent could not be started or was ended by its keeper
}

// ReasonFolderGone is the Exit.Reason of a life whose working folder was not
// there: the agent was never started.
const ReasonFolderGone = "its working folder is gone"

// LifeState is what recovery wants to know of a life.
type LifeState struct {
	HasOut bool  // a keeper began: the agent ran, or perhaps ran
	Held   bool  // a keeper lives, or is being started
	Exit   *Exit // nil: not ended, or its keeper was killed
}

// State looks at a life. Held is looked at first: of a life that is not held,
// the rest is final.
func (l Life) State() (LifeState, error) {
	var s LifeState
	var err error
	if s.Held, err = l.held(); err != nil {
		return s, err
	}
	if s.HasOut, err = exists(filepath.Join(l.Path, segmentName(1))); err != nil {
		return s, err
	}
	data, err := os.ReadFile(filepath.Join(l.Path, exitFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, l.there() // of what was removed nothing is known, not even that it never ran
	} else if err != nil {
		return s, err
	}
	s.Exit = new(Exit)
	if err := json.Unmarshal(data, s.Exit); err != nil {
		return s, fmt.Errorf("%s: %w", filepath.Join(l.Path, exitFile), err)
	}
	return s, nil
}

// held reports whether the lock is taken. It asks for a shared lock, so that
// any number may ask at once.
func (l Life) held() (bool, error) {
	if l.lock != nil {
		return true, nil
	}
	f, err := os.Open(filepath.Join(l.Path, lockFile))
	if err != nil {
		return false, removed(err)
	}
	defer f.Close()
	switch err := flock(f, unix.LOCK_SH); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return false, nil
}

// there is ErrRemoved when the life is not there any more: its folder has a
// lock from the first to the last.
func (l Life) there() error {
	_, err := os.Lstat(filepath.Join(l.Path, lockFile))
	return removed(err)
}

func removed(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return ErrRemoved
	}
	return err
}

func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, unix.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// flock never waits, and is tried again when a signal came between.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir makes names in a folder durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
