package dispatch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deckhand/board"
)

// Made is what a person made of an offer in a file.
type Made struct {
	Offer   string
	Ticked  []int    // choices that are ticked, from 0
	Text    string   // what they wrote at the field and below it
	Took    []string // the lines it is written in, as they stand
	Changed bool     // what stands there is not what was asked: the tick belongs to something else
	By      string   // ByNote, ByChat, ByBoard
	Path    string
	Since   time.Time // it has stood so since
}

// Print tells two states of an offer apart.
func (s Made) Print() string { return fmt.Sprintf("%s %v %t %q", s.Offer, s.Ticked, s.Changed, s.Text) }

// CutOffer parts the id of a box into that of its offer and the choice, from 0;
// the choice is -1 where it is none of ours.
func CutOffer(id string) (offer string, choice int) {
	offer, n, ok := strings.Cut(id, "-")
	if !ok || len(n) < 1 || len(n) > 3 {
		return offer, -1
	}
	for _, c := range n {
		if c < '0' || c > '9' {
			return offer, -1
		}
		choice = choice*10 + int(c-'0')
	}
	return offer, choice - 1
}

// onCard reads what a person made of the offer on a card, if they ticked any of
// it. The lines of the item that deckhand wrote are the question; the person's
// that were not there when it was asked are the text.
func onCard(r *Run, o Offer, c *board.Card) (Made, bool) {
	s := Made{Offer: o.ID, By: ByBoard}
	for _, line := range c.Status.Lines {
		box, ok := board.ReadBox(line)
		if !ok {
			continue
		}
		offer, choice := CutOffer(box.ID)
		if offer != o.ID || choice < 0 || choice >= len(o.Choices) {
			continue
		}
		if box.Ticked {
			s.Ticked = append(s.Ticked, choice)
		}
	}
	if len(s.Ticked) == 0 {
		return s, false
	}
	s.Took = board.Added(r.Lines, board.Added(r.Wrote, c.Status.Lines))
	s.Text = written(s.Took)
	for _, line := range board.Added(c.Status.Lines, r.Want.Lines[1:]) {
		if _, _, field := board.ReadField(line); !field {
			s.Changed = true
		}
	}
	return s, true
}

