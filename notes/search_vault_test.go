package notes

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"deckhand/internal/testkit"
)

// BenchmarkSearch is a search over 10,000 notes: reading them beside putting
// them, one that is saved, a question of many words, and what it holds.
func BenchmarkSearch(b *testing.B) {
	dir := b.TempDir()
	if err := testkit.Vault(dir, 10_000, 1); err != nil {
		b.Fatal(err)
	}
	var all []string
	texts := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all = append(all, path)
		texts[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	var s *Search
	b.Run("put", func(b *testing.B) {
		for b.Loop() {
			s = NewSearch()
			before, cpu := inUse(), cpuTime(b)
			for _, path := range all {
				s.Put(path, texts[path])
			}
			b.ReportMetric((cpuTime(b)-cpu).Seconds()*1e3, "cpu-ms")
			b.ReportMetric(float64(inUse()-before)/1e6, "MB")
		}
	})
	b.Run("save", func(b *testing.B) {
		i, cpu := 0, cpuTime(b)
		for b.Loop() {
			path := all[i%len(all)]
			s.Put(path, texts[path])
			i++
		}
		b.ReportMetric((cpuTime(b)-cpu).Seconds()*1e3/float64(b.N), "cpu-ms")
	})
	b.Run("find", func(b *testing.B) {
		cpu := cpuTime(b)
		for b.Loop() {
			s.Find([]Asked{
				{"When was the launch of the checkout moved, and who decided it in the meeting?", 1},
				{"payment project review", 0.4},
			}, 20)
		}
		b.ReportMetric((cpuTime(b)-cpu).Seconds()*1e3/float64(b.N), "cpu-ms")
	})
}

// cpuTime is what this process has used of its processors: what others do on the
// machine is no part of it.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// inUse is how many bytes live.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
