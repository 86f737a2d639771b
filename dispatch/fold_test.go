package dispatch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func kinds() []Kind {
	return []Kind{
		Claimed, Released, Show, Shown, Started, Bound, Asked, AskGone, Finished, Stopping, Ended, Interrupted, Resumed, Accepted,
		Chat, Chatted, Said, "of a later version",
	}
}

func TestFold(t *testing.T) {
	at := func(s int) time.Time { return morning.Add(time.Duration(s) * time.Second) }
	card := &Card{Board: "Shop.md", Lane: "Plan", Key: "Card @pi", Title: "Card", Lines: []string{"note"}}
	cost := 0.5
	log := []Entry{
		{Kind: Said, Reason: "before the claim: not known yet"},
		{Kind: Claimed, Run: "R", Card: card, Agent: "pi", Project: "shop", Folder: "/p/shop", Nonce: "n", Chat: "c.md", Time: at(0)},
		{Kind: Show, Word: "works", To: "working", Lines: []string{"- pi works ^r-r"}, Time: at(1)},
		{Kind: Shown, Board: "Shop.md", Card: &Card{Lane: "In Progress", Key: "Card @pi", Lines: []string{"note"}}, Time: at(2)},
		{Kind: Started, Life: 1, Time: at(3)},
		{Kind: Bound, Session: "s"},
		{Kind: Chat, Life: 1, Seq: 4},
		{Kind: "of a later version", Word: "?", Lines: []string{"?"}, Outcome: "?"},
		{Kind: Chatted},
		{Kind: Asked, Ask: &Ask{ID: "1"}, Time: at(4)},
		{Kind: AskGone, Ask: &Ask{ID: "1"}, Time: at(5)},
		{Kind: Finished, Outcome: Review, Text: "done", Cost: &cost, Tokens: 7, Time: at(5)},
		{Kind: Ended, Time: at(6), ID: "9"},
	}
	r := Fold(log)
	want := &Run{
		ID: "R", Agent: "pi", Project: "shop", Folder: "/p/shop", Nonce: "n", Chat: "c.md", Card: *card, Phase: PhaseOver, Outcome: Review,
		Asks: nil, Life: 1, Session: "s", Answer: "done", Claimed: at(0), Turn: at(3), Waits: at(4), Waited: time.Second, Ended: at(5), Tokens: 7, Cost: &cost,
		Spends: []Spend{{at(5), 0.5}}, Want: Shows{"works", "working", []string{"- pi works ^r-r"}}, Wrote: []string{"- pi works ^r-r"},
		Board: "Shop.md", Lane: "In Progress", Key: "Card @pi", Shown: at(2), Lines: []string{"note"}, Tries: 1, InSync: true,
		LastID: "9", LastTime: at(6), ChatLife: 1, ChatSeq: 4, ChatFrom: -1,
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
	if Fold(log[:1]) != nil {
		t.Error("a log without a claim is a run")
	}
}

// Each kind in each phase leads to the phase it should.
func TestPhases(t *testing.T) {
	to := map[Phase][]Entry{
		PhaseClaimed:  {{Kind: Claimed}},
		PhaseWorking:  {{Kind: Claimed}, {Kind: Started, Life: 1}},
		PhaseWaiting:  {{Kind: Claimed}, {Kind: Started, Life: 1}, {Kind: Asked, Ask: &Ask{ID: "1"}}},
		PhaseStopping: {{Kind: Claimed}, {Kind: Started, Life: 1}, {Kind: Stopping, By: "command"}},
		PhaseEnding:   {{Kind: Claimed}, {Kind: Started, Life: 1}, {Kind: Finished, Outcome: Review}},
		PhaseOver:     {{Kind: Claimed}, {Kind: Started, Life: 1}, {Kind: Finished, Outcome: Review}, {Kind: Ended}},
		PhaseReleased: {{Kind: Claimed}, {Kind: Released}},
	}
	order := []Phase{PhaseClaimed, PhaseWorking, PhaseWaiting, PhaseStopping, PhaseEnding, PhaseOver, PhaseReleased}
	want := map[Kind][]Phase{
		Started:     {PhaseWorking, PhaseWorking, PhaseWaiting, PhaseStopping, PhaseEnding, PhaseOver, PhaseReleased},
		Asked:       {PhaseClaimed, PhaseWaiting, PhaseWaiting, PhaseStopping, PhaseEnding, PhaseOver, PhaseReleased},
		AskGone:     {PhaseClaimed, PhaseWorking, PhaseWorking, PhaseStopping, PhaseEnding, PhaseOver, PhaseReleased},
		Finished:    {PhaseEnding, PhaseEnding, PhaseEnding, PhaseStopping, PhaseEnding, PhaseOver, PhaseReleased},
		Stopping:    {PhaseStopping, PhaseStopping, PhaseStopping, PhaseStopping, PhaseStopping, PhaseOver, PhaseReleased},
		Ended:       {PhaseOver, PhaseOver, PhaseOver, PhaseOver, PhaseOver, PhaseOver, PhaseReleased},
		Interrupted: {PhaseOver, PhaseOver, PhaseOver, PhaseOver, PhaseOver, PhaseOver, PhaseReleased},
		Resumed:     {PhaseClaimed, PhaseClaimed, PhaseClaimed, PhaseClaimed, PhaseClaimed, PhaseClaimed, PhaseClaimed},
		Accepted:    order,
		Said:        order,
	}
	for kind, phases := range want {
		for i, from := range order {
			r := Fold(append(to[from][:len(to[from]):len(to[from])], Entry{Kind: kind, Life: 1, Ask: &Ask{ID: "1"}, Outcome: Review}))
			same(t, fmt.Sprintf("%s while %s", kind, from), r.Phase, phases[i])
			if len(r.Asks) > 0 && !r.Open() {
				t.Errorf("%s while %s: it still asks", kind, from)
			}
		}
	}
}

// A stop that comes while the agent is being started is not lost, in whatever
// order the two are written down.
func TestStopWhileItStarts(t *testing.T) {
	for name, log := range map[string][]Entry{
		"stopping, then started":        {{Kind: Claimed}, {Kind: Stopping, By: "command", Reason: "by command"}, {Kind: Started, Life: 1}},
		"stopping, ended, then started": {{Kind: Claimed}, {Kind: Stopping, By: "command", Reason: "by command"}, {Kind: Ended}, {Kind: Started, Life: 1}},
	} {
		r := Fold(log)
		same(t, name, r.Phase, PhaseStopping)
		r.Apply(Entry{Kind: Ended})
		same(t, name, r.Outcome+" "+r.Reason, "stopped by command")
	}
}

// A turn that goes on before its end was ever shown begins its tries anew.
func TestTriesOfAResumedTurn(t *testing.T) {
	works := Entry{Kind: Show, Word: "works", Lines: []string{"- pi works"}}
	r := Fold([]Entry{{Kind: Claimed}, works, {Kind: Shown}, works, {Kind: Shown}, {Kind: Started, Life: 1}, {Kind: Interrupted}})
	same(t, "tries", r.Tries, 2)
	r.Apply(Entry{Kind: Resumed})
	same(t, "tries", r.Tries, 0)
	same(t, "in sync", r.InSync, false)
}

func anyEntry(t *rapid.T) Entry {
	return Entry{
		Kind: rapid.SampledFrom(kinds()).Draw(t, "kind"), Life: rapid.IntRange(0, 3).Draw(t, "life"), Seq: rapid.Int64Range(0, 9).Draw(t, "seq"),
		Ask:     rapid.SampledFrom([]*Ask{nil, {ID: "1"}, {ID: "2", Timeout: time.Second}}).Draw(t, "ask"),
		Card:    rapid.SampledFrom([]*Card{nil, {Board: "Shop.md", Lane: "Plan", Key: "Card @pi", Title: "Card"}}).Draw(t, "card"),
		Outcome: rapid.SampledFrom([]string{"", Review, Failed}).Draw(t, "outcome"), By: rapid.SampledFrom([]string{"", "limit", ByMoved}).Draw(t, "by"),
		Word: rapid.SampledFrom([]string{"", "works", "asks", "review"}).Draw(t, "word"), Board: rapid.SampledFrom([]string{"", "Shop.md"}).Draw(t, "board"),
		Agent: "pi", Project: "shop", Folder: "/p/shop", Time: morning.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "s")) * time.Second), Run: "01RUN0001",
	}
}

