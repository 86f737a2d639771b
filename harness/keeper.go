package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// KeepMain is the keeper: it starts the agent of one life and owns its pipes,
// so that the agent outlives the daemon. args is what follows the command,
// the folder of the life. It returns the exit code.
//
// The keeper decides nothing. It stores what the agent says, passes on what
// in.jsonl has, and writes down how it ended. It wakes only for these three;
// its timers are the second between two tries on a full disk and those of an
// agent that is being ended. It is ended by rows of in.jsonl, or by SIGTERM,
// which is what a machine that shuts down sends to everything.
func KeepMain(args []string) int {
	// A few MB for each live run. There is next to no garbage, and one thread
	// copies faster than any agent writes.
	debug.SetGCPercent(25)
	runtime.GOMAXPROCS(min(2, runtime.NumCPU()))
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "deckhand keep: wants the folder of one life; it is started by the daemon")
		return 2
	}
	if err := keep(args[0]); err != nil {
		fmt.Fprintf(os.Stderr, "%s deckhand keep: %v\n", time.Now().Format(time.RFC3339), err)
		return 1
	}
	return 0
}

// What Hire hands over.
const (
	lockFD = 3 // the locked file
	gateFD = 4 // the pipe in which a byte comes when the agent is to be started
)

// goOn is that byte.
const goOn = '!'

func keep(life string) error {
	if start, err := waitForStart(gateFD); err != nil || !start {
		return err
	}
	k, err := openKeeper(life, lockFD)
	if err != nil {
		return err
	}
	return k.run()
}

// waitForStart reports whether the agent is to be started. When it is not, or
// nobody is left who could have said so, nothing has been done.
func waitForStart(fd int) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return false, fmt.Errorf("descriptor %d is no pipe; a keeper is started by the daemon", fd)
	}
	defer unix.Close(fd)
	var b [1]byte
	for {
		n, err := unix.Read(fd, b[:])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false, err
		default:
			return n == 1 && b[0] == goOn, nil
		}
	}
}

// keeper keeps one life.
type keeper struct {
	root *os.Root // of the life; a descriptor, so that the folder may be renamed
	lock *os.File // held until the process ends
	spec Spec
	mask int // umask of the person, for the agent
	in   *os.File
	cap  *capture

	signals chan os.Signal
	quit    chan struct{} // closed when the agent is over: nothing is passed on any more

	mu    sync.Mutex // guards what follows
	stdin *os.File   // nil once closed
	group int        // the agent's process group; 0 before and after
	last  *time.Timer
	why   string // the reason when we ended the agent ourselves
	gone  atomic.Bool
}

// openKeeper does all that can fail before anything has run. The capture is
// created last: from then on the life counts as started.
func openKeeper(path string, fd uintptr) (*keeper, error) {
	unix.CloseOnExec(int(fd))
	k := &keeper{
		lock:    os.NewFile(fd, lockFile),
		mask:    unix.Umask(0o077),
		signals: make(chan os.Signal, 8),
		quit:    make(chan struct{}),
	}
	// Caught, not ignored: what is ignored would be ignored by the agent too.
	// SIGXFSZ becomes an error of the write.
	signal.Notify(k.signals, unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGXFSZ)
	var err error
	if k.root, err = os.OpenRoot(path); err != nil {
		return nil, err
	}
	if err := k.checkLock(); err != nil {
		return nil, err
	}
	data, err := k.root.ReadFile(specFile)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &k.spec); err != nil {
		return nil, fmt.Errorf("%s: %w", specFile, err)
	}
	if len(k.spec.Argv) == 0 {
		return nil, fmt.Errorf("%s: no argv", specFile)
	}
	if k.in, err = k.root.Open(inFile); err != nil {
		return nil, err
	}
	if err := os.Chdir("/"); err != nil {
		return nil, err
	}
	if k.cap, err = createCapture(k.root, filepath.Dir(path)); err != nil {
		return nil, err
	}
	k.cap.gone = k.isGone
	return k, nil
}

// checkLock makes sure that the descriptor is this life's lock and locked, and
// leaves our pid in it.
func (k *keeper) checkLock() error {
	want, err := k.root.Stat(lockFile)
	if err != nil {
		return err
	}
	got, err := k.lock.Stat()
	if err != nil || !os.SameFile(got, want) {
		return errors.New("descriptor 3 is not the lock of this life; a keeper is started by the daemon")
	}
	if err := flock(k.lock, unix.LOCK_EX); err != nil {
		return fmt.Errorf("%s: %w", lockFile, err)
	}
	pid := fmt.Appendf(nil, "%d\n", os.Getpid())
	if _, err := k.lock.WriteAt(pid, 0); err != nil {
		return err
	}
	return k.lock.Truncate(int64(len(pid)))
}

