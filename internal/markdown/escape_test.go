package markdown

import (
	"testing"

	"deckhand/internal/span"
)

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"plain text, 50% <3 a^", `plain text, 50% <3 a\^`},
		{"run `go test`", "run `go test`"},
		{"an open `span", "an open \\`span"},
		{"``a``", "\\`\\`a\\`\\`"},
		{"%% a <!-- b --> <br> </p> <?", `\%\% a \<!-- b --> \<br> \</p> \<?`},
		{"[[a]] ![b](c) [d](e)", `\[\[a]] \![b](c) [d](e)`},
		{`a\*b c\d`, `a\\*b c\d`},
		{"~~~", `\~\~\~`},
	} {
		if got := Escape(tt.text); got != tt.want {
			t.Errorf("%q is written %q, want %q", tt.text, got, tt.want)
		}
	}
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"a - b", "a - b"},
		{"- a", `\- a`},
		{"# a", `\# a`},
		{"12. a", `12\. a`},
		{"3) a", `3\) a`},
		{"3 a", "3 a"},
		{"[ ] a", `\[ ] a`},
		{": a", `\: a`},
	} {
		if got := EscapeStart(tt.text); got != tt.want {
			t.Errorf("at the start %q is written %q, want %q", tt.text, got, tt.want)
		}
	}
}

// FuzzEscape checks that an escaped line is one line of a paragraph, without a
// comment and without code that goes on behind it.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"%%", "<!--", "```", "a `b", "\\`", "1. a", "<div>", "    a", "| a |"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range text {
			if c < ' ' {
				t.Skip("control characters are the caller's")
			}
		}
		if len(text) > 0 && text[0] == ' ' {
			t.Skip("a line begins with its text")
		}
		src := []byte(EscapeStart(Escape(text)))
		for l := range Lines(src, 0) {
			if l.Kind != Text {
				t.Fatalf("%q begins a block of kind %d", src, l.Kind)
			}
		}
		line := len(src)
		src = append(src, " `` ` %% --> "...)
		for _, m := range InlineMasks(src, span.Span{End: len(src)}) {
			if m.Span.Start < line && (m.Kind != MaskSpan || m.Span.End > line) {
				t.Fatalf("%q masks %v", src, m)
			}
		}
	})
}
