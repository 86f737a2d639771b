package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"deckhand/harness"
)

// A Program is a real agent at the end of two pipes, for tests: what the keeper
// does, without its files. Its methods are for one goroutine.
type Program struct {
	life    Life
	session harness.Session
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	lines   chan harness.Line // without seq; closed at the end of both streams
	sent    map[string]bool
	next    int // events before it were given out by Until
	ended   bool
}

// Start starts the agent for a life and sends the handshake. The program is
// killed when ctx ends.
func Start(ctx context.Context, d harness.Driver, a harness.Agent, s harness.Spec) (*Program, error) {
	if err := harness.PlaceFiles(a.Files, d.Files(a)); err != nil {
		return nil, err
	}
	argv, err := d.Argv(a, s)
	if err != nil {
		return nil, err
	}
	s.Argv = argv
	p := &Program{session: d.Open(a, s), sent: map[string]bool{}, lines: make(chan harness.Line, 64)}
	p.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	p.cmd.Dir, p.cmd.Env = s.Dir, a.Env
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err1 := p.cmd.StdinPipe()
	stdout, err2 := p.cmd.StdoutPipe()
	stderr, err3 := p.cmd.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	p.stdin = stdin
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	var streams sync.WaitGroup
	streams.Go(func() { p.read(harness.Out, stdout) })
	streams.Go(func() { p.read(harness.Err, stderr) })
	go func() {
		streams.Wait()
		close(p.lines)
	}()
	return p, p.send(p.session.Start())
}

func (p *Program) read(stream harness.Stream, r io.Reader) {
	in := bufio.NewReader(r)
	for {
		data, err := in.ReadBytes('\n')
		if n := len(data); n > 0 {
			if data[n-1] == '\n' {
				data = data[:n-1]
			}
			p.lines <- harness.Line{Time: time.Now(), Stream: stream, Data: data}
		}
		if err != nil {
			return
		}
	}
}

// Do gives the agent a command.
func (p *Program) Do(c harness.Command) error {
	sends, err := p.session.Encode(c)
	if err != nil {
		return err
	}
	return p.send(sends)
}

// send does what rows say, each id once, after writing it down.
func (p *Program) send(sends []harness.Send) error {
	for _, s := range sends {
		if p.sent[s.ID] {
			continue
		}
		p.sent[s.ID] = true
		p.life.Sent(time.Now(), s)
		if err := p.decode(); err != nil {
			return err
		}
		switch s.Do {
		case "eof":
			p.stdin.Close()
		case "term":
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
		case "kill":
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		default:
			// A process that is gone is seen by its end, with a better reason.
			_, _ = io.WriteString(p.stdin, s.Line+"\n")
		}
	}
	return nil
}

// decode decodes the line that was written down last.
func (p *Program) decode() error {
	events, sends := p.session.Decode(p.life.Lines[len(p.life.Lines)-1])
	p.life.Events = append(p.life.Events, events...)
	p.life.Sends = append(p.life.Sends, sends...)
	return p.send(sends)
}

// Until reads on to the first event, not given out before, that want takes.
func (p *Program) Until(want func(harness.Event) bool) (harness.Event, error) {
	for {
		for p.next < len(p.life.Events) {
			e := p.life.Events[p.next]
			p.next++
			if want(e) {
				return e, nil
			}
		}
		if p.ended {
			return harness.Event{}, fmt.Errorf("the agent ended (exit code %d %s) before what was waited for", p.life.Code, p.life.Signal)
		}
		if err := p.step(); err != nil {
			return harness.Event{}, err
		}
	}
}

// step decodes one more line, or the end of the process.
func (p *Program) step() error {
	l, ok := <-p.lines
	if ok {
		p.life.add(l.Stream, l.Time, l.Data)
		return p.decode()
	}
	err := p.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return err
	}
	p.ended = true
	p.life.Code = p.cmd.ProcessState.ExitCode()
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.life.Signal = signalName(status.Signal())
	}
	// The same time as a replay of the life has.
	at := epoch()
	if n := len(p.life.Lines); n > 0 {
		at = p.life.Lines[n-1].Time
	}
	p.life.Events = append(p.life.Events, p.session.Exit(p.life.Code, p.life.Signal, at)...)
	return nil
}

func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGINT:
		return "SIGINT"
	}
	return s.String()
}

// Stop goes through the driver's stop order to the end of the process.
func (p *Program) Stop() error {
	for n := 0; !p.ended; n++ {
		sends, wait, ok := p.session.Stop(n)
		if !ok {
			break
		}
		if err := p.send(sends); err != nil {
			return err
		}
		if err := p.drain(wait); err != nil {
			return err
		}
	}
	return nil
}

// drain decodes for as long as a step of the stop order waits, or to the end of
// the turn: then the next step need not wait.
func (p *Program) drain(wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	seen := len(p.life.Events)
	for !p.ended {
		for ; seen < len(p.life.Events); seen++ {
			if p.life.Events[seen].Kind == harness.Done {
				return nil
			}
		}
		select {
		case <-timer.C:
			return nil
		case l, ok := <-p.lines:
			if !ok {
				return p.step() // the closed channel says so again
			}
			p.life.add(l.Stream, l.Time, l.Data)
			if err := p.decode(); err != nil {
				return err
			}
		}
	}
	return nil
}

// End closes the agent's input and waits for its end.
func (p *Program) End() (Life, error) {
	if !p.ended {
		if err := p.send(p.session.Finish()); err != nil {
			return p.life, err
		}
	}
	return p.Wait()
}

// Wait reads to the end of the process.
func (p *Program) Wait() (Life, error) {
	for !p.ended {
		if err := p.step(); err != nil {
			return p.life, err
		}
	}
	return p.life, nil
}

// Kill ends the agent from outside.
func (p *Program) Kill() error {
	return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
}