// run starts the agent and stays until it is over.
func (k *keeper) run() error {
	a, err := k.start()
	if err != nil {
		return k.finish(Exit{Code: -1, Time: time.Now(), Reason: err.Error()})
	}
	stop := k.attend()
	var readers sync.WaitGroup
	readers.Go(func() { k.pump(Out, a.out) })
	readers.Go(func() { k.pump(Err, a.err) })

	reap := waitExit(a.process)
	// What the agent said itself is in the pipes by now. Somebody it left
	// behind may hold them open for ever.
	a.deadline(time.Now().Add(time.Second))
	readers.Wait()
	state, err := k.disband(reap)
	stop()
	if err != nil {
		return err
	}
	return k.finish(k.exit(state))
}

// disband signals those who are left in the agent's group and reaps the agent.
// In between its number cannot be given to another group. Who does not listen
// is left to the sweep, which is sure and says whom it ended.
func (k *keeper) disband(reap func() (*os.ProcessState, error)) (*os.ProcessState, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = unix.Kill(-k.group, leftBehind)
	k.group = 0
	if k.last != nil {
		k.last.Stop()
	}
	return reap()
}

func (k *keeper) exit(state *os.ProcessState) Exit {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := Exit{Code: state.ExitCode(), Time: time.Now(), Reason: k.why}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = unix.SignalName(ws.Signal())
	}
	return e
}

// finish closes the capture and writes exit.json, whose presence says that the
// capture is whole.
func (k *keeper) finish(e Exit) error {
	k.remark(Remark{Event: RemarkExit, Code: e.Code, Signal: e.Signal, Text: e.Reason})
	if err := k.cap.close(); err != nil {
		return err
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return k.cap.insist(func() error { return k.writeExit(append(data, '\n')) })
}

func (k *keeper) writeExit(data []byte) error {
	const tmp = exitFile + ".tmp"
	f, err := k.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := k.root.Rename(tmp, exitFile); err != nil {
		return err
	}
	return k.cap.syncNames()
}

// attend passes on rows and signals until the returned function is called,
// which waits until nothing is on its way any more.
func (k *keeper) attend() (stop func()) {
	lines, orders := make(chan struct{}, 1), make(chan struct{}, 1)
	unwatch := new(Watches).watch(k.in.Name(), lines, orders)
	var all sync.WaitGroup
	all.Go(func() { k.passLines(lines) })
	all.Go(func() { k.passOrders(orders) })
	all.Go(func() { k.heed() })
	return func() {
		close(k.quit)
		k.closeStdin() // somebody left behind may hold the other end, unread
		unwatch()
		all.Wait()
	}
}

func (k *keeper) heed() {
	for {
		select {
		case s := <-k.signals:
			if s == unix.SIGTERM {
				k.endAgent("its keeper was told to end")
			}
		case <-k.quit:
			return
		}
	}
}

// isGone reports whether the folder was taken away. A person, or `rm -rf` of
// the state folder, wants the agent gone too: nobody could reach it any more.
func (k *keeper) isGone() bool {
	if k.gone.Load() {
		return true
	}
	info, err := k.in.Stat()
	if err != nil {
		return false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Nlink > 0 {
		return false
	}
	k.gone.Store(true)
	return true
}

// Remark is a line of the stream Meta: what the keeper has to say itself.
type Remark struct {
	Event  string `json:"event"`
	PID    int    `json:"pid,omitempty"`    // started: of the agent, and of its group
	Stream Stream `json:"stream,omitempty"` // too_long
	Bytes  int64  `json:"bytes,omitempty"`  // too_long: of the line that was not kept
	ID     string `json:"id,omitempty"`     // not_taken: of the row
	Code   int    `json:"code,omitempty"`   // exit
	Signal string `json:"signal,omitempty"` // exit
	Text   string `json:"text,omitempty"`   // why
}

// What a Remark may be about.
const (
	RemarkStarted  = "started"
	RemarkTooLong  = "too_long"  // a line of over 64 MB, in place of the line
	RemarkNotTaken = "not_taken" // the agent had closed its standard input
	RemarkBadRow   = "bad_row"   // in.jsonl had a row that is none
	RemarkExit     = "exit"
)

func (k *keeper) remark(r Remark) {
	line, err := json.Marshal(r)
	if err != nil {
		line = []byte(`{"event":"` + r.Event + `"}`)
	}
	_ = k.cap.say(Meta, line, false) // fails only when the folder is gone
}
