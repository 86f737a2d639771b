package chats

import (
	"strings"
	"testing"
)

func TestSetPropsSplicesOnlyWhatDiffers(t *testing.T) {
	src := "\ufeff---\r\n# mine\r\ntitle: 'It''s'   # said\r\nstatus: \"works\" # now\r\ncost: 0.10\r\ntags: [a,   b]\r\n---\r\n\r\nbody\n"
	p := Props{Status: "review", Model: "m: 1", Cost: dollars(0.1), Tokens: 5}
	want := strings.Replace(src, `"works"`, "review", 1)
	want = strings.Replace(want, "b]\r\n", "b]\r\nmodel: \"m: 1\"\r\ntokens: 5\r\n", 1)
	got, err := SetProps([]byte(src), p)
	if err != nil || string(got) != want {
		t.Fatalf("%v\n got %q\nwant %q", err, got, want)
	}
	again, err := SetProps(got, p)
	if err != nil || string(again) != want {
		t.Errorf("done twice: %v %q", err, again)
	}
}

func TestSetPropsValues(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"status:", "status: review"},
		{"status: ", "status: review"},
		{"status: # none", "status: review# none"},
		{"status: works", "status: review"},
		{"status:   'wo''rks'  # x", "status:   review  # x"},
		{`status: "wo\"rks"`, "status: review"},
		{"status: ~", "status: review"},
	} {
		got, err := SetProps([]byte("---\n"+test.line+"\na: 1\n---\n"), Props{Status: "review"})
		if want := "---\n" + strings.Replace(test.want, "review#", "review #", 1) + "\na: 1\n---\n"; err != nil || string(got) != want {
			t.Errorf("%q: %v, got %q", test.line, err, got)
		}
	}
}

func TestSetPropsLeavesABrokenHeaderAlone(t *testing.T) {
	for _, src := range []string{
		"",
		"no header",
		"---\ntitle: x\n",
		"---\ntitle: [x\n---\n",
		"---\n- a\n---\n",
		"---\nstatus: works\n  still\n---\n",
		"---\nstatus: |\n  works\n---\n",
		"---\nstatus: [works]\n---\n",
		"---\nstatus: &a works\nb: *a\n---\n",
		"---\nstatus: works\nstatus: works\n---\n",
		"---\n\"status\": works\n---\n",
		"---\n{status: works}\n---\n",
		"---\n{title: x}\n---\n",
	} {
		if got, err := SetProps([]byte(src), Props{Status: "review"}); err == nil || got != nil {
			t.Errorf("%q: no error, got %q", src, got)
		}
	}
}

func TestRun(t *testing.T) {
	for src, want := range map[string]string{
		"---\nrun: 01KB\n---\n":                 "01KB",
		"\ufeff---\r\nrun: \"01KB\"\r\n---\r\n": "01KB",
		"---\ntitle: [broken\nrun: 01KB\n---\n": "01KB",
		"---\nrunner: x\n  run: y\n---\n":       "",
		"---\nrun:\n---\n":                      "",
		"run: 01KB\n":                           "",
		"":                                      "",
	} {
		if got, ok := Run([]byte(src)); got != want || ok != (want != "") {
			t.Errorf("%q: got %q %v", src, got, ok)
		}
	}
}

func TestScalarsReadBackAsTheyAre(t *testing.T) {
	for _, s := range []string{
		"a", "true", "12", "1e3", "0x1f", "null", "2026-11-30", "12:30", "- a", "a: b", "a #b", "[[Shop]]", "[Shop](Shop.md)", "é 日本", "'", "\"", "\\", " a", "a ",
		"line\nbreak", "\u202e", "\u0085", "~", "=", "<<", "01E5", "👍", "\x01", "\u2028", "yes", "_", "a'b", "---",
	} {
		p := Props{Title: s, Agent: "pi", Run: s}
		c := Read(New(p, nil))
		if c.Broken != "" || c.Props.Title != s {
			t.Errorf("%q: got %q, broken %q", s, c.Props.Title, c.Broken)
		}
		if run, _ := Run(New(p, nil)); run != s {
			t.Errorf("%q: run is %q", s, run)
		}
	}
}
