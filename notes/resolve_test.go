package notes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func indexOf(paths ...string) *Index {
	ix := NewIndex()
	for _, p := range paths {
		ix.Put(p)
	}
	return ix
}

func TestResolve(t *testing.T) {
	tests := []struct {
		paths  string // separated by blanks; "_" stands for one in a name
		from   string
		target string
		want   string // path, then "| others", or the problem
	}{
		{"Spec.md a/Spec.md", "a/b.md", "Spec", "Spec.md | a/Spec.md"},
		{"a/Spec.md b/Spec.md c/deep/Spec.md", "boards/board.md", "Spec", "a/Spec.md | b/Spec.md c/deep/Spec.md"},
		{"a/Spec.md b/x/y/Spec.md", "b/b.md", "Spec", "b/x/y/Spec.md | a/Spec.md"},
		{"aa/Spec.md b/Spec.md", "x.md", "Spec", "b/Spec.md | aa/Spec.md"},
		{"a/Spec.md ab/Spec.md", "a/x.md", "Spec", "a/Spec.md | ab/Spec.md"},
		{"a/Spec.md b/Spec.md", "boards/b.md", "../b/Spec", "b/Spec.md"},
		{"a/Spec.md b/Spec.md", "a/b.md", "./Spec", "a/Spec.md"},
		{"b/Spec.md", "a/b.md", "./Spec", NotFound},
		{"a/Spec.md", "a/b.md", "/Spec", NotFound},
		{"a/Spec.md", "x/b.md", "/a/Spec", "a/Spec.md"},
		{"x/a/Spec.md a/Spec.md", "x/b.md", "a/Spec", "a/Spec.md"},
		{"x/a/Spec.md y/a/Spec.md", "b.md", "a/Spec", "x/a/Spec.md | y/a/Spec.md"},
		{"ba/Spec.md", "b.md", "a/Spec", NotFound},
		// case and form
		{"spec.md Spec.md", "b.md", "Spec", "Spec.md | spec.md"},
		{"spec.md Spec.md", "b.md", "SPEC", "Spec.md | spec.md"},
		{"spec.md Spec.md", "b.md", "./spec", "spec.md"},
		{"spec.md Spec.md", "b.md", "./SPEC", "Spec.md | spec.md"},
		{"A/Straße.MD", "b.md", "a/STRAßE.md", "A/Straße.MD"},
		{"cafe\u0301_plan.md", "b.md", "Café plan", "cafe\u0301 plan.md"},
		{"caf\u00e9.md cafe\u0301.md", "b.md", "cafe\u0301", "cafe\u0301.md | caf\u00e9.md"},
		{"ΣΊΣΥΦΟΣ.md", "b.md", "σίσυφος", "ΣΊΣΥΦΟΣ.md"},
		{"\xff.md \xfe.md", "b.md", "\xfe", "\xfe.md"},
		// extensions
		{"v1.2.md", "b.md", "v1.2", "v1.2.md"},
		{"doc.3.with.dots.md", "b.md", "doc.3.with.dots.md", "doc.3.with.dots.md"},
		{"Spec.markdown", "b.md", "Spec", "Spec.markdown"},
		{"Spec.markdown Spec.md", "b.md", "Spec", "Spec.md | Spec.markdown"},
		{"Spec.txt", "b.md", "Spec", NotFound},
		{"Spec Spec.md", "b.md", "Spec", "Spec.md"},
		{"Makefile", "b.md", "Makefile", "Makefile"},
		{"a/shot.png shot.png.md", "b.md", "shot.png", "a/shot.png"},
		{"www.google.com.md", "b.md", "www.google.com", "www.google.com.md"},
		{"note^id.md", "b.md", "note^id", "note^id.md"},
		{"journal/2024-08-27_x.md", "b.md", "journal/2024-08-27", NotFound}, // zk
		// percent
		{"a%20b.md a_b.md", "b.md", "a%20b", "a%20b.md"},
		{"a_b.md", "b.md", "a%20b.md", "a b.md"},
		{"100%.md 100%_x.md", "b.md", "100%", "100%.md"},
		{"a/b.md", "x.md", "a%2Fb", "a/b.md"},
		// outside, hidden, nothing
		{"x.md", "a/b.md", "../../x", Outside},
		{"x.md", "a/b.md", "/../x", Outside},
		{"x.md", "a/b.md", "a/../../x", Outside},
		{"x.md", "a/b.md", "..", Outside},
		{"x.md", "a/b.md", "%2e%2e/%2e%2e/x", Outside},
		{".obsidian/app.json x.md", "b.md", ".obsidian/app.json", Hidden},
		{".obsidian/app.json x.md", "b.md", "app.json", NotFound},
		{"a/.git/x.md", "b.md", "x", NotFound},
		{"x.md", "b.md", "/", NotFound},
		{"x.md", "b.md", ".", NotFound},
		{"x.md x/y.md", "b.md", "x/", NotFound},
		{"x.md", "a/b.md", "", "a/b.md"},
	}
	for _, tt := range tests {
		ix := NewIndex()
		for p := range strings.FieldsSeq(tt.paths) {
			if !strings.Contains(p, "_x") {
				p = strings.ReplaceAll(p, "_", " ")
			}
			ix.Put(p)
		}
		if got := describe(ix.Resolve(tt.from, tt.target)); got != tt.want {
			t.Errorf("%q: Resolve(%q, %q) = %q, want %q", tt.paths, tt.from, tt.target, got, tt.want)
		}
	}
}

