package notes

import (
	"fmt"
	"runtime"
	"testing"
)

func manyPaths() []string {
	paths := make([]string, 100_000)
	for i := range paths {
		paths[i] = fmt.Sprintf("area-%02d/topic-%05d/note-%06d.md", i%37, i%10_000, i)
	}
	return paths
}

// BenchmarkIndex reports the memory the index needs beside the paths themselves.
func BenchmarkIndex(b *testing.B) {
	paths := manyPaths()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var ix *Index
	for b.Loop() {
		ix = indexOf(paths...)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(ix.Len()), "heap-B/path")
	runtime.KeepAlive(paths)
}

func BenchmarkResolve(b *testing.B) {
	paths := manyPaths()
	ix := indexOf(paths...)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 7919) % len(paths)
		if ix.Resolve("area-01/x.md", paths[i][len("area-00/topic-00000/"):len(paths[i])-len(".md")]).Path != paths[i] {
			b.Fatal("not found")
		}
	}
}
