package robust

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Proc is a keeper, an agent or a tool of a place. Daemons are not counted:
// who starts one has its Process.
type Proc struct {
	PID  int
	Args []string
	Run  string // token of the life it belongs to, RUN/LIFE; a keeper has none
}

// Is reports whether it is deckhand with this command: keep, standin.
func (p Proc) Is(command string) bool { return len(p.Args) > 1 && p.Args[1] == command }

// Kill ends it with SIGKILL; one that is gone already stays gone.
func (p Proc) Kill() { _ = syscall.Kill(p.PID, syscall.SIGKILL) }

// Procs are the processes of this place, by the paths in their arguments and by
// the run token in their environment.
func (p *Place) Procs() []Proc {
	p.t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	must(p.t, err)
	var all []Proc
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if proc, ok := p.proc(dir, pid); ok && pid != os.Getpid() {
			all = append(all, proc)
		}
	}
	return all
}

// proc looks at one process. One that goes meanwhile, or is dead and only not
// reaped yet, has neither arguments nor environment: it is not ours.
func (p *Place) proc(dir string, pid int) (Proc, bool) {
	args, _ := os.ReadFile(dir + "/cmdline")
	env, _ := os.ReadFile(dir + "/environ")
	proc := Proc{PID: pid, Args: strings.Split(strings.TrimRight(string(args), "\x00"), "\x00")}
	for v := range strings.SplitSeq(string(env), "\x00") {
		if token, ok := strings.CutPrefix(v, "DECKHAND_RUN="); ok {
			proc.Run = token
		}
	}
	ours := strings.Contains(string(args), p.Root) || proc.Run != "" && strings.Contains(string(env), p.Root)
	return proc, ours && !proc.Is("daemon")
}

// Processes are the pids of Procs.
func (p *Place) Processes() []int {
	p.t.Helper()
	var pids []int
	for _, proc := range p.Procs() {
		pids = append(pids, proc.PID)
	}
	return pids
}

// Kill ends those that are deckhand with this command, and returns them.
func (p *Place) Kill(command string) []Proc {
	p.t.Helper()
	killed := slices.DeleteFunc(p.Procs(), func(proc Proc) bool { return !proc.Is(command) })
	for _, proc := range killed {
		proc.Kill()
	}
	return killed
}

// Clear ends what was left, and waits until it has ended.
func (p *Place) Clear() {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; runtime.Gosched() {
		left := p.Procs()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			p.t.Errorf("still there: %v", left)
			return
		}
		for _, proc := range left {
			proc.Kill()
		}
	}
}
