package dispatch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"deckhand/board"
)

// desk is a work folder with its machine in memory: it carries out what a
// Reconcile asks for, as a daemon does, with a clock of its own.
type desk struct {
	t      failer
	now    time.Time
	boards map[string]*Seen
	runs   map[string]*Run
	log    map[string][]Entry
	set    Settings
	mem    Memory
	busy   map[string]bool
	made   []Made
	last   Decision
	n      int
	did    []Do
	hooks  map[Do]func(Action) bool // true: the action is done
}

// failer is what desk needs of a test; rapid has one of its own.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// morning is when every test begins.
var morning = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func newDesk(t failer) *desk {
	d := &desk{
		t: t, now: morning, boards: map[string]*Seen{}, runs: map[string]*Run{}, log: map[string][]Entry{}, busy: map[string]bool{},
		hooks: map[Do]func(Action) bool{},
	}
	d.set = Settings{
		Settle: 3 * time.Second, Typing: 10 * time.Second, Longest: time.Hour, Wiki: true,
		Agents:   map[string]Agent{"pi": {Ready: true}, "claude": {Ready: true}},
		Projects: map[string]Project{"shop": {Folder: "/p/shop"}, "web": {Folder: "/p/web"}, "api": {Folder: "/p/web/api"}},
		Before:   map[CardID]Was{}, Forced: map[CardID]bool{},
	}
	d.mem.Open = true
	return d
}

// oneBoard is a desk with one board that has stood there for an hour.
func oneBoard(t failer, text string) *desk {
	d := newDesk(t)
	d.old("Shop.md", text)
	return d
}

const header = "---\nproject: shop\n---\n\n"

