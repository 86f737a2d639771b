package dispatch

import "deckhand/board"

// Reconcile compares what is with what should be.
func Reconcile(w World) Decision {
	mem := w.Memory.look(&w)
	d := Decision{Memory: mem}
	find := newFinder(&w)
	open(&w, &d)
	newKeep(&w, find, &d).runs()
	judge := newJudge(&w, find, d.Memory)
	for i := range w.Boards {
		seen := &w.Boards[i]
		if w.Set.AddLanes && w.Set.Held.Text == "" && wantsLanes(seen) {
			d.Actions = append(d.Actions, Action{Do: DoAddLanes, Board: seen.Board.Path})
		}
		for lane, card := range seen.Board.All() {
			if lane.Role != board.Ready || !card.Open() || claimed(judge, card) {
				continue
			}
			if v := judge.card(seen, lane, card); v.Asks {
				d.Cards = append(d.Cards, v)
			}
		}
	}
	pull := newPull(&w, find)
	pull.take(d.Cards)
	d.Actions = append(d.Actions, pull.claims...)
	for _, v := range d.Cards {
		d.settle(v, &w)
	}
	return d
}

// Judge says of one card what every rule says, whether it asks for an agent or not.
func Judge(w World, path string, line int) (Verdict, bool) {
	mem := w.Memory.look(&w)
	find := newFinder(&w)
	j := newJudge(&w, find, mem)
	for i := range w.Boards {
		seen := &w.Boards[i]
		if seen.Board.Path != path {
			continue
		}
		for lane, card := range seen.Board.All() {
			if card.Line != line {
				continue
			}
			v := j.card(seen, lane, card)
			folder := w.Set.Projects[projectOf(card, seen.Board, &w)].Folder
			v.Rules = append(v.Rules, newPull(&w, find).limits(&v, folder)...)
			return v, true
		}
	}
	return Verdict{}, false
}

// open ends the pause after a start: sync catches up, so nothing starts until
// every board was quiet for settle.
func open(w *World, d *Decision) {
	if d.Memory.Open {
		return
	}
	quiet := w.Now
	for _, s := range w.Boards {
		if at := s.Changed.Add(w.Set.Settle); at.After(quiet) {
			quiet = at
		}
	}
	if !quiet.After(w.Now) {
		d.Memory.Open = true
		return
	}
	d.wake(quiet)
}

func wantsLanes(s *Seen) bool {
	if s.Gone != "" || s.Board.Inactive != "" || len(s.Board.Missing()) == 0 {
		return false
	}
	for lane, c := range s.Board.All() {
		if lane.Role == board.Ready && c.Open() && len(c.Agents) > 0 {
			return true
		}
	}
	return false
}

// claimed reports whether the card belongs to a run that is not over.
func claimed(j *judge, c *board.Card) bool {
	r := j.runs[runOf(c)]
	return r != nil && r.Live()
}

func (d *Decision) settle(v Verdict, w *World) {
	for _, r := range v.Rules {
		if !r.OK && r.Name == "nobody is typing" {
			d.wake(d.Memory.Cards[CardID{v.Board.Path, v.Card.Key}].settled(w.Set))
		}
	}
}
