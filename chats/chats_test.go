package chats

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func dollars(f float64) *float64 { return &f }

func props() Props {
	return Props{
		Title: "Checkout with QRIS", Agent: "pi", Model: "deepseek/deepseek-chat", Project: "web-ecommerce",
		Board: "[[Shop]]", Run: "01KB7X2M5Q8W3E4R5T6Y7U8I9O", Status: "asks",
		Created: time.Date(2026, 11, 30, 14, 3, 12, 0, time.UTC), Cost: dollars(0.0312), Tokens: 41210,
	}
}

func conversation() []Item {
	return []Item{
		{Role: You, Kind: Text, Text: "the prompt exactly as sent; copied notes inside"},
		{Role: "pi", Kind: Text, Text: "text of the agent"},
		{Role: "pi", Kind: ToolUse, Tool: &Tool{Name: "bash", Title: "npm test", State: OK, Millis: 3200, Output: "last lines of the output"}},
		{Role: You, Kind: Text, Text: "Use SDK A."},
		{Role: You, Kind: Sent, Time: time.Date(0, 1, 1, 14, 9, 0, 0, time.UTC)},
		{
			Role: "pi", Kind: Ask, Text: "Run this in web-ecommerce?\n\n    rm -rf build", Field: "why",
			Boxes: []Box{{Text: "Allow once", ID: "a7k2m-1"}, {Text: "Deny", ID: "a7k2m-2"}},
		},
	}
}

// whole is the example that people see in the description of the format.
const whole = "---\n" +
	"title: Checkout with QRIS\n" +
	"agent: pi\n" +
	"model: deepseek/deepseek-chat\n" +
	"project: web-ecommerce\n" +
	"board: \"[[Shop]]\"\n" +
	"run: 01KB7X2M5Q8W3E4R5T6Y7U8I9O\n" +
	"status: asks\n" +
	"created: 2026-11-30T14:03:12\n" +
	"cost: 0.0312\n" +
	"tokens: 41210\n" +
	"---\n" +
	"\n## You\n\nthe prompt exactly as sent; copied notes inside\n" +
	"\n## pi\n\ntext of the agent\n" +
	"\n> [!note]- bash · `npm test` · ok · 3.2 s\n> last lines of the output\n" +
	"\n## You\n\nUse SDK A.\n" +
	"\n> sent 14:09\n" +
	"\n## pi\n\nRun this in web-ecommerce?\n\n    rm -rf build\n" +
	"\n- [ ] Allow once ^a7k2m-1\n- [ ] Deny ^a7k2m-2\n- why:\n"

const draftBlock = "\n## You\n\n- [ ] send ^s4k2p-1\n"

func TestNewWritesTheFormat(t *testing.T) {
	got := New(props(), conversation())
	if string(got) != whole {
		t.Fatalf("got:\n%s\nwant:\n%s", got, whole)
	}
	offered, err := Offer(got, "s4k2p-1")
	if err != nil || string(offered) != whole+draftBlock {
		t.Fatalf("offered: %v\n%s", err, offered)
	}
	c := Read(offered)
	if !reflect.DeepEqual(c.Props, props()) {
		t.Errorf("props\n got %+v\nwant %+v", c.Props, props())
	}
	if !reflect.DeepEqual(c.Items, conversation()) {
		t.Errorf("items\n got %+v\nwant %+v", c.Items, conversation())
	}
	if c.Broken != "" || c.Draft == nil || *c.Draft != (Draft{ID: "s4k2p-1"}) {
		t.Errorf("broken %q, draft %+v", c.Broken, c.Draft)
	}
}

// Case 40: text that contains our own marks.
func TestCase40OwnMarksInForeignText(t *testing.T) {
	answer, err := os.ReadFile("testdata/case40-answer.txt")
	if err != nil {
		t.Fatal(err)
	}
	items := []Item{{Role: You, Kind: Text, Text: "go"}, {Role: "pi", Kind: Text, Text: string(answer)}}
	got := Read(New(props(), items)).Items
	if !reflect.DeepEqual(got, items) {
		t.Fatalf("got %+v", got)
	}
}

