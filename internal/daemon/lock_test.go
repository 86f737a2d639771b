package daemon

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A daemon that is killed while it starts a keeper holds its lock for a moment
// longer: the process that it was starting has it. The next one waits for that,
// and for no daemon that lives.
func TestLockOfADeadDaemon(t *testing.T) {
	p := newPlace(t, fast, boardOf(""))
	f, err := openFolder(p.o.Dir, p.o.State)
	if err != nil {
		t.Fatal(err)
	}
	unborn, err := os.Open(p.o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(unborn.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(f.path(), 0o700); err != nil {
		t.Fatal(err)
	}
	owner := func(pid int) {
		if err := writeJSON(f.path("daemon.json"), running{PID: pid}); err != nil {
			t.Fatal(err)
		}
	}
	owner(os.Getpid())
	if err := f.take(); !errors.Is(err, ErrRunning) {
		t.Errorf("taken from one that lives: %v", err)
	}
	dead := exec.Command("/bin/true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	owner(dead.Process.Pid)
	if err := f.take(); !errors.Is(err, ErrRunning) {
		t.Errorf("taken while it is held: %v", err)
	}
	var born sync.WaitGroup
	born.Go(func() { unborn.Close() })
	if err := f.take(); err != nil {
		t.Errorf("not taken from one that died: %v", err)
	}
	born.Wait()
	f.release()
}
