package notes

import (
	"fmt"
	"strings"
	"testing"
)

const specNote = `---
# not a heading
title: x
---
# Spec

intro

## Pay
### Limits
one
## Ship
### Limits
two
#### Deep
three

Setext *title*
---

four

- ## In an item
> ## In a quote

` + "```" + `
## In code
` + "```" + `

<!--
## In a comment
-->

## [[Done|Finished]] and [this](x.md) ^head-1

five

## C# and C++

six

## Ünïcode’s

seven

##

## End ##
eight`

func TestSection(t *testing.T) {
	tests := []struct {
		head  string // joined by "/"
		first string
		last  string
	}{
		{"Pay", "## Pay", "one"},
		{"Limits", "### Limits", "one"},
		{"Ship/Limits", "### Limits", "three"},
		{"Spec/Ship/Limits/Deep", "#### Deep", "three"},
		{"ship/DEEP", "#### Deep", "three"},
		{"Setext *title*", "Setext *title*", "-->"},
		{"setext title", "Setext *title*", "-->"},
		{"Done Finished and this x.md head-1", "## [[Done", "five"},
		{"Finished and this", "## [[Done", "five"},
		{"C# and C++", "## C#", "six"},
		{"C and C", "## C#", "six"},
		{"C/and C++", "## C#", "six"}, // as the link C# and C++ is cut
		{"c-and-c", "## C#", "six"},   // as forges anchor it
		{"U\u0308ni\u0308code’s", "## Ünï", "seven"},
		{"ÜNÏCODE’S", "## Ünï", "seven"},
		{"Ünïcode's", "", ""},
		{"C%23 and C++", "## C#", "six"},
		{"End", "## End ##", "eight"},
		{"In an item", "", ""},
		{"In a quote", "", ""},
		{"In code", "", ""},
		{"In a comment", "", ""},
		{"not a heading", "", ""},
		{"Pay/Deep", "", ""},
		{"Limits/Pay", "", ""},
		{"!!", "", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		sp, ok := Section([]byte(specNote), strings.Split(tt.head, "/"), "")
		got := strings.TrimSpace(string(sp.Of([]byte(specNote))))
		switch {
		case ok != (tt.first != ""):
			t.Errorf("%q: found %v: %q", tt.head, ok, got)
		case !strings.HasPrefix(got, tt.first) || !strings.HasSuffix(got, tt.last):
			t.Errorf("%q: got %q, want %q … %q", tt.head, got, tt.first, tt.last)
		}
	}
}

func TestSectionEnds(t *testing.T) {
	src := "\ufeff## A\r\na\r\n### B\r\nb\r\n# C\r\nc\r\n## A\r\nsecond"
	for head, want := range map[string]string{
		"A": "## A\r\na\r\n### B\r\nb\r\n",
		"B": "### B\r\nb\r\n",
		"C": "# C\r\nc\r\n## A\r\nsecond",
	} {
		sp, ok := Section([]byte(src), []string{head}, "")
		if got := string(sp.Of([]byte(src))); !ok || got != want {
			t.Errorf("%s: got %q %v, want %q", head, got, ok, want)
		}
	}
	if sp, ok := Section([]byte(src), nil, ""); !ok || sp.Start != 0 || sp.End != len(src) {
		t.Errorf("whole note: %v %v", sp, ok)
	}
}

// A heading below which the rest was not found is not looked below again.
func TestSectionOfEqualHeadings(t *testing.T) {
	src := strings.Repeat("# A\n## A\n### A\n#### A\n##### A\n###### A\n", 3000)
	if sp, ok := Section([]byte(src), []string{"A", "A", "A", "A", "A", "B"}, ""); ok {
		t.Errorf("found %v", sp)
	}
	if sp, ok := Section([]byte(src+"###### B"), []string{"A", "A", "A", "A", "A", "B"}, ""); !ok || sp.Start != len(src) {
		t.Errorf("found %v %v", sp, ok)
	}
}

func TestBlock(t *testing.T) {
	tests := []struct{ src, id, want string }{
		{"a\nb ^x\n\nc", "x", "a\nb ^x\n"},
		{"a\nb ^x\nc\n\nd", "X", "a\nb ^x\nc\n"},
		{"a^x\n\nb ^xy\n\nc ^x", "x", "c ^x"},
		{"- a ^x\n  - b\n\n    c\n- d", "x", "- a ^x\n  - b\n\n    c\n"},
		{"- a\n  - b ^x\n    - c\n  - d", "x", "  - b ^x\n    - c\n"},
		{"- a\n\n  b ^x\n\n  c\n", "x", "  b ^x\n"},
		{"- a ^x\n\n- b", "x", "- a ^x\n"},
		{"- a ^x\n\ntext", "x", "- a ^x\n"},
		{"- a ^x\nlazy\n- b", "x", "- a ^x\nlazy\n"},
		{"1. a\n   ^x\n2. b", "x", "1. a\n   ^x\n"},
		{"- a\n\n  ^x\n- b", "x", "- a\n\n  ^x\n"},
		{"- a\n- b\n^x\n", "x", "- a\n- b\n"},
		{"p\n\n- a\n- b\n\n^x\n\n- c", "x", "- a\n- b\n"},
		{"p\n\n> a\n> b\n\n^x", "x", "> a\n> b\n"},
		{"> a\n^x", "x", "> a\n"},
		{"> a ^x\n> b\n\nc", "x", "> a ^x\n> b\n"},
		{"| a |\n|---|\n| b |\n\n^x", "x", "| a |\n|---|\n| b |\n"},
		{"| a |\n|---|\n| b |\n^x\n", "x", "| a |\n|---|\n| b |\n^x\n"},
		{"p\n\n```\ncode ^x\n\nmore\n```\n^x", "x", "```\ncode ^x\n\nmore\n```\n"},
		{"# A ^x\n\ntext\n\n# B", "x", "# A ^x\n\ntext\n\n"},
		{"A ^x\n===\ntext\n# B", "x", "A ^x\n===\ntext\n"},
		{"- # A ^x\n  text", "x", "- # A ^x\n"},
		{"^x\n\na", "x", ""},
		{"---\na: b ^x\n---\n", "x", ""},
		{"a ^x-y\n", "x", ""},
		{"- a ^x\n\t- b\n\t\t- c\n- d ^y", "x", "- a ^x\n\t- b\n\t\t- c\n"},
	}
	for _, tt := range tests {
		sp, ok := Section([]byte(tt.src), nil, tt.id)
		if got := string(sp.Of([]byte(tt.src))); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q: got %q %v, want %q", tt.src, got, ok, tt.want)
		}
	}
}

