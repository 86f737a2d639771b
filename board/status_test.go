package board

import (
	"slices"
	"strings"
	"testing"
)

const running = "## Plan\n\n- [ ] Checkout @pi\n\tUse the SDK.\n\n## In Progress\n\n## Review\n"

func step(t *testing.T, src string, u Update) string {
	t.Helper()
	return mustUpdate(t, Parse("Shop.md", []byte(src), Options{}), u)
}

func TestARunsWayOverTheBoard(t *testing.T) {
	claim := works()
	src := step(t, running, Update{Key: "Checkout @pi", To: Working, Put: claim})
	want := "## Plan\n\n## In Progress\n\n- [ ] Checkout @pi\n\tUse the SDK.\n\t" + worksLine + "\n\n## Review\n"
	if src != want {
		t.Fatalf("claimed: %q\nwant %q", src, want)
	}
	ask := &Item{
		Run: claim.Run, Agent: "pi", Word: "asks", Details: []string{"14:05"}, Link: claim.Link,
		Boxes: []string{"- Run `rm -rf build` in web-ecommerce?", "- [ ] Allow once ^a7k2m-1", "- [ ] Deny ^a7k2m-2", "- why:"},
	}
	src = step(t, src, Update{Run: claim.Run, Put: ask, Wrote: claim.Lines()})
	want = strings.Replace(want, worksLine+"\n", "- 🟡 pi asks · 14:05 · [[2026-11-30 Card|chat]] ^r-01kb7x2m\n"+
		"\t\t- Run `rm -rf build` in web-ecommerce?\n\t\t- [ ] Allow once ^a7k2m-1\n\t\t- [ ] Deny ^a7k2m-2\n\t\t- why:\n", 1)
	if src != want {
		t.Fatalf("asks: %q\nwant %q", src, want)
	}
	// a person ticks, writes inside the item and below it, and an editor indents it otherwise
	src = strings.Replace(src, "- [ ] Allow once ^a7k2m-1", "- [x] Allow once ✅ 2026-11-30 ^a7k2m-1", 1)
	src = strings.Replace(src, "\t\t- why:\n", "\t\t- why:\n\t\t\tit is only a cache\n\tand hurry\n", 1)
	if out := step(t, src, Update{Run: claim.Run, Put: ask}); out != src {
		t.Errorf("an ask that stands was written again: %q", out)
	}
	done := &Item{Run: claim.Run, Agent: "pi", Word: "review", Details: []string{"3 files +40 −12", "$0.03"}, Link: claim.Link, Said: []string{"It works."}}
	src = step(t, src, Update{Run: claim.Run, To: Review, Put: done, Wrote: ask.Lines()})
	want = "## Plan\n\n## In Progress\n\n## Review\n- [ ] Checkout @pi\n\tUse the SDK.\n" +
		"\t- 🟢 pi: review · 3 files +40 −12 · $0.03 · [[2026-11-30 Card|chat]] ^r-01kb7x2m\n\t\t- It works.\n\t\t\tit is only a cache\n\tand hurry\n"
	if src != want {
		t.Errorf("done: %q\nwant %q", src, want)
	}
	c := Parse("Shop.md", []byte(src), Options{}).Lanes[2].Cards[0]
	if got := Added(done.Lines()[1:], c.Status.Lines); !slices.Equal(got, []string{"it is only a cache"}) {
		t.Errorf("added %q", got)
	}
	if !slices.Equal(c.Lines, []string{"Use the SDK.", "and hurry"}) || c.Status.Word != "review" || c.Status.Agent != "pi" {
		t.Errorf("lines %q, status %+v", c.Lines, c.Status)
	}
	src = step(t, src, Update{Run: claim.Run, Remove: true, Wrote: done.Lines(), Key: "Checkout @pi"})
	want = "## Plan\n\n## In Progress\n\n## Review\n- [ ] Checkout @pi\n\tUse the SDK.\n\t\t\tit is only a cache\n\tand hurry\n"
	if src != want {
		t.Errorf("removed: %q\nwant %q", src, want)
	}
}

