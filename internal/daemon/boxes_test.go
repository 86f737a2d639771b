package daemon

import (
	"slices"
	"strings"
	"testing"

	"deckhand/internal/control"
)

// kanbanOf is a board of Obsidian Kanban with one card.
func kanbanOf(note string) string {
	return strings.Replace(one(note), "project: shop\n", "project: shop\nkanban-plugin: board\n", 1)
}

const (
	allowed = `{"id":"ID","type":"extension_ui_response","confirmed":true}`
	denied  = `{"id":"ID","type":"extension_ui_response","confirmed":false}`
)

// edited is a save of a person: texts of the card, each with what stands in its
// place then, and what is said of it when nothing follows.
type edited struct {
	texts []string
	said  string
}

func (e edited) in(t *testing.T, board string) string {
	t.Helper()
	for i := 0; i < len(e.texts); i += 2 {
		if strings.Count(board, e.texts[i]) != 1 {
			t.Fatalf("%q is not once on the board:\n%s", e.texts[i], board)
		}
		board = strings.Replace(board, e.texts[i], e.texts[i+1], 1)
	}
	return board
}

// Each rule about boxes on cards, by what reaches the agent, to the byte: what
// editors and plugins make of a tick, ticks that count for nothing, and that the
// right one after them counts once.
func TestBoxesByTheByte(t *testing.T) {
	const twoTicks = "two boxes are ticked: leave one (Shop.md)"
	const changed = "what is asked was changed: nothing is answered by that box (Shop.md)"
	const nothing = "nothing is written at reply (Shop.md)"
	for _, c := range []struct {
		name  string
		board string
		saves []edited
		got   []string
	}{
		{"Tasks appends a date", one("[ask]"), []edited{{[]string{"- [ ] Allow once ^", "- [x] Allow once ✅ 2026-11-30 ^"}, ""}}, []string{allowed}},
		{"Tasks appends it behind the id", one("[ask]"), []edited{{[]string{"[ ] Deny", "[x] Deny", "-2\n", "-2 ✅ 2026-11-30\n"}, ""}}, []string{denied}},
		{"Dataview appends a field", one("[ask]"), []edited{{[]string{"[ ] Allow", "[X] Allow", "-1\n", "-1 [completion:: 2026-11-30]\n"}, ""}}, []string{allowed}},
		{"Tasks cancels", one("[ask]"), []edited{{[]string{"[ ] Allow once ^", "[-] Allow once ❌ 2026-11-30 ^"}, ""}, {[]string{"[ ] Deny", "[x] Deny"}, ""}}, []string{denied}},
		{"blanks in place of tabs", one("[ask]"), []edited{{[]string{"\t\t- [ ] Deny", "      - [x] Deny"}, ""}}, []string{denied}},
		{
			"a reason", one("[ask]"),
			[]edited{{[]string{"[ ] Deny", "[x] Deny", "- why:\n", "- why: /it is\n\t\t  shared\n"}, ""}},
			[]string{denied, `{"id":"ID","type":"steer","message":" /it is\nshared"}`},
		},
		{"two ticks", one("[ask]"), []edited{{[]string{"[ ] Allow", "[x] Allow", "[ ] Deny", "[x] Deny"}, twoTicks}, {[]string{"[x] Allow", "[ ] Allow"}, ""}}, []string{denied}},
		{"another question", one("[ask]"), []edited{{[]string{"- The card says", "- The old card said", "[ ] Allow", "[x] Allow"}, changed}, {[]string{"- The old card said", "- The card says"}, ""}}, []string{allowed}},
		{"another text at the box", one("[ask]"), []edited{{[]string{"[ ] Allow once", "[x] Allow all"}, changed}, {[]string{"[x] Allow all", "[x] Allow once"}, ""}}, []string{allowed}},
		{"a choice", one("[ask:select]"), []edited{{[]string{"[ ] /not at all", "[x] /not at all"}, ""}}, []string{`{"id":"ID","type":"extension_ui_response","value":"/not at all"}`}},
		{"a text", one("[ask:input]"), []edited{{[]string{"[ ] send", "[x] send"}, nothing}, {[]string{"- reply:", "- reply: /quit & \"go\""}, ""}}, []string{`{"id":"ID","type":"extension_ui_response","value":"/quit & \"go\""}`}},
		{"a question", one("[question]"), []edited{{[]string{"- reply:\n", "- reply: !ls\n", "[ ] send", "[x] send"}, ""}}, []string{`{"id":"ID","type":"prompt","message":" !ls"}`}},
		{"kanban", kanbanOf("[ask]"), []edited{{[]string{"[ ] Allow once ^", "[x] Allow once ^"}, ""}}, []string{allowed}},
		{"kanban with a task", kanbanOf("- [ ] first this [ask]"), []edited{{[]string{"[ ] Allow once ^", "[x] Allow once ^"}, ""}}, []string{allowed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, fast, c.board)
			d := p.watching(bounded(t))
			d.asked()
			p.shows(d, "In Progress", "🟡 pi asks")
			for _, s := range c.saves {
				p.save("Shop.md", s.in(t, p.read("Shop.md")))
				if s.said != "" {
					d.until(func(st control.Status) bool { return st.Runs[0].Reason == s.said })
				}
			}
			d.reviewed()
			got := p.sent()
			for i := range got {
				got[i] = strings.Replace(got[i], `"answer-ID"`, `"ID"`, 1)
			}
			if !slices.Equal(got, c.got) {
				t.Errorf("the agent got %q, want %q", got, c.got)
			}
		})
	}
}

