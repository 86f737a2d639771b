package board

import (
	"slices"
	"strings"
	"testing"
)

func TestRecognise(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		o         Options
		want      bool
	}{
		{"Obsidian Kanban", "---\n\nkanban-plugin: board\n\n---\n", Options{}, true},
		{"said", "---\nboard: true\n---\n", Options{}, true},
		{"project and a lane", "---\nproject: shop\n---\n## Doing\n", Options{}, true},
		{"project without a lane", "---\nproject: shop\n---\n## Notes\n- [ ] a\n", Options{}, false},
		{"lane and box", "## Plan\n- [ ] a\n", Options{}, true},
		{"underlined lane and box", "Plan\n---\n- [ ] a\n", Options{}, true},
		{"box under another lane", "## Plan\n\n## Else\n- [ ] a\n", Options{}, true},
		{"lane without box", "## Plan\n- a\n", Options{}, false},
		{"ticked boxes only", "## Plan\n- [x] a\n", Options{}, false},
		{"box above the lane", "- [ ] a\n## Plan\n", Options{}, false},
		{"level 3", "### Plan\n- [ ] a\n", Options{}, false},
		{"in a fence", "```\n## Plan\n- [ ] a\n```\n", Options{}, false},
		{"in a quote", "> ## Plan\n> - [ ] a\n", Options{}, false},
		{"own names", "## Ide\n- [ ] a\n", Options{Lanes: map[Role][]string{Ready: {"Ide"}}}, true},
		{"names in the header", "---\nlanes: {ready: [Ide]}\n---\n## Ide\n- [ ] a\n", Options{}, true},
		{"named by a project", "text\n", Options{Named: true}, true},
		{"a chat", "---\nrun: 01KB\nboard: true\n---\n## Plan\n- [ ] a\n", Options{Named: true}, false},
		{"ours", "---\ndeckhand: machine\n---\n## Plan\n- [ ] a\n", Options{}, false},
		{"broken header", "---\nkanban-plugin: [\n---\n", Options{}, true},
		{"empty", "", Options{}, false},
	} {
		if got := Recognise("n.md", []byte(tt.src), tt.o); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	for _, file := range sampleNames(t) {
		src := read(t, file)
		if want := len(src) > 0; Recognise(file, src, optionsFor(strings.TrimPrefix(file, boardsDir+"/"))) != want {
			t.Errorf("%s: want %v", file, want)
		}
	}
}

