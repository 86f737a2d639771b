package harness

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// KeeperExe is the program to start keepers from: this one, even when its file
// was replaced meanwhile.
func KeeperExe() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable() // no /proc
}

// leftBehind is sent to those left in an agent's group; the sweep follows.
const leftBehind = unix.SIGTERM

// waitExit waits for the end of a child without reaping it, so that its number
// and its group's stay taken. reap does the rest.
func waitExit(p *os.Process) (reap func() (*os.ProcessState, error)) {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return p.Wait
		}
	}
}

// signalKeeper signals the keeper, and surely nobody else: that the lock is held
// after its number was looked up says that the number is still its own.
func signalKeeper(l Life, sig unix.Signal) error {
	pid := l.pid()
	if pid == 0 {
		return unix.ESRCH
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if held, err := l.held(); err != nil || !held {
		return errors.Join(err, unix.ESRCH)
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// keeperDeath returns a channel that is closed when the process ends, or nil
// when it is not there. It lets go when ctx ends.
func keeperDeath(ctx context.Context, pid int) <-chan struct{} {
	if pid <= 0 {
		return nil
	}
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), "pidfd") // waited for by the runtime's poller, without a thread
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil
	}
	died := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { f.Close() })
	go func() {
		defer f.Close()
		defer stop()
		err := raw.Read(func(fd uintptr) bool {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
		})
		if err == nil {
			close(died)
		}
	}()
	return died
}