func TestTextsComeBackExactly(t *testing.T) {
	for _, s := range []string{
		"## You", "\\## You", "\\\\## pi\r\n", "## Summary", "## You\r", "x\r## You", "> sent 14:09", "> [!note]- a · ok · 1 ms",
		"- [ ] send ^s1", "* [x] a ^b", "\n\n", "\n", " ", "a\n", "\na", "a\r\nb\r\n", "a\rb", "\x00\x1b[31m␛\\␛\\\x00", "\xff\xfe", "---\ntitle: x\n---\n", "```\n## You\n", "%% x", "\ufeff",
		"- why: me", "> a\n> b", "\\", "␠", "\x7f␡",
	} {
		items := []Item{
			{Role: "pi", Kind: Text, Text: s},
			{Role: "pi", Kind: Text, Text: s},
			{Role: "pi", Kind: ToolUse, Tool: &Tool{Name: "n", Title: "t", State: Failed, Output: s}},
			{Role: "pi", Kind: Text, Text: s},
			{Role: You, Kind: Text, Text: s},
			{Role: You, Kind: Sent, Time: time.Date(0, 1, 1, 1, 2, 0, 0, time.UTC)},
			{Role: You, Kind: Text, Text: s},
			{Role: "pi", Kind: Ask, Text: s, Boxes: []Box{{Text: s, ID: "a-1"}}, Field: "reply"},
			{Role: "pi", Kind: Ask, Text: s, Boxes: []Box{{Text: s, ID: "a-2"}}},
			{Role: "pi", Kind: Text, Text: s},
		}
		if got := Read(New(props(), items)).Items; !reflect.DeepEqual(got, items) {
			t.Errorf("%q: got\n%s", s, New(props(), items))
		}
	}
}

func TestAppend(t *testing.T) {
	pi := func(s string) []Item { return []Item{{Role: "pi", Kind: Text, Text: s}} }
	ok := []Item{{Role: "pi", Kind: ToolUse, Tool: &Tool{Name: "ls", State: OK, Millis: 320}}}
	head := "---\nagent: pi\n---\n"
	for _, test := range []struct {
		name, cur string
		items     []Item
		want      string
	}{
		{"first", head, pi("a"), head + "\n## pi\n\na\n"},
		{"a tool shares the heading", head + "\n## pi\n\na\n", ok, head + "\n## pi\n\na\n\n> [!note]- ls · ok · 320 ms\n"},
		{"a text after a tool too", head + "\n## pi\n\n> [!note]- ls · ok · 320 ms\n", pi("b"), head + "\n## pi\n\n> [!note]- ls · ok · 320 ms\n\nb\n"},
		{"a text after a text does not", head + "\n## pi\n\na\n", pi("b"), head + "\n## pi\n\na\n\n## pi\n\nb\n"},
		{"case 9, no newline at the end", head + "\n## pi\n\na", pi("b"), head + "\n## pi\n\na\n\n## pi\n\nb\n"},
		{"before the draft", head + "\n## pi\n\na\n\n## You\n\nhalf a sen\n\n- [ ] send ^s1\n", pi("b"), head + "\n## pi\n\na\n\n## pi\n\nb\n\n## You\n\nhalf a sen\n\n- [ ] send ^s1\n"},
		{"before a draft that stands close", head + "\n## pi\n\na\n## You\n- [ ] send ^s1", ok, head + "\n## pi\n\na\n\n> [!note]- ls · ok · 320 ms\n\n## You\n- [ ] send ^s1"},
		{"below a person's line", head + "\n## pi\n\na\nmine", ok, head + "\n## pi\n\na\nmine\n\n> [!note]- ls · ok · 320 ms\n"},
		{"nothing", head, nil, head},
		{"another agent's name is this chat's", head, []Item{{Role: "claude", Kind: Text, Text: "x"}}, head + "\n## pi\n\nx\n"},
		{"no header", "hello", pi("x"), "hello\n\n## Assistant\n\nx\n"},
	} {
		got, err := Append([]byte(test.cur), test.items)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %v\n got %q\nwant %q", test.name, err, got, test.want)
		}
		if !Ends(got, test.items) {
			t.Errorf("%s: Ends is false after Append", test.name)
		}
	}
	for _, cur := range []string{"", "\n", "---\nagent: pi\n---\n\x00"} {
		if got, err := Append([]byte(cur), pi("a")); err == nil {
			t.Errorf("%q: no error, got %q", cur, got)
		}
	}
}

