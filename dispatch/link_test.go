package dispatch

import (
	"net/url"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

func TestLink(t *testing.T) {
	const chat = "deckhand/chats/2026-11/2026-11-30 Checkout (QRIS).md"
	for _, c := range []struct {
		from, to, text string
		wiki           bool
		want           string
	}{
		{"Shop.md", chat, "chat", true, "[[2026-11-30 Checkout (QRIS)|chat]]"},
		{"Shop.md", chat, "chat", false, "[chat](deckhand/chats/2026-11/2026-11-30%20Checkout%20%28QRIS%29.md)"},
		{"Sub/Shop.md", chat, "chat", false, "[chat](../deckhand/chats/2026-11/2026-11-30%20Checkout%20%28QRIS%29.md)"},
		{"deckhand/Needs me.md", chat, "chat", false, "[chat](chats/2026-11/2026-11-30%20Checkout%20%28QRIS%29.md)"},
		{"a/b/Shop.md", "a/c/x.md", "chat", false, "[chat](../c/x.md)"},
		{"Shop.md", "", "chat", true, ""},
		{"Shop.md", "Shop.md", "%%secret%%", true, "[\\%\\%secret\\%\\%](Shop.md)"},
		{"Shop.md", "a]]b.md", "chat", true, "[chat](a%5D%5Db.md)"},
		{"Shop.md", "a (b) [c] #d ^e %%f.md", "a]](b", true, "[a\\]\\](b](a%20%28b%29%20%5Bc%5D%20%23d%20%5Ee%20%25%25f.md)"},
		{"Shop.md", "a | b.md", "chat", true, "[chat](a%20%7C%20b.md)"},
		{"Shop.md", "javascript:alert(1).md", "x", false, "[x](javascript%3Aalert%281%29.md)"},
		{"Shop.md", "a\nb.md", "a\nb", true, "[a\ufffdb](a%0Ab.md)"},
		{"Shop.md", "C# & me.md", "C# & me", false, "[C# & me](C%23%20&%20me.md)"},
		{"Shop.md", "a.md", "![x](y)", false, "[\\!\\[x\\](y)](a.md)"},
	} {
		same(t, c.to, Link(c.from, c.to, c.text, c.wiki), c.want)
	}
}

// A reader of Markdown sees one link to the file and nothing else, whatever the
// file is called.
func FuzzLink(f *testing.F) {
	for _, s := range []string{"Shop", "%%a%%", "a]](b)", "`a` [b]", "\\", "a\\]", "![x](y)", "<b>", "<!-- a", "a|b#c^d", "~~x~~", "``a`", "\\`", "&amp;"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, name string, wiki bool) {
		name = strings.Trim(strings.ToValidUTF8(name, "?"), "/")
		if name == "" || strings.Contains(name, "/") || strings.ContainsRune(name, 0) {
			t.Skip("no name of a file")
		}
		link := Link("Shop.md", name+".md", name, wiki)
		if link == "[["+name+"|"+name+"]]" {
			if !wiki || strings.ContainsAny(name, "[]|#^`\n\\") || strings.Contains(name, "%%") {
				t.Fatalf("%q as a wikilink: %s", name, link)
			}
			return
		}
		var dest []string
		src := []byte("see " + link + " there")
		doc := goldmark.New().Parser().Parse(text.NewReader(src))
		err := ast.Walk(doc, func(n ast.Node, in bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.Link:
				if in {
					dest = append(dest, string(n.Destination))
				}
			case *ast.Document, *ast.Paragraph, *ast.Text, *ast.String, *ast.Emphasis:
			default:
				t.Errorf("%q: %s holds %s", name, link, n.Kind())
			}
			return ast.WalkContinue, nil
		})
		if err != nil || len(dest) != 1 {
			t.Fatalf("%q: %s is %q, %v", name, link, dest, err)
		}
		if got, err := url.PathUnescape(dest[0]); err != nil || got != name+".md" {
			t.Errorf("%q: %s leads to %q, %v", name, link, got, err)
		}
		if strings.Contains(link, "%%") || strings.ContainsAny(link, "\r\n") {
			t.Errorf("%q: %s", name, link)
		}
	})
}

// What a wikilink cannot name is linked to as everywhere else.
func TestRef(t *testing.T) {
	for to, want := range map[string]string{
		"boards/Shop.md": "[[Shop]]",
		"A]] b.md":       `[A\]\] b](../A%5D%5D%20b.md)`,
		"A|b.md":         "[A|b](../A%7Cb.md)",
		"C#.md":          "[C#](../C%23.md)",
	} {
		same(t, to, Ref("chats/x.md", to), want)
	}
}
