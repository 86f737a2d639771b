package notes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// brief writes a link as "[!]target#head^block|alias".
func brief(l Link) string {
	s := l.Target
	for _, h := range l.Heads {
		s += "#" + h
	}
	if l.Block != "" {
		s += "^" + l.Block
	}
	if l.Alias != "" {
		s += "|" + l.Alias
	}
	if l.Embed {
		s = "!" + s
	}
	return s
}

func briefs(src string) []string {
	var out []string
	for _, l := range Links([]byte(src)) {
		out = append(out, brief(l))
	}
	return out
}

func TestLinks(t *testing.T) {
	tests := []struct {
		src  string
		want []string
	}{
		{"[[a]] and [[b c]]", []string{"a", "b c"}},
		{"[[ a | b ]]", []string{"a|b"}},
		{"![[shot.png]] ![[a#B]]", []string{"!shot.png", "!a#B"}},
		{"\\![[a]]", []string{"a"}},
		{"[[a#B#C|d]]", []string{"a#B#C|d"}},
		{"[[a# B ]] [[a#^id-1]] [[a #  ^id ]]", []string{"a#B", "a^id-1", "a^id"}},
		{"[[#Here]] [[#^id]] [[#h\\|t]]", []string{"#Here", "^id", "#h|t"}},
		// marksman
		{"[[T#]] [[T#h\\|]] [[#h|t]]", []string{"T", "T#h", "#h|t"}},
		{"[[]] [[|]] [[ ]] [[#]] [[|x]] [[#^]]", nil},
		{`[[F\#]] [[F\##Sec]]`, []string{"F#", "F##Sec"}},
		{"[[Doc 2#Heading %231]]", []string{"Doc 2#Heading %231"}},
		{"[[www.google.com]] [[https://www.google.com]]", []string{"www.google.com"}},
		// zk
		{`[[a\]b]] [[\[c]] [[d\\e]]`, []string{"a]b", "[c", `d\e`}},
		{"[[[x]]]", []string{"x"}},
		{"[[a%20b]]", []string{"a%20b"}},
		// obsidian-export
		{"[[Note.1]] [[_under]] [[Fö's \"q\"]]", []string{"Note.1", "_under", "Fö's \"q\""}},
		{"text [[unclosed", nil},
		{"[[un\nclosed]] [[a]]", []string{"a"}},
		{"[[a [[b]]", []string{"b"}},
		{`\[[a]] \\[[b]] [\[c]]`, []string{"b"}},
		{`[[Spec\\|x]]`, []string{"Spec|x"}},
		{"[[note^id]]", []string{"note^id"}},
		// Markdown links
		{"[t](a%20b.md#Head) [u](<a b.md#Head>)", []string{"a%20b.md#Head|t", "a b.md#Head|u"}},
		{"[t](a(1).md) [t](a\\).md) [t](b.md \"title )\") [t](c.md 'x') [t](d.md (x))", []string{"a(1).md|t", "a).md|t", "b.md|t", "c.md|t", "d.md|t"}},
		{"[t](https://x.y/a.md) [t](//x/a.md) [t](mailto:a@b.c) [t]() [t](<>)", nil},
		{"[t](a.md b) [t](a(.md) [t](<a\n.md>) [t]( b.md )", []string{"b.md|t"}},
		{"[a\nlong text](c.md)", []string{"c.md|a\nlong text"}},
		{"[![alt](i.png)](p.md)", []string{"p.md|![alt](i.png)", "!i.png|alt"}},
		{"[a [b](c.md) d](e.md) [f](g.md)", []string{"c.md|b", "g.md|f"}},
		{"![a ![b](c.png) d](e.png) ![f](g.png)", []string{"!c.png|b", "!g.png|f"}},
		{"[see [[a]]](b.md)", []string{"b.md|see [[a]]", "a"}},
		{"![a ! b](i.png)", []string{"!i.png|a ! b"}},
		{"[x] (a.md) [x][a] [[b]](c.md)", []string{"b"}},
		{"[](/)", []string{"/"}},
		{"- [ ] task [[a]]\n\t- [x] [[b]]", []string{"a", "b"}},
		{"> [!note] [[a]]\n> [[b]]", []string{"a", "b"}},
		{"## Title [[a]]\n\nTitle [[b]]\n====\n", []string{"a", "b"}},
		// not text
		{"---\nup: \"[[a]]\"\n---\n[[b]]", []string{"b"}},
		{"`[[a]]` ``b ` [[b]]`` ` [[c]]", []string{"c"}},
		{"```\n[[a]]\n```\n\n    [[b]]\n\n~~~\n[[c]]", nil},
		{"<!-- [[a]] --> x <!-- [[b]] --> %% [[c]] %% [[d]]", nil}, // an HTML block to its line's end
		{"x <!-- [[b]] --> %% [[c]] %% [[d]]", []string{"d"}},
		{"%%\n[[a]]\n%%\n[[b]]", []string{"b"}},
		{"[[a `b` c]] [[d]]", []string{"d"}},
	}
	for _, tt := range tests {
		if got := briefs(tt.src); !slices.Equal(got, tt.want) {
			t.Errorf("Links(%q)\n got %q\nwant %q", tt.src, got, tt.want)
		}
	}
}

