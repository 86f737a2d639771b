package notes

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

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
			before := inUse()
			for _, path := range all {
				s.Put(path, texts[path])
			}
			b.ReportMetric(float64(inUse()-before)/1e6, "MB")
		}
	})
	b.Run("save", func(b *testing.B) {
		i := 0
		for b.Loop() {
			path := all[i%len(all)]
			s.Put(path, texts[path])
			i++
		}
	})
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			s.Find([]Asked{
				{"When was the launch of the checkout moved, and who decided it in the meeting?", 1},
				{"payment project review", 0.4},
			}, 20)
		}
	})
}

// inUse is how many bytes live.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
