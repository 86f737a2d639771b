package watcher

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

var benchNotes = flag.Int("watch.notes", 10000, "notes in the generated tree of the benchmarks")

// generate makes notes in folders of ten, of a usual size.
func generate(b *testing.B, notes int) string {
	b.Helper()
	root := b.TempDir()
	text := []byte(strings.Repeat("- [ ] a line of a note with some words in it\n", 190)) // 8.5 KB
	for i := range notes {
		dir := filepath.Join(root, fmt.Sprintf("area-%02d/topic-%05d", i/10%37, i/10))
		if i%10 == 0 {
			must(b, os.MkdirAll(dir, 0o755))
		}
		must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("note-%06d.md", i)), text, 0o644))
	}
	return root
}

// BenchmarkFirstScan sets the time of the first scan, watches included, beside
// a walk that reads every file.
func BenchmarkFirstScan(b *testing.B) {
	root := generate(b, *benchNotes)
	var scan, read []time.Duration
	var memory uint64
	for b.Loop() {
		start := time.Now()
		walkAndRead(b, root)
		read = append(read, time.Since(start))

		before := heap()
		start = time.Now()
		w, stop := startBench(b, root)
		scan = append(scan, time.Since(start))
		if n := w.tree.files; n != *benchNotes {
			b.Fatalf("%d files", n)
		}
		memory = heap() - before
		stop()
	}
	b.ReportMetric(ratio(scan, read), "scan/(walk+read)")
	b.ReportMetric(float64(median(scan).Milliseconds()), "scan-ms")
	b.ReportMetric(float64(memory)/float64(*benchNotes), "bytes/note")
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func walkAndRead(b *testing.B, root string) {
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			_, err = os.ReadFile(name)
		}
		return err
	})
	must(b, err)
}

// startBench returns a watcher that has given every file.
func startBench(b *testing.B, root string) (*Watcher, func()) {
	w, err := New(root, Options{Debounce: time.Millisecond})
	must(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	for first := false; !first; {
		first = (<-w.Batches()).First
	}
	return w, func() {
		cancel()
		for range w.Batches() {
		}
		must(b, <-done)
	}
}

// BenchmarkEvent sets the time from a save until the watcher knows the path,
// before the debounce, beside the time to fsnotify's own event.
func BenchmarkEvent(b *testing.B) {
	root := generate(b, *benchNotes)
	w, err := New(root, Options{})
	must(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go w.drain.run(ctx, w.source)
	go w.look(ctx)
	<-w.found
	defer w.source.close()
	dir := filepath.Join(root, "area-00/topic-00000")
	raw := rawEvents(b, dir)
	known := make(chan time.Time, 100)
	go func() {
		for f := range w.found {
			if len(f.paths) > 0 {
				known <- time.Now()
			}
		}
	}()
	var ours, theirs []time.Duration
	for i := 0; b.Loop(); i++ {
		name := fmt.Sprintf("lat-%d.md", i)
		must(b, os.WriteFile(filepath.Join(dir, ".tmp"), []byte("- [ ] x\n"), 0o644))
		start := time.Now()
		must(b, os.Rename(filepath.Join(dir, ".tmp"), filepath.Join(dir, name)))
		theirs = append(theirs, raw(name).Sub(start))
		ours = append(ours, (<-known).Sub(start))
	}
	b.ReportMetric(float64(median(theirs).Microseconds()), "raw-µs")
	b.ReportMetric(float64(median(ours).Microseconds()), "ours-µs")
	b.ReportMetric(ratio(ours, theirs), "ours/raw")
}

// rawEvents watches dir with fsnotify alone; the function it returns waits for
// the event that a file was made and says when it came.
func rawEvents(b *testing.B, dir string) func(name string) time.Time {
	w, err := fsnotify.NewWatcher()
	must(b, err)
	must(b, w.Add(dir))
	type event struct {
		name string
		at   time.Time
	}
	events := make(chan event, 100)
	go func() {
		for e := range w.Events {
			if e.Has(fsnotify.Create) {
				events <- event{filepath.Base(e.Name), time.Now()}
			}
		}
	}()
	b.Cleanup(func() { w.Close() })
	return func(name string) time.Time {
		for e := range events {
			if e.name == name {
				return e.at
			}
		}
		return time.Time{}
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ratio(a, b []time.Duration) float64 { return float64(median(a)) / float64(median(b)) }
