package span

import (
	"bytes"
	"testing"
)

func TestApply(t *testing.T) {
	src := []byte("one two three")
	for _, tt := range []struct {
		name  string
		edits []Edit
		want  string
	}{
		{"none", nil, "one two three"},
		{"replace", []Edit{{Span{4, 7}, []byte("2")}}, "one 2 three"},
		{"in any order", []Edit{Insert(13, []byte("!")), Delete(Span{0, 4})}, "two three!"},
		{"two at one place, in their order", []Edit{Insert(4, []byte("a")), Insert(4, []byte("b"))}, "one abtwo three"},
		{"touching", []Edit{Delete(Span{0, 4}), {Span{4, 7}, []byte("2")}}, "2 three"},
	} {
		got, err := Apply(src, tt.edits...)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
	for name, edits := range map[string][]Edit{
		"overlap": {Delete(Span{0, 4}), Delete(Span{3, 5})},
		"outside": {Delete(Span{10, 14})},
		"before":  {Delete(Span{-1, 2})},
		"turned":  {Delete(Span{5, 4})},
	} {
		if got, err := Apply(src, edits...); err == nil || got != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if !bytes.Equal(src, []byte("one two three")) {
		t.Errorf("the source changed: %q", src)
	}
}

func TestEOL(t *testing.T) {
	for _, tt := range []struct {
		src  string
		pos  int
		want string
	}{
		{"", 0, "\n"},
		{"a", 1, "\n"},
		{"a\r\nb\n", 6, "\n"},
		{"a\r\nb\n", 4, "\r\n"},
		{"a\r\nb\n", 0, "\r\n"},
		{"a\rb", 3, "\n"},
	} {
		if got := EOL([]byte(tt.src), tt.pos); got != tt.want {
			t.Errorf("at %d of %q: %q", tt.pos, tt.src, got)
		}
	}
}

func TestSpan(t *testing.T) {
	s := Span{2, 4}
	if s.Len() != 2 || s.Empty() || !s.Contains(2) || s.Contains(4) || string(s.Of([]byte("abcdef"))) != "cd" {
		t.Errorf("%v", s)
	}
}