// Whatever a log holds, folding it does not fail, is the same as adding its
// entries one by one, and gives a run that can be looked at.
func TestAnyLogCanBeFolded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := rapid.SliceOfN(rapid.Custom(anyEntry), 1, 20).Draw(t, "log")
		var step *Run
		for i, e := range log {
			whole := Fold(log[:i+1])
			if step == nil && e.Kind == Claimed {
				step = &Run{ID: e.Run}
			}
			if step != nil {
				step.Apply(e)
			}
			if !reflect.DeepEqual(whole, step) {
				t.Fatalf("whole %+v\nstep by step %+v", whole, step)
			}
			if whole == nil {
				continue
			}
			if whole.Phase == PhaseWaiting && len(whole.Asks) == 0 {
				t.Fatalf("it waits for nothing: %+v", whole)
			}
			d := newDesk(t)
			d.old("Shop.md", lanes("Plan: Card @pi"))
			d.runs[whole.ID] = whole
			d.look()
			Recover(whole, Life{N: 1, HasOut: i%2 == 0}, i%3 == 0)
		}
	})
}

// FuzzLog is the same for lines as they may stand on the disk.
func FuzzLog(f *testing.F) {
	for _, k := range kinds() {
		f.Add(fmt.Sprintf(`{"kind":"claimed","run":"R","card":{"board":"Shop.md","key":"Card @pi"}}|{"kind":%q,"ask":{"id":"1"},"card":null}`, k))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var log []Entry
		for i, line := range splitLines(text) {
			var e Entry
			if json.Unmarshal([]byte(line), &e) != nil {
				continue
			}
			log = append(log, e)
			if r := Fold(log); r != nil {
				d := oneBoard(t, lanes("Plan: Card @pi"))
				d.runs[r.ID] = r
				d.look()
				Recover(r, Life{N: i, HasOut: true}, false)
			}
		}
	})
}

