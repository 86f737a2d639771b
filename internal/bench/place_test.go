package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/internal/daemon"
	"deckhand/internal/testkit"
)

// place is a work folder, a project and a machine's configuration of their own.
type place struct {
	b       *testing.B
	root    string
	work    string
	project string
	env     []string
	o       daemon.Options // for what the programs' users do with the files
	began   *net.UnixConn  // on which agents tell that they began
	programs
}

const seed = 7 // of every generated folder

// settle and typing of a place; longer than the watcher waits for more.
const settle = 50 * time.Millisecond

// newPlace makes one; the paths are short, because a socket's has to be.
func newPlace(b *testing.B) *place {
	b.Helper()
	p := &place{b: b}
	var err error
	p.programs, err = built()
	must(b, err)
	p.root, err = os.MkdirTemp("", "dh-")
	must(b, err)
	b.Cleanup(func() { os.RemoveAll(p.root) })
	p.work, p.project = p.path("notes"), p.path("web")
	for _, dir := range []string{"notes", "web", "conf/deckhand", "state", "run/deckhand"} {
		must(b, os.MkdirAll(p.path(dir), 0o700))
	}
	p.env = []string{
		"HOME=" + p.root, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + p.root,
		"XDG_CONFIG_HOME=" + p.path("conf"), "XDG_STATE_HOME=" + p.path("state"), "XDG_RUNTIME_DIR=" + p.path("run"),
	}
	p.o = daemon.Options{Dir: p.work, Config: p.path("conf/deckhand/config.yaml"), State: p.path("state/deckhand"), Runtime: p.path("run/deckhand")}
	p.began, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: p.path("began"), Net: "unixgram"})
	must(b, err)
	b.Cleanup(func() { p.began.Close() })
	p.write(p.o.Config, fmt.Sprintf("trust: [%s]\nday: none\nprojects:\n  web: {folder: %s}\nagents:\n  pi: {driver: pi, command: [%s, %s, %s, -pace, 1ms]}\n",
		p.work, p.project, p.agent, p.path("began"), p.deckhand))
	p.write(p.at("deckhand.yaml"), fmt.Sprintf("settle: %s\ntyping: %[1]s\n", settle))
	return p
}

// grant makes everything there is something that was there before: it starts
// nothing.
func (p *place) grant() {
	p.b.Helper()
	must(p.b, daemon.Grant(context.Background(), p.o, daemon.Grants{Trust: true}))
}

// vault fills the work folder.
func (p *place) vault(notes int) {
	p.b.Helper()
	must(p.b, testkit.Vault(p.work, notes, seed))
	p.grant()
}

func (p *place) path(name string) string { return filepath.Join(p.root, name) }

func (p *place) at(rel string) string { return filepath.Join(p.work, rel) }

func (p *place) write(path, text string) {
	p.b.Helper()
	must(p.b, os.WriteFile(path, []byte(text), 0o644))
}

func (p *place) read(rel string) string {
	p.b.Helper()
	data, err := os.ReadFile(p.at(rel))
	must(p.b, err)
	return string(data)
}

// save replaces a file as an editor does, and says when.
func (p *place) save(rel, text string) time.Time {
	p.b.Helper()
	p.write(p.at(".save.tmp"), text)
	now := time.Now()
	must(p.b, os.Rename(p.at(".save.tmp"), p.at(rel)))
	return now
}

// agentBegan waits for an agent and says when its program began.
func (p *place) agentBegan() time.Time {
	p.b.Helper()
	var buf [8]byte
	must(p.b, p.began.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err := io.ReadFull(p.began, buf[:])
	must(p.b, err)
	return time.Unix(0, int64(binary.LittleEndian.Uint64(buf[:])))
}

func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.deckhand, args...)
	cmd.Env, cmd.Dir = p.env, p.work
	return cmd
}

// run runs a command to its end.
func (p *place) run(args ...string) string {
	p.b.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.b.Fatalf("deckhand %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// process is a daemon that runs.
type process struct {
	p   *place
	cmd *exec.Cmd
	out *bufio.Reader
	log bytes.Buffer
}

// watch starts a daemon and waits until it has seen everything.
func (p *place) watch() *process {
	p.b.Helper()
	d := &process{p: p, cmd: p.command("watch")}
	pipe, err := d.cmd.StderrPipe()
	must(p.b, err)
	must(p.b, d.cmd.Start())
	d.out = bufio.NewReader(pipe)
	d.until("ready: ")
	return d
}

// until reads what the daemon says until a line has text in it.
func (d *process) until(text string) {
	d.p.b.Helper()
	for {
		line, err := d.out.ReadString('\n')
		d.log.WriteString(line)
		if err != nil {
			d.p.b.Fatalf("the daemon did not say %q: %v\n%s", text, err, &d.log)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

// end ends the daemon.
func (d *process) end() {
	d.p.b.Helper()
	must(d.p.b, d.cmd.Process.Signal(os.Interrupt))
	_, err := io.Copy(&d.log, d.out)
	must(d.p.b, err)
	_ = d.cmd.Wait() // interrupted: exit 130
}
