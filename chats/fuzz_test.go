package chats

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

// script makes items of bytes: each of the pieces between 0xFE is one, its
// first byte says which kind.
func script(data []byte) []Item {
	var items []Item
	for i, piece := range bytes.Split(data, []byte{0xfe}) {
		if len(piece) < 2 {
			continue
		}
		s, role := string(piece[1:]), []string{You, Assistant, "pi"}[piece[0]%3]
		item := Item{Role: role, Kind: Text, Text: s}
		switch piece[0] / 3 % 5 {
		case 1:
			item.Kind, item.Text = ToolUse, ""
			item.Tool = &Tool{Name: "bash", Title: cut(s, 200), State: OK, Millis: int64(i) * 100, Output: s}
		case 2:
			item.Kind, item.Text = ToolUse, ""
			item.Tool = &Tool{Name: "ls", State: Running, Since: time.Date(0, 1, 1, i%24, 5, 0, 0, time.UTC)}
		case 3:
			item.Kind, item.Text, item.Time = Sent, "", time.Date(0, 1, 1, i%24, 9, 0, 0, time.UTC)
		case 4:
			item.Role, item.Kind, item.Boxes = "pi", Ask, []Box{{Text: s, ID: "a-1"}, {Text: "b", ID: "a-2"}}
			item.Field = []string{"", "why", "reply"}[i%3]
		}
		items = append(items, item)
	}
	return items
}

func seed(f *testing.F) {
	for _, s := range []string{
		"\x00## You\xfe\x02> sent 14:09\r\n\xfe\x05`a`\xfe\x0e- [ ] x ^y", "\x02a\n\n\xfe\x02\n\xfe\x09a\xfe\x00\x00\\\u2400",
		"\x02a\u009b\\\u202e\\\u2426202E;\u2426;\u24269B;\u24260;\\\\\u2426", "\x05\U000e0041\u2028",
		"\x02---\ntitle: x\n---\n```\n\\\\## pi\n", "\x0e\\- [ ] a\n- why: b\xfe\x02x\r## You",
	} {
		f.Add([]byte(s), uint(1))
	}
}

// What is written is read back exactly, in one go or appended in two.
func FuzzRoundTrip(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte, at uint) {
		items := script(data)
		p := Props{Title: "x", Agent: "pi"}
		whole := New(p, items)
		if got := Read(whole).Items; !(len(got) == 0 && len(items) == 0) && !reflect.DeepEqual(got, items) {
			t.Fatalf("got  %+v\nwant %+v\nfile %q", got, items, whole)
		}
		if i := strings.IndexFunc(string(whole), hidden); i >= 0 {
			t.Fatalf("a hidden character at %d of %q", i, whole)
		}
		n := int(at % uint(len(items)+1))
		two, err := Append(New(p, items[:n]), items[n:])
		if err != nil || !bytes.Equal(two, whole) {
			t.Fatalf("appended: %v\n got %q\nwant %q", err, two, whole)
		}
		if !Ends(whole, items[n:]) {
			t.Fatalf("%q does not end in %+v", whole, items[n:])
		}
	})
}

// A chat of any bytes is read, and what is added to it only adds bytes.
func FuzzAppendToAnything(f *testing.F) {
	f.Add([]byte(whole+draftBlock), []byte("\x02a"))
	f.Add([]byte("---\nagent: pi\n---\r\n## You\r\nx"), []byte("\x05a"))
	f.Fuzz(func(t *testing.T, cur, data []byte) {
		items := script(data)
		before := Read(cur)
		got, err := Append(cur, items)
		if err != nil {
			return
		}
		at := 0
		for at < len(cur) && at < len(got) && cur[at] == got[at] {
			at++
		}
		if rest := cur[at:]; !bytes.HasSuffix(got, rest) || len(got) < len(cur) {
			t.Fatalf("bytes of %q are gone: %q", cur, got)
		}
		after := Read(got)
		if !reflect.DeepEqual(before.Draft, after.Draft) || before.Props.Title != after.Props.Title {
			t.Fatalf("the draft or the header changed\n%q\n%q", cur, got)
		}
		if len(items) > 0 && strings.Contains(string(cur), "agent: pi\n") && before.Props.Agent == "pi" && before.Broken == "" && !Ends(got, items) {
			t.Fatalf("%q does not end in %+v", got, items)
		}
	})
}

// SetProps changes no byte but those of the values, and reads back what it set.
func FuzzSetProps(f *testing.F) {
	f.Add([]byte(whole), "review")
	f.Add([]byte("---\nstatus: 'a''b' # c\n---\n"), "a: b")
	f.Add([]byte("---\nstatus: a\n  b\n---\n"), "x")
	f.Fuzz(func(t *testing.T, cur []byte, status string) {
		if status == "" || strings.ToValidUTF8(status, "") != status {
			return
		}
		got, err := SetProps(cur, Props{Status: status})
		if err != nil {
			return
		}
		c := Read(got)
		if c.Broken != "" || c.Props.Status != status {
			t.Fatalf("%q\n became %q: status %q, broken %q", cur, got, c.Props.Status, c.Broken)
		}
		before := Read(cur)
		before.Props.Status = status
		if !reflect.DeepEqual(before, c) && before.Props.Agent == c.Props.Agent {
			t.Fatalf("more than the status changed\n%q\n%q", cur, got)
		}
	})
}