// written is what a person wrote at a field and below it.
func written(lines []string) string {
	var out []string
	for _, line := range lines {
		if _, said, ok := board.ReadField(line); ok {
			line = said
		}
		out = append(out, strings.TrimRight(line, " \t\r"))
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// choice is the box that counts; why says why none does, when one is ticked.
func (o Offer) choice(s Made) (c Choice, why string) {
	switch {
	case len(s.Ticked) == 0:
		return c, ""
	case len(s.Ticked) > 1:
		return c, "two boxes are ticked: leave one"
	case s.Changed:
		return c, "what is asked was changed: nothing is answered by that box"
	}
	c = o.Choices[s.Ticked[0]]
	if (c.Does == DoesSend || c.Does == DoesReturn) && strings.TrimSpace(s.Text) == "" {
		return c, "nothing is written at " + o.Field
	}
	return c, ""
}

// answer is what a choice answers to an ask.
func (c Choice) answer(text string) *Answer {
	yes := c.Does == DoesAllow
	switch c.Does {
	case DoesAllow, DoesDeny:
		return &Answer{Confirmed: &yes, Note: cutRunes(text, noteMax)}
	case DoesPick:
		return &Answer{Value: &c.Value}
	case DoesSend:
		return &Answer{Value: &text}
	}
	return nil
}

// noteMax is how long a reason may be, in characters.
const noteMax = 2000

func cutRunes(s string, n int) string {
	if rs := []rune(s); len(rs) > n {
		return string(rs[:n])
	}
	return s
}

// said looks at what people made of the run's offers, and reports whether
// something follows. Who settled first is asked first.
func (k *keep) said(r *Run, st standing, sight *RunSight) bool {
	if k.approved(r) {
		return true
	}
	if k.unread(r) || k.decided(r) {
		return true
	}
	for _, o := range r.Offers() {
		all := k.made(r, o, st, sight)
		slices.SortStableFunc(all, func(a, b Made) int { return a.Since.Compare(b.Since) })
		for _, s := range all {
			c, why := o.choice(s)
			if len(s.Ticked) > 0 && k.w.Set.Terminal && o.Permission() {
				why = "a box answers nothing: answers: terminal leaves this to the pane and to deckhand answer " + short(r)
			}
			switch {
			case why != "":
				k.along(r, why+where(s))
			case c.Does == "":
			case !k.w.Set.Once && !k.due(s.Since.Add(k.w.Set.Settle)):
			case k.follows(r, o, c, s):
				return true
			}
		}
	}
	return false
}

func where(s Made) string {
	if s.Path == "" {
		return ""
	}
	return " (" + s.Path + ")"
}

// made are all places where a person may have ticked something of an offer.
func (k *keep) made(r *Run, o Offer, st standing, sight *RunSight) []Made {
	var all []Made
	if len(st.places) == 1 && st.places[0].item && r.InSync && len(r.Want.Lines) > 0 {
		p := st.places[0]
		s, ok := onCard(r, o, p.card)
		switch {
		case ok && k.stands(r, p):
			if print := s.Print(); sight.Made != print {
				sight.Made, sight.MadeAt = print, Recent(p.seen.Changed, k.w.Now)
			}
			s.Since, s.Path = sight.MadeAt, p.seen.Board.Path
			all = append(all, s)
		case strings.HasPrefix(sight.Made, o.ID+" "):
			sight.Made, sight.MadeAt = "", time.Time{} // it was taken back
		}
	}
	for _, s := range k.w.Made {
		if s.Offer == o.ID {
			all = append(all, s)
		}
	}
	return all
}

// stands reports whether the boxes on a card are still to be relied on: what
// else stands on it may have changed since they were written.
func (k *keep) stands(r *Run, p place) bool {
	return r.Phase != PhaseWaiting || p.seen.Board.Clickable(p.card)
}

// follows asks for what a ticked box does.
func (k *keep) follows(r *Run, o Offer, c Choice, s Made) bool {
	a := Action{Run: r.ID, By: s.By, Offer: o.ID, Ask: o.Ask, Took: s.Took}
	if o.Field == "" {
		a.Took = nil
	}
	if o.Chat {
		return k.sent(r, s, a)
	}
	switch c.Does {
	case DoesAllow, DoesDeny, DoesPick, DoesSend:
		a.Do, a.Answer = DoAnswer, c.answer(s.Text)
	case DoesAccept:
		a.Do = DoAccept
	case DoesStop:
		a.Do, a.Reason = DoStop, "by a box"
	case DoesGoOn, DoesReturn:
		return k.goOn(r, replied(c, s), a)
	default:
		return false
	}
	k.do(a)
	return true
}

// unread lets a run that was done go on with what its agent had not read, and any
// run with a reply that had to wait. Else a person says that it goes on; why they
// answered as they did is nothing that an agent is to do.
func (k *keep) unread(r *Run) bool {
	late := texts(r.Late)
	if r.Phase != PhaseOver || len(late) == 0 || r.Outcome == Accept {
		return false
	}
	by, wanted := ByLate, r.Outcome == Review && slices.ContainsFunc(r.Late, Owed.said)
	if slices.ContainsFunc(r.Late, func(o Owed) bool { return o.Reply }) {
		by, wanted = r.Last().By, true
	}
	if wanted && k.goOn(r, nil, Action{Run: r.ID, By: by}) {
		return true
	}
	if !wanted && r.Outcome != Stopped {
		k.along(r, "its agent did not read this in time, and goes on with it: "+boxText(late[0]))
	}
	return false
}

// replied is what goes along with a box that lets a run go on.
func replied(c Choice, s Made) []string {
	if c.Does == DoesReturn {
		return []string{s.Text}
	}
	return nil
}

// goOn lets a run that is over go on, when it may and its folder is free; a box
// that is ticked before waits. What came too late for its last turn goes first.
func (k *keep) goOn(r *Run, text []string, a Action) bool {
	st := k.find.run(r)
	switch {
	case len(st.places) != 1 || !st.places[0].item:
		k.along(r, "it cannot go on: its card is on no board that can be read")
		return false
	case !granted(&k.w.Set, r):
		k.along(r, "it cannot go on: what it was granted is not any more")
		return false
	}
	if why := k.crowded(r); why != "" {
		k.along(r, "it goes on when there is room: "+why)
		return false
	}
	a.Do, a.Lines = DoResume, slices.Concat(r.Unsaid(), added(r, st.places[0].card), text)
	k.do(a)
	return true
}

// crowded says what keeps a run that may go on waiting: others at work, and
// those that are about to be.
func (k *keep) crowded(r *Run) string {
	n := 0
	for _, o := range k.w.Runs {
		if o == r || !o.Live() && !k.resumed(o) {
			continue
		}
		if n++; nested(o.Folder, r.Folder) {
			return fmt.Sprintf("%q is %s in its folder", o.Card.Title, o.Status())
		}
	}
	if most := k.w.Set.MaxRunning; most > 0 && n >= most {
		return fmt.Sprintf("max_running is %d", most)
	}
	return ""
}

func (k *keep) resumed(r *Run) bool {
	return slices.ContainsFunc(k.d.Actions, func(a Action) bool { return a.Do == DoResume && a.Run == r.ID })
}

// Recent is when something came that is seen now: with the change of its file,
// if that was a moment ago.
func Recent(changed, now time.Time) time.Time {
	if !changed.After(now) && now.Sub(changed) < late {
		return changed
	}
	return now
}

// along says something of a run beside what it wants of a person.
func (k *keep) along(r *Run, text string) {
	k.d.Notes = append(k.d.Notes, Note{Run: r.ID, Text: text, Along: true})
}

// sent is what a person wrote at the end of the chat: an answer while the run
// asks for a text, steering while it works, and a reply when it is over.
func (k *keep) sent(r *Run, s Made, a Action) bool {
	switch r.Phase {
	case PhaseWorking, PhaseWaiting:
		a.Do, a.Text = DoSteer, s.Text
		for _, ask := range r.Asks {
			if !permission(ask) {
				a.Do, a.Text, a.Ask, a.Answer = DoAnswer, "", ask.ID, &Answer{Value: &s.Text}
				break
			}
		}
		k.do(a)
		return true
	case PhaseOver:
		return k.goOn(r, []string{s.Text}, a)
	}
	return false // it is about to be one of them
}
