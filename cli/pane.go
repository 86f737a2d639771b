package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"deckhand/internal/control"
	"deckhand/internal/shell"
	"deckhand/review"
)

// interactive reports whether a person sits in front of a terminal that can show
// the pane.
func (a *app) interactive() bool {
	out, ok := a.out.w.(*os.File)
	in, ok2 := a.in.(*os.File)
	kind := os.Getenv("TERM")
	return ok && ok2 && kind != "" && kind != "dumb" && term.IsTerminal(int(out.Fd())) && term.IsTerminal(int(in.Fd()))
}

// pane is deckhand without a command, in a terminal.
func (a *app) pane(ctx context.Context, look review.Look) error {
	dir, err := a.folder(nil)
	if err != nil {
		return err
	}
	look.Name = tilde(dir)
	in := &inside{app: a, dir: dir}
	if c, err := control.Connect(ctx, socket(dir)); err == nil {
		c.Close()
	} else if err := in.start(); err != nil {
		return err
	}
	defer in.end()
	screen, err := review.Screen()
	if err != nil {
		return err
	}
	g := newGuard()
	defer g.end()
	s, err := review.Run(ctx, screen, review.Options{
		Dial: in.dial, Start: in.start, Edit: editText, Look: look,
		Open:  func(path string, line int) error { return openFile(filepath.Join(dir, filepath.FromSlash(path)), line) },
		Guard: g.taken,
	})
	in.end()
	n := 0
	for _, r := range s.Runs {
		if r.Status == "working" || r.Status == "waiting" {
			n++
		}
	}
	if n > 0 {
		a.note("%s on: deckhand stop --all ends them", count(n, "agent goes", "agents go"))
	}
	return err
}

// inside is the daemon that the pane has started, if any. It is a process of its
// own, so that neither can take the other along, and it ends when its standard
// input does: with the pane, also when that is killed.
type inside struct {
	app *app
	dir string

	mu    sync.Mutex // guards the rest
	alive io.Closer  // its standard input; nil: none was started
	over  chan struct{}
	words *lastWords
}

func (in *inside) start() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.alive != nil {
		select {
		case <-in.over:
		default:
			return nil
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, "--config", in.app.configPath(), "watch", "--"+untilEOF, in.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // keys and hang-ups of this terminal are the pane's
	in.words = &lastWords{}
	cmd.Stdout, cmd.Stderr = in.words, in.words
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("deckhand watch: %w", err)
	}
	over := make(chan struct{})
	in.alive, in.over = stdin, over
	go func() {
		defer close(over)
		_ = cmd.Wait() // how it ended, its last words say
	}()
	return nil
}

// dial connects to the folder's daemon, whoever started it.
func (in *inside) dial(ctx context.Context) (control.Backend, error) {
	c, err := control.Connect(ctx, socket(in.dir))
	if err == nil {
		return c, nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.alive != nil {
		select {
		case <-in.over:
			if text := in.words.last(); text != "" {
				return nil, errors.New(text)
			}
		default: // it is starting
		}
	}
	return nil, &control.Error{Text: "no daemon runs on " + tilde(in.dir), Hint: "deckhand watch " + shell.Path(tilde(in.dir)), Code: control.CodeNoDaemon}
}

// endWait is how long the pane waits for its daemon; one that takes longer ends
// by itself.
const endWait = 5 * time.Second

func (in *inside) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.alive == nil {
		return
	}
	_ = in.alive.Close() // it may be gone already
	select {
	case <-in.over:
	case <-time.After(endWait):
	}
	in.alive = nil
}

// lastWords keeps the end of what a child says.
type lastWords struct {
	mu   sync.Mutex
	text []byte // guarded by mu
}

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	l.text = l.text[max(0, len(l.text)-4096):]
	return len(p), nil
}

// last is the last line that is no hint.
func (l *lastWords) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(bytes.ToValidUTF8(l.text, nil))), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if text, ok := strings.CutPrefix(lines[i], "deckhand: "); ok {
			return text
		}
	}
	return lines[len(lines)-1]
}

// editor is the person's, as words.
func editor() []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(os.Getenv(name)); len(words) > 0 {
			return words
		}
	}
	return []string{"vi"}
}

func runEditor(args ...string) error {
	words := append(editor(), args...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", words[0], err)
	}
	return nil
}

// editText has the person change a text in their editor, in a file of its own
// outside the work folder.
func editText(text string) (out string, err error) {
	f, err := os.CreateTemp("", "deckhand-*.md")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if err := runEditor(f.Name()); err != nil {
		return "", err
	}
	data, err := os.ReadFile(f.Name())
	return string(data), err
}

// openFile shows a file in the person's editor, at a line where there is one:
// all that are usual know +N.
func openFile(path string, line int) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if line > 0 {
		return runEditor(fmt.Sprintf("+%d", line), path)
	}
	return runEditor(path)
}
