package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"deckhand/board"
	"deckhand/chats"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/config"
	"deckhand/internal/control"
)

func TestGlobs(t *testing.T) {
	g := globs{"Templates/**", "**/node_modules/**", "Old?.md", "a/*/c.md", "[", "**/deep.md"}
	for path, want := range map[string]bool{
		"Templates/x.md": true, "Templates/a/b.md": true, "Templates.md": false, "x/Templates/y.md": false,
		"node_modules/a.md": true, "x/y/node_modules/z/a.md": true, "Old1.md": true, "Old12.md": false,
		"a/b/c.md": true, "a/c.md": false, "a/b/d/c.md": false, "[": false, "deep.md": true, "x/deep.md": true,
	} {
		if g.match(path) != want {
			t.Errorf("match %s: %v", path, !want)
		}
	}
	for path, want := range map[string]bool{"Templates": true, "Templates/a": true, "x": false, "x/node_modules": true, "a": false} {
		if g.folder(path) != want {
			t.Errorf("folder %s: %v", path, !want)
		}
	}
}

// Ids rise whatever the clock does, also over a restart.
func TestIDsRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g ids
		last := ""
		for range rapid.IntRange(1, 50).Draw(t, "ids") {
			at := time.UnixMilli(rapid.Int64Range(0, 1<<44).Draw(t, "time"))
			if rapid.Bool().Draw(t, "restart") {
				g = ids{}
				g.seen(last)
			}
			id := g.next(at)
			if id <= last || len(id) != 26 {
				t.Fatalf("%s after %s", id, last)
			}
			last = id
		}
	})
}

// Effects of one name come one after another, those of others do not wait.
func TestQueuesKeepTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inbox := make(chan func())
		q := newQueues(func(fn func()) { inbox <- fn })
		var got []string
		add := func(name, what string, takes time.Duration) {
			q.add(name, func() any { time.Sleep(takes); return what }, func(v any) { got = append(got, v.(string)) })
		}
		add("a", "a1", time.Hour)
		add("a", "a2", time.Minute)
		add("b", "b1", time.Second)
		for !q.idle() {
			(<-inbox)()
		}
		if want := []string{"b1", "a1", "a2"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if len(q.wait) != 0 {
			t.Errorf("names that are done are kept: %v", q.wait)
		}
	})
}

func TestTrouble(t *testing.T) {
	var tr trouble
	now := time.Now()
	full, busy := errors.New("full"), errors.New("busy")
	if !tr.failed(now, full) || tr.failed(now, full) || !tr.failed(now, busy) {
		t.Error("a reason is told when it is a new one")
	}
	if tr.due(now) || !tr.due(now.Add(4*pause)) || tr.due(now.Add(time.Hour)) {
		t.Error("it is due once, when its time has come")
	}
	for range 100 {
		tr.failed(now, full)
	}
	if wait := tr.again.Sub(now); wait != longest || tr.waits() {
		t.Errorf("it waits %v, and is hoped for: %v", wait, tr.waits())
	}
}

// Cards that were there before a grant are marked by it, those that come later
// are not; a grant that is taken away and given again is new.
func TestGrantsMarkWhatWasThere(t *testing.T) {
	f := &folder{state: t.TempDir()}
	card := func(key string) before {
		return before{Board: "Shop.md", Key: key, Was: dispatch.Was{Lane: "Plan", Hash: "h"}}
	}
	grant := func(start bool, now []string, cards ...before) {
		t.Helper()
		waiting := map[string][]before{}
		for _, g := range now {
			waiting[g] = cards
		}
		if err := f.grant(now, waiting, start); err != nil {
			t.Fatal(err)
		}
	}
	keys := func() string {
		var out []string
		for _, b := range f.file.Before {
			out = append(out, b.Key)
		}
		return strings.Join(out, " ")
	}
	grant(false, []string{"trust"}, card("a"))
	grant(false, []string{"trust"}, card("a"), card("b"))
	if keys() != "a" {
		t.Errorf("marked %s, want a", keys())
	}
	grant(false, []string{"trust", "agent:pi"}, card("a"), card("b"))
	if keys() != "a b" {
		t.Errorf("marked %s, want both, once", keys())
	}
	if err := f.force(dispatch.CardID{Board: "Shop.md", Key: "a"}, true); err != nil || keys() != "b" {
		t.Errorf("%v: a card that is asked for is not marked any more: %s", err, keys())
	}
	grant(true, []string{"trust", "agent:pi"}, card("b"))
	if keys() != "" {
		t.Errorf("--start leaves %s", keys())
	}
	grant(false, nil)
	grant(false, []string{"trust"}, card("c"))
	if keys() != "c" {
		t.Errorf("marked %s, want c", keys())
	}
	read, err := readFolderFile(f.path("folder.json"))
	if err != nil || len(read.Before) != 1 || len(read.Forced) != 1 {
		t.Errorf("%v %+v", err, read)
	}
	if err := f.force(dispatch.CardID{Board: "Shop.md", Key: "a"}, false); err != nil || len(f.file.Forced) != 0 {
		t.Errorf("%v %+v", err, f.file.Forced)
	}
}

