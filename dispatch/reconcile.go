package dispatch

import (
	"slices"

	"deckhand/board"
)

// Reconcile compares what is with what should be.
func Reconcile(w World) Decision {
	d, _ := decide(&w, nil)
	return d
}

// Judge says of one card what every rule says, whether it asks for an agent or not.
func Judge(w World, path string, line int) (Verdict, bool) {
	for i := range w.Boards {
		if w.Boards[i].Board.Path != path {
			continue
		}
		for lane, card := range w.Boards[i].Board.All() {
			if card.Line == line {
				return judged(&w, &w.Boards[i], spot{lane, card}), true
			}
		}
	}
	return Verdict{}, false
}

func judged(w *World, seen *Seen, s spot) Verdict {
	d, k := decide(w, s.card)
	for _, v := range d.Cards {
		if v.Card == s.card {
			return v
		}
	}
	v := k.judge.card(seen, s.lane, s.card)
	newPull(w, k.where).limits(&v)
	return v
}

// decide is one Reconcile; of the card whole, every rule is kept.
func decide(w *World, whole *board.Card) (Decision, *keep) {
	d := Decision{Memory: w.Memory.look(w)}
	open(w, &d)
	find := newFinder(w, d.Memory)
	k := &keep{
		w: w, find: find, d: &d, judge: &judge{w: w, find: find, mem: &d.Memory, whole: whole},
		at: map[*board.Card]*Run{}, where: map[string]string{},
	}
	k.runs()
	for i := range w.Boards {
		k.asking(&w.Boards[i])
	}
	pull := newPull(w, k.where)
	pull.take(d.Cards)
	d.Actions = append(d.Actions, pull.claims...)
	for i := range d.Cards {
		d.waits(&d.Cards[i], w)
	}
	return d, k
}

// asking judges the cards of a board that ask for an agent: those in ready
// lanes that no run has, and those of stopped runs that are back at work. Where
// something is wrong with the board itself, the first stands for them all.
func (k *keep) asking(seen *Seen) {
	spots := k.find.index(seen).asks
	asked := slices.ContainsFunc(spots, func(s spot) bool { return len(s.card.Agents) > 0 })
	if k.w.Set.AddLanes && k.w.Set.Held.Text == "" && asked && seen.blind() == "" && seen.Board.Problem == "" && len(seen.Board.Missing()) > 0 {
		k.do(Action{Do: DoAddLanes, Board: seen.Board.Path})
	}
	fault, first := seen.fault() != "", -1
	for _, s := range spots {
		switch {
		case k.at[s.card] != nil:
		case fault && first >= 0: // it has the same reason, and it is the board's
			if len(s.card.Agents) > 0 {
				k.d.Cards[first].More++
			}
		default:
			first = len(k.d.Cards)
			k.d.Cards = append(k.d.Cards, k.judge.card(seen, s.lane, s.card))
		}
	}
	for _, p := range k.back {
		if p.seen == seen {
			k.d.Cards = append(k.d.Cards, k.judge.card(seen, p.lane, p.card))
		}
	}
}

// open ends the pause after a start: sync catches up, so nothing starts until
// every board was quiet for settle. A file from the future counts as changed
// at the start.
func open(w *World, d *Decision) {
	if d.Memory.Open {
		return
	}
	quiet := w.Now
	for i := range w.Boards {
		changed := w.Boards[i].Changed
		if changed.After(w.Now) {
			changed = d.Memory.Start
		}
		if at := changed.Add(w.Set.Settle); at.After(quiet) {
			quiet = at
		}
	}
	if quiet.After(w.Now) {
		d.wake(quiet)
		return
	}
	d.Memory.Open = true
}

// waits sees to it that a card is looked at again when its time has come.
func (d *Decision) waits(v *Verdict, w *World) {
	for _, r := range v.Rules {
		switch {
		case r.OK:
		case r.Name == ruleQuiet:
			d.wake(d.Memory.boards[v.Board.Path].cards[v.Card.Key].settled(&w.Set))
		case r.Name == ruleBudget:
			d.wake(midnight(w.Now, 1))
		}
	}
}
