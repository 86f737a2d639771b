package cli

import (
	"bufio"
	"io"
	"os/exec"
)

// guard waits beside the pane. A pane that is killed cannot give the terminal
// back, and most shells put its modes right but not what it was told by escapes:
// the other screen, the mouse, the cursor. It reads a line when the pane has the
// terminal, and one when it has given it back; without the second it does that
// itself. The modes are put back only while they are still those of the pane: a
// shell may have been faster. It is a few lines of sh, because it has to outlive
// the pane and costs nothing.
const guard = `trap '' HUP INT TERM TTOU TSTP PIPE
before=$(stty -g </dev/tty) || exit
echo ready
read -r _ || exit
taken=$(stty -g </dev/tty) || exit
read -r _ && exit
[ "$(stty -g </dev/tty)" = "$taken" ] && stty "$before" </dev/tty
printf '\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?2004l\033[?1004l\033[>4;0m\033[<u\033[?1l\033>\033[?7h\033[0m\033[?25h\033[?1049l' >/dev/tty`

// guarding is a guard that waits; nil: there is none, and all else is the same.
type guarding struct {
	cmd  *exec.Cmd
	line io.WriteCloser
}

// newGuard starts a guard, and waits until it knows the terminal's modes.
func newGuard() *guarding {
	cmd := exec.Command("sh", "-c", guard, "deckhand guard")
	line, err := cmd.StdinPipe()
	if err != nil {
		return nil
	}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	g := &guarding{cmd, line}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		g.end()
		return nil
	}
	return g
}

// taken tells the guard that the pane has the terminal; released, that it has
// given it back.
func (g *guarding) taken() (released func()) {
	if g == nil {
		return func() {}
	}
	g.say()
	return g.say
}

func (g *guarding) say() { _, _ = io.WriteString(g.line, "\n") } // a guard that is gone guards nothing

func (g *guarding) end() {
	if g == nil {
		return
	}
	_ = g.line.Close()
	_ = g.cmd.Wait()
}