// Receipts outlive the daemon, are bounded in memory and on the disk, and a
// torn line spoils nothing.
func TestReceipts(t *testing.T) {
	f := &folder{state: t.TempDir()}
	if err := f.openReceipts(); err != nil {
		t.Fatal(err)
	}
	n := 5*receiptsKept + 3
	for i := range n {
		if err := f.keepReceipt(receipt{ID: fmt.Sprint("c", i), Result: control.Result{OK: true, Text: fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(f.path("receipts.jsonl"))
	if err != nil || bytes.Count(data, []byte("\n")) > 4*receiptsKept+1 {
		t.Errorf("%v: %d lines", err, bytes.Count(data, []byte("\n")))
	}
	if err := os.WriteFile(f.path("receipts.jsonl"), append(data, `{"id":"to`...), 0o600); err != nil {
		t.Fatal(err)
	}
	again := &folder{state: f.state}
	if err := again.openReceipts(); err != nil {
		t.Fatal(err)
	}
	last := fmt.Sprint("c", n-1)
	if r := again.receipts.byID[last]; r.Result.Text != fmt.Sprint(n-1) || len(again.receipts.byID) != receiptsKept {
		t.Errorf("%+v of %d", r, len(again.receipts.byID))
	}
	if err := again.keepReceipt(receipt{ID: "new", Begun: true}); err != nil {
		t.Fatal(err)
	}
	third := &folder{state: f.state}
	if err := third.openReceipts(); err != nil || !third.receipts.byID["new"].Begun {
		t.Errorf("%v: the receipt behind a torn line is lost", err)
	}
}

// A client is told of a change also when it changes back to what the one before
// it saw last; one that does not keep up, or goes, is let go.
func TestClients(t *testing.T) {
	var c clients
	ctx, leave := context.WithCancel(context.Background())
	a, b := control.Status{Dir: "a"}, control.Status{Dir: "b"}
	first := c.join(ctx, a)
	c.status(b)
	c.status(a)
	if got := len(first); got != 3 {
		t.Errorf("%d events, want a snapshot and two changes", got)
	}
	leave()
	if c.any() {
		t.Error("one that has left still listens")
	}
	second := c.join(context.Background(), b)
	c.status(a)
	if got := len(second); got != 2 {
		t.Errorf("%d events, want the snapshot and the way back", got)
	}
	for range backlog {
		c.send("run", "R", nil)
	}
	if c.any() {
		t.Error("one that does not keep up holds up the others")
	}
}

// The same capture gives the same items, however it is cut into looks.
func TestTalkIsTheSameAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []harness.Event
		for i := range rapid.IntRange(1, 40).Draw(t, "events") {
			e := harness.Event{Seq: int64(i + 1)}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0, 1:
				e.Kind, e.Text = harness.Text, rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "text")
			case 2:
				e.Kind, e.Tool = harness.ToolEnd, &harness.Tool{Name: "ls", OK: true}
			case 3:
				e.Kind = harness.Done
			}
			events = append(events, e)
		}
		whole, parts := talk{role: "pi"}, talk{role: "pi"}
		for _, e := range events {
			whole.hear(e, chats.Item{})
		}
		var got []string
		from := int64(0)
		for _, e := range events {
			parts.hear(e, chats.Item{})
			if rapid.Bool().Draw(t, "write") {
				items, seq := parts.after(from, -1)
				for _, i := range items {
					got = append(got, i.Text)
				}
				from = seq
				parts.forget(seq)
			}
		}
		items, _ := parts.after(from, -1)
		for _, i := range items {
			got = append(got, i.Text)
		}
		var want []string
		all, _ := whole.after(0, -1)
		for _, i := range all {
			want = append(want, i.Text)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

func TestTail(t *testing.T) {
	if got := tail(strings.Repeat("line\n", 30)); strings.Count(got, "line") != 20 {
		t.Errorf("%d lines", strings.Count(got, "line"))
	}
	if got := tail(strings.Repeat("é", 3000)); len(got) > 2000 || strings.Contains(got, "\ufffd") {
		t.Errorf("%d bytes", len(got))
	}
}

// Which card an update may move: only from where it was seen, onward only from
// the working lane.
func TestMoving(t *testing.T) {
	const text = "## Plan\n\n- [ ] Plain @pi\n- [ ] Back @pi\n\t- 🔵 pi works ^r-01m8q1wyefbyh7kxqs79na7bfb\n\n## Doing\n\n- [ ] Moved @pi\n- [ ] Busy @pi\n\t- 🔵 pi works ^r-01m8q1wyefbyh7kxqs79na7bfa\n\n## Review\n\n## Done\n"
	b := board.Parse("Shop.md", []byte(text), board.Options{})
	for _, c := range []struct {
		name, run, key, from string
		to, want             board.Role
		first                bool
		err                  error
	}{
		{name: "a claim", key: "Plain @pi", from: "Plan", to: board.Working, first: true, want: board.Working},
		{name: "a claim of a card that was moved", key: "Plain @pi", from: "Next", to: board.Working, first: true, err: errMoved},
		{name: "a claim of a card that was moved to the working lane", key: "Moved @pi", from: "Plan", to: board.Working, first: true, err: errMoved},
		{name: "a claim of a card that another run has", key: "Busy @pi", from: "Plan", to: board.Working, first: true, err: errTaken},
		{name: "and that stands where it did", key: "Back @pi", from: "Plan", to: board.Working, first: true, err: errTaken},
		{name: "a card that was moved", run: "01m8q1wyefbyh7kxqs79na7bfb", from: "Doing", to: board.Working, want: board.NoRole},
		{name: "an end in the working lane", run: "01m8q1wyefbyh7kxqs79na7bfa", from: "Doing", to: board.Review, want: board.Review},
		{name: "an end elsewhere", run: "01m8q1wyefbyh7kxqs79na7bfb", from: "Plan", to: board.Review, want: board.NoRole},
		{name: "an old copy", run: "01m8q1wyefbyh7kxqs79na7bfz", key: "Plain @pi", from: "Plan", to: board.Review, want: board.Review},
		{name: "an old copy that was saved since", run: "01m8q1wyefbyh7kxqs79na7bfz", key: "Plain @pi", from: "Doing", to: board.Review, err: errOld},
		{name: "no card", run: "01m8q1wyefbyh7kxqs79na7bfz", key: "None", from: "Plan", to: board.Review, want: board.NoRole},
		{name: "there already", run: "01m8q1wyefbyh7kxqs79na7bfa", from: "Plan", to: board.Working, first: true, want: board.Working},
	} {
		up, err := moving(b, board.Update{Run: c.run, Key: c.key}, c.to, c.from, c.first)
		if up.To != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: to %v, %v", c.name, up.To, err)
		}
	}
}

// A chat is where it was made, also when a sync program has copied it; else
// where it lies now.
func TestChatPlaces(t *testing.T) {
	c := newChatPlaces()
	r := &run{Run: &dispatch.Run{ID: "01R", Chat: "deckhand/chats/a.md"}}
	want := func(path string, there bool) {
		t.Helper()
		if got, found := c.of(r); got != path || found != there {
			t.Errorf("%s %v, want %s %v", got, found, path, there)
		}
	}
	want("deckhand/chats/a.md", false)
	c.put("deckhand/chats/a.sync-conflict-1.md", "01r")
	c.put("deckhand/chats/a.md", "01r")
	want("deckhand/chats/a.md", true)
	c.put("deckhand/chats/a.md", "")
	c.put("Kept/a.md", "01r")
	want("Kept/a.md", true)
	c.put("Kept/a.md", "")
	c.put("deckhand/chats/a.sync-conflict-1.md", "")
	want("deckhand/chats/a.md", false)
	if len(c.runs) != 0 || len(c.paths) != 0 {
		t.Errorf("kept: %v %v", c.runs, c.paths)
	}
}

// The nonce is the same for the same card, and another for each run, card, text
// and machine.
func TestNonce(t *testing.T) {
	m := newModel(Options{}, &folder{file: folderFile{Secret: "s"}})
	card := dispatch.Card{Board: "Shop.md", Key: "Ship it", Lines: []string{"a"}}
	first := m.nonce(card)
	if m.nonce(card) != first || len(first) != 16 {
		t.Errorf("nonce %s", first)
	}
	seen := map[string]bool{first: true}
	other := func() {
		t.Helper()
		n := m.nonce(card)
		if seen[n] {
			t.Errorf("%s again", n)
		}
		seen[n] = true
	}
	card.Lines = []string{"b"}
	other()
	m.runs["01R"] = &run{Run: &dispatch.Run{ID: "01R", Card: card, Phase: dispatch.PhaseOver}}
	other()
	m.f.file.Secret = "t"
	other()
}

// Usage counts each message once, and a life's usage once in the log.
func TestUsageCountsOnce(t *testing.T) {
	cost := func(f float64) *float64 { return &f }
	r := newRun(&dispatch.Run{ID: "R"}, harness.Dir{})
	r.use = usage{life: 1}
	r.use.add(&harness.Usage{Message: "a", Tokens: 10, Cost: cost(0.5)})
	r.use.add(&harness.Usage{Message: "a", Tokens: 10, Cost: cost(0.5)})
	r.use.add(&harness.Usage{Message: "b", Tokens: 5})
	if tokens, c := r.uncounted(); tokens != 15 || c == nil || *c != 0.5 {
		t.Errorf("%d %v", tokens, c)
	}
	r.apply(dispatch.Entry{Kind: dispatch.Claimed})
	r.apply(dispatch.Entry{Kind: dispatch.Started, Life: 1})
	r.apply(dispatch.Entry{Kind: dispatch.Stopping, By: "command"})
	r.apply(dispatch.Entry{Kind: dispatch.Finished, Life: 1, Tokens: 15, Cost: cost(0.5)})
	r.apply(ended(r, 1, end{}))
	if r.Tokens != 15 || *r.Cost != 0.5 {
		t.Errorf("a run that was stopped and finished costs %d tokens, $%v", r.Tokens, *r.Cost)
	}
}

// What a journal can read back is all that is told in it.
func TestToldIsKnown(t *testing.T) {
	for _, k := range []dispatch.Kind{
		dispatch.Claimed, dispatch.Released, dispatch.Shown, dispatch.Started, dispatch.Asked, dispatch.Finished,
		dispatch.Stopping, dispatch.Ended, dispatch.Interrupted, dispatch.Resumed, dispatch.Accepted,
	} {
		status, _, ok := told(dispatch.Entry{Kind: k, Reason: "why", From: "Plan", Card: &dispatch.Card{}, Ask: &dispatch.Ask{}})
		known := []string{"claimed", "started", "asked", "finished", "failed", "stopped", "moved", "accepted", "interrupted", "steered"}
		if !ok || !slices.Contains(known, status) {
			t.Errorf("%s is told as %q", k, status)
		}
	}
	for _, k := range []dispatch.Kind{dispatch.Asked, dispatch.Shown, dispatch.Said, "later"} {
		if status, _, ok := told(dispatch.Entry{Kind: k}); ok {
			t.Errorf("an empty %s is told as %s", k, status)
		}
	}
}

// A link to itself in the place of a project's folder is a reason like others.
func TestProjectFolderThatIsALoop(t *testing.T) {
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if _, why := checkProject(config.Project{Name: "shop", Folder: loop}, "/notes", "", "/state"); !strings.Contains(why.Text, "cannot be read") {
		t.Errorf("%q", why.Text)
	}
}

func TestReceiptShape(t *testing.T) {
	data, err := json.Marshal(receipt{ID: "a", Result: control.Result{OK: true, Text: "t"}})
	if err != nil || string(data) != `{"id":"a","result":{"ok":true,"text":"t"}}` {
		t.Errorf("%s %v", data, err)
	}
}