func TestNotesCostNoAllocation(t *testing.T) {
	note := []byte("# A note\n\nwith text, a [[link]] and\n\n- a bullet\n- [x] done\n")
	if n := testing.AllocsPerRun(100, func() { Recognise("n.md", note, Options{}) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSameName(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"In Progress", "in progress", true},
		{"🚀 Review", "Review", true},
		{"1️⃣ Plan", "Plan", true},
		{"To-do", "To do", true},
		{"Plan (5)", "plan", true},
		{"Café", "Cafe\u0301", true},
		{"Straße", "STRASSE", true},
		{"Plan", "Plans", false},
		{"", "", true},
		{"🚀", "🎉", false},
		{"计划", "计划", true},
	} {
		if got := SameName(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: %v", tt.a, tt.b, got)
		}
	}
}

func TestKeyAndTitle(t *testing.T) {
	for _, tt := range []struct{ first, key, title string }{
		{"Checkout  with\tQRIS @pi #feature ^pay01", "Checkout with QRIS @pi #feature", "Checkout with QRIS"},
		{"See [[Spec#Pay|the spec]] and [[Open#A]] @pi", "See [[Spec#Pay|the spec]] and [[Open#A]] @pi", "See the spec and Open > A"},
		{"A [link](https://x.example/#a) #b", "A [link](https://x.example/#a) #b", "A link"},
		{"Pay @pi{2026-11-30} @{2026-01-02} @@{10:30} @[[2026-01-03]]", "Pay @pi", "Pay"},
		{"#task Renew 🔁 every year ➕ 2025-12-01 📅\ufe0f 2026-01-20 @pi", "#task Renew @pi", "Renew"},
		{"Pay tax ⏫ 🆔 tax1 📅 2026-03-31 #x ✅ 2026-04-01", "Pay tax #x", "Pay tax"},
		{"Done [completion:: 2026-11-30]", "Done", "Done"},
		{"📅 only an emoji", "📅 only an emoji", "📅 only an emoji"},
		{"cafe\u0301", "café", "café"},
		{"@pi", "@pi", "@pi"},
		{"mail a@b.example", "mail a@b.example", "mail a@b.example"},
	} {
		b := Parse("b.md", []byte("## Plan\n- [ ] "+tt.first+"\n"), Options{})
		c := b.Lanes[0].Cards[0]
		if c.Key != tt.key || c.Title != tt.title || c.First != tt.first {
			t.Errorf("%q: key %q, title %q, first %q", tt.first, c.Key, c.Title, c.First)
		}
	}
}

func TestMentions(t *testing.T) {
	for line, want := range map[string]string{
		"ask @pi":                   "pi",
		"@pi: go":                   "pi",
		"(@pi)":                     "pi",
		"„@pi“":                     "pi",
		"«@pi»":                     "pi",
		"**@pi**":                   "pi",
		"~~@pi~~":                   "pi",
		"请@pi看":                     "pi",
		"@pi.":                      "pi",
		"@pi...":                    "pi",
		"@pi{2026-11-30}":           "pi",
		"#agent/pi":                 "pi",
		"x#agent/pi":                "",
		"#agent/pi/x":               "",
		"#agent/pi @pi":             "pi",
		"@pi @claude":               "pi claude",
		"@pi.example":               "",
		"@pi@host.example":          "",
		"@pi/x":                     "",
		"@pi_x @pip @pi-":           "",
		"@pié @pie\u0301":           "",
		"＠pi":                       "",
		"`@pi`":                     "",
		"`` @pi ` ``":               "",
		"` @pi":                     "pi",
		"<!-- @pi -->":              "",
		"%% @pi %%":                 "",
		"[@pi](https://x.example)":  "",
		"[[@pi]]":                   "",
		"[@pi] go":                  "pi",
		"<a title=\" @pi \">":       "",
		"https://x.example/?q=(@pi": "",
		"https://x.example @pi":     "pi",
		"\\@pi":                     "",
		"root@pi":                   "",
		"later<br>@pi":              "",
		"`later<br>` @pi":           "pi",
	} {
		b := Parse("b.md", []byte("## Plan\n- [ ] "+line+"\n"), Options{Agents: []string{"pi", "claude"}})
		if got := strings.Join(b.Lanes[0].Cards[0].Agents, " "); got != want {
			t.Errorf("%q mentions %q, want %q", line, got, want)
		}
	}
	b := Parse("b.md", []byte("## Plan\n- [ ] a `code\n  @pi` end\n  please @pi look #project/x\n"), Options{})
	if c := b.Lanes[0].Cards[0]; c.NoteAgent != "pi" || len(c.Agents) != 0 || c.Project != "" {
		t.Errorf("note agent %q, agents %q", c.NoteAgent, c.Agents)
	}
}

func TestCardFields(t *testing.T) {
	src := "---\nproject: \"[[Web shop]]\"\n---\n## Plan\n- [ ] Buy 🔁 every day #project/shop-admin @pi\n  after: [[Other card|o]] and [[Spec#^b1]]\n  - After: plain text\n"
	b := Parse("b.md", []byte(src), Options{})
	c := b.Lanes[0].Cards[0]
	if b.Project != "Web shop" || c.Project != "shop-admin" || !c.Recurring || !c.Open() ||
		!slices.Equal(c.After, []string{"Other card", "Spec#^b1", "plain text"}) || c.Line != 5 {
		t.Errorf("project %q, card %+v", b.Project, c)
	}
	for header, want := range map[string]string{
		"project: [[Web shop]]": "Web shop",
		"project: '[[a/b|c]]'":  "a/b",
		"project: shop # which": "shop",
		"project:":              "",
		"project: [a, b]":       "",
	} {
		if b := Parse("b.md", []byte("---\n"+header+"\n---\n"), Options{}); b.Project != want || b.Problem != "" {
			t.Errorf("%s: project %q, problem %q", header, b.Project, b.Problem)
		}
	}
	for header, want := range map[string]string{
		"project: a\nproject: b":         "line 3: the key \"project\" stands twice",
		"lanes: {redy: [x]}\nproject: a": "line 2: lanes: has no role \"redy\"",
		"- project":                      "line 2: the header is not a list of keys and values",
	} {
		if b := Parse("b.md", []byte("---\n"+header+"\n---\n"), Options{}); b.Problem != want {
			t.Errorf("%s: problem %q", header, b.Problem)
		}
	}
}

func TestCompleteMarkMakesALaneDone(t *testing.T) {
	b := Parse("b.md", read(t, boardsDir+"/15-obsidian-german.md"), Options{})
	if b.Lanes[1].Role != Done {
		t.Errorf("Fertig is %v", b.Lanes[1].Role)
	}
	b = Parse("b.md", read(t, boardsDir+"/02-obsidian-kanban.md"), Options{})
	if b.Lanes[2].Role != Review || b.Lanes[0].Limit != 5 {
		t.Errorf("a marked lane with a name has role %v, limit %d", b.Lanes[2].Role, b.Lanes[0].Limit)
	}
}

func TestAddLanes(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"none missing", "## Plan\n## Doing\n## Review\n", "## Plan\n## Doing\n## Review\n"},
		{"plain", "## Plan\n\n- [ ] a\n\n## Done\n", "## Plan\n\n- [ ] a\n\n## In Progress\n\n## Review\n\n## Done\n"},
		{"at the end", "## Plan\r\n- [ ] a", "## Plan\r\n- [ ] a\r\n\r\n## In Progress\r\n\r\n## Review"},
		{
			"Kanban",
			"---\nkanban-plugin: board\n---\n\n## Plan\n\n- [ ] a\n\n\n## Done\n\n\n\n***\n\n## Archive\n\n- [x] z\n\n%% kanban:settings\n```\n{\"list-collapse\":[true,false],\"a\":[1]}\n```\n%%",
			"---\nkanban-plugin: board\n---\n\n## Plan\n\n- [ ] a\n\n\n## In Progress\n\n\n\n## Review\n\n\n\n## Done\n\n\n\n***\n\n## Archive\n\n- [x] z\n\n%% kanban:settings\n```\n{\"list-collapse\":[true,false,false,false],\"a\":[1]}\n```\n%%",
		},
	} {
		out, err := Parse("b.md", []byte(tt.src), Options{}).AddLanes()
		if err != nil || string(out) != tt.want {
			t.Errorf("%s: %v %q\nwant %q", tt.name, err, out, tt.want)
		}
	}
}

