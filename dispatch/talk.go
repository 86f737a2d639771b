package dispatch

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Where an answer, a stop or a reply can come from, beside what is named with
// ByMoved.
const (
	ByBoard = "board" // a box on the card
	ByNote  = "note"  // Needs me
	ByChat  = "chat"
	ByPage  = "page" // the page of a proposal
	// ByApproval is a permission that was given for more than once.
	ByApproval = "approval"
	// ByLate is what was said to an agent that did not read it in time.
	ByLate = "late"
)

// Answer is what a person answered to an ask: a value, or yes or no.
type Answer struct {
	Value     *string `json:"value,omitempty"`     // select: the option; input, editor, question: the text
	Confirmed *bool   `json:"confirmed,omitempty"` // confirm
	Note      string  `json:"note,omitempty"`      // why; the agent reads it too
	Scope     string  `json:"scope,omitempty"`     // how far it reaches; empty: once
}

// Words of a confirm.
const (
	allowOnce = "Allow once"
	deny      = "Deny"
)

// String is the answer for people.
func (a Answer) String() string {
	text := ""
	switch {
	case a.Confirmed != nil && *a.Confirmed:
		text = allowOnce
		if a.Scope != "" && a.Scope != "once" {
			text = "Allow (" + a.Scope + ")"
		}
	case a.Confirmed != nil:
		text = deny
	case a.Value != nil:
		text = *a.Value
	}
	if a.Note != "" {
		text += ": " + a.Note
	}
	return text
}

// Told is one thing that a person answered or said.
type Told struct {
	Ask   string // what it answers; empty: it answers nothing
	What  string
	By    string
	At    time.Time
	Entry string // the id of its entry
	Offer string // the one it used
	Life  int    // whose agent it is for
	Seq   int64  // what was heard of that agent before
	// Prompt: the agent gets it as the prompt of a life.
	Prompt bool
	Stop   bool // it ended the turn: the agent gets nothing
}

// HowReply is how something is said to an agent that is over: its run goes on
// with it as soon as it can.
const HowReply = "reply"

// Owed is something for the agent that is not known to be on its way. The row
// it becomes has an id of its own, so that it gets there once.
type Owed struct {
	Row    string
	Kind   string // answer, decide, prompt, steer, follow_up: what the agent's driver makes of it
	Ask    string
	Answer Answer
	Text   string
	Along  bool // it went along with an answer: it is owed no more
	Reply  bool // the run goes on with it, however it ended

	Ruling Ruling // decide
}

// Last is what a person said last in the turn at hand; nil: nothing.
func (r *Run) Last() *Told {
	for i := len(r.Told) - 1; i >= r.ToldBefore; i-- {
		if !r.Told[i].Stop {
			return &r.Told[i]
		}
	}
	return nil
}

// ToldOf is the answer that counted of an ask; nil: there is none.
func (r *Run) ToldOf(ask string) *Told {
	for i := len(r.Told) - 1; i >= 0; i-- {
		if ask != "" && r.Told[i].Ask == ask {
			return &r.Told[i]
		}
	}
	return nil
}

