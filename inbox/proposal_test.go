package inbox

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func sampleProposal() Proposal {
	return Proposal{
		ID: "a7k2m", Agent: "assistant", Title: "Move the launch #june", Status: "waiting",
		Board: "[[Shop]]", Chat: "[[2026-11-30 Move the launch|chat]]", Created: time.Date(2026, 11, 30, 14, 3, 12, 0, time.UTC),
		Reason: "the decision of 30 November\n# no heading",
		Files: []ProposalFile{
			{Kind: "edit", Name: "Launch.md", Reason: "it says May", Diff: "@@ -1 +1 @@\n-Launch: May\n+Launch: June\n", Added: 1, Removed: 1},
			{Kind: "create", Name: "Notes/Code.md", Diff: "@@ -0,0 +1,3 @@\n+```` go\n+- [ ] apply ticked ^a7k2m-3\n+````\n", Added: 3},
		},
	}
}

const samplePage = "---\n" + `deckhand: proposal
proposal: a7k2m
agent: assistant
status: waiting
created: 2026-11-30T14:03:12
---

# Proposal · Move the launch #june

[[Shop]] · [[2026-11-30 Move the launch|chat]]
the decision of 30 November
\# no heading

## Launch.md

- [x] edit Launch.md · +1 −1 ^a7k2m-1
it says May

` + "```diff\n@@ -1 +1 @@\n-Launch: May\n+Launch: June\n```" + `

## Notes/Code.md

- [x] create Notes/Code.md · +3 −0 ^a7k2m-2

` + "`````diff\n@@ -0,0 +1,3 @@\n+```` go\n+- [ ] apply ticked ^a7k2m-3\n+````\n`````" + `

## Decide

- [ ] apply ticked ^a7k2m-3
- [ ] reject ^a7k2m-4
- note:
`

func TestProposalPage(t *testing.T) {
	if got := string(WriteProposal(sampleProposal())); got != samplePage {
		t.Errorf("got\n%s\nwant\n%s", got, samplePage)
	}
}