// Where a click could tick another box than the one that is clicked, the card has
// none, and the chat and Needs me have.
func TestNoBoxesOnTheCard(t *testing.T) {
	for name, note := range map[string]string{
		"a box in a fence": "[ask]\n\t```\n\t- [ ] x\n\t```", "a numbered box": "1. [ ] x [ask]", "an embed": "[ask] ![[Note]]", "a box in a quote": "[ask]\n\t> - [ ] x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, fast, kanbanOf(note))
			d := p.watching(bounded(t))
			run, _ := d.asked()
			p.shows(d, "In Progress", "\t\t- Answer in the chat.")
			if got := p.text("Shop.md"); strings.Contains(got, "Allow once") {
				t.Errorf("the card has boxes:\n%s", got)
			}
			for !strings.Contains(p.text("deckhand/Needs me.md"), "[ ] Allow once") || !strings.Contains(p.text(run.Chat), "[ ] Allow once") {
				if d.ctx.Err() != nil {
					t.Fatalf("Needs me:\n%s\nthe chat:\n%s", p.text("deckhand/Needs me.md"), p.text(run.Chat))
				}
			}
			p.save(run.Chat, strings.Replace(p.text(run.Chat), "[ ] Allow once", "[x] Allow once", 1))
			d.reviewed()
			if got := p.sent(); !slices.Equal(got, []string{allowed}) {
				t.Errorf("the agent got %q", got)
			}
		})
	}
}

// A tick that an old copy brings back, when another question is open, is none.
func TestStaleTick(t *testing.T) {
	p := newPlace(t, fast, one("[ask]"))
	d := p.watching(bounded(t))
	run, _ := d.asked()
	p.shows(d, "In Progress", "[ ] Deny")
	old := strings.Replace(p.text("Shop.md"), "[ ] Deny", "[x] Deny", 1)
	p.save("Shop.md", old)
	d.reviewed()
	p.shows(d, "Review", "Deny · board · ")
	for again := range 2 {
		if _, err := d.command(control.Command{ID: "reply", Name: "reply", Run: run.ID, Text: "[ask] again"}); err == nil {
			break
		} else if again > 0 || !strings.Contains(err.Error(), "over in a moment") {
			t.Fatal(err)
		}
		d.until(func(s control.Status) bool { return s.Runs[0].Ended != nil })
	}
	d.asked()
	p.shows(d, "In Progress", "[ ] Allow once")
	p.save("Shop.md", old) // with the boxes of the first ask, and its tick
	for strings.Contains(p.text("Shop.md"), "[x] Deny") {
		if d.ctx.Err() != nil {
			t.Fatalf("it is not put right:\n%s", p.text("Shop.md"))
		}
	}
	p.shows(d, "In Progress", "[ ] Allow once")
	p.save("Shop.md", strings.Replace(p.text("Shop.md"), "[ ] Allow once", "[x] Allow once", 1))
	d.reviewed()
	if got := p.sent(); !slices.Equal(got, []string{denied, allowed}) {
		t.Errorf("the agents got %q", got)
	}
}
