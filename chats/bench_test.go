package chats

import (
	"strings"
	"testing"
)

// BenchmarkAppend is what a flush costs on a long chat: 1 MB of text and tools.
func BenchmarkAppend(b *testing.B) {
	var items []Item
	for size := 0; size < 1<<20; size += 4096 {
		items = append(items,
			Item{Role: "pi", Kind: Text, Text: strings.Repeat("a line of the agent's text, as they are\n", 100)},
			Item{Role: "pi", Kind: ToolUse, Tool: &Tool{Name: "bash", Title: "go test ./...", State: OK, Millis: 3200, Output: "ok"}})
	}
	cur := New(Props{Agent: "pi"}, items)
	b.SetBytes(int64(len(cur)))
	for b.Loop() {
		if _, err := Append(cur, items[:2]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRun is what it costs to see whether a file is a chat.
func BenchmarkRun(b *testing.B) {
	cur := New(Props{Title: "Checkout", Agent: "pi", Run: "01KB7X2M5Q8W3E4R5T6Y7U8I9O"}, []Item{{Role: "pi", Kind: Text, Text: strings.Repeat("x\n", 1<<19)}})
	for b.Loop() {
		if _, ok := Run(cur); !ok {
			b.Fatal("no run")
		}
	}
}
