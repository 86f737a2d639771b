package robust

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deckhand/internal/control"
	"deckhand/internal/daemon"
)

// daemonMain is the daemon, with a fault from the environment.
func daemonMain(options string, log io.Writer) int {
	var o daemon.Options
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		fmt.Fprintln(log, err)
		return 2
	}
	o.Log, o.Fault = log, fault(os.Getenv(FaultEnv), log)
	if _, err := daemon.Run(context.Background(), o); err != nil {
		fmt.Fprintln(log, err)
		return 1
	}
	return 0
}

// FaultEnv names the point at which a daemon ends itself with SIGKILL: "3 card
// written" is the third time it comes by there, "70 any" the seventieth point of
// all. ListPoints only lists them. With HoldAt before a point the daemon stays
// there, says so by making the file HeldName of the place, and goes on
// everywhere else: what a test does then falls exactly into this moment.
const (
	FaultEnv   = "ROBUST_FAULT"
	ListPoints = "list"
	AnyPoint   = "any"
	HoldAt     = "hold "
	HeldName   = "held"
)

func fault(want string, log io.Writer) func(string) {
	var mu sync.Mutex
	seen := map[string]int{}
	return func(point string) {
		mu.Lock()
		seen[point]++
		seen[AnyPoint]++
		at, any := fmt.Sprintf("%d %s", seen[point], point), fmt.Sprintf("%d %s", seen[AnyPoint], AnyPoint)
		mu.Unlock()
		switch want {
		case ListPoints:
			fmt.Fprintln(log, "point:", at)
		case at, any:
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal is delivered
		case HoldAt + at:
			if err := os.WriteFile(filepath.Join(os.TempDir(), HeldName), nil, 0o600); err != nil {
				fmt.Fprintln(log, err)
			}
			select {} // until somebody kills it
		}
	}
}

// Points are those that a log of a daemon started with ListPoints names.
func Points(log string) []string {
	var points []string
	for l := range strings.Lines(log) {
		if point, ok := strings.CutPrefix(strings.TrimSpace(l), "point: "); ok {
			points = append(points, point)
		}
	}
	return points
}

// Process is a daemon in a process of its own.
type Process struct {
	Client *control.Client
	Cmd    *exec.Cmd

	t    testing.TB
	ctx  context.Context
	gone chan struct{} // closed when it has ended
	err  error         // how; read after gone
	n    int
}

// Log is what daemons and their children said, safe for any goroutine.
type Log struct {
	mu   sync.Mutex
	b    bytes.Buffer  // guarded by mu
	more chan struct{} // guarded by mu: closed at the next word, when somebody waits for it
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return l.b.Write(p)
}

