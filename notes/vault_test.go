package notes

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"deckhand/internal/testkit"
)

// BenchmarkFolder compares, in one run and over the same 2,000 notes on disk,
// reading them with reading and scanning them. The metric of interest is the
// ratio of the two.
func BenchmarkFolder(b *testing.B) {
	dir := b.TempDir()
	if err := testkit.Vault(dir, 2000, 1); err != nil {
		b.Fatal(err)
	}
	for _, way := range []struct {
		name string
		use  func(src []byte)
	}{
		{"read", func([]byte) {}},
		{"headings", func(src []byte) { scan(src, false) }},
		{"scan", func(src []byte) { Scan(src) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				size := readAll(b, dir, way.use)
				b.SetBytes(size)
			}
		})
	}
}

func readAll(b *testing.B, dir string, use func(src []byte)) (size int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := os.ReadFile(path)
		size += int64(len(src))
		use(src)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return size
}
