package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"deckhand/internal/testkit"
	"deckhand/watcher"
)

// BenchmarkEvent is the time from a save to a batch of the watcher that does
// not wait for more, and to the event of the kernel read by nothing but a read.
// Saves take turns in two folders, so that neither reader disturbs the other.
func BenchmarkEvent(b *testing.B) {
	work := b.TempDir()
	must(b, testkit.Vault(work, 10_000, seed))
	bare := b.TempDir()
	w, err := watcher.New(work, watcher.Options{Debounce: time.Nanosecond})
	must(b, err)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	for b := range w.Batches() {
		if b.First {
			break // and the scan is over
		}
	}
	seen := make(chan time.Time)
	go func() {
		for range w.Batches() {
			seen <- time.Now()
		}
	}()
	raw := inotify(b, bare)
	var ours, theirs times
	for i := range 1000 {
		theirs = append(theirs, saveNew(b, bare, i, raw))
		ours = append(ours, saveNew(b, work, i, seen))
	}
	cancel()
	must(b, <-done)
	detail := fmt.Sprintf("%d µs / %d µs", ours.median().Microseconds(), theirs.median().Microseconds())
	results.add(b, "a save known to us / raw inotify", "×", ours.over(theirs), 2, detail)
}

// saveNew saves a note by rename and returns how long it took to be known.
func saveNew(b *testing.B, dir string, i int, known <-chan time.Time) time.Duration {
	b.Helper()
	temp := filepath.Join(dir, ".save.tmp")
	must(b, os.WriteFile(temp, []byte("- [ ] x\n"), 0o644))
	<-time.After(2 * time.Millisecond) // the events of the temp file are over
	start := time.Now()
	must(b, os.Rename(temp, filepath.Join(dir, fmt.Sprintf("new-%d.md", i))))
	return (<-known).Sub(start)
}

// inotify reads the events of one folder and tells when a note came.
func inotify(b *testing.B, dir string) <-chan time.Time {
	b.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	must(b, err)
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MODIFY|unix.IN_MOVED_TO|unix.IN_MOVED_FROM|unix.IN_DELETE)
	must(b, err)
	f := os.NewFile(uintptr(fd), "inotify")
	b.Cleanup(func() { f.Close() })
	known := make(chan time.Time)
	go func() {
		var buf [4096]byte
		for {
			n, err := f.Read(buf[:])
			if err != nil {
				return
			}
			now := time.Now()
			if madeNote(buf[:n]) {
				known <- now
			}
		}
	}()
	return known
}

func madeNote(events []byte) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		e := (*unix.InotifyEvent)(unsafe.Pointer(&events[0]))
		end := unix.SizeofInotifyEvent + int(e.Len)
		if e.Mask&unix.IN_MOVED_TO != 0 && bytes.HasPrefix(events[unix.SizeofInotifyEvent:end], []byte("new-")) {
			return true
		}
		events = events[end:]
	}
	return false
}