// AskByID is an open ask; nil: there is none.
func (r *Run) AskByID(id string) *Ask {
	i := slices.IndexFunc(r.Asks, func(a Ask) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return &r.Asks[i]
}

// applyTalk adds entries about what people say to agents.
func (r *Run) applyTalk(e Entry) {
	switch e.Kind {
	case Answered:
		r.answered(e)
	case Steered:
		r.steered(e)
	case Renoted:
		r.Renoted = e.Lines
	case Offered:
		r.offered(e)
	case Delivered:
		r.settle(e.Row)
	case Unread:
		r.settle(e.Row)
		r.unread(Owed{Row: e.Row, Text: e.Text})
	default:
		r.applyProposals(e)
	}
}

// steered is something that is said to an agent at work, or to one that is over
// and goes on with it.
func (r *Run) steered(e Entry) {
	r.take(e)
	o := Owed{Row: rowOf(e.ID), Kind: e.How, Text: e.Text}
	switch over := !r.Open() && r.Phase != PhaseReleased && r.Outcome != Accept; {
	case e.How == HowReply && over:
		o.Reply = true
		r.told(e, "", e.Text)
		r.unread(o)
	case e.How != HowReply && r.Live():
		r.told(e, "", e.Text)
		r.owe(o)
	}
}

// settle takes something off what the agent is owed.
func (r *Run) settle(row string) {
	r.Owed = slices.DeleteFunc(slices.Clone(r.Owed), func(o Owed) bool { return o.Row == row })
}

// unread keeps what the agent was to get and did not read.
func (r *Run) unread(o Owed) {
	if o.Text == "" || slices.ContainsFunc(r.Late, func(l Owed) bool { return l.Row == o.Row }) {
		return
	}
	r.Late = append(slices.Clone(r.Late), o)
}

// keepOwed keeps what the agent is still owed when it is gone.
func (r *Run) keepOwed() {
	for _, o := range r.Owed {
		r.unread(o)
	}
	r.Owed = nil
}

// Unsaid is what a person said that the agent has not read: the run goes on with
// that first.
func (r *Run) Unsaid() []string { return texts(slices.Concat(r.Late, r.Owed)) }

func wentAlong(late []Owed) []Owed {
	late = slices.Clone(late)
	for i := range late {
		late[i].Along = true
	}
	return late
}

func texts(owed []Owed) []string {
	var out []string
	for _, o := range owed {
		if o.Text != "" && !o.Along {
			out = append(out, o.Text)
		}
	}
	return out
}

// rowOf is the id of the row that what is said in an entry becomes.
func rowOf(entry string) string { return "say-" + entry }

// said reports whether it is something that a person said to the agent, and no
// reason of an answer.
func (o Owed) said() bool { return strings.HasPrefix(o.Row, rowOf("")) && !o.Along }

// RowOf is the id of the row by which an agent was told something while it
// worked; empty: it was told otherwise.
func (t Told) RowOf() string {
	if t.Prompt || t.Stop || t.Ask != "" {
		return ""
	}
	return rowOf(t.Entry)
}

// answered is the first answer to an ask that is open; later ones are none. A
// dialog is answered by its id, a question, whose turn is over, by the next
// prompt.
func (r *Run) answered(e Entry) {
	if e.Ask == nil || e.Answer == nil {
		return
	}
	ask := r.AskByID(e.Ask.ID)
	if ask == nil {
		return
	}
	o := Owed{Row: "answer-" + ask.ID, Kind: "answer", Ask: ask.ID, Answer: *e.Answer}
	if ask.Kind == "question" {
		o.Kind, o.Text = "prompt", strings.Join(append(texts(r.Late), *orEmpty(e.Answer.Value)), "\n\n")
		r.Late = wentAlong(r.Late)
	}
	r.told(e, ask.ID, e.Answer.String())
	r.owe(o)
	r.take(e)
	r.close(ask.ID, e.Time)
}

func orEmpty(s *string) *string {
	if s == nil {
		return new(string)
	}
	return s
}

func (r *Run) told(e Entry, ask, what string) {
	r.Told = append(slices.Clone(r.Told), Told{
		Ask: ask, What: what, By: e.By, At: e.Time, Entry: e.ID, Offer: e.Offer, Life: e.Life, Seq: e.Seq,
		Stop: e.Kind == Stopping, Prompt: e.Kind == Steered && e.How == HowReply,
	})
}

func (r *Run) owe(o Owed) { r.Owed = append(slices.Clone(r.Owed), o) }

// take notes what became of what a person wrote and ticked: their lines go, and
// a send box is used once.
func (r *Run) take(e Entry) {
	switch e.By {
	case ByBoard:
		r.Took = slices.Concat(r.Took, e.Took)
	case ByNote:
		r.TookNote = slices.Concat(r.TookNote, e.Took)
	}
	if e.Offer != "" && e.Offer == r.Send {
		sent := map[string]time.Time{e.Offer: e.Time}
		maps.Copy(sent, r.Sent)
		r.Send, r.Sent = "", sent
	}
}

// offered is a new send box in the chat.
func (r *Run) offered(e Entry) {
	if e.Offer != "" {
		r.Send = e.Offer
	}
}
