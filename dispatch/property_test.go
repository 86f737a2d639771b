package dispatch

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deckhand/board"
)

// life is a work folder in which people and agents do what they like.
type folderLife struct {
	*desk
	rt    *rapid.T
	saved map[string][]string // what an editor may still have open, by board
}

// Whatever people and agents do: Reconcile comes to an end, is the same when
// asked twice, changes nothing it was given, asks one thing of a run at a time
// and nothing of a busy one, claims no card that a run has, keeps the limits,
// and starts no turn that nobody asked for.
func TestReconcileIsAFixedPoint(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := &folderLife{desk: newDesk(rt), rt: rt, saved: map[string][]string{}}
		f.set.MaxRunning = 2
		for _, path := range []string{"A.md", "B.md"} {
			f.old(path, f.board())
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			f.step()
			f.check()
			f.settle()
			f.limits()
		}
	})
}

func (f *folderLife) pick(name string, from ...string) string {
	return rapid.SampledFrom(from).Draw(f.rt, name)
}

func (f *folderLife) board() string {
	var out []string
	for range rapid.IntRange(1, 5).Draw(f.rt, "cards") {
		out = append(out, f.pick("lane", "Plan", "Next", "In Progress", "Review", "Done")+": "+f.anyCard())
	}
	return strings.Replace(lanes(strings.Join(out, "\n")), "## In Progress", "## In Progress"+f.pick("limit", "", " (1)", " (2)"), 1)
}

func (f *folderLife) anyCard() string {
	return f.pick("box", "[ ] ", "[ ] ", "[ ] ", "[x] ") + f.pick("title", "one", "two", "three", "four") +
		f.pick("agent", " @pi", " @pi", " @claude", "", " @pi @claude") + f.pick("project", "", "", " #project/web", " #project/api") +
		f.pick("recurs", "", "", " 🔁 every day") + f.pick("note", "", "\\nnote", "\\nafter: one", "\\nafter: two")
}

// step is one thing that a person or an agent does.
func (f *folderLife) step() {
	f.now = f.now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 3, 10, 130, 4000}).Draw(f.rt, "seconds")) * time.Second)
	path := f.pick("board", "A.md", "B.md")
	switch f.pick("does", "move", "move", "move", "tick", "write", "delete", "copy", "old copy", "away", "there", "conflict", "agent", "agent", "agent", "grant", "wait") {
	case "move":
		f.onCard(path, func(text, card string) string {
			head := "## " + f.pick("to", "Plan", "Next", "In Progress", "Review", "Done")
			before, after, ok := strings.Cut(strings.Replace(text, card, "", 1), head)
			line, rest, found := strings.Cut(after, "\n\n")
			if !ok || !found {
				return text
			}
			return before + head + line + "\n\n" + card + rest
		})
	case "tick":
		f.onCard(path, func(text, card string) string {
			return strings.Replace(text, card, strings.Replace(card, "[ ]", "[x]", 1), 1)
		})
	case "write":
		f.onCard(path, func(text, card string) string {
			line, rest, _ := strings.Cut(card, "\n")
			return strings.Replace(text, card, line+f.pick("words", " more", "\n\tadded", " @claude")+"\n"+rest, 1)
		})
	case "delete":
		f.onCard(path, func(text, card string) string { return strings.Replace(text, card, "", 1) })
	case "copy":
		f.onCard(path, func(text, card string) string {
			return strings.Replace(text, card, card+strings.Replace(card, "[ ]", f.pick("box", "[ ]", "[x]"), 1), 1)
		})
	case "old copy":
		if old := f.saved[path]; len(old) > 0 {
			f.save(path, old[rapid.IntRange(0, len(old)-1).Draw(f.rt, "copy")])
		}
	case "away":
		f.boards[path].Gone = "the file is gone"
	case "there":
		f.boards[path].Gone = ""
	case "conflict":
		f.save(path, "<<<<<<< HEAD\n"+f.text(path))
		f.saved[path] = append(f.saved[path], strings.TrimPrefix(f.text(path), "<<<<<<< HEAD\n"))
	case "agent":
		f.agent()
	case "grant":
		f.set.Held = rapid.SampledFrom([]Reason{{}, {}, {Text: "not trusted"}}).Draw(f.rt, "held")
	}
	f.saved[path] = append(f.saved[path], f.text(path))
}

