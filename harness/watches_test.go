package harness

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// instances counts the watches of the system that this process has open.
func instances(t *testing.T) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && strings.Contains(to, "inotify") {
			n++
		}
	}
	return n
}

// Each waiter hears of its own folder, all share one watch of the system, and
// the last one takes it along.
func TestWatchesAreShared(t *testing.T) {
	before := instances(t)
	var w Watches
	dirs, wakes, stops := make([]string, 30), make([]chan struct{}, 30), make([]func(), 30)
	for i := range dirs {
		dirs[i], wakes[i] = t.TempDir(), make(chan struct{}, 1)
		stops[i] = w.watch(dirs[i], wakes[i])
	}
	if n := instances(t) - before; n != 1 && runtime.GOOS == "linux" {
		t.Errorf("%d watches of the system, want 1", n)
	}
	for i, dir := range dirs {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		<-wakes[i]
		stops[i]()
	}
	if n := instances(t) - before; n != 0 {
		t.Errorf("%d watches of the system are left", n)
	}
}

// A folder that is watched twice is watched until nobody waits for it.
func TestWatchedTwice(t *testing.T) {
	var w Watches
	dir, first, second := t.TempDir(), make(chan struct{}, 1), make(chan struct{}, 1)
	stop := w.watch(dir, first)
	defer w.watch(dir, second)()
	stop()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-second
	select {
	case <-first:
		t.Error("who waits no more was woken")
	default:
	}
}
