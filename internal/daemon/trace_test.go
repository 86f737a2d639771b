package daemon

import (
	"strings"
	"testing"

	"deckhand/dispatch"
	"deckhand/harness"
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

// counted is a driver that counts the lines it decodes.
type counted struct {
	harness.Driver
	lines *int
}

type countedSession struct {
	harness.Session
	lines *int
}

func (d counted) Open(a harness.Agent, s harness.Spec) harness.Session {
	return countedSession{d.Driver.Open(a, s), d.lines}
}

func (s countedSession) Decode(l harness.Line) ([]harness.Event, []harness.Send) {
	*s.lines++
	return s.Session.Decode(l)
}

// A run that is followed line by line is decoded once, whoever asks between,
// gives what a trace that is read at once gives, and holds a bounded part of it.
func TestFollowedTraceIsDecodedOnce(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[flood:200]\n"))
	p.once()
	o, err := Open(t.Context(), p.o)
	if err != nil {
		t.Fatal(err)
	}
	at, err := o.(*offline).m.tracing("Ship it")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	at.drivers = map[string]harness.Driver{"pi": counted{at.drivers["pi"], &lines}}
	whole, err := at.since(0)
	if err != nil {
		t.Fatal(err)
	}
	once := lines
	last := int64(0)
	lives, err := at.dir.Lives()
	if err != nil || len(lives) != 1 {
		t.Fatalf("lives %v %v", lives, err)
	}
	if err := lives[0].Read(1, func(l harness.Line) error { last = l.Seq; return nil }); err != nil {
		t.Fatal(err)
	}
	var log []dispatch.Entry
	if err := eachEntry(at.dir, func(e dispatch.Entry) { log = append(log, e) }); err != nil {
		t.Fatal(err)
	}
	var all traces
	defer all.close()
	upTo := at.upTo
	got, next := map[int64]string{}, int64(0)
	lines = 0
	for at.life = 1; at.heard < last; {
		for at.heard++; len(log) > 0 && log[0].Seq <= at.heard; log = log[1:] { // as far as it was written then
			at.upTo = log[0].ID
		}
		l, err := all.since(at, next)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Events {
			if got[e.N] != "" {
				t.Fatalf("number %d comes again", e.N)
			}
			got[e.N] = e.Kind + " " + e.Text
		}
		next = l.Next
		if back, err := all.since(at, max(0, next-3)); err != nil || back.Next != next { // another client, a little behind
			t.Fatalf("%v: up to %d of %d", err, back.Next, next)
		}
	}
	if lines != once {
		t.Errorf("%d lines are decoded for a capture of %d", lines, once)
	}
	tr := all.of(at.run)
	if len(tr.kept) > keptEvents || tr.size > keptBytes || tr.n != next {
		t.Errorf("%d events of %d bytes are held, up to %d", len(tr.kept), tr.size, tr.n)
	}
	end, err := all.since(tracing{run: at.run, dir: at.dir, drivers: at.drivers, upTo: upTo}, next)
	if err != nil || len(all.list) != 0 {
		t.Fatalf("%v, %d traces are held when it is over", err, len(all.list))
	}
	for _, e := range end.Events {
		got[e.N] = e.Kind + " " + e.Text
	}
	for _, e := range whole.Events {
		if got[e.N] != e.Kind+" "+e.Text {
			t.Errorf("number %d is %.40q, want %s %.40q", e.N, got[e.N], e.Kind, e.Text)
		}
	}
}

// What is held is the newest; who is further behind is told to begin anew.
func TestTraceForgets(t *testing.T) {
	tr := newTrace()
	for i := range 3 * keptEvents {
		tr.n++
		e := &traced{LogEvent: control.LogEvent{N: tr.n, Text: strings.Repeat("x", i%2*keptBytes/keptEvents*3)}}
		tr.kept, tr.size = append(tr.kept, e), tr.size+len(e.Text)
		tr.forget()
		if len(tr.kept) > keptEvents || tr.size > keptBytes || tr.kept[len(tr.kept)-1].N != tr.n {
			t.Fatalf("%d events, %d bytes", len(tr.kept), tr.size)
		}
	}
	if _, known, err := tr.since(tracing{}, tr.n-int64(len(tr.kept))-1); known || err != nil {
		t.Errorf("known %v %v, want that it is not there any more", known, err)
	}
}
