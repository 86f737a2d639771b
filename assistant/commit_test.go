package assistant

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"deckhand/internal/testkit"
)

// TestFit: nothing is over the bound, what is no larger than an equal share is
// whole, what is cut ends in a whole line, and no line is miscounted.
func TestFit(t *testing.T) {
	line := rapid.StringOfN(rapid.RuneFrom([]rune("abé ")), 0, 30, -1)
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 400).Draw(t, "most")
		var staged []Staged
		for range rapid.IntRange(1, 6).Draw(t, "files") {
			text := strings.Join(rapid.SliceOfN(line, 0, 20).Draw(t, "lines"), "\n")
			if text != "" {
				text += "\n"
			}
			staged = append(staged, Staged{File: "f", Diff: text})
		}
		total := 0
		for i, p := range Fit(staged, most) {
			total += utf8.RuneCountInString(p.Text)
			if n := utf8.RuneCountInString(staged[i].Diff); n <= most/len(staged) && p.Left > 0 {
				t.Fatalf("one of %d characters is cut: each of %d may have %d", n, len(staged), most/len(staged))
			}
			if !strings.HasPrefix(staged[i].Diff, p.Text) || p.Text != "" && !strings.HasSuffix(p.Text, "\n") {
				t.Fatalf("not whole lines of it: %q", p.Text)
			}
			if all := strings.Count(staged[i].Diff, "\n"); strings.Count(p.Text, "\n")+p.Left != all {
				t.Fatalf("%d lines and %d left out of %d", strings.Count(p.Text, "\n"), p.Left, all)
			}
		}
		if total > most {
			t.Fatalf("%d of %d characters", total, most)
		}
	})
}

func TestWriteMessage(t *testing.T) {
	s := testkit.NewScript(t, testkit.Step{Status: 400}, testkit.Step{Think: "hm, hm", Say: "```\nMove the launch to June\n\nThe meeting decided it.\n```\n"})
	m, waited := asker(Options{BaseURL: s.URL, Model: "m"})
	out, err := writeMessage(t.Context(), m, []Staged{
		{File: "Plan.md", Diff: "-May\n+June\n"}, {File: "Long.md", Diff: strings.Repeat("+line\n", 10_000)}, {File: "Bad.md", Err: errors.New("no")},
	}, []string{"Add the plan"})
	if err != nil || out.Text != "Move the launch to June\n\nThe meeting decided it." || len(*waited) != 0 {
		t.Errorf("%v, %q", err, out.Text)
	}
	all := s.Requests()
	if !strings.Contains(all[0].Body, `"reasoning_effort":"none"`) || strings.Contains(all[1].Body, "reasoning_effort") || len(all[1].Tools) != 0 {
		t.Errorf("asked %.300s, then %.300s", all[0].Body, all[1].Body)
	}
	told := all[1].Messages[1].Content
	for _, want := range []string{"-May\n+June", "Add the plan", `(5002 more lines of "Long.md" are left out)`, `The difference of "Bad.md" could not be read.`} {
		if !strings.Contains(told, want) {
			t.Errorf("the model is not told %q: %.400s", want, told)
		}
	}
	if n := utf8.RuneCountInString(told); n > diffsMost+1000 {
		t.Errorf("%d characters", n)
	}
}

func TestCleanMessage(t *testing.T) {
	for raw, want := range map[string]string{
		"Add it\n":                       "Add it",
		"\"Add it\"":                     "Add it",
		"```text\nAdd it\n\nwhy\n```":    "Add it\n\nwhy",
		"Add it\x1b[31m\u202e\n\n# gone": "Add it[31m",
		"  \n ":                          "",
		"Say \"hello\"":                  "Say \"hello\"",
		"# Add it":                       "",
	} {
		if got := cleanMessage(raw); got != want {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
	}
}
