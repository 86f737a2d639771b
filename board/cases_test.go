package board

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func caseBoard(t testing.TB, file string) *Board {
	t.Helper()
	return Parse(filepath.Base(file), read(t, filepath.Join("testdata/cases", file)), Options{Agents: []string{"pi", "claude"}})
}

// works is the status item most tests put.
func works() *Item {
	return &Item{Run: "01kb7x2m", Agent: "pi", Word: "works", Link: "[[2026-11-30 Card|chat]]"}
}

const worksLine = "- 🔵 pi works · [[2026-11-30 Card|chat]] ^r-01kb7x2m"

func outlineOf(b *Board) string {
	var out []string
	for i := range b.Lanes {
		out = append(out, fmt.Sprintf("%s:%d", b.Lanes[i].Title, len(b.Lanes[i].Cards)))
	}
	return strings.Join(out, " ")
}

func mustUpdate(t testing.TB, b *Board, u Update) string {
	t.Helper()
	out, err := b.Update(u)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(b.Path, out, b.options).Update(u)
	if err != nil || !bytes.Equal(again, out) {
		t.Fatalf("the same update again: %v\n%q\nwant %q", err, again, out)
	}
	return string(out)
}

func TestCasesReadLanesAndStarts(t *testing.T) {
	for _, tt := range []struct{ file, lanes, starts string }{
		{"01/board.md", "Plan:2 In Progress:0 Review:0", "Order gravel @pi"},
		{"05/board.md", "Plan:1 In Progress:0 Review:0", "Totals @pi"},
		{"05/plain.md", "Plan:1 In Progress:0", "First lane must exist @pi"},
		{"06/board.md", "Plan:1 In Progress:0", "Compare a---b @pi"},
		{"07/board.md", "Plan:1 In Progress:0", ""},
		{"10/board.md", "Plan:2 In Progress:0 Review:0", "Write the template @pi"},
		{"11/board.md", "Plan:3 In Progress:0 Review:0", ""},
		{"12/board.md", "Plan:2 In Progress:0", ""},
		{"13/board.md", "Plan:2 In Progress:0", "Report @pi"},
		{"14/board.md", "Plan:3 In Progress:0 Review:1", ""},
		{"26/board.sync-conflict-20260102-101500-ABC1234.md", "Plan:1 In Progress:0", ""},
		{"27/board.md", "Plan:2 In Progress:0", ""},
		{"33/board.md", "Plan:6 In Progress:0", "Real one (@pi)|Real two: @pi, please"},
		{"34/board.md", "Plan:2 In Progress:0", ""},
		{"35/board.md", "Plan:2 In Progress:0", "Hard to see @pi|After the box @pi"},
		{"37/board.md", "Plan:1 In Progress:0", "Works @pi"},
		{"38/board.md", "Plan:1 Review:1", "Bericht @pi"},
	} {
		b := caseBoard(t, tt.file)
		var first []string
		for _, c := range starts(b) {
			first = append(first, c.First)
		}
		if got := outlineOf(b); got != tt.lanes {
			t.Errorf("case %s: lanes %q, want %q", tt.file, got, tt.lanes)
		}
		if got := strings.Join(first, "|"); got != tt.starts {
			t.Errorf("case %s: %q starts, want %q", tt.file, got, tt.starts)
		}
	}
}

