package board

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/text"
)

// bigBoard is a board of n cards like those people have, about 105 bytes each.
func bigBoard(n int) []byte {
	var b bytes.Buffer
	b.WriteString("---\n\nkanban-plugin: board\nproject: shop\n\n---\n\n")
	for i, lane := range [...]string{"Plan (5)", "In Progress", "Review", "Done"} {
		fmt.Fprintf(&b, "## %s\n\n", lane)
		for j := range n / 4 {
			fmt.Fprintf(&b, "- [ ] Card %d of lane %d with [[Specification#Part %d|a link]] @pi #feature\n", j, i, j)
			if j%3 == 0 {
				b.WriteString("\tA line of the note, with `code` in it.\n\t- [ ] a step\n")
			}
		}
		b.WriteString("\n\n")
	}
	b.WriteString("%% kanban:settings\n```\n{\"kanban-plugin\":\"board\",\"list-collapse\":[false,true,false,false]}\n```\n%%")
	return b.Bytes()
}

func benchmarkParse(b *testing.B, n int) {
	src := bigBoard(n)
	o := Options{Agents: []string{"pi", "claude"}}
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Parse("Shop.md", src, o)
	}
}

func benchmarkGoldmark(b *testing.B, n int) {
	src := bigBoard(n)
	p := goldmark.DefaultParser()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		p.Parse(text.NewReader(src))
	}
}

func BenchmarkParse500(b *testing.B)     { benchmarkParse(b, 500) }
func BenchmarkGoldmark500(b *testing.B)  { benchmarkGoldmark(b, 500) }
func BenchmarkParse5000(b *testing.B)    { benchmarkParse(b, 5000) }
func BenchmarkGoldmark5000(b *testing.B) { benchmarkGoldmark(b, 5000) }

func benchmarkMove(b *testing.B, n int) {
	board := Parse("Shop.md", bigBoard(n), Options{})
	u := Update{Key: board.Lanes[0].Cards[n/8].Key, To: Working, Put: &Item{Run: "01kb7x2m", Agent: "pi", Word: "works"}}
	b.SetBytes(int64(len(board.Src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := board.Apply(u); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMove500(b *testing.B)  { benchmarkMove(b, 500) }
func BenchmarkMove5000(b *testing.B) { benchmarkMove(b, 5000) }

// BenchmarkReread5000 reads a board again after somebody typed one letter.
func BenchmarkReread5000(b *testing.B) {
	src := bigBoard(5000)
	board := Parse("Shop.md", src, Options{})
	at := board.Lanes[1].Cards[700].Span.Start + 8
	typed := append(append(bytes.Clone(src[:at]), 'x'), src[at:]...)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		board.Reread(typed, Options{})
	}
}

func BenchmarkRecognise(b *testing.B) {
	note := bytes.Repeat([]byte("A paragraph of a note with a [[link]] in it.\n\n# A heading\n\n- a bullet\n"), 20)
	b.SetBytes(int64(len(note)))
	b.ReportAllocs()
	for b.Loop() {
		if Recognise("Note.md", note, Options{}) {
			b.Fatal("a note is no board")
		}
	}
}
