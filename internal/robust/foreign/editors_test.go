package foreign

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// block is a fenced block of docs/editors.md: what a person copies from there.
func block(t *testing.T, language string) string {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/editors.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(doc), "\n```"+language+"\n")
	text, _, closed := strings.Cut(after, "\n```\n")
	if !ok || !closed {
		t.Fatalf("docs/editors.md has no block %s", language)
	}
	return text + "\n"
}

// desk is a tmux of its own, with one client, as a person has it.
type desk struct {
	t    *testing.T
	dir  string
	stop time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	for _, name := range []string{"vim", "tmux", "script"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("needs vim, tmux and script")
		}
	}
	if out, err := exec.Command("vim", "--version").Output(); err != nil || !strings.Contains(string(out), "+eval") {
		t.Skip("needs a vim with +eval")
	}
	d := &desk{t: t, dir: t.TempDir(), stop: time.Now().Add(time.Minute)}
	d.write("tmux.conf", block(t, "tmux"))
	d.write("vimrc", "set nocompatible noswapfile\n"+block(t, "vim"))
	d.write("Shop.md", "# Shop\n")
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(d.dir, "s"), "-f", "tmux.conf"}, args...)...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "TMUX=")
	return cmd
}

func (d *desk) tmux(args ...string) string {
	d.t.Helper()
	out, err := d.command(args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("tmux %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// attach gives the server a client, which ends with it.
func (d *desk) attach() {
	d.t.Helper()
	line := strings.Join(d.command("attach").Args, "' '")
	cmd := exec.Command("script", "-qfc", "'"+line+"'", "/dev/null")
	cmd.Dir, cmd.Env = d.dir, d.command().Env
	keys, err := cmd.StdinPipe() // open: at its end the client would leave
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		keys.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	d.until("list-clients", "attached")
}

// until waits for what a command of tmux says; between two looks it does more.
func (d *desk) until(command, want string, more ...func()) {
	d.t.Helper()
	args := []string{command}
	if command == "capture-pane" {
		args = append(args, "-p", "-t", "0")
	}
	for {
		out := d.tmux(args...)
		if strings.Contains(out, want) {
			return
		}
		if time.Now().After(d.stop) {
			d.t.Fatalf("%s does not show %q:\n%s", command, want, out)
		}
		for _, do := range more {
			do()
		}
	}
}

// comeBack looks at another window, and at vim again.
func (d *desk) comeBack() {
	d.tmux("select-window", "-t", "1")
	d.tmux("select-window", "-t", "0")
}

// With the lines of docs/editors.md vim shows what was written meanwhile when a
// person comes back to it, and asks before it writes over it.
func TestVimReadsAgain(t *testing.T) {
	d := newDesk(t)
	d.tmux("new-session", "-d", "-x", "80", "-y", "24", "vim -u vimrc Shop.md")
	t.Cleanup(func() { _ = d.command("kill-server").Run() })
	d.attach()
	d.until("capture-pane", "# Shop")
	d.tmux("new-window", "-d", "cat")

	d.write("Shop.md", "# Shop\n\n- [ ] pi works\n")
	d.until("capture-pane", "pi works", d.comeBack)

	d.tmux("send-keys", "-t", "0", "ggOMine", "Escape")
	d.until("capture-pane", "Mine")
	const theirs = "# Shop\n\n- [ ] pi: review\n"
	d.write("Shop.md", theirs)
	d.comeBack()
	d.tmux("send-keys", "-t", "0", ":w", "Enter")
	d.until("capture-pane", "changed since reading it")
	d.tmux("send-keys", "-t", "0", "n", "Enter")
	if data, err := os.ReadFile(filepath.Join(d.dir, "Shop.md")); err != nil || string(data) != theirs {
		t.Errorf("vim wrote %q, %v", data, err)
	}
}
