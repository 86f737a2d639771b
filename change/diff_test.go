package change

import (
	"fmt"
	"strings"
	"testing"

	"deckhand/internal/span"
)

func TestUnified(t *testing.T) {
	for i, test := range []struct{ old, new, want string }{
		{"", "", ""},
		{"a\n", "a\n", ""},
		{"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
		{"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n", "@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n"},
		{"a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"a\nb\n", "a\r\nb\n", "@@ -1,2 +1,2 @@\n-a\n+a\r\n b\n"},
		{"1\na\n2\n3\nb\n4\n", "1\nA\n2\n3\nB\n4\n", "@@ -1,6 +1,6 @@\n 1\n-a\n+A\n 2\n 3\n-b\n+B\n 4\n"},
		{"1\na\n2\n3\n4\nb\n5\n", "1\nA\n2\n3\n4\nB\n5\n", "@@ -1,3 +1,3 @@\n 1\n-a\n+A\n 2\n@@ -5,3 +5,3 @@\n 4\n-b\n+B\n 5\n"},
	} {
		if got := Compare(test.old, test.new).Unified(1); got != test.want {
			t.Errorf("%d: got\n%swant\n%s", i, got, test.want)
		}
	}
}

// A section that was added is shown as that section, wherever else the lines
// could be said to have been added.
func TestBlocksStandWhereAPersonWouldCut(t *testing.T) {
	for i, test := range []struct{ old, new, want string }{
		{"# A\n\ntext\n\n# C\n\ntext\n", "# A\n\ntext\n\n# B\n\ntext\n\n# C\n\ntext\n", "# B\n\ntext\n\n"},
		{"# A\n\ntext\n", "# A\n\ntext\n\n# B\n\ntext\n", "\n# B\n\ntext\n"},
		{"- a\n  - x\n- c\n  - x\n", "- a\n  - x\n- b\n  - x\n- c\n  - x\n", "- b\n  - x\n"},
		{"a\n\nb\n\nc\n", "a\n\nb\n\nb2\n\nc\n", "b2\n\n"},
		{"a\na\na\n", "a\na\na\na\n", "a\n"},
	} {
		var got strings.Builder
		for _, r := range Compare(test.old, test.new).Rows {
			if r.Op != Same {
				got.WriteString(r.New.Text + r.New.End)
			}
		}
		if got.String() != test.want {
			t.Errorf("%d: got %q, want %q", i, got.String(), test.want)
		}
	}
}

func TestWords(t *testing.T) {
	marked := func(line string, spans []span.Span) string {
		var b strings.Builder
		at := 0
		for _, s := range spans {
			b.WriteString(line[at:s.Start] + "[" + line[s.Start:s.End] + "]")
			at = s.End
		}
		return b.String() + line[at:]
	}
	for _, test := range []struct{ old, new string }{
		{"The launch is in [May].", "The launch is in [June]."},
		{"We ship [on Monday], all of it", "We ship [next Tuesday], all of it"},
		{"naïve [café] and more words", "naïve [cafés] and more words"},
		{"発売日は[五]月です", "発売日は[六]月です"},
		{"the flag [🇩🇪] of them", "the flag [🇫🇷] of them"},
		{"broken \xff[a] b c d", "broken \xff[x] b c d"},
	} {
		plain := strings.NewReplacer("[", "", "]", "")
		old, new := plain.Replace(test.old), plain.Replace(test.new)
		was, is := Words(old, new)
		if got := marked(old, was); got != test.old {
			t.Errorf("got %q, want %q", got, test.old)
		}
		if got := marked(new, is); got != test.new {
			t.Errorf("got %q, want %q", got, test.new)
		}
	}
	if was, is := Words("all of this is old", "nothing here remained"); was != nil || is != nil {
		t.Errorf("words are found in lines of nothing in common: %v, %v", was, is)
	}
}

func TestMoved(t *testing.T) {
	d := Compare(
		"# A\nthe first long paragraph here\nand its second line\n# B\nother\nlines\nthat\nstay\n# C\n",
		"# A\n# B\nother\nlines\nthat\nstay\n# C\nthe first long paragraph here\nand its second line\n",
	)
	moved := map[int]int{}
	for _, r := range d.Rows {
		if r.Old.Moved > 0 {
			moved[r.Old.No] = r.Old.Moved
		}
		if r.New.Moved > 0 && moved[r.New.Moved] == 0 {
			moved[r.New.Moved] = -r.New.No
		}
	}
	if len(moved) != 2 || moved[2] != 8 || moved[3] != 9 {
		t.Errorf("got %v", moved)
	}
	if d := Compare("short\na\nb\nc\n", "a\nb\nc\nshort\n"); d.Rows[0].Old.Moved != 0 {
		t.Error("a short line is said to have moved")
	}
}

func TestRowsPairLinesThatAreAlike(t *testing.T) {
	d := Compare("one line of text\nLaunch: May\nend\n", "new\none line of words\nLaunch: June\nend\n")
	var got []Op
	for _, r := range d.Rows {
		got = append(got, r.Op)
	}
	want := []Op{Added, Changed, Changed, Same}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if d.Added != 3 || d.Removed != 2 {
		t.Errorf("got +%d -%d", d.Added, d.Removed)
	}
}

func TestLongBlocksArePairedInStep(t *testing.T) {
	var old, new strings.Builder
	for i := range 200 {
		fmt.Fprintf(&old, "| row %d | May |\n", i)
		fmt.Fprintf(&new, "| row %d | June |\n", i)
	}
	for name, test := range map[string][2]string{
		"a table":   {old.String(), new.String()},
		"line ends": {old.String(), strings.ReplaceAll(old.String(), "\n", "\r\n")},
	} {
		changed := 0
		for _, r := range Compare(test[0], test[1]).Rows {
			if r.Op == Changed && r.Old.No == r.New.No {
				changed++
			}
		}
		if changed != 200 {
			t.Errorf("%s: %d rows stand side by side, not 200", name, changed)
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range []Change{
		{}, {Before: "a\n"}, {After: "a\nb"}, {Before: "a\nb\nc\n", After: "b\nc\nd\ne\n"}, {Before: "one thing\nx\n", After: "one other thing\nx\n"},
	} {
		d := c.Diff()
		if added, removed := c.Count(); added != d.Added || removed != d.Removed {
			t.Errorf("%q %q: +%d -%d, the diff has +%d -%d", c.Before, c.After, added, removed, d.Added, d.Removed)
		}
	}
}
