// Package pane proves that the pane is a good guest of a terminal: it starts
// with nothing but the command, what is pressed in it counts, several agree, it
// comes back to a daemon that was killed without losing a line, and a pane that
// is killed leaves a terminal that can be typed in.
//
// The terminal is a real one, tmux; without it there is nothing to prove.
package pane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deckhand/internal/robust"
)

func TestMain(m *testing.M) { new(robust.Suite).Main(m) }

// TestPane tells the stories, with deckhand as it is released: the pane starts a
// daemon by its own name, which a test program does not answer to.
func TestPane(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("needs tmux")
	}
	exe := filepath.Join(t.TempDir(), "deckhand")
	if out, err := exec.Command("go", "build", "-o", exe, "deckhand").CombinedOutput(); err != nil {
		t.Fatalf("building deckhand: %v\n%s", err, out)
	}
	for name, story := range map[string]func(*desk){
		"starts": starts, "is answered": isAnswered, "is killed": isKilled, "loses no line": losesNoLine,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(newDesk(t, exe))
		})
	}
}

// desk is a place and a tmux of its own, with a shell in its work folder.
type desk struct {
	*robust.Place
	t   *testing.T
	ctx context.Context
	exe string
}

func newDesk(t *testing.T, exe string) *desk {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	d := &desk{robust.NewPlace(t, robust.Fast, "web", "api"), t, ctx, exe}
	d.tmux("new-session", "-d", "-s", "one", "-x", "80", "-y", "24", "sh")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\n%s\n%s", d.screen("one"), d.Log, d.Logs())
		}
		d.tmux("kill-server")
	})
	d.heard("one")
	return d
}

func (d *desk) tmux(args ...string) string {
	d.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", d.Path("tmux"), "-f", "/dev/null"}, args...)...)
	cmd.Env, cmd.Dir = append(d.Env(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "PS1=$ "), d.Work
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// heard has what a session's terminal is sent written into a file, too: a change
// of it is when there is something to look at.
func (d *desk) heard(session string) {
	d.t.Helper()
	d.tmux("pipe-pane", "-t", session, "cat >>"+d.Path(session+".sent"))
}

func (d *desk) screen(session string) string {
	d.t.Helper()
	return d.tmux("capture-pane", "-p", "-t", session)
}

// sees waits until a session shows all of some texts.
func (d *desk) sees(session string, wants ...string) string {
	d.t.Helper()
	var got string
	d.Await(d.ctx, nil, func() bool {
		got = d.screen(session)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				return false
			}
		}
		return true
	})
	return got
}

func (d *desk) press(session string, keys ...string) {
	d.t.Helper()
	d.tmux(append([]string{"send-keys", "-t", session}, keys...)...)
}

// opens types the command. The shell leaves its id for those who end the pane.
func (d *desk) opens(session string) {
	d.t.Helper()
	d.press(session, "sh -c 'echo $$ >"+d.Path(session+".pid")+"; exec "+d.exe+"'", "Enter")
	d.sees(session, "● connected")
}

// sane wants a terminal that a person can go on in.
func (d *desk) sane(session string) {
	d.t.Helper()
	d.Await(d.ctx, nil, func() bool { // what is typed before that is the pane's
		return strings.TrimSpace(d.tmux("display-message", "-p", "-t", session, "#{alternate_on}")) == "0"
	})
	d.press(session, "echo sa''ne; stty -g >"+d.Path("after"), "Enter")
	d.sees(session, "sane")
	d.Await(d.ctx, nil, func() bool {
		after, _ := os.ReadFile(d.Path("after"))
		return len(after) > 0
	})
	const modes = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_flag}"
	if got := strings.TrimSpace(d.tmux("display-message", "-p", "-t", session, modes)); got != "0 1 0 0" {
		d.t.Errorf("alternate screen, cursor, mouse, keypad: %s", got)
	}
	before, err := os.ReadFile(d.Path("before"))
	after, err2 := os.ReadFile(d.Path("after"))
	if err != nil || err2 != nil || string(before) != string(after) {
		d.t.Errorf("stty was %s %v and is %s %v", before, err, after, err2)
	}
}

const board = "---\nproject: %s\n---\n\n## Plan\n\n%s\n## In Progress\n\n## Review\n"

