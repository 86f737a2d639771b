package dispatch

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"deckhand/board"
	"deckhand/internal/markdown"
)

// Offer is what a person can tick and write about one run. Its id is made at
// random, logged before it is shown, and never used again: merges and old copies
// carry ticks to places nobody saw, and a tick counts only while its id is open.
//
//	offer = { question } { "- [ ] " text " ^" id "-" n | "- why:" | "- reply:" }
type Offer struct {
	ID       string
	Ask      string   // of an ask; empty: of a run that is over
	Question []string // what is asked, as it is
	Choices  []Choice
	Field    string // why or reply; empty: there is nothing to write
	First    bool   // the field stands before the choices
	Chat     bool   // it is the send box of the chat: what it does depends on how the run stands
}

// Choice is one box.
type Choice struct {
	Text  string
	Does  Does
	Value string // pick: the option
}

// Does is what a ticked box does.
type Does string

// What boxes do.
const (
	DoesAllow  Does = "allow"
	DoesDeny   Does = "deny"
	DoesPick   Does = "pick"
	DoesSend   Does = "send"
	DoesGoOn   Does = "go_on"
	DoesStop   Does = "stop"
	DoesAccept Does = "accept"
	DoesReturn Does = "send_back"
)

// OfferOf is the offer of an ask; without an id nothing can be ticked.
func OfferOf(a Ask) Offer {
	o := Offer{ID: a.Offer, Ask: a.ID, Question: question(a)}
	switch a.Kind {
	case "confirm":
		o.Choices, o.Field = []Choice{{Text: allowOnce, Does: DoesAllow}, {Text: deny, Does: DoesDeny}}, "why"
	case "select":
		for _, option := range a.Options {
			o.Choices = append(o.Choices, Choice{Text: option, Does: DoesPick, Value: option})
		}
	default:
		o.Choices, o.Field, o.First = []Choice{{Text: "send", Does: DoesSend}}, "reply", true
	}
	return o
}

// OfferOver is the offer of a run that is over: how it goes on.
func OfferOver(r *Run) Offer {
	o := Offer{ID: r.Offer}
	goOn := Choice{Text: "go on", Does: DoesGoOn}
	switch r.Outcome {
	case Review:
		o.Choices = []Choice{{Text: "Accept", Does: DoesAccept}, {Text: "Send back", Does: DoesReturn}}
		o.Field = "reply"
	case Broken:
		o.Choices = []Choice{goOn, {Text: "stop", Does: DoesStop}}
	case Failed, Stopped:
		o.Choices = []Choice{goOn}
	}
	return o
}

// Offers are those of a run that are open.
func (r *Run) Offers() []Offer {
	var out []Offer
	if r.Send != "" && r.Outcome != Accept {
		out = append(out, Offer{ID: r.Send, Chat: true, Choices: []Choice{{Text: "send", Does: DoesSend}}, Field: "the end of the chat"})
	}
	switch {
	case r.Phase == PhaseOver && r.Offer != "":
		out = append(out, OfferOver(r))
	case r.Phase == PhaseWaiting:
		for _, a := range r.Asks {
			if a.Offer != "" {
				out = append(out, OfferOf(a))
			}
		}
	}
	return out
}

// id is that of choice i.
func (o Offer) id(i int) string { return fmt.Sprintf("%s-%d", o.ID, i+1) }

// Boxes are the choices as they stand in a file, with their ids.
func (o Offer) Boxes() []board.Box {
	var out []board.Box
	for i, c := range o.Choices {
		out = append(out, board.Box{Text: boxText(c.Text), ID: o.id(i)})
	}
	return out
}

// Lines are the boxes and the field, as they stand in a file.
func (o Offer) Lines() []string {
	lines := make([]string, 0, len(o.Choices)+1)
	field := func(now bool) {
		if o.Field != "" && now {
			lines = append(lines, "- "+o.Field+":")
		}
	}
	field(o.First)
	for _, box := range o.Boxes() {
		lines = append(lines, "- [ ] "+box.Text+" ^"+box.ID)
	}
	field(!o.First)
	return lines
}

// boxText is an option's text as it may stand behind a box.
func boxText(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(c rune) rune {
		if markdown.Hidden(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "\ufffd"))), " ")
	if utf8.RuneCountInString(s) > shownWhole {
		s = string([]rune(s)[:shownWhole-1]) + "…"
	}
	return markdown.EscapeStart(markdown.Escape(s))
}

// shownWhole is how long a line may be that a card shows whole, in characters.
const shownWhole = 200

// whole reports whether a card shows a text as it is: one line, not long, and
// nothing that hides or turns around.
func whole(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= shownWhole &&
		strings.IndexFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) < 0
}

// question are the lines that are asked.
func question(a Ask) []string {
	out := lines(a.Title)
	if a.Kind != "question" {
		out = append(out, lines(a.Message)...)
	}
	return out
}

// cardBoxes are the lines below an ask on its card. Where a click could tick
// another box than the one that is clicked, or what is allowed is not shown as
// it is, the answer is given elsewhere.
func cardBoxes(r *Run, set *Settings, b *board.Board, c *board.Card) []string {
	a := r.Asks[0]
	o := OfferOf(a)
	switch {
	case set.Terminal && permission(a):
		return []string{"- Answer with `deckhand answer " + short(r) + "`."}
	case o.ID == "" || !b.Clickable(c) || !legible(o, a):
		return []string{"- Answer in the chat."}
	}
	return o.Lines()
}

// Permission reports whether an offer is about leave to do something.
func (o Offer) Permission() bool {
	return len(o.Choices) > 0 && o.Choices[0].Does != DoesSend && o.Ask != ""
}

// permission reports whether an ask is for leave to do something.
func permission(a Ask) bool { return a.Kind == "confirm" || a.Kind == "select" }

// legible reports whether a card shows all of an ask that its answer depends on.
func legible(o Offer, a Ask) bool {
	if !permission(a) {
		return true
	}
	if !whole(a.Title) || !whole(a.Message) {
		return false
	}
	for _, c := range o.Choices {
		if !whole(c.Text) || strings.TrimSpace(c.Text) == "" {
			return false
		}
	}
	return true
}
