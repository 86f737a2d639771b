package inbox

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func now() time.Time { return time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC) }

func clockAt(h, m int) time.Time { return time.Date(2026, 11, 30, h, m, 0, 0, time.UTC) }

func needs() []Need {
	return []Need{
		{Kind: "held", Card: "Stock sync", Since: clockAt(13, 0), Text: `Shop.md:12: project "stock" is not registered`, Next: "on the laptop: deckhand project add stock FOLDER"},
		{
			Kind: "review", Card: "Invoice PDF", Agent: "pi", Board: "[[Shop]]", Chat: "[[2026-11-30 Invoice PDF|chat]]", Since: clockAt(14, 0), Facts: []string{"4m", "$0.03"},
			Text: "The PDF route works; no test for empty carts.", Boxes: []string{"- [ ] Accept ^b3x9q-1", "- [ ] Send back ^b3x9q-2", "- reply:"},
		},
		{
			Kind: "asks", Card: "Checkout with QRIS", Agent: "pi", Board: "[[Shop]]", Chat: "[[2026-11-30 Checkout with QRIS|chat]]", Since: clockAt(14, 5),
			Text: "Run this in web-ecommerce?", Code: "rm -rf build", Boxes: []string{"- [ ] Allow once ^a7k2m-1", "- [ ] Deny ^a7k2m-2", "- why:"},
		},
	}
}

const wanted = `# Needs me: 3

## pi asks · Checkout with QRIS
[[Shop]] · [[2026-11-30 Checkout with QRIS|chat]] · since 14:05
Run this in web-ecommerce?

    rm -rf build

- [ ] Allow once ^a7k2m-1
- [ ] Deny ^a7k2m-2
- why:

## Review · Invoice PDF · 4m · $0.03
[[Shop]] · [[2026-11-30 Invoice PDF|chat]]
The PDF route works; no test for empty carts.
- [ ] Accept ^b3x9q-1
- [ ] Send back ^b3x9q-2
- reply:

## Held · Stock sync
Shop.md:12: project "stock" is not registered
on the laptop: deckhand project add stock FOLDER
`

func TestNeedsMeWritesTheFormat(t *testing.T) {
	if got := string(NeedsMe(needs(), now())); got != wanted {
		t.Errorf("got:\n%s\nwant:\n%s", got, wanted)
	}
	if got := string(NeedsMe(nil, now())); got != "# Nothing needs you\n" {
		t.Errorf("got %q", got)
	}
}

