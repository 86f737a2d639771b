package harness

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestOneSentence(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"", ""},
		{"plain words", "plain words"},
		{"  Error: it broke\n    at main (file.js:1:2)\n", "Error: it broke"},
		{`429 {"type":"error","error":{"type":"rate_limit_error","message":"Number of requests too high"}}`, "429: Number of requests too high (rate_limit_error)"},
		{`{"error":{"message":"Invalid key","code":401}}`, "Invalid key (401)"},
		{`{"error":"no such model"}`, "no such model"},
		{`{"errors":[{"detail":"too long","status":400}]}`, "too long (400)"},
		{`Error: {"error":{"message":"{\n \"error\": {\"code\": 503, \"message\": \"overloaded\"}}"}}`, "Error: overloaded (503)"},
		{`fake 401: {"message":"fake 401"}`, "fake 401"},
		{`{"ok":true}`, `{"ok":true}`},
		{`broken {"error": "cut of`, `broken {"error": "cut of`},
		{"\x1b[31mred\x1b[0m \x1b]0;title\apart\x1b]8;;x\x1b\\ \x00\u202eevil\u200b", "red part evil"},
		{"\xff\xfe bytes", "\uFFFD bytes"},
		{strings.Repeat("é", 300), strings.Repeat("é", 199) + "…"},
	} {
		if got := OneSentence(c.raw); got != c.want {
			t.Errorf("%q: got %q, want %q", c.raw, got, c.want)
		}
	}
}

func FuzzOneSentence(f *testing.F) {
	f.Add(`{"error":{"message":"a","code":1}}`)
	f.Add("\x1b[31mred\x1b")
	f.Add(`x {"message":"{\"message\":\"{\"}"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		got := OneSentence(raw)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > sentenceMax {
			t.Fatalf("%q became %q", raw, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
				t.Fatalf("%q became %q", raw, got)
			}
		}
		if again := OneSentence(got); !strings.Contains(got, "{") && again != got {
			t.Fatalf("%q became %q and then %q", raw, got, again)
		}
	})
}

func TestEndsInQuestion(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                      false,
		"Done.":                                 false,
		"Which SDK?":                            true,
		"Which SDK?  \n\n":                      true,
		"**Which SDK?**":                        true,
		"_Which one?_":                          true,
		"He said \"which?\"":                    true,
		"(is it ok?)":                           true,
		"„Welche?“":                             true,
		"« Lequel ? »":                          true,
		"どちらですか？":                               true,
		"「どちらですか？」":                             true,
		"هل توافق؟":                             true,
		"Which?\u200b\ufe0f":                    true,
		"Which? I took A.":                      false,
		"Why?!":                                 false,
		"```\nwhat?\n```":                       false,
		"```\nwhat?\n":                          false,
		"~~~sh\ngrep '?'\n~~~\n":                false,
		"```\ncode\n```\nShall I?":              true,
		"````\n```\nwhat?\n```\n````":           false,
		"````\n```\n````\nwhat?":                true,
		"``` not a fence ``` ok?":               true,
		"Use https://x.test/?":                  true, // a rule of characters, not of meaning
		"- one\n- two?":                         true,
		"> Shall I?":                            true,
		"Shall I?\n\n```\ncode\n```\n":          false,
		"\\?":                                   true,
		"It works; the live key is missing.\n?": true,
	} {
		if got := EndsInQuestion(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
