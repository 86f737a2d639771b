package change

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestVerify(t *testing.T) {
	m := memory{
		"Plan.md":          "# Plan\r\n\r\nLaunch: June\r\nin Berlin\r\n",
		"Shop.md":          "## Plan\n- [ ] Launch in June @pi\n\n## Done\n- [x] Logo\n",
		"Notes/Old.md":     "It was May once.\n",
		"deckhand/Chat.md": "the launch was in May\n",
		"picture.png":      "May",
	}
	for i, test := range []struct {
		c    Criterion
		want string // the detail; empty: it passes
	}{
		{Criterion{Test: Present, File: "Plan.md", Text: "Launch: June\nin Berlin"}, ""},
		{Criterion{Test: Present, File: "Plan.md", Text: "May"}, "the text is not there"},
		{Criterion{Test: Present, File: "Plan.md"}, ""},
		{Criterion{Test: Present, File: "None.md"}, "the file is not there"},
		{Criterion{Test: Absent, File: "Plan.md", Text: "May"}, ""},
		{Criterion{Test: Absent, File: "Plan.md", Text: "June"}, "the text is there, line 3"},
		{Criterion{Test: Absent, File: "None.md", Text: "June"}, "the file is not there"},
		{Criterion{Test: Absent, File: "None.md"}, ""},
		{Criterion{Test: Absent, File: "Plan.md"}, "the file is there"},
		{Criterion{Test: Absent, File: "*", Text: "April"}, ""},
		{Criterion{Test: Absent, File: "*", Text: "May"}, "Notes/Old.md:1 holds the text"},
		{Criterion{Test: Absent, File: "*", Text: "un"}, "Plan.md:3 holds the text; Shop.md:2 holds the text"},
		{Criterion{Test: Present, File: "*", Text: "once"}, ""},
		{Criterion{Test: Present, File: "*", Text: "the launch was"}, "no note holds the text"},
		{Criterion{Test: OnBoard, File: "Shop.md", Card: "Launch in June", Lane: "plan", State: Open}, ""},
		{Criterion{Test: OnBoard, File: "Shop.md", Card: "Launch", Lane: "Done"}, `the card is in "Plan", line 2`},
		{Criterion{Test: OnBoard, File: "Shop.md", Card: "Launch", State: Ticked}, "the card's box is [ ], line 2"},
		{Criterion{Test: OnBoard, File: "Shop.md", Card: "Logo", Lane: "Done", State: Ticked}, ""},
		{Criterion{Test: OnBoard, File: "Shop.md", Card: "Logo", State: Open}, "the card's box is [x], line 5"},
		{Criterion{Test: OnBoard, File: "Shop.md", Card: "Checkout"}, `no card reads "Checkout"; read the board first`},
		{Criterion{Test: OnBoard, File: "Plan.md", Card: "Logo"}, "it is no board"},
		{Criterion{Test: Structure, File: "Plan.md"}, ""},
		{Criterion{Test: Structure, File: "*"}, ""},
	} {
		got, err := Verify(m.folder(), nil, []Criterion{test.c})
		if err != nil || got.Checks[0].Detail != test.want || got.Passed != (test.want == "") || got.Checks[0].Passed != got.Passed {
			t.Errorf("%d: %+v: got %+v, %v, want %q", i, test.c, got, err, test.want)
		}
	}
}

func TestVerifyRefusals(t *testing.T) {
	for want, c := range map[string][]Criterion{
		"1 to 50 criteria, not 0":                           nil,
		"1 to 50 criteria, not 51":                          make([]Criterion, 51),
		`criterion 1: no test is called "vibes"`:            {{Test: "vibes", File: "A.md"}},
		"criterion 1: say which text":                       {{Test: Absent, File: "*"}},
		"criterion 1: name the board":                       {{Test: OnBoard, File: "*", Card: "a"}},
		"criterion 1: say which card":                       {{Test: OnBoard, File: "A.md"}},
		`criterion 1: no card is "asks": use open`:          {{Test: OnBoard, File: "A.md", Card: "a", State: "asks"}},
		"criterion 2: ../A.md: write the path":              {{Test: Structure, File: "A.md"}, {Test: Structure, File: "../A.md"}},
		"criterion 1: deckhand/A.md: deckhand writes in th": {{Test: Structure, File: "deckhand/A.md"}},
	} {
		if got, err := Verify(memory{}.folder(), nil, c); err == nil || !strings.HasPrefix(err.Error(), want) && !strings.Contains(err.Error(), want) {
			t.Errorf("got %+v, %v, want %q", got, err, want)
		}
	}
}