func (f *folderLife) onCard(path string, change func(text, card string) string) {
	b := f.boards[path].Board
	var cards []string
	for _, c := range b.All() {
		cards = append(cards, string(c.Span.Of(b.Src)))
	}
	if len(cards) == 0 || f.boards[path].Gone != "" {
		return
	}
	f.save(path, change(f.text(path), f.pick("card", cards...)))
}

func (f *folderLife) agent() {
	var live []string
	for _, id := range slices.Sorted(maps.Keys(f.runs)) {
		if r := f.runs[id]; r.Live() && r.Life > 0 {
			live = append(live, id)
		}
	}
	if len(live) == 0 {
		return
	}
	id := f.pick("run", live...)
	switch f.pick("agent does", "ask", "finish", "fail", "die", "end") {
	case "ask":
		f.entry(id, Entry{Kind: Asked, Ask: &Ask{ID: f.pick("ask", "1", "2"), Title: "Sure?", Timeout: time.Minute}})
	case "finish":
		f.entry(id, Entry{Kind: Finished, Outcome: Review, Text: "done"})
	case "fail":
		f.entry(id, Entry{Kind: Finished, Outcome: Failed, Reason: "exit 1"})
	case "die":
		f.entry(id, Entry{Kind: Interrupted})
	case "end":
		f.entry(id, Entry{Kind: Ended})
	}
}

// check looks at one decision without carrying it out.
func (f *folderLife) check() {
	f.busy = map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(f.runs)) {
		f.busy[id] = rapid.IntRange(0, 4).Draw(f.rt, "busy") == 0
	}
	first, second := Reconcile(f.world()), Reconcile(f.world())
	if !reflect.DeepEqual(first.Actions, second.Actions) || !reflect.DeepEqual(first.Notes, second.Notes) || !first.Wake.Equal(second.Wake) {
		f.rt.Fatalf("asked twice:\n%+v\n%+v", first, second)
	}
	if !first.Wake.IsZero() && !first.Wake.After(f.now) {
		f.rt.Fatalf("to be woken at %v, and it is %v", first.Wake, f.now)
	}
	asked := map[string]bool{}
	for _, a := range first.Actions {
		if a.Do == DoClaim {
			f.claim(a)
			continue
		}
		if a.Run != "" && (asked[a.Run] || f.busy[a.Run]) {
			f.rt.Fatalf("asked of run %s (busy: %v): %+v", a.Run, f.busy[a.Run], first.Actions)
		}
		asked[a.Run] = true
	}
	f.busy = map[string]bool{}
}

// claim checks that no run has the card that is claimed.
func (f *folderLife) claim(a Action) {
	b := f.boards[a.Board].Board
	card := cardAt(b, a.Card.Line)
	if lane := b.LaneOf(card); !card.Open() || lane.Role != board.Ready || f.boards[a.Board].Gone != "" || b.Inactive != "" || f.set.Held.Text != "" {
		f.rt.Fatalf("claim of %+v in %s", a.Card, lane.Title)
	}
	for _, r := range f.runs {
		if !r.Live() {
			continue
		}
		if card.Status != nil && strings.EqualFold(card.Status.Run, r.ID) {
			f.rt.Fatalf("claim of the card of run %s", r.ID)
		}
		if r.Board == a.Board && r.Key == a.Card.Key && len(f.boards[r.Board].Board.ByRun(strings.ToLower(r.ID))) == 0 {
			f.rt.Fatalf("claim of the card that run %s was claimed for", r.ID)
		}
	}
}

// limits are kept after every round.
func (f *folderLife) limits() {
	live, onBoard := 0, map[string]int{}
	for _, id := range slices.Sorted(maps.Keys(f.runs)) {
		r := f.runs[id]
		turns := 0
		for _, e := range f.log[id] {
			switch e.Kind {
			case Claimed, Resumed:
				turns++
			case Started:
				turns--
			}
		}
		if turns < 0 {
			f.rt.Fatalf("run %s was started more often than it was asked for: %+v", id, f.log[id])
		}
		if !r.Live() {
			continue
		}
		live++
		onBoard[r.Board]++
		for _, other := range f.runs {
			if other != r && other.Live() && nested(other.Folder, r.Folder) {
				f.rt.Fatalf("runs %s and %s are at work in %s and %s", r.ID, other.ID, r.Folder, other.Folder)
			}
		}
	}
	if live > f.set.MaxRunning {
		f.rt.Fatalf("%d runs are live", live)
	}
}
