package daemon

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deckhand/dispatch"
	"deckhand/internal/control"
	"deckhand/internal/shell"
)

// ErrRunning is wrapped when another daemon runs on the folder.
var ErrRunning = errors.New("another deckhand runs on this folder")

// folder is the machine's state of one work folder:
//
//	<state>/<key>/folder.json    what was granted, and what was there before
//	<state>/<key>/daemon.json    the daemon that runs, or ran last
//	<state>/<key>/receipts.jsonl first results of client commands
//	<state>/<key>/runs/<id>/     one folder a run (package harness)
type folder struct {
	dir     string // real path of the work folder
	key     string
	state   string // <state>/<key>
	file    folderFile
	moved   string   // where the folder was before, when its state is still there and it has none here
	twin    string   // the name the same folder has its state by: this one is a bind mount, or written in other letters
	machine string   // this machine's id
	copied  bool     // the state was another machine's, and nobody has said that this one goes on with it
	lock    *os.File // flock on the work folder itself, while a daemon runs

	receipts receipts // of a daemon
}

// folderFile is folder.json.
type folderFile struct {
	Format  int      `json:"format"` // 1
	Path    string   `json:"path"`
	Inode   uint64   `json:"inode"`          // of the work folder: how a moved one is known again
	Secret  string   `json:"secret"`         // makes the nonces of prompts
	Machine string   `json:"machine"`        // whose state this is: a copied home takes it along
	Away    bool     `json:"away,omitempty"` // another machine was named to run the folder since this one was told to
	Outputs []string `json:"outputs"`        // every folder that ever was output:
	Grants  []string `json:"grants"`
	Before  []before `json:"before"`
	Forced  []cardID `json:"forced,omitempty"` // cards a person asked for by command, until they have their run
}

// cardID is dispatch.CardID in folder.json.
type cardID struct {
	Board string `json:"board"`
	Key   string `json:"key"`
}

// before is a card that was there when a grant came.
type before struct {
	Board string `json:"board"`
	Key   string `json:"key"`
	dispatch.Was
}

// Key names the state of a work folder: its base name, for people, and a hash
// of its real path.
func Key(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = filepath.Clean(dir)
	}
	sum := sha256.Sum256([]byte(real))
	base := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, filepath.Base(real))
	return base[:min(len(base), 24)] + "-" + hex.EncodeToString(sum[:8])
}

// openFolder reads the state of a work folder; nothing is written.
func openFolder(dir, state string) (*folder, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", real)
	}
	f := &folder{dir: real, key: Key(real)}
	f.state = filepath.Join(state, f.key)
	f.file, err = readFolderFile(f.path("folder.json"))
	if err == nil && f.file.Machine != "" {
		if f.machine, err = machineID(state); err != nil {
			return nil, err
		}
		f.copied = f.file.Machine != f.machine
	}
	if errors.Is(err, fs.ErrNotExist) {
		f.file, err = folderFile{Format: 1, Path: real, Inode: inode(info)}, nil
		f.known(state, info)
	}
	return f, err
}

// known looks whether this folder has its state by another name: where it was
// before, or where it also is.
func (f *folder) known(state string, info fs.FileInfo) {
	files, err := states(state)
	if err != nil {
		return // then there is no hint
	}
	for _, file := range files {
		there, err := os.Stat(file.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && file.Inode == inode(info):
			f.moved = file.Path
		case err == nil && os.SameFile(there, info):
			f.twin = file.Path
		}
	}
}

