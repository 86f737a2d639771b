package robust

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Gate stands between a daemon, with all that it starts, and the kernel: each
// system call that changes a file of the place is told before it is made, and
// is let through, refused, or said to have been made when it was not. The
// kernel hands the calls over (seccomp's user notification), so that they are
// counted over all threads of a process and none is missed.
type Gate struct {
	t     testing.TB
	under []string // real paths of the folders whose files are judged

	mu    sync.Mutex
	judge func(Call) Verdict // guarded by mu: one call at a time
}

// Call is a system call that is about to be made.
type Call struct {
	Op     string // open, write, sync, rename, unlink, mkdir, truncate or link
	Path   string // of the file it is about, as the kernel has it
	To     string // rename, link: the new name
	Writes bool   // open: it may make or change the file
	Daemon bool   // made by the daemon, not by a keeper or an agent
	Of     int    // the daemon's process
}

func (c Call) String() string { return strings.TrimSpace(c.Op + " " + c.Path + " " + c.To) }

// Mark puts a line of the test's own among what the daemon says: what it had
// said before this call stands before it.
func (c Call) Mark(line string) error {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/2", c.Of), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// Verdict is what becomes of a call. The zero value lets it through.
type Verdict struct {
	Fail syscall.Errno // it fails so, and nothing has happened
	Kill bool          // the daemon ends with SIGKILL instead
	Lie  bool          // nothing is done, and success is said
}

// Behind makes the daemons that are started in a place from now on go through a
// gate. judge is called for one call at a time.
func (p *Place) Behind(judge func(Call) Verdict) {
	p.t.Helper()
	g := &Gate{judge: judge, t: p.t}
	for _, dir := range []string{p.Work, filepath.Dir(p.Options.State)} {
		real, err := filepath.EvalSymlinks(dir)
		must(p.t, err)
		g.under = append(g.under, real+"/")
	}
	p.gate = g
}

// Open lets the daemons that are started from now on go through no gate.
func (p *Place) Open() { p.gate = nil }

// gateCommand is the hidden command of a test program that closes a gate behind
// itself and becomes what stands after it.
const gateCommand = "gate"

// gated are the calls that go through a gate, with what they are.
func gated() map[int32]string {
	return map[int32]string{
		unix.SYS_OPENAT: "open", unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "write",
		unix.SYS_FSYNC: "sync", unix.SYS_FDATASYNC: "sync", unix.SYS_FTRUNCATE: "truncate",
		unix.SYS_RENAMEAT: "rename", unix.SYS_RENAMEAT2: "rename", unix.SYS_UNLINKAT: "unlink",
		unix.SYS_MKDIRAT: "mkdir", unix.SYS_LINKAT: "link",
	}
}

// start starts a command that closes the gate behind itself.
func (g *Gate) start(cmd *exec.Cmd) {
	g.t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	must(g.t, err)
	ours, theirs := os.NewFile(uintptr(pair[0]), "gate"), os.NewFile(uintptr(pair[1]), "gate")
	defer ours.Close()
	cmd.ExtraFiles = []*os.File{theirs} // descriptor 3
	must(g.t, cmd.Start())
	theirs.Close()
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	must(g.t, err)
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		g.t.Fatalf("no gate: %v %v", messages, err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	must(g.t, err)
	go g.serve(fds[0], cmd.Process)
}

// gateMain closes the gate behind this process, hands its other side to the
// test through descriptor 3, and becomes another program.
func gateMain(args []string) error {
	runtime.LockOSThread() // the filter is this thread's, and so is what it becomes
	var program []unix.SockFilter
	add := func(code uint16, jt, jf uint8, k uint32) {
		program = append(program, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
	}
	add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, 0) // the number of the call
	for nr := range gated() {
		add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, uint32(nr))
		add(unix.BPF_RET|unix.BPF_K, 0, 0, unix.SECCOMP_RET_USER_NOTIF)
	}
	add(unix.BPF_RET|unix.BPF_K, 0, 0, unix.SECCOMP_RET_ALLOW)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	// A call that was told waits for its verdict, whatever signal comes: the
	// runtime's own would make it twice.
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(fd)), nil, 0); err != nil {
		return fmt.Errorf("handing over the gate: %w", err)
	}
	unix.CloseOnExec(int(fd))
	unix.CloseOnExec(3)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, append([]string{os.Args[0]}, args...), os.Environ())
}