func TestAddCard(t *testing.T) {
	for _, tt := range []struct{ name, src, text, want string }{
		{"empty lane", "## Plan\n\n## Done\n", "a @pi", "## Plan\n\n- [ ] a @pi\n\n## Done\n"},
		{"its marker", "## Plan\n\n  * [x] z\n", "a", "## Plan\n\n  * [x] z\n  * [ ] a\n"},
		{"its number", "## Plan\n9) [ ] z\n", "a\nnote", "## Plan\n9) [ ] z\n10) [ ] a\n    note\n"},
		{"loose list", "## Plan\n- [ ] y\n\n- [ ] z\n\ntext\n", "a", "## Plan\n- [ ] y\n\n- [ ] z\n\n- [ ] a\n\ntext\n"},
		{"lines below", "## Plan\n- [ ] z\n\tb\n", "a\nnote\n\n## Plan", "## Plan\n- [ ] z\n\tb\n- [ ] a\n\tnote\n\t## Plan\n"},
		{"no newline", "## Plan\n- [ ] z", "a\a", "## Plan\n- [ ] z\n- [ ] a"},
		{"prose only", "## Plan\ntext\n", "a", "## Plan\n- [ ] a\n\ntext\n"},
	} {
		out, err := Parse("b.md", []byte(tt.src), Options{}).AddCard(tt.text)
		if err != nil || string(out) != tt.want {
			t.Errorf("%s: %v %q\nwant %q", tt.name, err, out, tt.want)
		}
	}
}

func TestMarkOfALaneThatIsTheNextHeading(t *testing.T) {
	b := Parse("b.md", []byte("## Review\n**Complete**\n---\n- [ ] a\n## Shop\n\n**Complete**\n- [x] b\n"), Options{})
	if outlineOf(b) != "Review:0 **Complete**:1 Shop:1" || b.Lanes[0].Role != Review || b.Lanes[2].Role != Done {
		t.Errorf("lanes %s: %s, %s, %s", outlineOf(b), b.Lanes[0].Role, b.Lanes[1].Role, b.Lanes[2].Role)
	}
	if b.Lanes[0].mark != b.Lanes[0].Head.End {
		t.Errorf("the content of the first lane begins at %d", b.Lanes[0].mark)
	}
}
