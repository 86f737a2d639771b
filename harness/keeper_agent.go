package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// agent is a running agent and our ends of its pipes.
type agent struct {
	process  *os.Process
	out, err *os.File
}

// start starts the agent in a process group of its own. The error is the
// reason for exit.json.
func (k *keeper) start() (a agent, err error) {
	// Looked at first: the error of the start does not tell a folder that is
	// gone from a program that is.
	if info, err := os.Stat(k.spec.Dir); err != nil || !info.IsDir() {
		return a, errors.New(ReasonFolderGone)
	}
	p, err := openPipes()
	if err != nil {
		return a, err
	}
	defer p.closeTheirs()
	cmd := exec.Command(k.spec.Argv[0], k.spec.Argv[1:]...)
	cmd.Dir = k.spec.Dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isToken),
		TokenVar+"="+Life{Run: k.spec.Run, N: k.spec.Life}.Token())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.theirs[0], p.theirs[1], p.theirs[2]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	unix.Umask(k.mask) // files of the project are the person's
	err = cmd.Start()
	unix.Umask(0o077)
	if err != nil {
		p.closeOurs()
		return a, fmt.Errorf("could not be started: %w", err)
	}
	k.stdin, k.group = p.ours[0], cmd.Process.Pid
	k.remark(Remark{Event: RemarkStarted, PID: cmd.Process.Pid})
	return agent{process: cmd.Process, out: p.ours[1], err: p.ours[2]}, nil
}

// pipes are the three standard streams, as pipes of our own: those of os/exec
// lose the tail of the output when the process is waited for.
type pipes struct{ ours, theirs []*os.File }

func openPipes() (p pipes, err error) {
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeOurs()
			p.closeTheirs()
			return pipes{}, err
		}
		if i == 0 {
			r, w = w, r
		}
		p.ours, p.theirs = append(p.ours, r), append(p.theirs, w)
	}
	return p, nil
}

func (p pipes) closeOurs() { closeAll(p.ours) }

func (p pipes) closeTheirs() { closeAll(p.theirs) }

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// deadline is when reading ends at the latest.
func (a agent) deadline(t time.Time) {
	_ = a.out.SetReadDeadline(t)
	_ = a.err.SetReadDeadline(t)
}

// pump copies one stream of the agent into the capture, to its end.
func (k *keeper) pump(s Stream, r *os.File) {
	defer r.Close()
	sp := splitter{cap: k.cap, stream: s, buf: make([]byte, blockSize)}
	for {
		n, err := r.Read(sp.room())
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = sp.rest(r)
			n = 0
		}
		if err := errors.Join(sp.take(n), err); err != nil {
			_ = sp.end()
			return
		}
	}
}

// blockSize is how much of a pipe is read at once: what a pipe holds.
const blockSize = 64 << 10

// splitter cuts a stream into lines, at LF only. It holds no more than its
// buffer: a longer line goes to the capture in pieces.
type splitter struct {
	cap    *capture
	stream Stream
	buf    []byte
	n      int   // bytes in buf that belong to no stored line yet
	long   int64 // bytes of the present line that were passed on in pieces
}

func (sp *splitter) room() []byte { return sp.buf[sp.n:] }

// take deals with m more bytes in the buffer.
func (sp *splitter) take(m int) error {
	p := sp.buf[:sp.n+m]
	sp.n = 0
	if sp.long > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			return sp.more(p)
		}
		if err := sp.finish(p[:i]); err != nil {
			return err
		}
		p = p[i+1:]
	}
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		if err := sp.cap.lines(sp.stream, p[:i+1]); err != nil {
			return err
		}
		p = p[i+1:]
	}
	if len(p) == len(sp.buf) {
		return sp.more(p)
	}
	sp.n = copy(sp.buf, p)
	return nil
}

// more passes on a piece of a long line. What is over the limit is only counted.
func (sp *splitter) more(p []byte) error {
	sp.long += int64(len(p))
	if sp.long > lineMax || len(p) == 0 {
		return nil
	}
	return sp.cap.piece(sp.stream, p)
}

// finish passes on the last piece of a long line.
func (sp *splitter) finish(p []byte) error {
	total := sp.long + int64(len(p))
	sp.long = 0
	if total <= lineMax {
		return sp.cap.end(sp.stream, p)
	}
	return sp.cap.tooLong(sp.stream, total)
}

// end deals with a last line that has no line end.
func (sp *splitter) end() error {
	p := sp.buf[:sp.n]
	if sp.long > 0 {
		return sp.finish(p)
	}
	if len(p) == 0 {
		return nil
	}
	return sp.cap.end(sp.stream, p)
}

// rest reads what is in the pipe at this moment, for a reader whose time is up
// because the disk was full or somebody else holds the pipe open. It is at most
// what a pipe can hold; the error says that this was all.
func (sp *splitter) rest(r *os.File) error {
	_ = r.SetReadDeadline(time.Time{})
	raw, err := r.SyscallConn()
	if err != nil {
		return err
	}
	const mostAPipeHolds = 1 << 20
	for got := 0; got < mostAPipeHolds; {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), sp.room())
			return true // never wait
		})
		if err != nil || n <= 0 {
			break
		}
		got += n
		if err := sp.take(n); err != nil {
			return err
		}
	}
	return os.ErrDeadlineExceeded
}