// A person types the command and saves a card: a daemon works, the card shows
// up, the size of the window may change, and leaving leaves nothing behind.
func starts(d *desk) {
	d.press("one", "stty -g >"+d.Path("before"), "Enter")
	d.opens("one")
	d.sees("one", "Nothing runs and nothing waits.", "q quit")
	d.Save("Shop.md", fmt.Sprintf(board, "web", "- [ ] Checkout 在线支付 @pi\n"))
	d.sees("one", "✓ Checkout 在线支付", "CHECKOUT.md holds", "a accept")
	d.tmux("resize-window", "-t", "one", "-x", "200", "-y", "60")
	d.sees("one", "n next that needs you", "1 to review")
	d.press("one", "a")
	d.sees("one", "Done today", "accepted")
	d.press("one", "q")
	d.sane("one")
	if sockets, err := filepath.Glob(filepath.Join(d.Options.Runtime, "*.sock")); err != nil || len(sockets) > 0 {
		d.t.Errorf("its daemon is there: %v %v", sockets, err)
	}
}

// What is pressed in one pane is the agent's answer, once, and another pane
// knows it.
func isAnswered(d *desk) {
	d.opens("one")
	d.tmux("new-session", "-d", "-s", "two", "-x", "200", "-y", "60", "sh")
	d.heard("two")
	d.opens("two")
	d.Save("Shop.md", fmt.Sprintf(board, "web", "- [ ] Checkout @pi\n\t[ask] [record]\n"))
	d.sees("one", "Write CHECKOUT.md?", "a allow once", "d deny")
	d.sees("two", "Write CHECKOUT.md?", "a allow once", "d deny")
	<-time.After(500 * time.Millisecond) // a question that has only just come takes no key
	d.press("two", "D")
	d.sees("two", "deny, and say why", "enter send")
	d.press("two", "-l", "/not in this folder")
	d.press("two", "Enter")
	d.sees("one", "✓ review")
	d.sees("two", "✓ review")
	answers := 0
	for _, said := range d.Record("web") {
		if strings.Contains(said, "answer confirmed false") {
			answers++
		}
	}
	if answers != 1 {
		d.t.Errorf("%d answers in %q", answers, d.Record("web"))
	}
	d.Await(d.ctx, nil, func() bool { return strings.Contains(d.Lane("Shop.md", "Review"), "Checkout") })
	d.press("two", "q")
	d.press("one", "q")
}

// A pane that is killed while it has the terminal leaves it as it was, and its
// daemon ends by itself.
func isKilled(d *desk) {
	d.press("one", "stty -g >"+d.Path("before"), "Enter")
	d.opens("one")
	if on := strings.TrimSpace(d.tmux("display-message", "-p", "-t", "one", "#{alternate_on} #{mouse_any_flag}")); on != "1 1" {
		d.t.Fatalf("it does not have the terminal: %s", on)
	}
	data, err := os.ReadFile(d.Path("one.pid"))
	if err != nil {
		d.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		d.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		d.t.Fatal(err)
	}
	d.sane("one")
	d.Await(d.ctx, nil, func() bool {
		sockets, err := filepath.Glob(filepath.Join(d.Options.Runtime, "*.sock"))
		return err == nil && len(sockets) == 0
	})
}

// A daemon that is killed in the middle of what an agent says: the pane says
// that it is gone, comes back to the next one by itself, and has every line once.
func losesNoLine(d *desk) {
	const lines = 300
	first := d.Start(d.ctx)
	d.opens("one")
	d.Save("Shop.md", fmt.Sprintf(board, "web", fmt.Sprintf("- [ ] Checkout @pi\n\t[stream:%d] [slow:300ms]\n", lines)))
	d.sees("one", "line ")
	first.Kill()
	d.sees("one", "not connected for", "W start deckhand watch")
	d.Start(d.ctx)
	d.sees("one", "✓ review", "exit 0")
	d.press("one", "Home")
	d.sees("one", "claimed")
	var got []string
	for page := ""; ; {
		page = d.screen("one")
		got = append(got, said(page)...)
		if !strings.Contains(page, "more rows") {
			break
		}
		d.press("one", "Space")
		d.Await(d.ctx, nil, func() bool { return d.screen("one") != page })
	}
	seen := map[string]int{}
	for _, l := range got {
		seen[l]++
	}
	for n := range lines {
		if seen[fmt.Sprintf("line %d", n+1)] == 0 {
			d.t.Errorf("line %d is not shown", n+1)
		}
	}
	d.press("one", "q")
}

// said are the lines of an agent on a screen.
func said(screen string) []string {
	var out []string
	for row := range strings.Lines(screen) {
		_, right, _ := strings.Cut(row, "│ ")
		right, _, _ = strings.Cut(right, "↓")
		if text := strings.TrimSpace(right); strings.HasPrefix(text, "line ") {
			out = append(out, text)
		}
	}
	return out
}