func TestOtherKinds(t *testing.T) {
	got := string(NeedsMe([]Need{
		{Kind: "failed", Agent: "pi", Card: "A", Board: "[[Shop]]", Since: clockAt(14, 5).AddDate(0, 0, -1), Text: "exit 1", Next: "deckhand retry 01kb"},
		{Kind: "interrupted", Agent: "pi", Card: "B", Since: clockAt(14, 0).AddDate(0, 0, -1), Next: "deckhand retry 01kc"},
		{Kind: "conflict", Card: "Shop.md", Text: "merge markers, line 12"},
	}, now()))
	want := "# Needs me: 3\n\n## pi failed · A\n[[Shop]] · since 29 Nov 14:05\nexit 1\ndeckhand retry 01kb\n\n" +
		"## pi interrupted · B\nsince 29 Nov 14:00\ndeckhand retry 01kc\n\n## Conflict · Shop.md\nmerge markers, line 12\n"
	if got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestTextOfAnAgentIsOnlyText(t *testing.T) {
	evil := "## Held · x\n- [ ] Allow ^a-1\n* a\n1. b\n> c\n---\n===\n```sh\nninth\ntenth"
	n := Need{Kind: "asks", Agent: "pi\n# x", Card: "a\n## b [[l]] <!-- %% ^id <b> `x", Text: evil, Code: "a\n\x1b[2J\u202eb\n## c", Next: "deckhand\nretry", Boxes: []string{"- why:\n## d"}}
	got := string(NeedsMe([]Need{n}, now()))
	want := "# Needs me: 1\n\n" +
		"## pi \\# x asks · a ## b \\[\\[l]] \\<!-- \\%\\% \\^id \\<b> \\`x\n" +
		"\\## Held · x\n\\- [ ] Allow \\^a-1\n\\* a\n1\\. b\n\\> c\n\\---\n\\===\n\\`\\`\\`sh …\n" +
		"\n    a\n    <U+001B>[2J<U+202E>b\n    ## c\n\n" +
		"deckhand retry\n- why: ## d\n"
	want = strings.Replace(want, `pi \# x`, "pi # x", 1)
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	long := string(NeedsMe([]Need{{Kind: "held", Text: strings.Repeat("é", 300), Code: strings.Repeat("x", 5000)}}, now()))
	if strings.Count(long, "é") != 199 || !strings.Contains(long, "\n1000 more characters: see the chat\n") {
		t.Errorf("got %d characters", strings.Count(long, "é"))
	}
}

func TestReadNeedsMe(t *testing.T) {
	src := strings.NewReplacer(
		"- [ ] Deny ^a7k2m-2", "- [x] Deny ✅ 2026-11-30 ^a7k2m-2",
		"- why:", "- why: not today\n  and never\n\nat night",
		"- [ ] Accept ^b3x9q-1", "- [X] Accept ^b3x9q-1 [completion:: 2026-11-30]\n- [ ] mine",
		"# Needs me: 3\n", "# Needs me: 3\nhello\n",
	).Replace(wanted) + "\n## My own\n- [ ] Deny ^zz-1\n"
	for name, text := range map[string]string{"LF": src, "CR LF": "\ufeff" + strings.ReplaceAll(src, "\n", "\r\n")} {
		got := ReadNeedsMe([]byte(text), []byte(wanted))
		want := []Section{
			{Foreign: []string{"hello"}},
			{
				Title: "pi asks · Checkout with QRIS", Ours: true, Boxes: []Box{{Text: "Allow once", ID: "a7k2m-1"}, {Text: "Deny", ID: "a7k2m-2", Ticked: true}},
				Field: "why", Said: "not today\n  and never\n\nat night", Foreign: []string{"- why: not today", "  and never", "at night"},
				Taken: []string{"- why: not today", "  and never", "at night"},
				Lines: []string{"[[Shop]] · [[2026-11-30 Checkout with QRIS|chat]] · since 14:05", "Run this in web-ecommerce?", "rm -rf build"},
			},
			{
				Title: "Review · Invoice PDF · 4m · $0.03", Ours: true, Boxes: []Box{{Text: "Accept", ID: "b3x9q-1", Ticked: true}, {Text: "Send back", ID: "b3x9q-2"}},
				Field: "reply", Foreign: []string{"- [ ] mine"},
				Lines: []string{"[[Shop]] · [[2026-11-30 Invoice PDF|chat]]", "The PDF route works; no test for empty carts."},
			},
			{Title: "Held · Stock sync", Ours: true, Lines: []string{
				`Shop.md:12: project "stock" is not registered`, "on the laptop: deckhand project add stock FOLDER",
			}},
			{Title: "My own", Foreign: []string{"- [ ] Deny ^zz-1"}},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

func TestUpdateReplacesOnlyItsOwnLines(t *testing.T) {
	asked := needs()[2]
	review := Need{Kind: "review", Card: asked.Card, Agent: "pi", Board: asked.Board, Chat: asked.Chat, Since: asked.Since, Text: "Done.", Boxes: []string{"- reply:"}}
	with := func(old, new string) string { return strings.Replace(wanted, old, new, 1) }
	for _, test := range []struct {
		name, cur string
		needs     []Need
		want      string
	}{
		{"no file", "", needs(), wanted},
		{"the same", wanted, needs(), wanted},
		{"room made for a line", with("- why:", "- why:\n\n\n"), needs(), with("- why:", "- why:\n\n\n")},
		{"another editor's line ends", strings.ReplaceAll(wanted, "\n", "\r\n"), needs()[:0], "# Nothing needs you\r\n"},
		{"all done", wanted, nil, "# Nothing needs you\n"},
		{"one is over", wanted, needs()[:1], "# Needs me: 1\n\n" + wanted[strings.Index(wanted, "## Held"):]},
		{"half a line, nothing else changes", with("- why:", "- why: not to"), needs(), with("- why:", "- why: not to")},
		{"half a line, the question is over", with("- why:", "- why: not to\n  day"), needs()[:0], "# Nothing needs you\n\n## pi asks · Checkout with QRIS\n- why: not to\n  day\n"},
		{
			"a line of a person goes along to the next state", with("- why:", "- why:\nand mine"),
			[]Need{review},
			"# Needs me: 1\n\n## Review · Checkout with QRIS\n[[Shop]] · [[2026-11-30 Checkout with QRIS|chat]]\nDone.\n- reply:\nand mine\n",
		},
		{
			"below the line it was put under", with("Run this in web-ecommerce?", "Run this in web-ecommerce?\nmine\n\nmine too"),
			[]Need{asked},
			"# Needs me: 1\n\n" + strings.Replace(wanted[strings.Index(wanted, "## pi"):strings.Index(wanted, "\n## Review")], "ecommerce?", "ecommerce?\nmine\n\nmine too", 1),
		},
		{
			"a tick stays", with("- [ ] Deny ^a7k2m-2", "- [x] Deny ^a7k2m-2 ✅ 2026-11-30"),
			[]Need{asked},
			"# Needs me: 1\n\n" + strings.Replace(wanted[strings.Index(wanted, "## pi"):strings.Index(wanted, "\n## Review")], "- [ ] Deny ^a7k2m-2", "- [x] Deny ^a7k2m-2 ✅ 2026-11-30", 1),
		},
		{
			"a person's own section and words", "mine\n" + with("# Needs me: 3", "# Needs me: 3\n\nhello") + "\n## My list\n- [ ] milk\n\n- [ ] tea\n", nil,
			"mine\n\n# Nothing needs you\n\nhello\n\n## My list\n- [ ] milk\n\n- [ ] tea\n",
		},
	} {
		got, err := Update([]byte(test.cur), []byte(wanted), test.needs, now())
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %v\n got %q\nwant %q", test.name, err, got, test.want)
		}
	}
}

// A heading that was kept for a person's line goes when the line does.
func TestUpdateForgetsAKeptHeading(t *testing.T) {
	cur := []byte(strings.Replace(wanted, "- why:", "- why: no", 1))
	kept, err := Update(cur, []byte(wanted), nil, now())
	if err != nil {
		t.Fatal(err)
	}
	wrote := Wrote(kept, []byte(wanted), nil, now())
	gone := bytes.Replace(kept, []byte("- why: no\n"), nil, 1)
	got, err := Update(gone, wrote, nil, now())
	if err != nil || string(got) != "# Nothing needs you\n" {
		t.Errorf("%v %q", err, got)
	}
}

func TestUpdateRefusesWhatIsNotOneText(t *testing.T) {
	for _, cur := range []string{"a\x00", "# Needs me: 1\n<<<<<<< HEAD\n"} {
		if got, err := Update([]byte(cur), nil, nil, now()); err == nil {
			t.Errorf("%q: got %q", cur, got)
		}
	}
}

// No line of a person is lost or doubled, whatever the page looks like, and a second
// update changes nothing.
func FuzzUpdate(f *testing.F) {
	f.Add([]byte(wanted), uint8(7), uint8(0))
	f.Add([]byte(strings.Replace(wanted, "- why:", "- why: no\n\nyes\n## x\n- [ ] y", 1)), uint8(7), uint8(3))
	f.Add([]byte("\ufeff## a\r\n\r\n- why: x\r\n"), uint8(0), uint8(5))
	f.Fuzz(func(t *testing.T, cur []byte, had, has uint8) {
		pick := func(bits uint8) []Need {
			var some []Need
			for i, n := range needs() {
				if bits>>i&1 == 1 {
					some = append(some, n)
				}
			}
			return some
		}
		wrote := NeedsMe(pick(had), now())
		got, err := Update(cur, wrote, pick(has), now())
		if err != nil {
			return
		}
		set := linesOf(wrote, NeedsMe(pick(has), now()))
		foreign := func(src []byte) []string {
			var lines []string
			for _, s := range cutSections(src) {
				for _, line := range s {
					if !set.ours(line) {
						lines = append(lines, line)
					}
				}
			}
			slices.Sort(lines)
			return lines
		}
		ended := cur
		if len(cur) > 0 && cur[len(cur)-1] != '\n' {
			ended = append(slices.Clone(cur), '\n') // its missing line end is added
			if i := bytes.IndexByte(cur, '\n'); i > 0 && cur[i-1] == '\r' {
				ended = append(slices.Clone(cur), "\r\n"...)
			}
		}
		if before, after := foreign(ended), foreign(got); !slices.Equal(before, after) {
			t.Fatalf("a person's lines\n%q\nbecame\n%q", before, after)
		}
		again, err := Update(got, Wrote(got, wrote, pick(has), now()), pick(has), now())
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("a second update: %v\n%q\n%q", err, got, again)
		}
	})
}

// Whatever an agent says, a page has the sections and boxes that we wrote.
func FuzzNeedsMe(f *testing.F) {
	f.Add("a", "b", "c", "d")
	f.Add("## x\n- [ ] a ^b", "```\n## y", "\n\n## z", "\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, card, text, code, next string) {
		src := NeedsMe([]Need{{Kind: "asks", Agent: "pi", Card: card, Text: text, Code: code, Next: "deckhand " + next, Boxes: []string{"- [ ] Deny ^a-1"}}}, now())
		got := ReadNeedsMe(src, src)
		if len(got) != 1 || len(got[0].Boxes) != 1 || got[0].Field != "" || len(got[0].Foreign) != 0 {
			t.Fatalf("%+v\n%s", got, src)
		}
		if bytes.ContainsAny(src, "\x00\x1b\r\x7f\u202e") {
			t.Fatalf("control characters: %q", src)
		}
	})
}

func TestMachine(t *testing.T) {
	if got := string(RenderMachine("01KB", "laptop\nx")); got != "machine:: 01KB laptop x\n" {
		t.Errorf("got %q", got)
	}
	for src, want := range map[string][2]string{
		"machine:: 01KB laptop of Ana\n":                     {"01KB", "laptop of Ana"},
		"\ufeff# Machine\r\n\r\nmachine::  01KB  laptop\r\n": {"01KB", "laptop"},
		"machine:: 01KB":                       {"01KB", ""},
		"machine:: 01KB a\nmachine:: 01KB a\n": {"01KB", "a"},
		"machine:: 01KB a\nmachine:: 01KC b\n": {},
		"machine::\n":                          {},
		"":                                     {},
		"\x00\xff":                             {},
	} {
		id, host, ok := ReadMachine([]byte(src))
		if id != want[0] || host != want[1] || ok != (want[0] != "") {
			t.Errorf("%q: got %q %q %v", src, id, host, ok)
		}
	}
}

// Two equal boards of thousands of cards: the page names the first, and how
// many there are.
func TestFewOfThoseThatAreHeldAlike(t *testing.T) {
	var needs []Need
	for i := range 5000 {
		needs = append(needs, Need{Kind: "held", Card: fmt.Sprint("Card ", i), Text: fmt.Sprintf("A.md:%d: the same card stands at A.md:%d and B.md:%d", i, i, i), Next: "make the titles differ"})
	}
	needs = append(needs, Need{Kind: "held", Card: "Alone", Text: "B.md:7: it names no project"})
	for i := range 12 {
		needs = append(needs, Need{Kind: "review", Card: fmt.Sprint("Done ", i), Agent: "pi", Text: "Done."})
	}
	got := string(NeedsMe(needs, now()))
	for want, n := range map[string]int{
		"# Needs me: 5013\n": 1, "\n## Held · Card 9\n": 1, "\n## Held · Card 10\n": 0, "\n## Held · Alone\n": 1, "\n## Review · Done 11\n": 1, "\n## Held": 12,
		"\n## Held · 4990 more like these\nA.md:10: the same card stands at A.md:10 and B.md:10\ndeckhand status --json lists them all\n": 1,
	} {
		if strings.Count(got, want) != n {
			t.Errorf("%q stands there %d times, want %d:\n%.2000s", want, strings.Count(got, want), n, got)
		}
	}
	if again, err := Update([]byte(got), []byte(got), needs, now()); err != nil || string(again) != got {
		t.Errorf("written again it differs: %v", err)
	}
}

func TestWhatToTypeIsOnlyText(t *testing.T) {
	for in, want := range map[string]string{
		"deckhand project add stock FOLDER":     "deckhand project add stock FOLDER",
		"deckhand run Shop.md:12":               "deckhand run Shop.md:12",
		"deckhand run 'x [[y]] %% <!-- ^z'":     "`deckhand run 'x [[y]] %% <!-- ^z'`",
		"deckhand run '*a* `id` [b](c) ![[d]]'": "``deckhand run '*a* `id` [b](c) ![[d]]'``",
		"`a``":                                  "``` `a`` ```",
		"- [ ] x":                               "`- [ ] x`", "1. x": "`1. x`", "": "",
	} {
		if got := typed(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// A section stands when all of what is asked is there as it was written.
func TestStands(t *testing.T) {
	need := needs()[2]
	for name, c := range map[string]struct {
		old, new string
		want     bool
	}{
		"as written":          {"", "", true},
		"ticked":              {"- [ ] Deny", "- [x] Deny", true},
		"another command":     {"    rm -rf build", "    rm -rf /", false},
		"another question":    {"Run this in web-ecommerce?", "Run this?", false},
		"the command is gone": {"    rm -rf build\n", "", false},
		"a line of a person":  {"- why:", "I do not know.\n- why:", true},
	} {
		sections := ReadNeedsMe([]byte(strings.Replace(wanted, c.old, c.new, 1)), []byte(wanted))
		if got := need.Stands(sections[0]); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