func TestEnds(t *testing.T) {
	cur := New(props(), conversation())
	all := conversation()
	for i := range all {
		if !Ends(cur, all[i:]) {
			t.Errorf("the last %d items are not found", len(all)-i)
		}
	}
	for name, items := range map[string][]Item{
		"another text": {{Role: "pi", Kind: Text, Text: "text"}},
		"not the end":  all[:3],
		"more":         append(all[:1:1], all...),
	} {
		if Ends(cur, items) {
			t.Errorf("%s is found", name)
		}
	}
	last := []Item{{Role: "pi", Kind: Text, Text: "a"}}
	cur, err := Append(cur, last)
	if err != nil {
		t.Fatal(err)
	}
	if !Ends(append(cur, "\nand a person's line\n"...), last) {
		t.Error("a person's line below hides the item")
	}
	if !Ends([]byte(strings.Replace(string(cur), "- [ ] Allow", "- [x] Allow", 1)), append(all[5:], last...)) {
		t.Error("a ticked box hides the items")
	}
}

func TestExtend(t *testing.T) {
	cur := []byte("---\nagent: pi\n---\n")
	steps := []string{"## Yo", "## You\n", "## You\n\nand", "## You\n\nand ends."}
	old := ""
	for _, whole := range steps {
		for range 2 {
			var err error
			if cur, err = Extend(cur, "pi", old, whole); err != nil {
				t.Fatal(err)
			}
		}
		if got := Read(cur).Items; len(got) != 1 || got[0].Text != whole {
			t.Fatalf("after %q: %+v", whole, got)
		}
		old = whole
	}
	cur = append(cur, "mine\n"...)
	for range 2 {
		var err error
		if cur, err = Extend(cur, "pi", old, old+" More."); err != nil {
			t.Fatal(err)
		}
	}
	want := "---\nagent: pi\n---\n\n## pi\n\n\\## You\n\nand ends.\nmine\n\n## pi\n\n More.\n"
	if string(cur) != want {
		t.Errorf("got %q\nwant %q", cur, want)
	}
	if _, err := Extend(cur, "pi", "a", "b"); err == nil {
		t.Error("a text that is no longer one is taken")
	}
}

func TestSetTool(t *testing.T) {
	since := time.Date(2026, 11, 30, 14, 3, 0, 0, time.UTC)
	a := Tool{Name: "bash", Title: "npm `test`", State: Running, Since: since, Output: "not yet"}
	b := Tool{Name: "read", Title: "a.go", State: Running, Since: since}
	cur := New(Props{Agent: "pi"}, []Item{{Role: "pi", Kind: ToolUse, Tool: &a}, {Role: "pi", Kind: ToolUse, Tool: &b}})
	if got := Read(cur).Items[0].Tool; got.State != Running || got.Output != "" {
		t.Fatalf("a running tool reads as %+v", got)
	}
	cur = append(cur[:len(cur)-1], "\n> a person's line\n"...)
	a.State, a.Millis, a.Output = OK, 252_000, "done"
	b.State, b.Millis = Failed, 7
	got, ok := SetTool(cur, a)
	if !ok {
		t.Fatal("the first of two running tools is not found")
	}
	got, ok = SetTool(got, b)
	want := "---\nagent: pi\n---\n\n## pi\n\n> [!note]- bash · ``npm `test` `` · ok · 4m12s\n> done\n\n> [!note]- read · `a.go` · failed · 7 ms\n> a person's line\n"
	want = strings.Replace(want, "``npm `test` ``", "`` npm `test` ``", 1)
	if !ok || string(got) != want {
		t.Errorf("%v\n got %q\nwant %q", ok, got, want)
	}
	if again, ok := SetTool(got, a); ok || string(again) != string(got) {
		t.Error("a tool that has ended is ended again")
	}
}