func TestPutBackWhereItWas(t *testing.T) {
	src := "## Plan\n- [ ] a\n- [ ] b\n- [ ] c\n## In Progress\n## Review\n"
	moved := step(t, src, Update{Key: "b", To: Working, Put: works()})
	back := step(t, moved, Update{Run: "01kb7x2m", Key: "b", ToLane: "Plan", At: 2, Remove: true, Wrote: works().Lines()})
	if back != src {
		t.Errorf("%q\nwant %q", back, src)
	}
}

func TestStatusItemFollowsTheIndentOfTheCard(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"the file has none", "## Plan\n- [ ] a\n", "- [ ] a\n\t" + worksLine + "\n\t\t- x\n"},
		{"two spaces", "## Plan\n- [ ] a\n  note\n", "  note\n  " + worksLine + "\n    - x\n"},
		{"four spaces", "## Plan\n- [ ] a\n    note\n", "    note\n    " + worksLine + "\n        - x\n"},
		{"the file's own", "## Plan\n- [ ] a\n- [ ] b\n  note\n", "- [ ] a\n  " + worksLine + "\n    - x\n"},
		{"Kanban", "---\nkanban-plugin: board\n---\n## Plan\n- [ ] a\n- [ ] b\n  note\n", "- [ ] a\n\t" + worksLine + "\n\t\t- x\n"},
		{"Kanban after a save", "---\nkanban-plugin: board\n---\n## Plan\n- [ ] a\n\t  - [ ] sub\n", "sub\n\t  " + worksLine + "\n"},
		{"wide marker", "## Plan\n10. [ ] a\n- [ ] b\n  note\n", "10. [ ] a\n\t" + worksLine + "\n\t\t- x\n"},
		{"CR LF", "## Plan\r\n- [ ] a\r\n  note\r\n", "  note\r\n  " + worksLine + "\r\n    - x\r\n"},
		{"open fence", "## Plan\n- [ ] a\n  ```\n  code\n", "- [ ] a\n\t" + worksLine + "\n\t\t- x\n  ```\n  code\n"},
		{"no newline", "## Plan\n- [ ] a", "- [ ] a\n\t" + worksLine + "\n\t\t- x"},
	} {
		item := works()
		item.Said = []string{"x"}
		got := step(t, tt.src, Update{Key: "a", Put: item})
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q in it", tt.name, got, tt.want)
		}
		c := Parse("b.md", []byte(got), Options{}).ByRun(item.Run)
		if len(c) != 1 || !slices.Equal(c[0].Status.Lines, []string{"- x"}) {
			t.Errorf("%s: not read back from %q", tt.name, got)
		}
	}
}

func TestReadStatus(t *testing.T) {
	for _, tt := range []struct{ line, agent, word string }{
		{"- 🔵 pi works · [[x|chat]] ^r-01kb7x2m", "pi", "works"},
		{"- pi asks · 14:05 ^r-01kb7x2m  ", "pi", "asks"},
		{"* ⚪ my-tool stopped ^r-01kb7x2m", "my-tool", "stopped"},
		{"- 🟢 pi: accepted 30 Nov · $0.03 ^r-01kb7x2m", "pi", "accepted"},
		{"- 🟠 pi interrupted · [chat](a%20b.md) ^r-01kb7x2m", "pi", "interrupted"},
		{"- 🔵 pi works · chat", "", ""},
		{"- 🔵 pi works ^01kb7x2m", "", ""},
		{"- 🔵 pi workshop ^r-01kb7x2m", "", ""},
		{"- [ ] pi works ^r-01kb7x2m", "", ""},
		{"pi works ^r-01kb7x2m", "", ""},
		{"- Pi works ^r-01kb7x2m", "", ""},
	} {
		s := readStatus(tt.line)
		switch {
		case s == nil && tt.word != "":
			t.Errorf("%q is none", tt.line)
		case s != nil && (s.Word != tt.word || s.Agent != tt.agent || s.Run != "01kb7x2m"):
			t.Errorf("%q reads as %+v", tt.line, s)
		}
	}
}

func TestItemsReadBackInEveryWord(t *testing.T) {
	for _, w := range statusWords() {
		for _, plain := range []bool{false, true} {
			i := Item{Run: "01kb7x2m", Agent: "pi", Word: w.word, Details: []string{"exit 1, `npm test`", "x ^y"}, Link: "[chat](a.md)", Text: plain}
			if s := readStatus(i.Lines()[0]); s == nil || s.Word != w.word || s.Agent != "pi" || s.Run != i.Run {
				t.Errorf("%q reads as %+v", i.Lines()[0], s)
			}
		}
	}
}

