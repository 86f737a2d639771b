package chats

import (
	"reflect"
	"strings"
	"testing"
)

// asked is a chat with two asks and a draft.
func asked() []byte {
	c := New(Props{Agent: "pi", Run: "R"}, []Item{
		{Role: "pi", Kind: Ask, Text: "Run this?\n\n    rm -rf build", Boxes: []Box{{Text: "Allow once", ID: "a7k2m-1"}, {Text: "Deny", ID: "a7k2m-2"}}, Field: "why"},
		{Role: "pi", Kind: Ask, Text: "Which?", Boxes: []Box{{Text: "test", ID: "b3x9q-1"}, {Text: "live", ID: "b3x9q-2"}}},
	})
	c, err := Offer(c, "sk4p2-1")
	if err != nil {
		panic(err)
	}
	return c
}

func TestClose(t *testing.T) {
	over := func(ids ...string) func(string) bool {
		return func(id string) bool { return strings.Contains(strings.Join(ids, " "), id) }
	}
	for _, c := range []struct {
		name string
		cur  string
		over []string
		want []string // the kinds of items that are left, asks by their first box
	}{
		{"none is over", string(asked()), nil, []string{"a7k2m-1", "b3x9q-1"}},
		{"the first", string(asked()), []string{"a7k2m"}, []string{Text, "b3x9q-1"}},
		{"both", string(asked()), []string{"a7k2m", "b3x9q"}, []string{Text, Text}},
		{"one that is ticked", strings.Replace(string(asked()), "[ ] Deny", "[x] Deny", 1), []string{"a7k2m"}, []string{Text, "b3x9q-1"}},
		{"the send box is none", string(asked()), []string{"sk4p2"}, []string{"a7k2m-1", "b3x9q-1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Close([]byte(c.cur), over(c.over...))
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, item := range Read(got).Items {
				if item.Kind == Ask {
					kinds = append(kinds, item.Boxes[0].ID)
				} else {
					kinds = append(kinds, item.Kind)
				}
			}
			if !reflect.DeepEqual(kinds, c.want) || Read(got).Draft == nil {
				t.Errorf("%q, want %q and a draft:\n%s", kinds, c.want, got)
			}
			again, err := Close(got, over(c.over...))
			if err != nil || string(again) != string(got) {
				t.Errorf("closed twice: %v\n%s", err, again)
			}
		})
	}
}

// What a person wrote at the line for a reason stays, and so does the question.
func TestCloseKeepsWhatWasWritten(t *testing.T) {
	cur := strings.Replace(string(asked()), "- why:\n", "- why: it is shared\n  and needed\n", 1)
	got, err := Close([]byte(cur), func(id string) bool { return id == "a7k2m" })
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Run this?\n\n    rm -rf build", "- why: it is shared\n  and needed\n"} {
		if !strings.Contains(string(got), text) {
			t.Errorf("lacks %q:\n%s", text, got)
		}
	}
	if strings.Contains(string(got), "^a7k2m") {
		t.Errorf("a box is left:\n%s", got)
	}
}
