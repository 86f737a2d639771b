package daemon

import (
	"strings"
	"testing"

	"deckhand/internal/control"
)

// Whoever asks for what came after a number, while the run goes on, gets the
// whole trace, each event once, text whole, tools running and then ended.
func TestTraceIsFollowed(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[slow:10ms]\n"))
	d := p.watching(ctx)
	d.until(working(1))
	var got []control.LogEvent
	next := int64(0)
	for open := true; open && ctx.Err() == nil; {
		l, err := d.client.Log(ctx, "Ship it", next)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Events {
			if e.N <= next {
				t.Fatalf("number %d after %d", e.N, next)
			}
		}
		got, next, open = append(got, l.Events...), l.Next, l.Open
	}
	whole, err := d.client.Log(ctx, "Ship it", 0)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Next != next {
		t.Errorf("followed to %d of %d", next, whole.Next)
	}
	text := func(all []control.LogEvent) string {
		var b strings.Builder
		for _, e := range all {
			if e.State != "running" { // told while it ran, its end tells the rest
				b.WriteString(e.Kind + " " + e.Text + "\n")
			}
		}
		return b.String()
	}
	if text(got) != text(whole.Events) {
		t.Errorf("followed:\n%s\nwhole:\n%s", text(got), text(whole.Events))
	}
	for _, e := range whole.Events {
		if e.State == "running" {
			t.Errorf("%s is said to run", e.Text)
		}
	}
	for _, once := range []string{"claimed ", "started life 1\n", "text I look at the project. \n", "tool ls .\n", "done completed\n", "finished review\n", "ended "} {
		if n := strings.Count(text(whole.Events), once); n != 1 {
			t.Errorf("%q stands %d times in:\n%s", once, n, text(whole.Events))
		}
	}
	order := []string{"claimed", "started", "text", "done", "finished", "show", "ended"}
	at := -1
	for _, kind := range order {
		i := at + 1
		for i < len(whole.Events) && whole.Events[i].Kind != kind {
			i++
		}
		if i == len(whole.Events) {
			t.Fatalf("%s does not come in its turn (%v):\n%s", kind, order, text(whole.Events))
		}
		at = i
	}
}

func TestTraceOrderNeverShifts(t *testing.T) {
	a, b, c := mark{1, 5, false}, mark{1, 5, true}, mark{1, 6, false}
	for _, pair := range [][2]mark{{a, b}, {b, c}, {a, c}, {c, mark{2, 0, true}}, {mark{entry: true}, a}} {
		if pair[0].compare(pair[1]) >= 0 || pair[1].compare(pair[0]) <= 0 {
			t.Errorf("%v does not come before %v", pair[0], pair[1])
		}
	}
	if a.compare(a) != 0 || b.compare(b) != 0 {
		t.Error("a place is not itself")
	}
}
