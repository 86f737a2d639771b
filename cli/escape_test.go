package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä 漢字 👩‍💻 🟢":       "plain ä 漢字 👩‍💻 🟢",
		"\x1b]0;title\a\x1b[31m": `\x1b]0;title\x07\x1b[31m`,
		"a\nb\tc\r":              `a\nb\tc\r`,
		"\u202egnp.exe\u2066":    `\u202egnp.exe\u2066`,
		"\u009b31m\u0085":        `\u009b31m\u0085`,
		"\xff\x9b[":              `\xff\x9b[`,
		"\u2028\ufeff\u200f":     `\u2028\ufeff\u200f`,
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	if got := cleanText("a\n\tb\x1b\n"); got != "a\n\tb\\x1b\n" {
		t.Errorf("%q", got)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a", "\x1b[2J", "\u202e", "\xff", "a\nb", "\u0085", "\u200b", "\U000e0041"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, dangerous) {
			t.Errorf("%q to %q", s, got)
		}
		if utf8.ValidString(s) && !strings.ContainsFunc(s, dangerous) && got != s {
			t.Errorf("harmless %q became %q", s, got)
		}
		if text := cleanText(s); strings.Count(text, "\n") != strings.Count(s, "\n") {
			t.Errorf("lines of %q: %q", s, text)
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back, plain string
		safe := cleanJSON(string(data))
		if json.Unmarshal([]byte(safe), &back) != nil || json.Unmarshal(data, &plain) != nil || back != plain || strings.ContainsFunc(safe, dangerous) {
			t.Errorf("JSON of %q: %s", s, safe)
		}
	})
}
