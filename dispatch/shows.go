package dispatch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"deckhand/board"
)

// shows is the status item of a run and the role of the lane its card, which is
// c on b, goes to.
func shows(r *Run, set *Settings, b *board.Board, c *board.Card) (item board.Item, to string) {
	item = board.Item{
		Run: strings.ToLower(r.ID), Agent: r.Agent, Word: r.Word(), Text: set.Text,
		Link: Link(b.Path, r.Chat, "chat", set.Wiki),
	}
	role := board.NoRole
	switch item.Word {
	case "works":
		role, item.Boxes = board.Working, slices.Concat(last(r), renoted(r))
	case "asks":
		role = board.Working
		waits(&item, r, set, b, c)
	case Review:
		item.Details, item.Said, role = figures(r), lines(r.Answer), board.Review
		item.Boxes = append(append(last(r), made(r, set, b)...), "- reply:")
	case Accept:
		item.Details = append([]string{r.Ended.Format("2 Jan")}, figures(r)[1:]...)
		if !byCard(r.By) {
			role = board.Done
		}
	case Failed, Stopped, Broken:
		item.Details = []string{r.Reason}
		item.Boxes = overBoxes(r, b, c)
		if item.Word == Failed || item.Word == Stopped && !byCard(r.By) {
			role = board.Review
		}
	}
	if role == board.NoRole || b.Lane(role) == nil {
		return item, "" // a board that a person moved the card to need not have such a lane
	}
	return item, role.String()
}

// waits is what a run that waits for a person shows: its first question, or else
// its proposal.
func waits(item *board.Item, r *Run, set *Settings, b *board.Board, c *board.Card) {
	if len(r.Asks) > 0 {
		item.Details, item.Said = []string{r.Asks[0].Since.Format("15:04")}, question(r.Asks[0])
		item.Boxes = cardBoxes(r, set, b, c)
		if n := len(r.Asks); n > 1 {
			item.Details = append(item.Details, strconv.Itoa(n)+" questions")
		}
		return
	}
	i := slices.IndexFunc(r.Proposals, r.pending)
	if i < 0 {
		return
	}
	p := &r.Proposals[i]
	item.Details, item.Said = []string{p.Since.Format("15:04")}, append([]string{p.Asks()}, lines(p.Reason)...)
	if p.Fate != FateOpen {
		item.Boxes = []string{"- It is being carried out."}
		return
	}
	item.Boxes = []string{"- Decide in the " + Link(b.Path, p.Path, "proposal", set.Wiki) + " or with `deckhand apply " + p.Offer + "`."}
}

// made are the changes that were proposed at the end of the last turn. The line
// says no more than where they are: it is true before and after the decision.
func made(r *Run, set *Settings, b *board.Board) []string {
	for _, p := range r.Proposals {
		if p.Late && p.Life == r.Life {
			return []string{fmt.Sprintf("- %d changed in its copy of the notes: %s", len(p.Changes), Link(b.Path, p.Path, "proposal", set.Wiki))}
		}
	}
	return nil
}

// byCard reports whether a person did something with the card itself, or it is
// not known that they did it otherwise: it stays where it is then.
func byCard(by string) bool {
	switch by {
	case ByMoved, ByTicked, ByArchived, byGone, "":
		return true
	}
	return false
}

// overBoxes are the lines below a run that stopped short.
func overBoxes(r *Run, b *board.Board, c *board.Card) []string {
	out := []string{"- `deckhand retry " + short(r) + "` goes on in its session"}
	if o := OfferOver(r); o.ID != "" && b.Clickable(c) {
		out = append(out, o.Lines()...)
	}
	return out
}

// renoted is the line about notes that are not what the agent was given.
func renoted(r *Run) []string {
	if len(r.Renoted) == 0 {
		return nil
	}
	return []string{"- not as it was told: " + boxText(strings.Join(r.Renoted, ", ")) + " · `deckhand steer " + short(r) + " --notes` tells it"}
}

// last is the line about what a person said last.
func last(r *Run) []string {
	told := r.Last()
	if told == nil {
		return nil
	}
	return []string{"- " + boxText(told.What) + " · " + told.By + " · " + told.At.Format("15:04")}
}

// short is a run's id as it is typed.
func short(r *Run) string { return strings.ToLower(r.ID) }

func lines(text string) []string {
	var out []string
	for l := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if strings.TrimSpace(l) != "" {
			out = append(out, l)
		}
	}
	return out
}

func figures(r *Run) []string {
	out := []string{Short(r.Ended.Sub(r.Turn))}
	if r.Cost != nil {
		out = append(out, Money(*r.Cost))
	}
	return out
}

// Money is a cost for people: $0.03, and $0.0004 where two digits say nothing.
func Money(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// Short is a duration for people: 7s, 4m12s, 1h03m.
func Short(d time.Duration) string {
	d = d.Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0 && m == 0:
		return fmt.Sprintf("%dh", h)
	case h > 0:
		return fmt.Sprintf("%dh%02dm", h, m)
	case m > 0 && s == 0:
		return fmt.Sprintf("%dm", m)
	case m > 0:
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%ds", s)
}