// The kernel's struct seccomp_notif and seccomp_notif_resp.
type (
	notice struct {
		id    uint64
		pid   uint32 // of the thread
		flags uint32
		nr    int32
		arch  uint32
		ip    uint64
		args  [6]uint64
	}
	answer struct {
		id    uint64
		val   int64
		errno int32
		flags uint32
	}
)

// serve answers until nobody is left behind the gate.
func (g *Gate) serve(fd int, daemon *os.Process) {
	defer unix.Close(fd)
	names := gated()
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notice
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue // who asked is gone
		}
		a := g.decide(&n, names[n.nr], daemon)
		// An error: who asked is gone.
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
	}
}

func (g *Gate) decide(n *notice, op string, daemon *os.Process) answer {
	const goOn = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
	through := answer{id: n.id, flags: goOn}
	c := n.call(op)
	if !g.judges(c) {
		return through
	}
	c.Of = daemon.Pid
	_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", c.Of, n.pid))
	c.Daemon = err == nil
	g.mu.Lock()
	v := g.judge(c)
	g.mu.Unlock()
	switch {
	case v.Kill:
		_ = daemon.Signal(syscall.SIGKILL) // and the call is never made: its thread is dead
		return answer{id: n.id, errno: -int32(unix.EINTR)}
	case v.Fail != 0:
		return answer{id: n.id, errno: -int32(v.Fail)}
	case v.Lie:
		return answer{id: n.id}
	}
	return through
}

func (g *Gate) judges(c Call) bool {
	for _, dir := range g.under {
		if strings.HasPrefix(c.Path+"/", dir) || strings.HasPrefix(c.To, dir) {
			return true
		}
	}
	return false
}

// call reads what a call is about from the process that makes it.
func (n *notice) call(op string) Call {
	c := Call{Op: op}
	switch n.nr {
	case unix.SYS_OPENAT:
		c.Path = n.at(0, 1)
		c.Writes = n.args[2]&(unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC) != 0
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT:
		c.Path, c.To = n.at(0, 1), n.at(2, 3)
	case unix.SYS_UNLINKAT, unix.SYS_MKDIRAT:
		c.Path = n.at(0, 1)
	default:
		c.Path = n.fd(n.args[0])
	}
	return c
}

// fd is the path of an open file.
func (n *notice) fd(fd uint64) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(fd))) // closed meanwhile: nothing of ours
	return path
}

// at is the path that a folder's descriptor and a name stand for.
func (n *notice) at(dir, name int) string {
	path := n.text(n.args[name])
	if filepath.IsAbs(path) {
		return path
	}
	if int32(n.args[dir]) != unix.AT_FDCWD {
		return filepath.Join(n.fd(n.args[dir]), path)
	}
	cwd, _ := os.Readlink("/proc/" + strconv.Itoa(int(n.pid)) + "/cwd")
	return filepath.Join(cwd, path)
}

// text reads a string that ends in NUL from the memory of who asks.
func (n *notice) text(addr uint64) string {
	buf := make([]byte, unix.PathMax)
	for size := len(buf); size > 0; size /= 2 { // what follows the string may not be readable
		local := []unix.Iovec{{Base: &buf[0], Len: uint64(size)}}
		remote := []unix.RemoteIovec{{Base: uintptr(addr), Len: size}}
		got, err := unix.ProcessVMReadv(int(n.pid), local, remote, 0)
		if err != nil {
			continue
		}
		text, _, ok := strings.Cut(string(buf[:got]), "\x00")
		if ok {
			return text
		}
	}
	return ""
}