func describe(f Found) string {
	s := f.Path + f.Problem
	if len(f.Others) > 0 {
		s += " | " + strings.Join(f.Others, " ")
	}
	return s
}

func TestMarkdownLinkIsRelative(t *testing.T) {
	ix := indexOf("Spec.md", "a/Spec.md", "c/Other.md", "a/b c.md")
	tests := []struct{ src, want string }{
		{"[[Spec]]", "Spec.md | a/Spec.md"},
		{"[t](Spec.md)", "a/Spec.md"},
		{"[t](/Spec.md)", "Spec.md"},
		{"[t](../Spec.md)", "Spec.md"},
		{"[t](../../Spec.md)", Outside},
		{"[t](Other.md)", "c/Other.md"},
		{"[t](b%20c.md)", "a/b c.md"},
		{"[t](#here)", "a/x.md"},
	}
	for _, tt := range tests {
		links := Links([]byte(tt.src))
		if len(links) != 1 {
			t.Fatalf("%q: %d links", tt.src, len(links))
		}
		if got := describe(ix.Find("a/x.md", links[0])); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.src, got, tt.want)
		}
	}
}

// Case 29: an ambiguous name is resolved silently and differently each time.
func TestCase29Shuffled(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 1))
	paths := casePaths(t, "29")
	if len(paths) != 4 {
		t.Fatalf("paths: %q", paths)
	}
	for range 100 {
		r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		ix := indexOf(paths...)
		if got := describe(ix.Resolve("boards/board.md", "Spec")); got != "a/Spec.md | b/Spec.md c/deep/Spec.md" {
			t.Fatalf("order %q: %q", paths, got)
		}
		if got := describe(ix.Resolve("boards/board.md", "../b/Spec")); got != "b/Spec.md" {
			t.Fatalf("order %q: %q", paths, got)
		}
	}
}

func TestIndexPutAndDrop(t *testing.T) {
	ix := indexOf("a/x.md", "b/x.md", "c/X.md", "a/x.md", "y.png", "", "/abs.md", "../up.md", "a//b.md", ".dot/z.md", "a/.hidden.md")
	if ix.Len() != 4 {
		t.Fatalf("len %d, want 4", ix.Len())
	}
	ix.Drop("a/x.md")
	ix.Drop("a/x.md")
	ix.Drop("nothing.md")
	if got := describe(ix.Resolve("n.md", "x")); ix.Len() != 3 || got != "b/x.md | c/X.md" {
		t.Fatalf("len %d, %q", ix.Len(), got)
	}
	for _, p := range []string{"c/X.md", "b/x.md", "y.png"} {
		ix.Drop(p)
	}
	if ix.Len() != 0 || len(ix.byName) != 0 || ix.Resolve("n.md", "x").Problem != NotFound {
		t.Fatalf("len %d, names %v", ix.Len(), ix.byName)
	}
}

func TestManyFilesOfOneName(t *testing.T) {
	ix := NewIndex()
	const n = 5_000
	for i := range n {
		ix.Put(fmt.Sprintf("d%05d/index.md", i))
	}
	f := ix.Resolve("x.md", "index")
	if f.Path != "d00000/index.md" || len(f.Others) != maxOthers || f.More != n-1-maxOthers || f.Others[0] != "d00001/index.md" {
		t.Errorf("got %+v", f)
	}
	for i := range n {
		ix.Drop(fmt.Sprintf("d%05d/index.md", i))
	}
	if ix.Len() != 0 {
		t.Errorf("len %d", ix.Len())
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("a/Spec.md\nb/spec.md\nc/cafe\u0301.md", "a/x.md", "Spec")
	f.Add("a b.md\n.x/y.md\n../up.md", "x.md", "../a%20b")
	f.Add("\xff.md\n/abs\nſ.md\nK.md", "deep/er/x.md", "S")
	f.Fuzz(func(t *testing.T, names, from, target string) {
		paths := strings.Split(names, "\n")
		ix := indexOf(paths...)
		got := ix.Resolve(from, target)
		slices.Reverse(paths)
		if again := indexOf(paths...).Resolve(from, target); fmt.Sprint(got) != fmt.Sprint(again) {
			t.Fatalf("order matters: %+v, then %+v", got, again)
		}
		if (got.Path == "") != (got.Problem != "") && target != "" {
			t.Fatalf("neither path nor problem, or both: %+v", got)
		}
		for _, p := range append(got.Others, got.Path) {
			if _, known := ix.at[p]; !known && target != "" && p != "" {
				t.Fatalf("%q is not in the index", p)
			}
		}
		for _, p := range paths {
			ix.Drop(p)
		}
		if ix.Len() != 0 || len(ix.byName) != 0 {
			t.Fatalf("%d paths left", ix.Len())
		}
	})
}
