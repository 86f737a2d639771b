package watch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// listener is the control: it watches folders and reads only in the end, so it
// is told what a program hears that did not get to read.
type listener struct {
	t  *testing.T
	fd int
}

func listen(t *testing.T, dirs ...string) listener {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	for _, dir := range dirs {
		if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_ALL_EVENTS); err != nil {
			t.Fatal(err)
		}
	}
	return listener{t, fd}
}

// heard are the names that were told, and whether the queue had overflowed.
func (l listener) heard() (names map[string]bool, overflow bool) {
	l.t.Helper()
	names = map[string]bool{}
	buf := make([]byte, 1<<16)
	for {
		n, err := unix.Read(l.fd, buf)
		if errors.Is(err, unix.EAGAIN) {
			return names, overflow
		}
		if err != nil {
			l.t.Fatal(err)
		}
		for b := buf[:n]; len(b) > 0; {
			mask, size := binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[12:])
			overflow = overflow || mask&unix.IN_Q_OVERFLOW != 0
			end := unix.SizeofInotifyEvent + int(size)
			names[strings.TrimRight(string(b[unix.SizeofInotifyEvent:end]), "\x00")] = true
			b = b[end:]
		}
	}
}

// fill makes more events in a folder than a queue holds.
func fill(t *testing.T, dir string) (events int) {
	t.Helper()
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip(err)
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(limit)))
	if err != nil || most > 1<<20 {
		t.Skipf("a queue of %q events is not filled here", limit)
	}
	names := [2]string{dir + "/there.txt", dir + "/back.txt"}
	if err := os.WriteFile(names[0], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for n := 0; events <= most; n++ {
		if err := os.Rename(names[n%2], names[(n+1)%2]); err != nil {
			t.Fatal(err)
		}
		events += 2
	}
	return events
}

// TestOverflowingQueue: while deckhand does not get to read, more happens in the
// folder than the kernel's queue holds; what is saved then nobody is told of.
// Every card that was saved, moved or made unique in that time starts once.
func TestOverflowingQueue(t *testing.T) {
	t.Parallel()
	ctx := bounded(t)
	p := newPlace(t)
	rounds := max(3, suite.Rounds(50))
	times, filled, missed := 0, 0, 0
	for i := range rounds {
		put(t, p, fmt.Sprintf("%d/Edited.md", i), board(i))
		put(t, p, fmt.Sprintf("%d/Twin.md", i), board(i, fmt.Sprintf("Twin %d", i)))
		put(t, p, fmt.Sprintf("%d/Other.md", i), board(i, fmt.Sprintf("Twin %d", i)))
	}
	d := p.Start(ctx)
	var cards []string
	for i := range rounds {
		dir := fmt.Sprint(i)
		control := listen(t, p.Work, p.At(dir))
		if starts(p)[fmt.Sprintf("Twin %d", i)] > 0 {
			t.Fatal("one of two equal cards was started")
		}
		d.Pause()
		events := fill(t, p.At(dir))
		edited, inNew, twin := fmt.Sprintf("Edited %d", i), fmt.Sprintf("In a new folder %d", i), fmt.Sprintf("Twin %d", i)
		p.Write(p.At(dir+"/Edited.md"), board(i, edited))
		put(t, p, dir+"/new/deep/New.md", board(i, inNew))
		if err := os.Remove(p.At(dir + "/Other.md")); err != nil {
			t.Fatal(err)
		}
		d.Resume()
		names, overflow := control.heard()
		if overflow && !names["Edited.md"] && !names["new"] && !names["Other.md"] {
			times, filled, missed = times+1, filled+events, missed+3
		} else {
			t.Logf("%d events made no overflow (%v), or what came later was told: this round does not count", events, overflow)
		}
		cards = append(cards, edited, inNew, twin)
		inReview(d, len(cards))
	}
	mustStartOnce(t, p, cards)
	if times == 0 {
		t.Fatal("no queue overflowed: this run shows nothing")
	}
	suite.Figure(t, "an overflowing queue", "%d times, %d events; of %d saves nobody was told of, none missed", times, filled, missed)
}
