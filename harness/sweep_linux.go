package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	sweepRounds = 5               // a process can start another while it is looked for
	sweepGrace  = 2 * time.Second // between TERM and KILL
)

// Sweep ends every process that carries the token of a life (Life.Token) in its
// environment, wherever its session or group: agents start their tools in
// sessions of their own. It is called when the keeper is gone. Programs named in
// keep, and what they started, are left alone and reported: a person may sit in
// the tmux an agent was the first to start. The error names what would not end.
func Sweep(ctx context.Context, token string, keep []string) (ended, kept []Proc, err error) {
	s := sweep{token: TokenVar + "=" + token, keep: keep, ended: map[int]Proc{}}
	for range sweepRounds {
		found, left, err := s.find()
		kept = left
		if err != nil || len(found) == 0 {
			return s.list(), kept, err
		}
		if err := s.round(ctx, found); err != nil {
			return s.list(), kept, err
		}
	}
	found, kept, err := s.find()
	defer closeStrays(found)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("process %d (%s) of %s does not end", found[0].PID, found[0].Name, token)
	}
	return s.list(), kept, err
}

type sweep struct {
	token string // NAME=value
	keep  []string
	ended map[int]Proc
}

// stray is a process with the token, by a descriptor that no other process can
// ever come to stand behind.
type stray struct {
	Proc
	fd int
}

func closeStrays(all []stray) {
	for _, p := range all {
		unix.Close(p.fd)
	}
}

func (s *sweep) list() []Proc {
	var all []Proc
	for _, p := range s.ended {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Proc) int { return a.PID - b.PID })
	return all
}

// find looks through all processes once.
func (s *sweep) find() (found []stray, kept []Proc, err error) {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range names {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || !s.carries(pid) {
			continue
		}
		if s.isKept(pid) {
			kept = append(kept, Proc{pid, procName(pid)})
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // ended meanwhile
		}
		// Asked again: only now is the number sure to mean this process.
		if !s.carries(pid) {
			unix.Close(fd)
			continue
		}
		found = append(found, stray{Proc{pid, procName(pid)}, fd})
	}
	return found, kept, nil
}

// carries reports whether the process was started with the token. Zombies and
// kernel threads have no environment, other people's cannot be read.
func (s *sweep) carries(pid int) bool {
	env, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if string(entry) == s.token {
			return true
		}
	}
	return false
}

// isKept reports whether the process or one it descends from is to be kept.
func (s *sweep) isKept(pid int) bool {
	for range 64 { // a chain that changes under our eyes must end
		if pid <= 1 || !s.carries(pid) {
			return false
		}
		if s.named(pid) {
			return true
		}
		pid = parent(pid)
	}
	return false
}

func (s *sweep) named(pid int) bool {
	exe, _ := os.Readlink(procFile(pid, "exe"))
	exe = strings.TrimSuffix(filepath.Base(exe), " (deleted)")
	name := procName(pid)
	return slices.ContainsFunc(s.keep, func(k string) bool {
		return k == exe || k == name || strings.HasPrefix(name, k+":") // "tmux: server"
	})
}

// round asks each to end, waits, and kills who is left.
func (s *sweep) round(ctx context.Context, found []stray) error {
	defer closeStrays(found)
	for _, p := range found {
		s.ended[p.PID] = p.Proc
		if err := sendPidfd(p, unix.SIGTERM); err != nil {
			return err
		}
	}
	left, err := waitStrays(ctx, found)
	if err != nil {
		return err
	}
	for _, p := range left {
		if err := sendPidfd(p, unix.SIGKILL); err != nil {
			return err
		}
	}
	_, err = waitStrays(ctx, left)
	return err
}

func sendPidfd(p stray, sig unix.Signal) error {
	err := unix.PidfdSendSignal(p.fd, sig, nil, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("process %d (%s): %w", p.PID, p.Name, err)
	}
	return nil
}

// waitStrays waits until all have ended, at most the grace, and returns those
// that have not.
func waitStrays(ctx context.Context, all []stray) (left []stray, err error) {
	left = slices.Clone(all)
	const step = 100 * time.Millisecond // how late the end of ctx is seen
	for until := time.Now().Add(sweepGrace); len(left) > 0 && time.Now().Before(until); {
		if err := ctx.Err(); err != nil {
			return left, err
		}
		fds := make([]unix.PollFd, len(left))
		for i, p := range left {
			fds[i] = unix.PollFd{Fd: int32(p.fd), Events: unix.POLLIN}
		}
		if _, err := unix.Poll(fds, int(step.Milliseconds())); err != nil && !errors.Is(err, unix.EINTR) {
			return left, err
		}
		var still []stray
		for i, p := range left {
			if fds[i].Revents == 0 {
				still = append(still, p)
			}
		}
		left = still
	}
	return left, nil
}

func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

func procName(pid int) string {
	name, _ := os.ReadFile(procFile(pid, "comm"))
	return strings.TrimSuffix(string(name), "\n")
}

// parent is the process's parent, 0 when it is not there. The name in the
// middle of the line may hold anything, so it is skipped from behind.
func parent(pid int) int {
	stat, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}
