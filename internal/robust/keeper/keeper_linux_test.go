package keeper

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"deckhand/internal/robust"
)

var suite = robust.Suite{Section: "keeper"}

func TestMain(m *testing.M) { suite.Main(m) }

// hangs is a card whose agent does not end by itself.
const hangs = "- [ ] Ship it @pi\n\t[record] [hang]\n"

func boardOf(plan string) string {
	return "---\nproject: shop\n---\n\n## Plan\n\n" + plan + "\n## In Progress\n\n## Review\n\n## Done\n"
}

// scene is a place with one card, worked on for a daemon as people start it:
// deckhand watch.
type scene struct {
	*robust.Place
	t   *testing.T
	ctx context.Context
	cmd *exec.Cmd
}

func newScene(t *testing.T, plan string) *scene {
	t.Helper()
	return sceneIn(t, robust.NewPlace(t, robust.Fast, "shop"), plan)
}

func sceneIn(t *testing.T, p *robust.Place, plan string) *scene {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	p.Save("Shop.md", boardOf(plan))
	return &scene{Place: p, t: t, ctx: ctx}
}

// watch starts the daemon; set changes how.
func (s *scene) watch(set func(*exec.Cmd)) {
	s.t.Helper()
	s.cmd = s.Command(s.ctx, "watch")
	if set != nil {
		set(s.cmd)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd := s.cmd
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // ended by the test: fine
}

// works waits until an agent was prompted and its card says so.
func (s *scene) works(prompts int) {
	s.t.Helper()
	s.wait(func() bool { return s.prompts() == prompts && strings.Contains(s.Text("Shop.md"), "pi works") })
}

func (s *scene) wait(ok func() bool) {
	s.t.Helper()
	s.Await(s.ctx, nil, ok)
}

func (s *scene) prompts() int {
	return strings.Count("\n"+strings.Join(s.Record("shop"), "\n"), "\nstart ")
}

// live counts the keepers and agents.
func (s *scene) live() (keepers, agents int) {
	for _, p := range s.Procs() {
		switch {
		case p.Is("keep"):
			keepers++
		case p.Is("standin"):
			agents++
		}
	}
	return keepers, agents
}

// goesOn looks that keeper and agent live, now that the daemon has ended, and
// that the next one has the same agent, prompted once, in its hand.
func (s *scene) goesOn() {
	s.t.Helper()
	_ = s.cmd.Wait() // ended by what the test did
	if keepers, agents := s.live(); keepers != 1 || agents != 1 {
		s.t.Errorf("%d keepers and %d agents live", keepers, agents)
	}
	d := s.Start(s.ctx)
	s.stop(d, "Ship it")
	d.Kill()
	s.ends(1, "Review", "⚪ pi stopped")
}

// stop stops an agent that hangs, and waits until its card says so.
func (s *scene) stop(d *robust.Process, card string) {
	s.t.Helper()
	if _, err := d.Do("stop", card); err != nil {
		s.t.Errorf("stop: %v\n%s", err, s.Log)
		return
	}
	s.wait(func() bool { return strings.Contains(s.Text("Shop.md"), "⚪ pi stopped") })
}

// ends lets another daemon do what is left.
func (s *scene) ends(prompts int, lane, text string) {
	s.t.Helper()
	s.Once(s.ctx)
	if got := s.Lane("Shop.md", lane); !strings.Contains(got, text) {
		s.t.Errorf("%s lacks %q:\n%s", lane, text, s.Read("Shop.md"))
	}
	if n := s.prompts(); n != prompts {
		s.t.Errorf("prompted %d times, want %d", n, prompts)
	}
	if left := s.Procs(); len(left) > 0 {
		s.t.Errorf("still there: %v", left)
	}
	if s.t.Failed() {
		s.t.Logf("%s\n%s", s.Log, s.Logs())
	}
}

// TestDaemonsGroupKilled: a service manager that kills the daemon and what is
// in its process group (KillMode=process and mixed) leaves the agent at work.
func TestDaemonsGroupKilled(t *testing.T) {
	t.Parallel()
	s := newScene(t, hangs)
	s.watch(func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} })
	s.works(1)
	if err := syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.goesOn()
}

// TestEverythingKilled: one that kills every process of the service
// (KillMode=control-group), or a machine that restarts, ends the agent. The card
// says that it was interrupted, nothing starts by itself, and retry goes on.
func TestEverythingKilled(t *testing.T) {
	t.Parallel()
	s := newScene(t, hangs)
	s.watch(nil)
	s.works(1)
	_ = s.cmd.Process.Kill()
	for _, p := range s.Procs() {
		p.Kill()
	}
	_ = s.cmd.Wait()
	s.ends(1, "In Progress", "🟠 pi interrupted")
	d := s.Start(s.ctx)
	if _, err := d.Do("retry", "Ship it"); err != nil {
		t.Fatal(err)
	}
	s.wait(func() bool { return strings.Contains(s.Text("Shop.md"), "🟢 pi: review") })
	d.Kill()
	s.ends(1, "Review", "🟢 pi: review") // the second prompt does not say [record]
}