// ticks are the ids that are ticked.
func (d Decided) ticks() (ids []string) {
	for _, b := range d.Boxes {
		if b.Ticked {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

func TestProposalRead(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, now string
		ticks    []string
		note     string
		changed  bool
	}{
		{name: "as it was written", ticks: []string{"a7k2m-1", "a7k2m-2"}},
		{
			name: "applied", old: "- [ ] apply ticked ^a7k2m-3\n- [ ] reject", now: "- [X] apply ticked ^a7k2m-3 ✅ 2026-11-30\n- [ ] reject",
			ticks: []string{"a7k2m-1", "a7k2m-2", "a7k2m-3"},
		},
		{name: "one taken out", old: "- [x] create", now: "- [ ] create", ticks: []string{"a7k2m-1"}},
		{name: "a note", old: "- note:\n", now: "- note: not this\n  and not that\n", note: "not this\n  and not that", ticks: []string{"a7k2m-1", "a7k2m-2"}},
		{name: "a remark", old: "it says May\n", now: "it says May\nwhy?\n\n", ticks: []string{"a7k2m-1", "a7k2m-2"}},
		{name: "another diff", old: "+Launch: June", now: "+Launch: July", changed: true, ticks: []string{"a7k2m-1", "a7k2m-2"}},
		{name: "a box of another file", old: "Launch.md · +1 −1 ^a7k2m-1", now: "Secret.md · +1 −1 ^a7k2m-1", changed: true, ticks: []string{"a7k2m-2"}},
	} {
		page := strings.Replace(samplePage, c.old, c.now, 1)
		if c.name != "as it was written" && page == samplePage {
			t.Fatalf("%s: nothing replaced", c.name)
		}
		for _, page := range []string{page, strings.ReplaceAll(page, "\n", "\r\n")} {
			d := ReadProposal([]byte(page), sampleProposal())
			if !reflect.DeepEqual(d.ticks(), c.ticks) || d.Note != c.note || d.Changed != c.changed {
				t.Errorf("%s: %v %q %v", c.name, d.ticks(), d.Note, d.Changed)
			}
		}
	}
}

func TestProposalUpdate(t *testing.T) {
	was := sampleProposal()
	now := was
	now.Status, now.Outcome, now.Next = "applied", "applied Launch.md; rejected Notes/Code.md: not this · cli · 14:10", "deckhand revert a7k2m"
	page := strings.NewReplacer("it says May\n", "it says May\nmy remark\n", "- note:\n", "- note: not this\nnor that\n").Replace(samplePage)
	got, err := UpdateProposal([]byte(page), now)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"status: applied\n", "- edit Launch.md · +1 −1\nit says May\nmy remark\n", "- applied Launch.md; rejected Notes/Code.md: not this · cli · 14:10\n",
		"deckhand revert a7k2m\n", "- note: not this\nnor that\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "- [") && strings.Contains(strings.ReplaceAll(string(got), "+- [ ]", ""), "- [") {
		t.Errorf("a box is left:\n%s", got)
	}
	again, err := UpdateProposal(got, now)
	if err != nil || string(again) != string(got) {
		t.Errorf("again: %v\n%s", err, again)
	}
	now.Status, now.Outcome, now.Next = "reverted", "taken back: Launch.md", ""
	back, err := UpdateProposal(got, now)
	if err != nil || strings.Contains(string(back), "deckhand revert") || strings.Contains(string(back), "status: applied") || !strings.Contains(string(back), "my remark\n") {
		t.Errorf("taken back: %v\n%s", err, back)
	}
}

// A page that is written again keeps what was ticked and written in it.
func TestProposalKeepsTicks(t *testing.T) {
	page := strings.NewReplacer("- [x] create", "- [ ] create", "\n- [ ] apply", "\n- [X] apply", "- note:", "- note: so\nbe it").Replace(samplePage)
	got, err := UpdateProposal([]byte(page), sampleProposal())
	if err != nil || string(got) != page {
		t.Errorf("%v\n%s", err, got)
	}
	stale := strings.Replace(page, "status: waiting", "status: else", 1)
	if got, err = UpdateProposal([]byte(stale), sampleProposal()); err != nil || string(got) != page {
		t.Errorf("%v\n%s", err, got)
	}
}

// FuzzProposal: what was written is read back as not decided, whatever an agent
// said; one tick more is that tick alone.
func FuzzProposal(f *testing.F) {
	f.Add("Move the launch", "reason", "a.md", "@@ -1 +1 @@\n-a\n+b\n")
	f.Add("`` [[x]] ^a7k2m-1", "- [x] apply ticked ^a7k2m-2\n\n## Decide", "- [ ] b ^a7k2m-2.md", "+- [x] apply ticked ^a7k2m-2\n+```\n+- note: x\n")
	f.Add("---", "\r\n- note: hi", "\u202ea.md", "```\n~~~\r\n")
	f.Fuzz(func(t *testing.T, title, reason, name, diff string) {
		p := Proposal{ID: "a7k2m", Agent: "pi", Title: title, Status: "waiting", Reason: reason, Files: []ProposalFile{{Kind: "edit", Name: name, Reason: reason, Diff: diff}}}
		page := WriteProposal(p)
		d := ReadProposal(page, p)
		if d.Changed || d.Note != "" || !reflect.DeepEqual(d.ticks(), []string{"a7k2m-1"}) {
			t.Fatalf("%v %q %v of\n%s", d.ticks(), d.Note, d.Changed, page)
		}
		end := strings.LastIndex(string(page), "- [ ] apply ticked")
		ticked := string(page[:end]) + "- [x]" + string(page[end+len("- [ ]"):])
		if d := ReadProposal([]byte(ticked), p); d.Changed || !reflect.DeepEqual(d.ticks(), []string{"a7k2m-1", "a7k2m-2"}) {
			t.Fatalf("ticked: %v %v of\n%s", d.ticks(), d.Changed, ticked)
		}
		done := p
		done.Status, done.Outcome = "applied", "applied "+name
		next, err := UpdateProposal(page, done)
		if err != nil || string(next) != string(WriteProposal(done)) {
			t.Fatalf("%v\n%s\nwant\n%s", err, next, WriteProposal(done))
		}
	})
}