// Whoever checks the easy files only does not pass.
func TestEveryChangedFileIsChecked(t *testing.T) {
	m := memory{"A.md": "a2", "B.md": "b2", "D.md": "c", "Same.md": "s"}
	applied := []Change{
		{Kind: Edit, File: "A.md", Before: "a", After: "a2"},
		{Kind: Edit, File: "B.md", Before: "b", After: "b2"},
		{Kind: Move, File: "C.md", To: "D.md", Before: "c", After: "c"},
		{Kind: Delete, File: "E.md", Before: "e"},
		{Kind: Edit, File: "Same.md", Before: "s", After: "t"},
		{Kind: Edit, File: "Same.md", Before: "t", After: "s"},
	}
	got, err := Verify(m.folder(), applied, []Criterion{{Test: Present, File: "A.md", Text: "a2"}, {Test: Absent, File: "*", Text: "x"}})
	if err != nil || got.Passed || !reflect.DeepEqual(got.Unchecked, []string{"B.md", "D.md", "E.md"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = Verify(m.folder(), applied, []Criterion{
		{Test: Present, File: "A.md"}, {Test: Present, File: "B.md"}, {Test: Present, File: "D.md"}, {Test: Absent, File: "E.md"},
	})
	if err != nil || !got.Passed {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestOnlyNewFlawsCount(t *testing.T) {
	broken := "# A\n\n### B\n\n[[None]]\n\n```\n"
	link := "see [[Old]]\n"
	for name, test := range map[string]struct {
		now     memory
		applied []Change
		file    string
		want    string
	}{
		"old flaws, other lines": {
			memory{"A.md": "text\n\n" + broken},
			[]Change{{Kind: Edit, File: "A.md", Before: broken, After: "text\n\n" + broken}},
			"A.md", "",
		},
		"one flaw more of the same kind": {
			memory{"A.md": "[[None]]\n\n" + broken},
			[]Change{{Kind: Edit, File: "A.md", Before: broken, After: "[[None]]\n\n" + broken}},
			"A.md", `7: there is no note "None"`,
		},
		"a new file has no old flaws": {
			memory{"A.md": "# A\n### B\n"},
			[]Change{{Kind: Create, File: "A.md", After: "# A\n### B\n"}},
			"A.md", `2: the heading "B" skips a level: 3 after 1`,
		},
		"against the first contents": {
			memory{"A.md": "#\n"},
			[]Change{{Kind: Edit, File: "A.md", Before: "a\n", After: "#\n"}, {Kind: Edit, File: "A.md", Before: "#\n", After: "#\n"}},
			"A.md", "1: a heading has no text",
		},
		"moved with its flaws": {
			memory{"New/B.md": broken},
			[]Change{{Kind: Move, File: "A.md", To: "New/B.md", Before: broken, After: broken}},
			"New/B.md", "",
		},
		"a link to what was deleted": {
			memory{"A.md": link},
			[]Change{{Kind: Delete, File: "Old.md", Before: "x"}},
			"A.md", `1: there is no note "Old"`,
		},
		"a link to what was moved, by name": {
			memory{"A.md": link, "Archive/Old.md": "x"},
			[]Change{{Kind: Move, File: "Old.md", To: "Archive/Old.md", Before: "x", After: "x"}},
			"A.md", "",
		},
		"a link that a created file mended, and one it brought": {
			memory{"A.md": link, "Old.md": "[[Gone]]\n"},
			[]Change{{Kind: Create, File: "Old.md", After: "[[Gone]]\n"}},
			"*", `Old.md:1: there is no note "Gone"`,
		},
	} {
		got, err := Verify(test.now.folder(), test.applied, []Criterion{{Test: Structure, File: test.file}})
		if err != nil || got.Checks[0].Detail != test.want {
			t.Errorf("%s: got %+v, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestLongDetailsAreCut(t *testing.T) {
	m := memory{}
	for i := range 9 {
		m[fmt.Sprintf("%d.md", i)] = "x"
	}
	got, err := Verify(m.folder(), nil, []Criterion{{Test: Absent, File: "*", Text: "x"}})
	if want := "4.md:1 holds the text; and 4 more"; err != nil || !strings.HasSuffix(got.Checks[0].Detail, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestEachFileIsReadOnce(t *testing.T) {
	m := memory{"A.md": "a\n", "B.md": "b\n"}
	read := map[string]int{}
	f := m.folder()
	f.Read = func(file string) (string, error) {
		read[file]++
		return m.read(file)
	}
	_, err := Verify(f, nil, []Criterion{
		{Test: Present, File: "A.md", Text: "a"}, {Test: Structure, File: "A.md"}, {Test: Absent, File: "*", Text: "x"}, {Test: Structure, File: "*"},
	})
	if err != nil || read["A.md"] != 1 || read["B.md"] != 1 {
		t.Errorf("read %v, %v", read, err)
	}
}