// TestRunFolderRemoved: whoever removes the folder of a run wants its agent
// gone, and so it is; the board keeps its card.
func TestRunFolderRemoved(t *testing.T) {
	t.Parallel()
	s := newScene(t, hangs)
	d := s.Start(s.ctx)
	s.works(1)
	d.Kill()
	runs, err := filepath.Glob(filepath.Join(s.Options.State, "*/runs/*"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	procs := s.Procs()
	for err := os.RemoveAll(runs[0]); err != nil; err = os.RemoveAll(runs[0]) {
		if !errors.Is(err, syscall.ENOTEMPTY) || s.ctx.Err() != nil { // its keeper still writes into it
			t.Fatal(err)
		}
	}
	for _, p := range procs {
		if !ended(s.ctx, p.PID) {
			t.Errorf("%v lives on", p)
		}
	}
	if got := s.Lane("Shop.md", "In Progress"); !strings.Contains(got, "- [ ] Ship it @pi\n") {
		t.Errorf("In Progress:\n%s", got)
	}
	s.ends(1, "In Progress", "- [ ] Ship it @pi\n")
}

// TestBinaryReplaced: the program's file is deleted while a daemon and its keepers
// run. The daemon starts the next card all the same, and one from another file in
// its place goes on with the keepers of the old one.
func TestBinaryReplaced(t *testing.T) {
	t.Parallel()
	s := newScene(t, "- [ ] First @pi\n\t[record] [slow:100ms]\n"+hangs)
	exe := s.Path("deckhand")
	s.copy(exe)
	s.watch(func(c *exec.Cmd) { c.Path = exe })
	s.works(1)
	if err := os.Remove(exe); err != nil {
		t.Fatal(err)
	}
	s.works(2)
	s.copy(exe)
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	if keepers, agents := s.live(); keepers == 0 || agents == 0 {
		t.Errorf("%d keepers and %d agents live", keepers, agents)
	}
	s.Exe, s.Options.Exe = exe, exe
	d := s.Start(s.ctx)
	s.stop(d, "Ship it")
	d.Kill()
	s.ends(2, "Review", "⚪ pi stopped")
}

// copy makes another file of the program.
func (s *scene) copy(to string) {
	s.t.Helper()
	data, err := os.ReadFile(s.Exe)
	if err != nil {
		s.t.Fatal(err)
	}
	s.program(to, data)
}

// program writes a file that is started next. No other test may fork meanwhile:
// its child would hold the file open for writing, and that cannot be started.
func (s *scene) program(name string, data []byte) {
	s.t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(name, data, 0o700); err != nil {
		s.t.Fatal(err)
	}
}

// agent puts a program in front of the stand-in: it starts something that it
// leaves behind.
func (s *scene) agent(first, more string) {
	s.t.Helper()
	script := s.Path("agent.sh")
	s.program(script, []byte("#!/bin/sh\n"+first+"\nexec "+s.Exe+" \"$@\"\n"))
	data, err := os.ReadFile(s.Options.Config)
	if err != nil {
		s.t.Fatal(err)
	}
	config := more + strings.Replace(string(data), "command: ["+s.Exe, "command: ["+script, 1)
	s.Write(s.Options.Config, config)
}

// tools are the processes that are neither keeper nor agent.
func (s *scene) tools() []robust.Proc {
	return slices.DeleteFunc(s.Procs(), func(p robust.Proc) bool { return p.Is("keep") || p.Is("standin") })
}

// TestToolsLeftBehind: what an agent started does not live on when it is over,
// whatever it holds open and whichever session it is in.
func TestToolsLeftBehind(t *testing.T) {
	for name, start := range map[string]string{
		"holds the output open": "sleep 1000 &",
		"in its own session":    "setsid sleep 1000 &",
		"heeds no signal":       "setsid sh -c 'trap \"\" TERM HUP; sleep 1000 & wait; sleep 1000' &",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, hangs)
			s.agent(start, "")
			d := s.Start(s.ctx)
			s.works(1)
			tools := s.tools()
			if len(tools) == 0 {
				t.Fatal("there is no tool")
			}
			s.stop(d, "Ship it")
			for _, p := range tools {
				if !ended(s.ctx, p.PID) {
					t.Errorf("%v lives on", p)
				}
			}
			d.Kill()
			s.ends(1, "Review", "⚪ pi stopped")
		})
	}
}

// TestSharedServerIsLeftAlone: a program that people share with the agent
// (sweep_keep) is reported and not ended, though the agent was the first to
// start it, and with it what it started.
func TestSharedServerIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t, "- [ ] Ship it @pi\n\t[record] [slow:50ms]\n")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	server := s.Path("tmux")
	data, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(server, data, 0o700); err != nil {
		t.Fatal(err)
	}
	s.agent("setsid "+server+" 1000 </dev/null >/dev/null 2>&1 &", "sweep_keep: [tmux]\n")
	s.Once(s.ctx)
	tools := s.tools()
	if len(tools) != 1 {
		t.Fatalf("still there: %v, want the server alone", tools)
	}
	if logs := s.Logs(); !strings.Contains(logs, "still there, and left alone: tmux") {
		t.Errorf("nobody is told:\n%s", logs)
	}
	tools[0].Kill()
	s.ends(1, "Review", "🟢 pi: review")
}
