package dispatch

import (
	"slices"
	"testing"
)

// Every row of the recovery table: the log's last, the disk, the claim.
func TestRecover(t *testing.T) {
	claim := []Entry{{Kind: Claimed, Card: &Card{Board: "Shop.md", Key: "Card @pi"}}}
	after := func(more ...Entry) []Entry { return slices.Concat(claim, more) }
	started := Entry{Kind: Started, Life: 1}
	finished := Entry{Kind: Finished, Outcome: Review}
	over := []Entry{started, finished, {Kind: Ended}}
	out := Life{N: 1, HasOut: true}
	for _, c := range []struct {
		name    string
		log     []Entry
		life    Life
		onBoard bool
		want    Step
	}{
		{"claimed, no life, claim not on the board", claim, Life{}, false, StepForget},
		{"claimed, nothing ran, claim not on the board", claim, Life{N: 1}, false, StepForget},
		{"claimed, no life, claimed", claim, Life{}, true, StepStart},
		{"claimed, nothing ran, claimed", claim, Life{N: 1}, true, StepStart},
		{"claimed, keeper at work", claim, Life{N: 1, HasOut: true, Held: true}, true, StepAttach},
		{"started, keeper at work", after(started), Life{N: 1, HasOut: true, Held: true}, true, StepAttach},
		{"started, keeper at work, card gone", after(started), Life{N: 1, HasOut: true, Held: true}, false, StepAttach},
		{"claimed, the capture is complete", claim, Life{N: 1, HasOut: true, Exit: true}, true, StepRead},
		{"started, the capture is complete", after(started), Life{N: 1, HasOut: true, Exit: true}, false, StepRead},
		{"claimed, keeper died", claim, out, true, StepInterrupt},
		{"started, keeper died", after(started), out, true, StepInterrupt},
		{"asked, keeper died", after(started, Entry{Kind: Asked, Ask: &Ask{ID: "1"}}), out, true, StepInterrupt},
		{"claimed, the keeper is starting", claim, Life{N: 1, Held: true}, true, StepWait},
		{"stop begun", after(started, Entry{Kind: Stopping}), Life{N: 1, HasOut: true, Held: true}, true, StepStop},
		{"stop begun, keeper died", after(started, Entry{Kind: Stopping}), out, true, StepInterrupt},
		{"asked", after(started, Entry{Kind: Asked, Ask: &Ask{ID: "1"}}), Life{N: 1, HasOut: true, Held: true}, true, StepAttach},
		{"finished, keeper at work", after(started, finished), Life{N: 1, HasOut: true, Held: true}, true, StepAttach},
		{"finished, capture complete", after(started, finished), Life{N: 1, HasOut: true, Exit: true}, true, StepRead},
		{"finished, keeper died: its turn was over", after(started, finished), out, true, StepRead},
		{"over", after(over...), Life{N: 1, HasOut: true, Exit: true}, true, StepNone},
		{"over, its keeper still there", after(over...), Life{N: 1, HasOut: true, Held: true}, true, StepAttach},
		{"started, its capture is gone", after(started), Life{}, true, StepInterrupt},
		{"released", after(Entry{Kind: Released}), Life{N: 1}, true, StepNone},
		{"resumed, the new life not made", after(append(over, Entry{Kind: Resumed})...), Life{N: 1, HasOut: true, Exit: true}, true, StepStart},
		{"resumed, nothing ran", after(append(over, Entry{Kind: Resumed})...), Life{N: 2}, true, StepStart},
		{"resumed, card not on the board", after(append(over, Entry{Kind: Resumed})...), Life{N: 1, HasOut: true, Exit: true}, false, StepStart},
		{"resumed, keeper at work", after(append(over, Entry{Kind: Resumed})...), Life{N: 2, HasOut: true, Held: true}, true, StepAttach},
		{"resumed, keeper died", after(append(over, Entry{Kind: Resumed})...), Life{N: 2, HasOut: true}, true, StepInterrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, "step", Recover(Fold(c.log), c.life, c.onBoard), c.want)
		})
	}
}

// What the log says after a keeper died is the end the run had come to.
func TestInterruptedAtAnyMoment(t *testing.T) {
	claim := Entry{Kind: Claimed, Card: &Card{}}
	for _, c := range []struct {
		name string
		log  []Entry
		want string
	}{
		{"at work", []Entry{claim, {Kind: Started, Life: 1}}, Broken},
		{"before its start was logged", []Entry{claim}, Broken},
		{"turn over", []Entry{claim, {Kind: Started, Life: 1}, {Kind: Finished, Outcome: Review}}, Review},
		{"being stopped", []Entry{claim, {Kind: Started, Life: 1}, {Kind: Stopping, By: "command"}}, Stopped},
		{"being stopped for its length", []Entry{claim, {Kind: Started, Life: 1}, {Kind: Stopping, By: "limit"}}, Failed},
		{"over", []Entry{claim, {Kind: Started, Life: 1}, {Kind: Ended}}, Failed},
	} {
		r := Fold(append(c.log, Entry{Kind: Interrupted}))
		same(t, c.name, string(r.Phase)+" "+r.Outcome, "over "+c.want)
	}
}

// Case 39: after a restart what is finished stays, and what worked goes on; the
// boards are compared with the logs and not read as the truth.
func TestRestart(t *testing.T) {
	d := oneBoard(t, lanes("Plan: Finished @pi | Was running @pi"))
	d.working()
	d.finish(Review, "done")
	d.settle()
	same(t, "works", d.stands("Shop.md", "Was running"), "In Progress works")
	was := d.text("Shop.md")
	d.mem = Memory{}
	for id, log := range d.log {
		d.runs[id] = Fold(log)
	}
	equal(t, "did", d.later(30*60e9), nil)
	same(t, "board", d.text("Shop.md"), was)
	d.entry(d.run().ID, Entry{Kind: Interrupted, Reason: "its keeper was killed"})
	equal(t, "said", d.settle(), []Do{DoShow})
	same(t, "stands", d.stands("Shop.md", "Was running"), "In Progress interrupted")
	equal(t, "and nothing more by itself", d.later(24*60*60e9), nil)
}