func TestDraft(t *testing.T) {
	for _, test := range []struct {
		src, text, id string
		ticked        bool
	}{
		{whole, "", "", false},
		{whole + draftBlock, "", "s4k2p-1", false},
		{whole + "\n## You\n\nhello\n\nyou\n\n- [x] send ^s4k2p-1\n", "hello\n\nyou", "s4k2p-1", true},
		{whole + "\n## You\n\nabove\n- [X] send ^s4k2p-1 [completion:: 2026-11-30]\n\nbelow", "above\n\nbelow", "s4k2p-1", true},
		{whole + "\n## You\n\n- [x] send ✅ 2026-11-30 ^s4k2p-1\n", "", "s4k2p-1", true},
		{whole + "\r\n## You\r\n\r\na\r\nb\r\n\r\n- [ ] send ^s4k2p-1\r\n", "a\nb", "s4k2p-1", false},
		{whole + "\n## You\n\nhello\n- [x] send\n", "", "", false},
		{whole + draftBlock + "\n## pi\n\nlater\n", "", "", false},
	} {
		text, ticked, id := DraftOf([]byte(test.src))
		if text != test.text || ticked != test.ticked || id != test.id {
			t.Errorf("%q: got %q %v %q", test.src[len(whole):], text, ticked, id)
		}
	}
}

func TestMarkSentAndWithdraw(t *testing.T) {
	src := []byte(whole + "\n## You\n\nhello\n\n- [x] send ^s4k2p-1\n")
	at := time.Date(2026, 11, 30, 14, 9, 0, 0, time.UTC)
	got, err := MarkSent(src, "s4k2p-1", at)
	if err != nil || string(got) != whole+"\n## You\n\nhello\n\n> sent 14:09\n" {
		t.Errorf("%v %q", err, got)
	}
	if _, err := MarkSent(src, "s9", at); err == nil {
		t.Error("another id is taken")
	}
	got, err = Withdraw([]byte(whole+draftBlock), "s4k2p-1")
	if err != nil || string(got) != whole {
		t.Errorf("%v %q", err, got)
	}
	got, err = Withdraw(src, "s4k2p-1")
	if err != nil || string(got) != whole+"\n## You\n\nhello\n\n" {
		t.Errorf("%v %q", err, got)
	}
}

// An editor that made CR LF of everything changes no text.
func TestReadCRLF(t *testing.T) {
	items := conversation()
	src := strings.ReplaceAll(string(New(props(), items)), "\n", "\r\n")
	if got := Read([]byte(src)).Items; !reflect.DeepEqual(got, items) {
		t.Errorf("got %+v", got)
	}
}

func TestReadKeepsWhatDoesNotParse(t *testing.T) {
	src := "\ufeff---\ntitle: [a\nagent: pi\nrun: 01KB\n---\npreface\n\n## You\nno blank line\n- [ ] buy milk\n## Notes\n> [!note]- odd\n> sent yesterday\n## pi\n- [x] Deny ^a-2\n- why: because\n  it is late\n"
	c := Read([]byte(src))
	if c.Broken == "" || c.Props.Run != "01KB" || c.Props.Agent != "pi" {
		t.Errorf("props %+v, broken %q", c.Props, c.Broken)
	}
	want := []Item{
		{Kind: Text, Text: "preface"},
		{Role: You, Kind: Text, Text: "no blank line\n- [ ] buy milk\n## Notes\n> [!note]- odd\n> sent yesterday"},
		{Role: "pi", Kind: Ask, Boxes: []Box{{Text: "Deny", ID: "a-2", Ticked: true}}, Field: "why", Said: "because\n  it is late"},
	}
	if !reflect.DeepEqual(c.Items, want) {
		t.Errorf("got %+v", c.Items)
	}
}