// lanes writes a board of cards: "Plan: a @pi | b @pi".
func lanes(text string) string {
	var out strings.Builder
	out.WriteString(header)
	for _, name := range []string{"Plan", "Next", "In Progress", "Review", "Done"} {
		fmt.Fprintf(&out, "## %s\n\n", name)
		for line := range strings.Lines(text) {
			lane, cards, _ := strings.Cut(strings.TrimSpace(line), ": ")
			if lane != name {
				continue
			}
			for card := range strings.SplitSeq(cards, " | ") {
				if !strings.HasPrefix(card, "[") {
					card = "[ ] " + card
				}
				out.WriteString("- " + strings.ReplaceAll(card, "\\n", "\n\t") + "\n")
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

func (d *desk) options() board.Options {
	return board.Options{Agents: slices.Sorted(maps.Keys(d.set.Agents))}
}

// save is a person who saves a file.
func (d *desk) save(path, text string) {
	d.boards[path] = &Seen{Board: board.Parse(path, []byte(text), d.options()), Changed: d.now}
}

// old is a file that has not changed for an hour.
func (d *desk) old(path, text string) {
	d.save(path, text)
	d.boards[path].Changed = d.now.Add(-time.Hour)
}

func (d *desk) text(path string) string { return string(d.boards[path].Board.Src) }

// edit is a person who changes a file.
func (d *desk) edit(path, old, text string) {
	d.t.Helper()
	if !strings.Contains(d.text(path), old) {
		d.t.Fatalf("%s lacks %q:\n%s", path, old, d.text(path))
	}
	d.save(path, strings.Replace(d.text(path), old, text, 1))
}

// move is a person who moves a card with everything below it.
func (d *desk) move(path, title, lane string) {
	d.t.Helper()
	b := d.boards[path].Board
	c := d.card(path, title)
	text := string(c.Span.Of(b.Src))
	rest := string(b.Src[:c.Span.Start]) + string(b.Src[c.Span.End:])
	head := "## " + lane + "\n\n"
	if !strings.Contains(rest, head) {
		d.t.Fatalf("no lane %s in\n%s", lane, rest)
	}
	d.save(path, strings.Replace(rest, head, head+text, 1))
}

func (d *desk) card(path, title string) *board.Card {
	d.t.Helper()
	for _, c := range d.boards[path].Board.All() {
		if strings.HasPrefix(c.Title, title) || strings.HasPrefix(c.First, title) {
			return c
		}
	}
	d.t.Fatalf("%s has no card %q:\n%s", path, title, d.text(path))
	return nil
}

// stands is the lane of a card and the word of its item.
func (d *desk) stands(path, title string) string {
	d.t.Helper()
	c := d.card(path, title)
	word := "–"
	if c.Status != nil {
		word = c.Status.Word
	}
	if lane := d.boards[path].Board.LaneOf(c); lane != nil {
		return lane.Title + " " + word
	}
	return "Archive " + word
}

func (d *desk) world() World {
	w := World{Now: d.now, Set: d.set, Memory: d.mem, Busy: d.busy, Made: d.made}
	for _, path := range slices.Sorted(maps.Keys(d.boards)) {
		w.Boards = append(w.Boards, *d.boards[path])
	}
	for _, id := range slices.Sorted(maps.Keys(d.runs)) {
		w.Runs = append(w.Runs, d.runs[id])
	}
	return w
}

// look is one Reconcile, nothing of it carried out.
func (d *desk) look() Decision {
	d.last = Reconcile(d.world())
	d.mem = d.last.Memory
	return d.last
}

// settle carries out what is asked for until nothing more is.
func (d *desk) settle() []Do {
	d.t.Helper()
	d.did = nil
	for range 50 {
		dec := d.look()
		if len(dec.Actions) == 0 {
			return d.did
		}
		for _, a := range dec.Actions {
			d.did = append(d.did, a.Do)
			if hook := d.hooks[a.Do]; hook == nil || !hook(a) {
				d.act(a)
			}
		}
	}
	d.t.Fatalf("no end of actions: %v\n%s", d.did, d.text("Shop.md"))
	return nil
}

// later settles, lets time pass, and settles.
func (d *desk) later(by time.Duration) []Do {
	d.t.Helper()
	did := d.settle()
	d.now = d.now.Add(by)
	d.did = append(did, d.settle()...)
	return d.did
}

func (d *desk) entry(run string, e Entry) {
	d.n++
	e.ID, e.Time, e.Run = fmt.Sprintf("%06d", d.n), d.now, run
	switch e.Kind {
	case Asked, Finished, Ended, Interrupted, Proposed:
		e.Offer = fmt.Sprintf("a%04d", d.n)
	}
	d.log[run] = append(d.log[run], e)
	d.runs[run].Apply(e)
}

// act carries out one action.
func (d *desk) act(a Action) {
	d.t.Helper()
	switch a.Do {
	case DoClaim:
		id := fmt.Sprintf("01RUN%04d", len(d.runs)+1)
		d.runs[id] = &Run{ID: id}
		card := a.Card
		d.entry(id, Entry{Kind: Claimed, Card: &card, Agent: a.Agent, Project: a.Project, Folder: a.Folder, By: a.By, Chat: "deckhand/chats/" + card.Title + ".md", Earlier: a.Earlier})
		delete(d.set.Forced, CardID{card.Board, card.Key})
	case DoShow:
		d.entry(a.Run, Entry{Kind: Show, Word: a.Shows.Word, To: a.Shows.To, Lines: a.Shows.Lines})
		d.show(a)
	case DoStart:
		d.entry(a.Run, Entry{Kind: Started, Life: d.runs[a.Run].Life + 1})
	case DoTakeBack:
		d.takeBack(a)
	case DoStop:
		live := d.runs[a.Run].Live()
		if d.entry(a.Run, Entry{Kind: Stopping, By: a.By, Reason: a.Reason}); live {
			d.entry(a.Run, Entry{Kind: Ended})
		}
	case DoResume:
		d.entry(a.Run, Entry{Kind: Resumed, By: a.By, Lines: a.Lines, Offer: a.Offer, Took: a.Took})
	case DoAccept:
		d.entry(a.Run, Entry{Kind: Accepted, By: a.By})
	case DoAnswer:
		d.entry(a.Run, Entry{Kind: Answered, Ask: &Ask{ID: a.Ask}, Answer: a.Answer, By: a.By, Offer: a.Offer, Took: a.Took})
	case DoSteer:
		d.entry(a.Run, Entry{Kind: Steered, How: "steer", Text: a.Text, By: a.By, Offer: a.Offer, Took: a.Took})
	case DoTimeout:
		d.entry(a.Run, Entry{Kind: AskGone, Ask: &Ask{ID: a.Ask}, Reason: a.Reason})
	case DoAddLanes:
		d.write(a.Board, func(b *board.Board) ([]byte, error) { return b.AddLanes() })
	case DoClear:
		d.write(a.Board, func(b *board.Board) ([]byte, error) {
			return b.Update(board.Update{Key: a.Key, Remove: true, Wrote: d.runs[a.Run].Wrote})
		})
	}
}

// write is deckhand's own write; whether it was done.
func (d *desk) write(path string, op func(*board.Board) ([]byte, error)) bool {
	d.t.Helper()
	out, err := op(d.boards[path].Board)
	if err != nil {
		if !errors.Is(err, board.ErrGone) && !errors.Is(err, board.ErrAmbiguous) {
			d.t.Fatalf("%s: %v\n%s", path, err, d.text(path))
		}
		return false
	}
	changed := d.boards[path].Changed
	d.save(path, string(out))
	d.boards[path].Changed = changed
	return true
}

// show writes a card: moved only from where it was when that was decided, to
// the working lane from anywhere, onward only from the working lane.
func (d *desk) show(a Action) {
	d.t.Helper()
	r := d.runs[a.Run]
	from := d.boards[a.Board].Board.LaneNamed(a.From)
	up := board.Update{Run: a.Find, Key: a.Key, Put: a.Item, Wrote: slices.Concat(r.Wrote, r.Took)}
	switch a.Shows.To {
	case "done":
		if from != nil && from.Role == board.Review {
			up.To = board.Done
		}
	case "working":
		up.To = board.Working
	case "review":
		if from != nil && from.Role == board.Working || len(d.boards[a.Board].Board.ByRun(a.Find)) == 0 {
			up.To = board.Review
		}
	}
	if !d.write(a.Board, func(b *board.Board) ([]byte, error) { return b.Update(up) }) {
		if r.Phase == PhaseClaimed && r.Life == 0 {
			d.entry(a.Run, Entry{Kind: Released})
		}
		return
	}
	b := d.boards[a.Board].Board
	for _, c := range b.ByRun(strings.ToLower(a.Run)) {
		card := &Card{Board: a.Board, Line: c.Line, Key: c.Key, Title: c.Title, Lines: slices.Concat(c.Lines, board.Added(r.Wrote, c.Status.Lines))}
		if lane := b.LaneOf(c); lane != nil {
			card.Lane = lane.Title
		}
		d.entry(a.Run, Entry{Kind: Shown, Board: a.Board, Card: card})
	}
}

func (d *desk) takeBack(a Action) {
	d.t.Helper()
	r := d.runs[a.Run]
	over := Entry{Kind: Released}
	if r.Life > 0 {
		over = Entry{Kind: Ended, Reason: "not granted any more"}
	} else if a.Board != "" {
		up := board.Update{Run: strings.ToLower(r.ID), Key: a.Key, ToLane: r.Card.Lane, Remove: true, Wrote: r.Wrote}
		d.write(a.Board, func(b *board.Board) ([]byte, error) { return b.Update(up) })
	}
	d.entry(a.Run, over)
}

// run is the only run, or the newest.
func (d *desk) run() *Run {
	d.t.Helper()
	ids := slices.Sorted(maps.Keys(d.runs))
	if len(ids) == 0 {
		d.t.Fatalf("there is no run; held: %v\n%s", d.reasons(), d.text("Shop.md"))
	}
	return d.runs[ids[len(ids)-1]]
}

// finish ends the turn of the newest run, and its process.
func (d *desk) finish(outcome, text string) {
	d.t.Helper()
	id := d.run().ID
	cost := 0.03
	d.entry(id, Entry{Kind: Finished, Outcome: outcome, Text: text, Reason: map[string]string{Failed: "exit 1"}[outcome], Cost: &cost})
	d.entry(id, Entry{Kind: Ended})
}

// working brings the first card to an agent and checks that it is there.
func (d *desk) working() {
	d.t.Helper()
	if did := d.settle(); !slices.Equal(did, []Do{DoClaim, DoShow, DoStart}) {
		d.t.Fatalf("did %v, want claim, show, start; %v\n%s", did, d.reasons(), d.text("Shop.md"))
	}
}

// reasons are all reasons of the cards that ask, at the last look.
func (d *desk) reasons() []string {
	var out []string
	for _, v := range d.last.Cards {
		for _, r := range v.Rules {
			if !r.OK {
				out = append(out, v.Card.Title+": "+r.Why.Text)
			}
		}
	}
	return out
}

func (d *desk) notes() string {
	var out []string
	for _, n := range d.last.Notes {
		out = append(out, n.Text)
	}
	return strings.Join(out, "\n")
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func contains(t *testing.T, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s: %q lacks %q", what, got, want)
	}
}