// Until waits until what was said is as wanted, and returns it; false: ctx ended.
func (l *Log) Until(ctx context.Context, ok func(text string) bool) (text string, said bool) {
	for {
		l.mu.Lock()
		if l.more == nil {
			l.more = make(chan struct{})
		}
		text, more := l.b.String(), l.more
		l.mu.Unlock()
		if ok(text) {
			return text, true
		}
		select {
		case <-more:
		case <-ctx.Done():
			return text, false
		}
	}
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Spawn starts a daemon and does not wait for it.
func (p *Place) Spawn(ctx context.Context, env ...string) *Process {
	p.t.Helper()
	options, err := json.Marshal(p.Options)
	must(p.t, err)
	d := &Process{t: p.t, ctx: ctx, gone: make(chan struct{})}
	args := []string{"daemon", string(options)}
	if p.gate != nil {
		args = append([]string{gateCommand}, args...)
	}
	argv := p.argv(args)
	d.Cmd = exec.Command(argv[0], argv[1:]...)
	d.Cmd.Env, d.Cmd.Stderr = append(p.Env(), env...), p.Log
	if p.gate != nil {
		p.gate.start(d.Cmd)
	} else {
		must(p.t, d.Cmd.Start())
	}
	go func() {
		d.err = d.Cmd.Wait()
		close(d.gone)
	}()
	p.t.Cleanup(d.Kill)
	return d
}

// Start starts a daemon and waits until it has seen everything.
func (p *Place) Start(ctx context.Context, env ...string) *Process {
	p.t.Helper()
	d := p.Spawn(ctx, env...)
	if !d.Ready(p) {
		p.t.Fatalf("the daemon ended: %v\n%s", d.err, p.Log)
	}
	return d
}

// Ready connects and waits until the daemon has seen everything; false: it
// ended before. The one before it may have been killed while it started a
// process: until that is a program of its own it has the old socket open, where
// a connection is taken and never answered.
func (d *Process) Ready(p *Place) bool {
	d.t.Helper()
	for d.Client != nil || d.Connect(p) {
		if _, ok := d.until(func(s control.Status) bool { return s.Watch != "scanning" }); ok {
			return true
		}
		d.Client.Close()
		d.Client = nil
	}
	return false
}

// Connect waits until the daemon answers; false: it ended before.
func (d *Process) Connect(p *Place) bool {
	d.t.Helper()
	socket := control.SocketPath(p.Options.Runtime, daemon.Key(p.Work))
	return p.await(d.ctx, p.Options.Runtime, d.gone, func() bool {
		c, err := control.Connect(d.ctx, socket)
		d.Client = c
		return err == nil
	})
}

// Gone is closed when it has ended.
func (d *Process) Gone() <-chan struct{} { return d.gone }

// Until waits for a status.
func (d *Process) Until(ok func(control.Status) bool) control.Status {
	d.t.Helper()
	last, found := d.until(ok)
	if !found {
		d.t.Fatalf("the daemon's events ended (%v); last status %+v", d.ctx.Err(), last)
	}
	return last
}

// until is false when the daemon's events end before. A reader that does not
// keep up with what agents say is let go, and comes back.
func (d *Process) until(ok func(control.Status) bool) (last control.Status, found bool) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	for {
		events, err := d.Client.Events(ctx, 0)
		if err != nil {
			return last, false
		}
		for e := range events {
			if e.Kind == "run" {
				continue
			}
			last = control.Status{} // what an event leaves out is empty, and not as it was
			must(d.t, e.Decode(&last))
			if ok(last) {
				return last, true
			}
		}
	}
}

// Do asks for a command, with an id of its own.
func (d *Process) Do(name, run string) (control.Result, error) {
	d.n++
	id := fmt.Sprintf("%s-%d-%d-%d", d.t.Name(), d.Cmd.Process.Pid, d.n, time.Now().UnixNano())
	return d.Client.Do(d.ctx, control.Command{ID: id, Name: name, Run: run})
}

// Kill ends it with SIGKILL; one that is gone already stays gone.
func (d *Process) Kill() { d.end(syscall.SIGKILL) }

// Interrupt ends it as Ctrl-C does and returns its error.
func (d *Process) Interrupt() error { return d.end(syscall.SIGINT) }

// Pause stops it where it is, as a machine does that is put to sleep, and waits
// until it stands; Resume lets it go on.
func (d *Process) Pause() {
	d.t.Helper()
	must(d.t, d.Cmd.Process.Signal(syscall.SIGSTOP))
	for !d.stands() {
		if d.ctx.Err() != nil {
			d.t.Fatal("it does not stop: ", d.ctx.Err())
		}
		runtime.Gosched()
	}
}

// Resume lets it go on.
func (d *Process) Resume() {
	d.t.Helper()
	must(d.t, d.Cmd.Process.Signal(syscall.SIGCONT))
}

// stands reports whether each of its threads is stopped.
func (d *Process) stands() bool {
	d.t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", d.Cmd.Process.Pid))
	must(d.t, err)
	for _, name := range files {
		stat, err := os.ReadFile(name)
		_, state, _ := strings.Cut(string(stat), ") ")
		if err == nil && !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return len(files) > 0
}

// Wait waits until it has ended by itself, and says how.
func (d *Process) Wait() error {
	select {
	case <-d.gone:
		return d.err
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
}

func (d *Process) end(sig syscall.Signal) error {
	if d.Client != nil {
		d.Client.Close()
	}
	_ = d.Cmd.Process.Signal(sig) // gone already: fine
	<-d.gone
	return d.err
}

// Killed reports whether a process ended by SIGKILL.
func Killed(err error) bool { return err != nil && strings.Contains(err.Error(), "signal: killed") }

// Logs is what the logs of all runs hold, for a test that has failed.
func (p *Place) Logs() string {
	files, err := filepath.Glob(filepath.Join(p.Options.State, "*/runs/*/log.jsonl"))
	must(p.t, err)
	var b strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		fmt.Fprintf(&b, "%s: %v\n%s", f, err, data)
	}
	return b.String()
}