func TestLinkIsWhereItWasWritten(t *testing.T) {
	src := "é ![[a|b]] [c](<d e.md>) ![f](g.png)"
	want := []string{"![[a|b]]", "[c](<d e.md>)", "![f](g.png)"}
	var got []string
	for _, l := range Links([]byte(src)) {
		if string(l.Span.Of([]byte(src))) != l.Raw {
			t.Errorf("span holds %q, raw is %q", l.Span.Of([]byte(src)), l.Raw)
		}
		got = append(got, l.Raw)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinksOfHostileText(t *testing.T) {
	const n = 1_000_000
	for _, part := range []string{"[", "]", "![[", "[[a]", "](", "[](", "[a](b", "[a](<", "[a](b \"", "[a](b '", "[a](b (", "\\", "[[a|", "`[[", "[[a]] "} {
		src := strings.Repeat(part, n/len(part))
		want := 0
		if part == "[[a]] " {
			want = n / len(part)
		}
		if got := len(Links([]byte(src))); got != want {
			t.Errorf("%q many times: %d links, want %d", part, got, want)
		}
	}
}

// Links inside links must not make the text they share be held many times.
func TestLinksOfNestedText(t *testing.T) {
	for _, open := range []string{"[", "!["} {
		src := strings.Repeat(strings.Repeat(open, 500)+strings.Repeat("](a)", 500)+" ", 100)
		held := 0
		for _, l := range Links([]byte(src)) {
			held += len(l.Raw)
		}
		if held > 2*len(src) {
			t.Errorf("%q: links of %d bytes hold %d", open, len(src), held)
		}
	}
}

func FuzzLinks(f *testing.F) {
	for _, s := range []string{"[[a#b|c]] ![d](<e f.md> \"t\")", `[[a\|b]] \[[c]]`, "---\na: b\n---\n`[[a]]` [[b]]", "[![a](b)](c)", "> - [[x]]\n[y\nz](u.md)"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		links := Links(src)
		last, held := 0, 0
		for _, l := range links {
			if held += len(l.Raw); held > 3*len(src) {
				t.Fatalf("%d bytes hold links of %d", len(src), held)
			}
			if l.Span.Start < last || l.Span.End > len(src) || l.Span.Empty() {
				t.Fatalf("span %v of %d bytes after %d", l.Span, len(src), last)
			}
			last = l.Span.Start
			if string(l.Span.Of(src)) != l.Raw {
				t.Fatalf("span holds %q, raw is %q", l.Span.Of(src), l.Raw)
			}
			if l.Target == "" && len(l.Heads) == 0 && l.Block == "" {
				t.Fatalf("link %q leads nowhere", l.Raw)
			}
			if strings.HasSuffix(l.Target, `\`) {
				t.Fatalf("target %q of %q", l.Target, l.Raw)
			}
		}
		if again := Links(src); fmt.Sprint(again) != fmt.Sprint(links) {
			t.Fatalf("links differ: %v, then %v", links, again)
		}
	})
}
