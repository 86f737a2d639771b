package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestCutHeader(t *testing.T) {
	for _, tt := range []struct{ name, src, yaml, body string }{
		{"none", "text\n", "", "text\n"},
		{"plain", "---\na: 1\n---\nb\n", "a: 1\n", "b\n"},
		{"empty", "---\n---\n", "", ""},
		{"blanks after the dashes, CR LF", "--- \r\na: 1\r\n---\t\r\nb", "a: 1\r\n", "b"},
		{"no final newline", "---\na: 1\n---", "a: 1\n", ""},
		{"case 05, BOM", "\ufeff---\na: 1\n---\nb", "a: 1\n", "b"},
		{"case 05, BOM alone", "\ufeff## b", "", "## b"},
		{"case 06, dashes in a value", "---\na: |\n  ---\n----\nb: --- x\n---\nc", "a: |\n  ---\n----\nb: --- x\n", "c"},
		{"never closed", "---\na: 1\n", "", "---\na: 1\n"},
		{"four dashes", "----\na\n---\n", "", "----\na\n---\n"},
		{"not on line 1", "\n---\na: 1\n---\n", "", "\n---\na: 1\n---\n"},
	} {
		h, body := CutHeader([]byte(tt.src))
		if got := string(h.YAML.Of([]byte(tt.src))); got != tt.yaml || tt.src[body:] != tt.body {
			t.Errorf("%s: header %q, body %q", tt.name, got, tt.src[body:])
		}
	}
}

// TestLineKinds has what the differential test leaves out: tabs, lone CRs,
// comments in percent signs.
func TestLineKinds(t *testing.T) {
	names := map[Kind]string{
		Blank: ".", Text: "t", Heading: "h", Underline: "u", Rule: "r", Fence: "f", Code: "c", HTML: "m", Comment: "%",
	}
	for _, tt := range []struct{ src, kinds string }{
		{"a\n\nb", "t.t"},
		{"##\tReview\t##\n", "h"},
		{"-\t[ ] a\n\tb\n\n\t- c\n", "tt.t"},
		{"- a\n\n\t\tcode\n", "t.c"},
		{"a\rb\n", "t"},
		{"a\r\n---\r\n***\r\n", "tur"},
		{"%% x %%\n%%\n## a\n\n- b\n%% c\n## d\n", "%%%%%%h"},
		{"text\n%%\n## a\n%%\n", "t%%%"},
		{"%% a %% text\n", "t"},
		{"- a\n  %%\n  - b\n## c\n", "t%%h"},
		{"%%\nnever closed\n\n## a\n", "%%%%"},
		{"```\n%%\n```\n## a\n", "fffh"},
		{"<!--\n%%\n-->\n## a\n", "mmmh"},
		{"~~~ a`b\n~~\n~~~~\nt", "ffft"},
		{"``` a`b\n", "t"},
		{"> ```\ntext\n", "ft"},
	} {
		var got strings.Builder
		for l := range Lines([]byte(tt.src), 0) {
			got.WriteString(names[l.Kind])
		}
		if got.String() != tt.kinds {
			t.Errorf("%q is %s, want %s", tt.src, got.String(), tt.kinds)
		}
	}
}

func TestMasks(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want []string
	}{
		{"a `b` c ``d ` e`` f", []string{"3 `b`", "3 ``d ` e``"}},
		{"a `b\nc` d", []string{"3 `b\nc`"}},
		{"a `b\n\nc` d", nil},
		{"a ``b` c", nil},
		{"\\`a` `b`", []string{"3 ` `"}},
		{"a <!-- b --> c <!-- d", []string{"4 <!-- b -->"}},
		{"a %% b %% c %% d", []string{"5 %% b %%"}},
		{"`%%` a %%", []string{"3 `%%`"}},
		{"%%\na\n%%\nb", []string{"5 %%\na\n%%\n"}},
		{"# a `b` #\n`c", []string{"3 `b`"}},
		{"- ```\n  a\n- b\n", []string{"1 ```\n  a\n"}},
		{"a\n\n    code\n\nb\n", []string{"2 code\n\n"}},
		{"> a\n> ```\n> b\n\nc", []string{"6 > a\n> ```\n> b\n", "1 ```\n> b\n"}},
		{"```\na\n```\n```\nb\n```\n", []string{"1 ```\na\n```\n", "1 ```\nb\n```\n"}},
		{"<div>\na `b`\n\nc\n", []string{"4 <div>\na `b`\n"}},
	} {
		var got []string
		masks := Masks([]byte(tt.src), 0)
		for _, m := range masks {
			got = append(got, fmt.Sprintf("%d %s", m.Kind, m.Span.Of([]byte(tt.src))))
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%q masks %q, want %q", tt.src, got, tt.want)
		}
		for _, m := range masks {
			if !In(masks, m.Span.Start) || !In(masks, m.Span.End-1, m.Kind) || In(masks, len(tt.src)) {
				t.Errorf("%q: %v is not found again", tt.src, m)
			}
		}
	}
}

