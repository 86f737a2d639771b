package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deckhand/internal/config"
	"deckhand/internal/control"
	"deckhand/internal/daemon"
	"deckhand/internal/shell"
)

// settingsName is the file of a work folder's preferences.
const settingsName = "deckhand.yaml"

// home is the person's home folder, or "" where there is none.
func home() string {
	h, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return h
}

// xdg is a folder of ours below one of the XDG base folders.
func xdg(variable, below string) string {
	base := os.Getenv(variable)
	if !filepath.IsAbs(base) { // the specification: relative ones are ignored
		base = filepath.Join(home(), below)
	}
	return filepath.Join(base, "deckhand")
}

// longestRuntime is how long the name of the sockets' folder may be: a socket's
// whole path has 104 bytes on some systems, and its own name takes 47.
const longestRuntime = 104 - 1 - 47

// runtimeDir is where control sockets are: the first place that is short enough.
// The folder that login managers make is looked for by its name too, so that a
// shell without XDG_RUNTIME_DIR, of cron or ssh, finds the same daemon.
func runtimeDir() string {
	uid := os.Getuid()
	base := os.Getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(base) {
		base = fmt.Sprintf("/run/user/%d", uid)
	}
	own := fmt.Sprintf("deckhand-%d", uid)
	if info, err := os.Stat(base); err == nil && info.IsDir() && len(base)+len("/deckhand") <= longestRuntime {
		return filepath.Join(base, "deckhand")
	}
	if p := filepath.Join(os.TempDir(), own); len(p) <= longestRuntime {
		return p
	}
	return filepath.Join("/tmp", own)
}

// configPath is the machine's config.yaml.
func (a *app) configPath() string {
	for _, p := range []string{a.confFlag, os.Getenv("DECKHAND_CONFIG")} {
		if p == "" {
			continue
		}
		if abs, err := filepath.Abs(p); err == nil {
			return abs
		}
		return p
	}
	return filepath.Join(xdg("XDG_CONFIG_HOME", ".config"), "config.yaml")
}

// options are a daemon's, for a work folder.
func (a *app) options(dir string) daemon.Options {
	return daemon.Options{
		Dir: dir, Config: a.configPath(), State: xdg("XDG_STATE_HOME", ".local/state"), Runtime: runtimeDir(),
		Log: io.Discard, Version: version(),
	}
}

// machine reads config.yaml for what the commands themselves need of it; a file
// that is not there is the default one. What is wrong with it, the daemon and
// doctor say.
func (a *app) machine() (config.Machine, error) {
	src, err := a.readConfig()
	if err != nil {
		return config.Machine{}, err
	}
	m, _ := config.LoadMachine(src, a.configPath(), home(), []string{"pi"})
	return m, nil
}

func (a *app) readConfig() ([]byte, error) {
	src, err := os.ReadFile(a.configPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// folder is the work folder: the argument, --dir, DECKHAND_DIR, or the nearest
// one upward.
func (a *app) folder(args []string) (string, error) {
	for _, dir := range append(args, a.dirFlag, os.Getenv("DECKHAND_DIR")) {
		if dir != "" {
			return existing(dir)
		}
	}
	return a.nearest()
}

// folderOrHere is for commands that look at the machine: any folder will do.
func (a *app) folderOrHere() string {
	if dir, err := a.folder(nil); err == nil {
		return dir
	}
	return "."
}

// existing is the absolute path of a folder that is there.
func existing(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &control.Error{Text: tilde(abs) + " is not there", Hint: "deckhand init " + shell.Operand(dir), Code: control.CodeError}
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", &control.Error{Text: tilde(abs) + " is not a folder", Code: control.CodeError}
	}
	return abs, nil
}

func (a *app) nearest() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	m, err := a.machine()
	if err != nil {
		return "", err
	}
	trusted := map[string]bool{}
	for _, dir := range m.Trust {
		trusted[realPath(dir)] = true
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, settingsName)); err == nil || trusted[realPath(dir)] {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	fresh := here
	if realPath(here) == realPath(home()) { // a whole home is no folder of notes
		fresh = filepath.Join(here, "notes")
	}
	return "", &control.Error{
		Text: tilde(here) + " is not a work folder",
		Hint: "deckhand demo\ndeckhand init " + shell.Path(tilde(fresh)), Code: control.CodeError,
	}
}

// realPath follows links; a path that is not there stays as it is.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// tilde is a path as people write it.
func tilde(path string) string {
	h := home()
	if h == "" || h == "/" {
		return path
	}
	if path == h {
		return "~"
	}
	if below, ok := strings.CutPrefix(path, h+"/"); ok {
		return "~/" + below
	}
	return path
}

// reader answers questions about a folder: its daemon, or its files.
func (a *app) reader(ctx context.Context, dir string) (control.Reader, func(), error) {
	if c, err := control.Connect(ctx, socket(dir)); err == nil {
		return c, c.Close, nil
	}
	r, err := daemon.Open(ctx, a.options(dir))
	return r, func() {}, err
}

func socket(dir string) string { return control.SocketPath(runtimeDir(), daemon.Key(dir)) }

// daemon is the folder's running daemon, or the Error with exit code 5.
func (a *app) daemon(ctx context.Context, dir string) (*control.Client, error) {
	c, err := control.Connect(ctx, socket(dir))
	if err != nil {
		return nil, &control.Error{
			Text: "no daemon runs on " + tilde(dir), Hint: "deckhand watch " + shell.Path(tilde(dir)), Code: control.CodeNoDaemon,
		}
	}
	return c, nil
}
