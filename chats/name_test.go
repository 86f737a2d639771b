package chats

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func november30() time.Time { return time.Date(2026, 11, 30, 14, 3, 12, 0, time.UTC) }

func free(string) bool { return false }

func TestFileName(t *testing.T) {
	for title, want := range map[string]string{
		"Checkout with QRIS [[Specification#Payment]] @pi #feature": "Checkout with QRIS Specification Payment",
		"Checkout [[Notes/Spec|the spec]] #agent/pi ^abc-1":         "Checkout the spec",
		"See [the site](https://a.example/x(y) \"t\")":              "See the site",
		"See [the site](https://a.example/x) now":                   "See the site now",
		"Renew 🔁 every year ➕ 2025-12-01 📅 2026-01-20 @pi":          "Renew",
		"Pay tax ⏫ 🆔 tax1 📅️ 2026-03-31":                            "Pay tax",
		"Family 👨‍👩‍👧‍👦 photo 🇮🇩 flag 👍🏽 1️⃣":                       "Family photo flag 1",
		"Due @{2026-03-01} @@{10:30} for @[[2026-03-01]] it":        "Due for it",
		"Write to ops@pi and \"@pi\" [due:: 2026-01-01] (x:: y)":    "Write to ops@pi and",
		"v1.2: a/b\\c * ? <d> |e| #1":                               "v1 2 a b c d e",
		"CON":                                                       "CON",
		"../../etc/passwd":                                          "etc passwd",
		"":                                                          "chat",
		"@pi #x 👍":                                                  "chat",
		"a\x00b\x1b\u202ec\u200bd\xffe":                             "abcde",
		"cafe\u0301":                                                "caf\u00e9",
		"run `npm test` %%now%%":                                    "run npm test now",
		"日本語 タスク。":                                                  "日本語 タスク。",
		"trailing dots...   ":                                       "trailing dots",
	} {
		if got := FileName(november30(), title, free); got != "2026-11-30 "+want+".md" {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

func TestFileNameIsUniqueAndShort(t *testing.T) {
	long := strings.Repeat("word ", 40)
	seen := map[string]bool{}
	for range 12 {
		name := FileName(november30(), long, func(n string) bool { return seen[n] })
		if seen[name] || utf8.RuneCountInString(name) > 60+len(".md") {
			t.Fatalf("%q is taken or too long", name)
		}
		seen[name] = true
	}
	if !seen["2026-11-30 word word word word word word word word word 12.md"] {
		t.Errorf("got %v", seen)
	}
	if got := Path(november30(), "x.md"); got != "chats/2026-11/x.md" {
		t.Errorf("path %q", got)
	}
}

func FuzzFileName(f *testing.F) {
	for _, s := range []string{"a", "日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語", "e\u0301\u0301\u0301", "[[a|b]]", "..", "@pi", "\xff"} {
		f.Add(s, 0)
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, title string, used int) {
		n := 0
		name := FileName(november30(), title, func(string) bool { n++; return n <= used%20 })
		stem := strings.TrimSuffix(name, ".md")
		switch {
		case len(stem) > 120 || utf8.RuneCountInString(stem) > 60:
			t.Errorf("%q is too long", name)
		case strings.ContainsAny(stem, "#^[]|:/\\*?\"<>.`\x00\n") || !utf8.ValidString(stem):
			t.Errorf("%q holds what a name may not", name)
		case strings.TrimSpace(stem) != stem || len(stem) <= len("2026-11-30 "):
			t.Errorf("%q is empty or ends in a blank", name)
		case !norm.NFC.IsNormalString(stem):
			t.Errorf("%q is not composed", name)
		}
	})
}