func TestCasesMove(t *testing.T) {
	for _, tt := range []struct {
		name, file, key string
		to              Role
		from, into, gap string // the one text that leaves, where it comes again, and the blank line behind it
	}{
		{"case 01", "01/board.md", "Order gravel @pi", Working, "- [ ] Order gravel @pi\n", "## In Progress\n\n", "\n"},
		{"case 03", "03/board.md", "Cart total @pi", Working, "- [ ] Cart total @pi\n", "## In Progress\n\n", ""},
		{"case 05, header", "05/board.md", "Totals @pi", Working, "- [ ] Totals @pi\n", "## In Progress\n", ""},
		{"case 05, no header", "05/plain.md", "First lane must exist @pi", Working, "- [ ] First lane must exist @pi\n", "## In Progress\n", ""},
		{"case 06", "06/board.md", "Compare a---b @pi", Working, "- [ ] Compare a---b @pi\n", "## In Progress\n", ""},
		{"case 08", "08/board.md", "one @pi", Working, "- [ ] one @pi\n", "## In Progress\r\n\r\n", "\r\n"},
		{"case 10", "10/board.md", "Write the template @pi", Working, "- [ ] Write the template @pi\n  ```md\n  ## In Progress\n  - [ ] not a card @pi\n  ```\n", "## Review\n", "\n"},
		{"case 12, br", "12/board.md", "Old style", Working, "- [ ] Old style<br>- [ ] step a<br>- [x] step b @pi\n", "## In Progress\n", ""},
		{"case 12, lines", "12/board.md", "New style", Working, "- [ ] New style\n\t- [ ] step a\n\t- [x] step b\n\tFree text line\n", "## In Progress\n", ""},
		{"case 17", "17/board.md", "Ship it @pi", Working, "- [ ] Ship it @pi\n", "## In Progress\n", ""},
		{"case 35", "35/board.md", "Hard to see @pi", Working, "- [\u00a0] Hard to see @pi\n-\u00a0[ ] Even harder @pi\n", "## In Progress\n", ""},
		{"case 37", "37/board.md", "Works @pi", Working, "- [ ] Works @pi\n", "## In Progress\n\n", ""},
		{"case 38", "38/board.md", "Bericht @pi", Review, "- [ ] Bericht @pi\n", "**Fertiggestellt**\n- [x] Alt\n", ""},
	} {
		b := caseBoard(t, tt.file)
		src := string(b.Src)
		rest := strings.Replace(src, tt.from, "", 1)
		at := strings.LastIndex(rest, tt.into)
		if tt.name == "case 10" { // the other heading of that name is in the card
			at = strings.LastIndex(rest, "## In Progress\n\n") + len("## In Progress\n\n") - len(tt.into)
		}
		want := rest[:at+len(tt.into)] + tt.from + tt.gap + rest[at+len(tt.into):]
		if got := mustUpdate(t, b, Update{Key: tt.key, To: tt.to}); got != want {
			t.Errorf("%s: %q\nwant %q", tt.name, got, want)
		}
	}
}

func TestCase02NothingToDoGivesTheSameBytes(t *testing.T) {
	b := caseBoard(t, "02/board.md")
	out, err := b.Update(Update{Key: "Nothing to do here", To: Ready})
	if err != nil || &out[0] != &b.Src[0] {
		t.Errorf("not the bytes it was given: %v", err)
	}
}

func TestCase07BrokenHeaderIsAProblemOfItsLine(t *testing.T) {
	b := caseBoard(t, "07/board.md")
	if !strings.HasPrefix(b.Problem, "line ") || b.Project != "" || b.Inactive != "" {
		t.Errorf("problem %q, project %q, inactive %q", b.Problem, b.Project, b.Inactive)
	}
	out := mustUpdate(t, b, Update{Key: "Fix the header @pi", To: Working})
	if !strings.HasPrefix(out, "---\ntitle: \"say \"hello\" twice\"\ntags: [a, b\nproject: shop\n---\n") {
		t.Errorf("the header changed: %q", out)
	}
}

