package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// boardOf makes a board of n cards, about 105 bytes each.
func boardOf(n int) []byte {
	var b bytes.Buffer
	b.WriteString("---\nkanban-plugin: board\n---\n\n## Plan\n\n")
	for i := range n {
		fmt.Fprintf(&b, "- [ ] Card %d with a title of a usual length [[Note %d]] @pi #feature\n\tand one line below it\n", i, i)
	}
	b.WriteString("\n## Review\n\n- [ ] state 0000000000\n")
	return b.Bytes()
}

// bareWrite is what any program must do for a durable write.
func bareWrite(dir, name string, data []byte) error {
	f, err := os.OpenFile(filepath.Join(dir, ".bare.tmp"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(dir, ".bare.tmp"), filepath.Join(dir, name)); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// BenchmarkUpdate sets an Update beside a bare durable write of the same
// bytes; they alternate, so that a busy machine is busy for both.
func BenchmarkUpdate(b *testing.B) {
	for _, cards := range []int{500, 5000} {
		b.Run(fmt.Sprintf("cards=%d", cards), func(b *testing.B) {
			data := boardOf(cards)
			other := bytes.Replace(data, []byte("0000000000"), []byte("0000000001"), 1)
			flip := func(cur []byte) ([]byte, error) {
				if bytes.Equal(cur, data) {
					return other, nil
				}
				return data, nil
			}
			s, root := open(b, "Shop.md", string(data), "Bare.md", string(data))
			b.SetBytes(int64(len(data)))
			var bare, swap stopwatch
			n := 0
			for b.Loop() {
				n++
				bare.time(b, func() error { return bareWrite(root, "Bare.md", data) })
				swap.time(b, func() error {
					_, err := s.UpdateNow(b.Context(), "Shop.md", flip)
					return err
				})
				if n%100 == 0 {
					b.StopTimer()
					if err := s.Flush(b.Context()); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			}
			b.ReportMetric(swap.beside(bare), "swap/bare")
			b.ReportMetric(float64(bare.median().Microseconds()), "bare-µs")
			b.ReportMetric(float64(swap.median().Microseconds()), "swap-µs")
		})
	}
}

// BenchmarkRead sets Read beside os.ReadFile.
func BenchmarkRead(b *testing.B) {
	s, root := open(b, "dir/Note.md", string(boardOf(80)))
	name := filepath.Join(root, "dir/Note.md")
	var bare, read stopwatch
	for b.Loop() {
		bare.time(b, func() error { _, err := os.ReadFile(name); return err })
		read.time(b, func() error { _, _, err := s.Read("dir/Note.md"); return err })
	}
	b.ReportMetric(read.beside(bare), "read/bare")
}