func TestSaidIsCut(t *testing.T) {
	i := works()
	i.Said = []string{strings.Repeat("ü", 300) + "\n\n" + strings.Repeat("line\n", 20)}
	lines := i.Lines()[1:]
	if len(lines) != saidLines || !strings.HasSuffix(lines[0], "ü…") || len([]rune(lines[0])) != 2+saidRunes || lines[7] != "- line …" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}

func TestAddedIgnoresWhatToolsAppend(t *testing.T) {
	before := []string{"- [ ] Allow once ^a7k2m-1", "- why:", "- It works."}
	after := []string{"  - [X] Allow once [completion:: 2026-11-30] ^a7k2m-1", "- why: too risky", "", "\t- It works.", "- It works."}
	if got := Added(before, after); !slices.Equal(got, []string{"- why: too risky", "- It works."}) {
		t.Errorf("added %q", got)
	}
}

func TestRunOnTwoCardsIsAmbiguous(t *testing.T) {
	b := Parse("b.md", []byte("## Plan\n- [ ] a\n\t"+worksLine+"\n- [ ] b\n\t"+worksLine+"\n"), Options{})
	if _, err := b.Update(Update{Run: "01kb7x2m", Put: works()}); err == nil || !strings.Contains(err.Error(), "b.md:2: two cards read the same, line 4 too") {
		t.Errorf("error %v", err)
	}
}

func TestWordsOfAPersonInTheItemsFirstLineStay(t *testing.T) {
	done := &Item{Run: "01kb7x2m", Agent: "pi", Word: "review", Said: []string{"It works."}}
	doneLines := "\t- 🟢 pi: review ^r-01kb7x2m\n\t\t- It works.\n"
	for _, tt := range []struct{ name, head, want string }{
		{"behind the link", "- 🔵 pi works · [[2026-11-30 Card|chat]] use the  cache ^r-01kb7x2m", "\t- use the cache\n"},
		{"in the middle", "- 🔵 pi works quickly, please · [[2026-11-30 Card|chat]] ^r-01kb7x2m", "\t- quickly, please\n"},
		{"at the start", "- ❗ 🔵 pi works · [[2026-11-30 Card|chat]] ^r-01kb7x2m", "\t- ❗\n"},
		{"taken away", "- 🔵 pi works ^r-01kb7x2m", ""},
		{"by a plugin", "- 🔵 pi works · [[2026-11-30 Card|chat]] ^r-01kb7x2m  ", ""},
		{"of another item", "- 🟡 pi asks about QRIS ^r-01kb7x2m", "\t- 🟡 pi asks about QRIS\n"},
		{"with a second id", "- 🔵 pi works · [[2026-11-30 Card|chat]] now ^r-01kb7x2m ^r-01kb7x2m", "\t- now\n"},
	} {
		src := "## In Progress\n- [ ] a\n\t" + tt.head + "\n## Review\n"
		u := Update{Run: "01kb7x2m", To: Review, Put: done, Wrote: works().Lines()}
		got := step(t, src, u)
		if want := "## In Progress\n## Review\n- [ ] a\n" + doneLines + tt.want; got != want {
			t.Errorf("%s: %q\nwant %q", tt.name, got, want)
		}
		if again := step(t, got, u); again != got {
			t.Errorf("%s, again: %q", tt.name, again)
		}
		b := Parse("b.md", []byte(got), Options{})
		if c := b.ByRun("01kb7x2m"); len(c) != 1 || c[0].Status.Word != "review" || len(c[0].Lines) != strings.Count(tt.want, "\n") {
			t.Errorf("%s: not read back from %q", tt.name, got)
		}
		got = step(t, src, Update{Run: "01kb7x2m", Key: "a", Remove: true, Wrote: works().Lines()})
		if want := "## In Progress\n- [ ] a\n" + tt.want + "## Review\n"; got != want {
			t.Errorf("%s, taken away: %q\nwant %q", tt.name, got, want)
		}
	}
}