func TestCase09NoFinalNewlineStaysSo(t *testing.T) {
	b := caseBoard(t, "09/board.md")
	got := mustUpdate(t, b, Update{Key: "Write report @pi", To: Review})
	if want := "## Plan\n## In Progress\n## Review\n- [x] Old one\n- [ ] Write report @pi"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCase11CommentsStayWhereTheyAre(t *testing.T) {
	b := caseBoard(t, "11/board.md")
	got := mustUpdate(t, b, Update{Key: "Real card", To: Working})
	want := strings.Replace(string(b.Src), "- [ ] Real card\n", "", 1)
	want = strings.Replace(want, "card\n\n## In Progress\n", "card\n\n## In Progress\n- [ ] Real card\n", 1)
	if got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestCase12BreaksAreLinesOfTheNote(t *testing.T) {
	c := caseBoard(t, "12/board.md").Lanes[0].Cards[0]
	if c.Key != "Old style" || !slices.Equal(c.Lines, []string{"- [ ] step a", "- [x] step b @pi"}) || len(c.Agents) != 0 {
		t.Errorf("key %q, lines %q, agents %q", c.Key, c.Lines, c.Agents)
	}
	c = caseBoard(t, "12/board.md").Lanes[0].Cards[1]
	if !slices.Equal(c.Lines, []string{"- [ ] step a", "- [x] step b", "Free text line"}) {
		t.Errorf("lines %q", c.Lines)
	}
}

func TestCase13BlankLinesBelongToTheCard(t *testing.T) {
	b := caseBoard(t, "13/board.md")
	got := Parse("board.md", []byte(mustUpdate(t, b, Update{Key: "Report @pi", To: Working})), Options{})
	got = Parse("board.md", []byte(mustUpdate(t, got, Update{Key: "Next", To: Working})), Options{})
	plan := string(got.Lanes[0].Body.Of(got.Src))
	if strings.TrimSpace(plan) != "plain paragraph at column 0" {
		t.Errorf("left in Plan: %q", plan)
	}
	cards := got.Lanes[1].Cards
	if len(cards) != 2 || !strings.Contains(string(cards[0].Text), "Second paragraph.") || !strings.Contains(string(cards[1].Text), "indented four") {
		t.Errorf("In Progress: %q", got.Lanes[1].Body.Of(got.Src))
	}
}

func TestCase14TwoEqualCardsAreNamed(t *testing.T) {
	b := caseBoard(t, "14/board.md")
	_, err := b.Update(Update{Key: "Update docs @pi", To: Working})
	if !errors.Is(err, ErrAmbiguous) || !strings.Contains(err.Error(), "board.md:2") || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("error %v", err)
	}
}

func TestCase15CopiedBlockIDIsNoKey(t *testing.T) {
	b := caseBoard(t, "15/board.md")
	cards := b.Lanes[0].Cards
	if cards[0].Key == cards[1].Key || cards[0].BlockID != "k3f9a1" || cards[1].BlockID != "k3f9a1" {
		t.Errorf("keys %q %q, ids %q %q", cards[0].Key, cards[1].Key, cards[0].BlockID, cards[1].BlockID)
	}
}

func TestCase17AnOldCopyHasNoStatusItem(t *testing.T) {
	b := caseBoard(t, "17/board.md")
	old := append(bytes.Clone(b.Src), "- [ ] Extra\n"...)
	got := mustUpdate(t, Parse("board.md", old, Options{}), Update{Run: "01kb7x2m", Key: "Ship it @pi", To: Working, Put: works()})
	want := "## Plan\n## In Progress\n- [ ] Ship it @pi\n\t" + worksLine + "\n## Review\n- [ ] Extra\n"
	if got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestCase26ConflictCopiesAreInactive(t *testing.T) {
	for name, of := range map[string]string{
		"a/board.sync-conflict-20260102-101500-ABC1234.md":    "a/board.md",
		"board (Eka's conflicted copy 2026-01-02).md":         "board.md",
		"board (Conflicted copy laptop 202601021015).md":      "board.md",
		"board (conflicted copy 2026-01-02 101500).md":        "board.md",
		"board (case conflict).md":                            "board.md",
		"board_conflict-20260102-101500.md":                   "board.md",
		"board (SFConflict eka@example.org 2026-01-02-10).md": "board.md",
		"Conflict resolution.md":                              "",
		"board.md":                                            "",
	} {
		got, ok := ConflictCopy(name)
		if got != of || ok != (of != "") {
			t.Errorf("%s is a copy of %q, want %q", name, got, of)
		}
	}
	b := caseBoard(t, "26/board.sync-conflict-20260102-101500-ABC1234.md")
	if _, err := b.Update(Update{Key: "Long job @pi", To: Working}); !errors.Is(err, ErrInactive) {
		t.Errorf("inactive %q, error %v", b.Inactive, err)
	}
}

func TestCase27MergeMarkersAreInactive(t *testing.T) {
	b := caseBoard(t, "27/board.md")
	if b.Inactive != "merge markers, line 2" {
		t.Errorf("inactive %q", b.Inactive)
	}
	for _, op := range []func() ([]byte, error){
		func() ([]byte, error) { return b.Update(Update{Key: "Pay invoice @pi", To: Working}) },
		func() ([]byte, error) { return b.AddCard("x") },
		b.AddLanes,
	} {
		if _, err := op(); !errors.Is(err, ErrInactive) {
			t.Errorf("error %v", err)
		}
	}
	clean := bytes.ReplaceAll(b.Src, []byte("<<<<<<< HEAD\n"), nil)
	clean, _, _ = bytes.Cut(clean, []byte("=======\n"))
	if b := Parse("board.md", clean, Options{}); b.Inactive != "" {
		t.Errorf("still inactive: %s", b.Inactive)
	}
	if b := Parse("board.md", []byte("## Plan\n- [ ] a\x00b\n"), Options{}); b.Inactive != "NUL bytes, line 2" {
		t.Errorf("inactive %q", b.Inactive)
	}
}

func TestCase33HintForUpperCase(t *testing.T) {
	b := caseBoard(t, "33/board.md")
	c := b.Lanes[0].Cards[5]
	if !slices.Equal(c.Unknown, []string{"pip", "pi2"}) || len(c.Hints) != 1 || !strings.Contains(c.Hints[0], "@Pi") {
		t.Errorf("unknown %q, hints %v", c.Unknown, c.Hints)
	}
}

func TestCase34SelectorsDoNotCount(t *testing.T) {
	cards := caseBoard(t, "34/board.md").Lanes[0].Cards
	if cards[0].Key != cards[1].Key || bytes.Equal(cards[0].Text, cards[1].Text) {
		t.Errorf("keys %q and %q", cards[0].Key, cards[1].Key)
	}
}

func TestCase35LooksLikeACard(t *testing.T) {
	b := caseBoard(t, "35/board.md")
	if !slices.Equal(b.Hints, []Hint{{3, "looks like a card, line 3"}}) {
		t.Errorf("hints %v", b.Hints)
	}
}

// TestCase36OneLargeCard asserts what is kept; the time is a benchmark's.
func TestCase36OneLargeCard(t *testing.T) {
	var src bytes.Buffer
	src.WriteString("## Plan\n- [ ] Log below\n")
	for i := range 20000 {
		fmt.Fprintf(&src, "  line %d of the log with some text\n", i+1)
	}
	src.WriteString("- [ ] Small @pi\n## In Progress\n## Review\n")
	begin := time.Now()
	b := Parse("board.md", src.Bytes(), Options{})
	got := mustUpdate(t, b, Update{Key: "Small @pi", To: Working, Put: works()})
	t.Logf("read twice, moved twice: %v", time.Since(begin))
	want := strings.Replace(src.String(), "- [ ] Small @pi\n## In Progress\n", "## In Progress\n- [ ] Small @pi\n  "+worksLine+"\n", 1)
	if got != want {
		t.Errorf("ends in %q", got[len(got)-200:])
	}
}

func TestCase37NothingGoesBehindTheFooter(t *testing.T) {
	b := caseBoard(t, "37/board.md")
	got, err := b.AddLanes()
	if err != nil {
		t.Fatal(err)
	}
	if n := Parse("board.md", got, Options{}); outlineOf(n) != "Plan:1 In Progress:0 Review:0" ||
		!bytes.Equal(got[n.footer:], b.Src[b.footer:]) {
		t.Errorf("%q", got)
	}
}

// TestCase40AnAgentsTextIsOnlyText is the example; FuzzSaid is the rule.
func TestCase40AnAgentsTextIsOnlyText(t *testing.T) {
	answer := string(read(t, "testdata/cases/40.txt"))
	b := Parse("board.md", []byte("## Plan\n- [ ] Write @pi\n## In Progress\n## Review\n"), Options{})
	item := works()
	item.Word, item.Said = "review", []string{answer}
	got := mustUpdate(t, b, Update{Key: "Write @pi", To: Review, Put: item})
	n := Parse("board.md", []byte(got), Options{})
	if outlineOf(n) != "Plan:0 In Progress:0 Review:1" || n.Kanban || len(n.Lanes[2].Cards[0].Lines) != 0 {
		t.Errorf("%q", got)
	}
}
