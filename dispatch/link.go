package dispatch

import (
	"net/url"
	"path"
	"strings"
	"unicode"

	"deckhand/internal/markdown"
)

// Link is a link from one file of the work folder to another: a wikilink by
// name where Obsidian is at home, else a relative Markdown link. What no
// wikilink can name, or show, is a Markdown link there too.
func Link(from, to, text string, wiki bool) string {
	if to == "" {
		return ""
	}
	if name := strings.TrimSuffix(path.Base(to), ".md"); wiki && nameable(name) && nameable(text) {
		return "[[" + name + "|" + text + "]]"
	}
	var parts []string
	for p := range strings.SplitSeq(relative(path.Dir(from), to), "/") {
		parts = append(parts, strings.ReplaceAll(url.PathEscape(p), ":", "%3A")) // else a: is a scheme
	}
	return "[" + linkText(text) + "](" + strings.Join(parts, "/") + ")"
}

// Ref is the link to a file in a property: a wikilink by its name alone, and a
// Markdown link where that cannot name it.
func Ref(from, to string) string {
	name := strings.TrimSuffix(path.Base(to), ".md")
	if nameable(name) {
		return "[[" + name + "]]"
	}
	return Link(from, to, name, false)
}

// nameable reports whether a wikilink can hold s: it knows no escapes.
func nameable(s string) bool {
	return s != "" && s == strings.TrimSpace(s) && s == markdown.Escape(s) &&
		!strings.ContainsAny(s, "[]|#`\\") && !strings.ContainsFunc(s, unshown)
}

// linkText is text as it may stand between the brackets of a link.
func linkText(s string) string {
	s = markdown.Escape(strings.Map(func(c rune) rune {
		if unshown(c) {
			return unicode.ReplacementChar
		}
		return c
	}, s))
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("[]`\\", s[i+1]) >= 0: // Escape has done it
			b.WriteByte(s[i])
			i++
		case s[i] == '[', s[i] == ']', s[i] == '`', s[i] == '\\' && i+1 == len(s):
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unshown are characters that end a line or drive what shows them.
func unshown(c rune) bool {
	return unicode.In(c, unicode.Cc, unicode.Zl, unicode.Zp)
}

func relative(dir, to string) string {
	if dir == "." {
		return to
	}
	from, dest := strings.Split(dir, "/"), strings.Split(to, "/")
	n := 0
	for n < len(from) && n < len(dest)-1 && from[n] == dest[n] {
		n++
	}
	return strings.Repeat("../", len(from)-n) + strings.Join(dest[n:], "/")
}
