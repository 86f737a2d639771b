package change

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// rewritten is a note of about size bytes, and the note with a share of its
// lines, in thousandths, written anew.
func rewritten(size, share int) (old, new string) {
	s := newScribe(3)
	var was, is strings.Builder
	for i := 0; was.Len() < size; i++ {
		line := fmt.Sprintf("%d %s\n", i, s.text())
		if i%6 == 5 {
			line = "\n"
		}
		was.WriteString(line)
		if s.IntN(1000) < share {
			line = fmt.Sprintf("%d %s\n", i, s.text())
		}
		is.WriteString(line)
	}
	return was.String(), is.String()
}

func shuffled(text string) string {
	lines := splitLines(text)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return strings.Join(lines, "")
}

// BenchmarkHunks is what the pane waits for: a note of 500 KB.
func BenchmarkHunks(b *testing.B) {
	const size = 500_000
	texts := map[string][2]string{}
	for name, share := range map[string]int{"1%": 10, "30%": 300, "90%": 900, "100%": 1000} {
		old, new := rewritten(size, share)
		texts[name] = [2]string{old, new}
	}
	old, _ := rewritten(size, 0)
	few := strings.Repeat("a\nb\na\n\n", size/8)
	texts["nothing"] = [2]string{old, old}
	texts["shuffled"] = [2]string{old, shuffled(old)}
	texts["few lines, shuffled"] = [2]string{few, shuffled(few)}
	texts["one line"] = [2]string{strings.Repeat("word and ", size/9), strings.Repeat("word or ", size/8)}
	for name, t := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(t[0])))
			for b.Loop() {
				if d := Compare(t[0], t[1]); len(d.Hunks(3)) == 0 && t[0] != t[1] {
					b.Fatal("no hunks")
				}
			}
		})
	}
}

func BenchmarkWords(b *testing.B) {
	for name, t := range map[string][2]string{
		"a line":      {"The launch is in May, and all of it ships from Berlin.", "The launch is in June, and most of it ships from Berlin."},
		"a long line": {strings.Repeat("word and ", 50_000), strings.Repeat("word or ", 50_000)},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Words(t[0], t[1])
			}
		})
	}
}