// states are the folders that have a state, by where that is.
func states(state string) (map[string]folderFile, error) {
	entries, err := os.ReadDir(state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := map[string]folderFile{}
	for _, e := range entries {
		at := filepath.Join(state, e.Name())
		if file, err := readFolderFile(filepath.Join(at, "folder.json")); err == nil { // else not the state of a folder
			out[at] = file
		}
	}
	return out, nil
}

func readFolderFile(path string) (folderFile, error) {
	var file folderFile
	data, err := os.ReadFile(path)
	if err != nil {
		return file, err
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return file, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}

func (f *folder) path(name ...string) string {
	return filepath.Join(append([]string{f.state}, name...)...)
}

// take makes this process the one that may change the folder's state. The
// kernel lets go of the lock when the process ends, however it ends.
func (f *folder) take() error {
	if within(realParent(f.state), f.dir) {
		return fmt.Errorf("%s: the state folder lies inside the work folder: sync would carry it to other machines", tilde(f.state))
	}
	if err := os.MkdirAll(f.path("runs"), 0o700); err != nil {
		return err
	}
	var err error
	if f.machine, err = machineID(filepath.Dir(f.state)); err != nil {
		return err
	}
	lock, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	if err := f.flock(lock); err != nil {
		lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("%s: %w%s", f.dir, ErrRunning, f.who())
		}
		return fmt.Errorf("%s: lock: %w", f.dir, err)
	}
	if f.twin != "" {
		lock.Close()
		return f.otherName()
	}
	f.lock, f.moved = lock, "" // whoever takes a folder anew has said so
	f.sweep()
	if f.file.Secret == "" || f.file.Machine == "" {
		if f.file.Secret == "" {
			var secret [16]byte
			rand.Read(secret[:])
			f.file.Secret = hex.EncodeToString(secret[:])
		}
		f.file.Machine = f.machine
		if err := f.save(); err != nil {
			f.release()
			return err
		}
	}
	return nil
}

// sweep removes what a writeFile that was killed has left. Nobody else writes
// here while the lock is ours.
func (f *folder) sweep() {
	left, _ := filepath.Glob(f.path(newPrefix + "*")) // the pattern is a good one
	for _, name := range left {
		_ = os.Remove(name) // the next start tries again
	}
}

// unborn is how long a daemon that was killed can go on holding its lock: a
// process that it was starting has it, too, until it runs its own program.
const unborn = time.Second

// flock locks the folder. It waits only for the lock of a daemon that is dead.
func (f *folder) flock(lock *os.File) error {
	for end := time.Now().Add(unborn); ; {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || !f.ownerDied() || time.Now().After(end) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// ownerDied reports whether the daemon that had the folder last was killed.
func (f *folder) ownerDied() bool {
	r, err := f.daemon()
	return err == nil && r.PID > 0 && errors.Is(unix.Kill(r.PID, 0), unix.ESRCH)
}

// realParent is the real path of a folder that may not be there yet.
func realParent(path string) string {
	for dir, rest := path, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
	}
}

func (f *folder) release() {
	if f.lock != nil {
		// Closing is not enough while a child that was just forked still has a copy.
		unix.Flock(int(f.lock.Fd()), unix.LOCK_UN)
		f.lock.Close()
		f.lock = nil
	}
}

// running is daemon.json.
type running struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Watch   string `json:"watch"`
}

// otherName says that a folder has its state by another name. Two states would
// be two memories of what ran.
func (f *folder) otherName() error {
	return &control.Error{
		Text: tilde(f.dir) + " is the folder " + tilde(f.twin) + " by another name, and its runs are known by that one",
		Hint: "deckhand watch " + shell.Path(tilde(f.twin)), Code: control.CodeConflict,
	}
}

func (f *folder) who() string {
	at := f.state
	if f.twin != "" {
		at = filepath.Join(filepath.Dir(at), Key(f.twin))
	}
	if r, err := readRunning(at); err == nil {
		return fmt.Sprintf(" (process %d)", r.PID)
	}
	return ""
}

func (f *folder) daemon() (running, error) { return readRunning(f.state) }

func readRunning(state string) (running, error) {
	var r running
	data, err := os.ReadFile(filepath.Join(state, "daemon.json"))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

func (f *folder) save() error { return writeJSON(f.path("folder.json"), f.file) }

// writeJSON replaces a file of the state folder in one durable step.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return writeFile(path, append(data, '\n'))
}

// say writes daemon.json. Other programs read it while the daemon runs, and after
// a power cut nobody does: it is replaced in one step and not synced.
func (r running) say(f *folder) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return replaceFile(f.path("daemon.json"), append(data, '\n'), func(*os.File) error { return nil })
}

// newPrefix begins the names of files that are to replace others.
const newPrefix = ".new-"

// writeFile replaces a file of the state folder in one durable step.
func writeFile(path string, data []byte) error {
	if err := replaceFile(path, data, (*os.File).Sync); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// replaceFile replaces a file of the state folder in one step; sync comes before
// it has its name.
func replaceFile(path string, data []byte, sync func(*os.File) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), newPrefix)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	_, err = tmp.Write(data)
	if err == nil {
		err = sync(tmp)
	}
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// output notes a folder that deckhand writes to: nothing below it is ever a board.
func (f *folder) output(name string) error {
	if slices.Contains(f.file.Outputs, name) {
		return nil
	}
	f.file.Outputs = append(f.file.Outputs, name)
	return f.save()
}

func (f *folder) before() map[dispatch.CardID]dispatch.Was {
	out := make(map[dispatch.CardID]dispatch.Was, len(f.file.Before))
	for _, b := range f.file.Before {
		out[dispatch.CardID{Board: b.Board, Key: b.Key}] = b.Was
	}
	return out
}

// grant compares what is granted now with what was. For each new grant the
// cards that would start by it are marked as having been there before; with
// start they are not. A grant that is gone is forgotten: given again, it is new.
func (f *folder) grant(now []string, waiting map[string][]before, start bool) error {
	changed := start && len(f.file.Before) > 0
	if start {
		f.file.Before = nil
	}
	for _, g := range now {
		if slices.Contains(f.file.Grants, g) {
			continue
		}
		changed = true
		if !start {
			f.file.Before = merge(f.file.Before, waiting[g])
		}
	}
	gone := slices.ContainsFunc(f.file.Grants, func(g string) bool { return !slices.Contains(now, g) })
	if !changed && !gone {
		return nil
	}
	f.file.Grants = slices.Sorted(slices.Values(now))
	return f.save()
}

func merge(old, add []before) []before {
	for _, b := range add {
		old = slices.DeleteFunc(old, func(o before) bool { return o.Board == b.Board && o.Key == b.Key })
		old = append(old, b)
	}
	return old
}

// force notes that a person asked for a card by command, or that it has its run
// now: then it is an ordinary one again. A mark from before is off by that.
func (f *folder) force(id dispatch.CardID, on bool) error {
	marked := len(f.file.Before)
	f.file.Before = slices.DeleteFunc(f.file.Before, func(b before) bool { return b.Board == id.Board && b.Key == id.Key })
	forced := slices.Contains(f.file.Forced, cardID(id))
	switch {
	case on && !forced:
		f.file.Forced = append(f.file.Forced, cardID(id))
	case !on && forced:
		f.file.Forced = slices.DeleteFunc(f.file.Forced, func(c cardID) bool { return c == cardID(id) })
	case len(f.file.Before) == marked:
		return nil
	}
	return f.save()
}