func FuzzSection(f *testing.F) {
	f.Add([]byte(specNote), "Ship", "Limits", "head-1")
	f.Add([]byte("- a ^x\n  - b\n\n^y\n> c\n^z"), "", "A", "x")
	f.Add([]byte("A ^x\n===\n- # B ^y"), "A", "", "y")
	f.Fuzz(func(t *testing.T, src []byte, head, below, block string) {
		for _, heads := range [][]string{{head}, {head, below}, nil} {
			sp, ok := Section(src, heads, block)
			if sp.Start < 0 || sp.End < sp.Start || sp.End > len(src) {
				t.Fatalf("%q %q: span %v of %d bytes", heads, block, sp, len(src))
			}
			if !ok && !sp.Empty() || ok && sp.Empty() && (heads != nil || block != "") {
				t.Fatalf("%q %q: %v %v", heads, block, sp, ok)
			}
			if sp.Start > 0 && src[sp.Start-1] != '\n' && string(src[:sp.Start]) != "\ufeff" {
				t.Fatalf("%q %q: begins inside a line, at %d", heads, block, sp.Start)
			}
			again, _ := Section(src, heads, block)
			if fmt.Sprint(again) != fmt.Sprint(sp) {
				t.Fatalf("%v, then %v", sp, again)
			}
		}
	})
}