func splitLines(text string) []string {
	var out []string
	last := 0
	for i := range text {
		if text[i] == '|' {
			out, last = append(out, text[last:i]), i+1
		}
	}
	return append(out, text[last:])
}

// What a person does while a card is being written is not what was shown: the
// lane and the lines are those of the announcement, and of the first of them.
func TestShownIsWhatWasMeant(t *testing.T) {
	review := func(lane string, lines ...string) []Entry {
		return []Entry{
			{Kind: Show, Word: Review, To: "review", Card: &Card{Lane: "Review", Lines: []string{"note"}}},
			{Kind: Shown, Card: &Card{Lane: lane, Key: "Card @pi", Lines: lines}},
		}
	}
	log := append([]Entry{{Kind: Claimed}}, review("Plan", "note", "and the sandbox key")...)
	again := append(log, Entry{Kind: Show, Word: Review, To: "review", Card: &Card{Lane: "Review", Lines: []string{"note", "and the sandbox key"}}},
		Entry{Kind: Shown, Card: &Card{Lane: "Review", Key: "Card @pi"}})
	for name, log := range map[string][]Entry{"once": log, "once more": again} {
		r := Fold(log)
		if r.Lane != "Review" || !slices.Equal(r.Lines, []string{"note"}) {
			t.Errorf("%s: shown in %s with %q, want what was announced first", name, r.Lane, r.Lines)
		}
	}
}
