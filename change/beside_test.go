package change

import (
	"strings"
	"testing"
)

// The board of these tests: a card that a run has, and others.
const besideBoard = `---
project: notes
---

## Plan

- [ ] Launch in May
- [ ] Another

## In Progress

- [ ] Move the launch @assistant
	more of it
	- 🔵 assistant works · [[chat]] ^r-01kb7x2m

## Review

## Done
`

// asking is the same board while its run waits, done while it is reviewed.
func asking(s string) string {
	return strings.Replace(s, "- 🔵 assistant works · [[chat]] ^r-01kb7x2m", "- 🟡 assistant asks · [[chat]] ^r-01kb7x2m\n\t\t- May it?", 1)
}

func reviewed(s string) string {
	card := "- [ ] Move the launch @assistant\n\tmore of it\n\t- 🔵 assistant works · [[chat]] ^r-01kb7x2m\n"
	s = strings.Replace(s, "\n"+card, "", 1)
	return strings.Replace(s, "## Review\n", "## Review\n\n"+strings.Replace(card, "🔵 assistant works", "🟢 assistant: review", 1), 1)
}

func june(s string) string {
	return strings.Replace(s, "Launch in May\n", "Launch in June\n- [ ] Tell all\n", 1)
}

func typed(s string) string { return strings.Replace(s, "- [ ] Another\n", "- [ ] Another thing\n", 1) }

func TestRebase(t *testing.T) {
	for _, c := range []struct {
		name               string
		before, after, cur string
		want               string // empty: it cannot be
	}{
		{"as it was", besideBoard, june(besideBoard), besideBoard, june(besideBoard)},
		{"its run asks", besideBoard, june(besideBoard), asking(besideBoard), asking(june(besideBoard))},
		{"its card has moved", besideBoard, june(besideBoard), reviewed(besideBoard), reviewed(june(besideBoard))},
		{"taken back after its card has moved", june(besideBoard), besideBoard, reviewed(june(besideBoard)), reviewed(besideBoard)},
		{"a person typed", besideBoard, june(besideBoard), typed(besideBoard), ""},
		{"a person typed beside the run's", besideBoard, june(besideBoard), typed(asking(besideBoard)), ""},
		{"a person typed in the run's card", besideBoard, june(besideBoard), strings.Replace(reviewed(besideBoard), "more of it", "less of it", 1), ""},
		{"a note", "May ^r-01kb7x2m\n", "June ^r-01kb7x2m\n", "July ^r-01kb7x2m\n", ""},
		{
			"the change is of the run's card", besideBoard, strings.Replace(besideBoard, "more of it", "less of it", 1), asking(besideBoard),
			asking(strings.Replace(besideBoard, "more of it", "less of it", 1)),
		},
		{"the change is of the run's card, which has moved", besideBoard, strings.Replace(besideBoard, "more of it", "less of it", 1), reviewed(besideBoard), ""},
		{"its card is taken off", besideBoard, strings.Replace(besideBoard, "- [ ] Move the launch @assistant\n\tmore of it\n\t- 🔵 assistant works · [[chat]] ^r-01kb7x2m\n", "", 1), asking(besideBoard), strings.Replace(besideBoard, "- [ ] Move the launch @assistant\n\tmore of it\n\t- 🔵 assistant works · [[chat]] ^r-01kb7x2m\n", "", 1)},
	} {
		got, ok := Folder{}.Rebase("Shop.md", c.before, c.after, c.cur)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, ok, got, c.want)
		}
		dos := strings.NewReplacer("\n", "\r\n")
		crlf, _ := Folder{}.Rebase("Shop.md", dos.Replace(c.before), dos.Replace(c.after), dos.Replace(c.cur))
		if crlf != dos.Replace(got) {
			t.Errorf("%s, with CRLF: %q, not %q", c.name, crlf, dos.Replace(got))
		}
		bare := func(s string) string { return strings.TrimSuffix(s, "\n") }
		if short, _ := (Folder{}).Rebase("Shop.md", bare(c.before), bare(c.after), bare(c.cur)); short != bare(got) {
			t.Errorf("%s, without a last line end: %q, not %q", c.name, short, bare(got))
		}
		if ok && !(Folder{}).Stands("Shop.md", c.after, got) {
			t.Errorf("%s: what was made is not what was meant", c.name)
		}
	}
}

func TestStands(t *testing.T) {
	for name, cur := range map[string]string{"the same": besideBoard, "asks": asking(besideBoard), "moved": reviewed(besideBoard)} {
		if !(Folder{}).Stands("Shop.md", besideBoard, cur) {
			t.Errorf("%s does not stand", name)
		}
		if (Folder{}).Stands("Shop.md", june(besideBoard), cur) {
			t.Errorf("%s stands for another", name)
		}
		if (Folder{}).Stands("Shop.md", besideBoard, typed(cur)) {
			t.Errorf("%s stands for what a person typed", name)
		}
	}
}
