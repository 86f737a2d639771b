package notes

import (
	"strings"
	"testing"
)

// BenchmarkStructure is beside the outline of the same bytes, which every note
// that is linked is read for.
func BenchmarkStructure(b *testing.B) {
	page := "## Section\n\nSome text with a [[Spec]] link and `code` in it.\nA second line of it goes on for some time, as people write.\n\n" +
		"- [ ] item one of the list\n- [x] item two of it\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\ncode()\n```\n\n"
	src := []byte(strings.Repeat(page, 480_000/len(page)))
	ix := NewIndex()
	ix.Put("Spec.md")
	for name, run := range map[string]func(){
		"outline":   func() { Scan(src) },
		"structure": func() { Structure(src, func(l Link) bool { return ix.Missing("A.md", l) }) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				run()
			}
		})
	}
}
