package board

import (
	"strings"
	"testing"
)

// FuzzRecogniser holds the quick look to the slow one.
func FuzzRecogniser(f *testing.F) {
	seed(f, func(src []byte) { f.Add(src) })
	f.Add([]byte("- [ ] a\n\nTo do\n --\n"))
	f.Add([]byte("## In-Progress (3) ##\n- [ ] a\n"))
	f.Add([]byte("> ## Plan\n\n- ## Plan\n\n## Plan %% x %%\n\n- [\u00a0] a\n"))
	quick := NewRecogniser(Options{})
	f.Fuzz(func(t *testing.T, src []byte) {
		if got, want := quick.Board("b.md", src, false), Recognise("b.md", src, Options{}); got != want {
			t.Fatalf("recognised %t, by every line %t", got, want)
		}
		for line := range strings.Lines(string(src)) {
			if name, ok := plainASCII(make([]byte, 0, 128), []byte(line)); ok && string(name) != plainName(line) {
				t.Fatalf("%q is %q, not %q", line, name, plainName(line))
			}
		}
	})
}