// FuzzLines checks that lines lie end to end, whatever the bytes.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "\r\n", "---\na\n---\n# b\r\n", "> - 1. a\n\t\tb", "%%\n\x00\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		_, at := CutHeader(src)
		body := at
		for l := range Lines(src, at) {
			if l.Start != at || l.Next <= at || l.Text < l.Start || l.Text > l.End || l.End > l.Next || l.Title.End > l.End {
				t.Fatalf("line %+v at %d of %q", l, at, src)
			}
			if l.Starts && !l.Listed || l.Starts && (l.Content < l.Marker.End || l.Content > l.End) {
				t.Fatalf("item %+v of %q", l, src)
			}
			at = l.Next
		}
		if at != len(src) {
			t.Fatalf("%d of %d bytes read", at, len(src))
		}
		masksInOrder(t, src, body)
	})
}

// FuzzResume checks that lines read from any item on are those of a whole reading.
func FuzzResume(f *testing.F) {
	for _, s := range []string{
		"- a\n- b\n* c\n", "- a\n\n  ```\n- b\n```\n- c\n", "1. a\n   <!-- x\n2. b -->\n3) c\n", "- %%\n- a\nb\n===\n   - c\n", "> - a\n- > b\nc\n10. d\n",
	} {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, src []byte, nth uint8) {
		all := slices.Collect(Lines(src, 0))
		var starts []int
		for i, l := range all {
			if l.Starts {
				starts = append(starts, i)
			}
		}
		if len(starts) == 0 {
			t.Skip("nowhere to resume")
		}
		from := starts[int(nth)%len(starts)]
		want := slices.Clone(all[from:])
		want[0].NewList = false
		got := slices.Collect(Resume(src, want[0].Start, src[want[0].Marker.End-1]))
		if !slices.Equal(got, want) {
			t.Fatalf("%q from %d:\n%+v\nwant\n%+v", src, want[0].Start, got, want)
		}
	})
}

func masksInOrder(t *testing.T, src []byte, body int) {
	t.Helper()
	last := 0
	for _, m := range Masks(src, body) {
		if m.Span.Start < last || m.Span.Empty() || m.Span.End > len(src) {
			t.Fatalf("mask %v after %d of %q", m, last, src)
		}
		if last = m.Span.Start; m.Kind != MaskQuote {
			last = m.Span.End
		}
	}
}

func BenchmarkLines(b *testing.B) {
	src := bytes.Repeat([]byte("# A heading\n\nA paragraph with a [[link]] in it.\n\n- an item\n- [ ] a task\n"), 100)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		n := 0
		for range Lines(src, 0) {
			n++
		}
		if n != 600 {
			b.Fatal(n)
		}
	}
}

// However deep a file nests, reading it costs what its length does. What is
// counted is white space and markers read, and containers looked at.
func TestWorkGrowsWithTheLength(t *testing.T) {
	nested := func(unit, marker string) string {
		var b strings.Builder
		for i := range 600 {
			b.WriteString(strings.Repeat(unit, i) + marker + "x\n")
		}
		return b.String()
	}
	for name, src := range map[string]string{
		"blanks":            nested("  ", "- "),
		"tabs":              nested("\t", "- "),
		"numbers":           nested("   ", "1. "),
		"quotes":            nested("> ", ""),
		"quotes and items":  nested("> - ", ""),
		"blank lines":       nested("  ", "- ") + strings.Repeat("\n", 100_000),
		"lazy lines":        nested("  ", "- ") + strings.Repeat("x\n", 100_000),
		"blank lines below": nested("  ", "- ") + strings.Repeat(" ", 1200) + "> x\n" + strings.Repeat("\n", 100_000),
		"a line of markers": strings.Repeat("- ", 200_000) + "x\n",
		"lines of markers":  strings.Repeat(strings.Repeat("- ", 2000)+"x\n", 100),
		"a rule of markers": strings.Repeat("- ", 200_000),
		"markers in turn":   strings.Repeat("- * ", 100_000) + "x\n",
		"items of nothing":  strings.Repeat("-\n", 100_000),
	} {
		s := scanner{src: []byte(src), ahead: noText}
		s.walk(0, func(Line) bool { return true })
		if most := 4 * len(src); s.work > most {
			t.Errorf("%s: %d steps for %d bytes", name, s.work, len(src))
		}
	}
}
