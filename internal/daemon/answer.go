package daemon

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"deckhand/dispatch"
	"deckhand/internal/control"
)

// doAnswer answers an ask. The first answer counts, wherever it came from.
func (d *daemon) doAnswer(c control.Command) (res control.Result, err error) {
	r, fault := d.run(c.Run)
	if fault != nil {
		return res, fault
	}
	if done, err := r.did(c.ID); done || err != nil {
		return control.Result{Text: "answered: " + r.Card.Title, Run: r.ID}, err
	}
	ask, err := askOfRun(r, c.Ask)
	if err != nil {
		return res, err
	}
	a, err := answerOf(*ask, c)
	if err != nil {
		return res, err
	}
	if a.Scope != "" && a.Scope != dispatch.ScopeOnce {
		if err := d.mayGrant(); err != nil {
			return res, err
		}
	}
	if !d.answer(r, *ask, a, dispatch.Entry{By: from(c), Command: c.ID}) {
		return res, unwritable()
	}
	return control.Result{Text: r.Card.Title + ": " + short(oneLine(a.String()), 200), Run: r.ID}, nil
}

// from is who sent a command.
func from(c control.Command) string {
	switch c.From {
	case "cli", "pane":
		return c.From
	}
	return "client"
}

// askOfRun is the ask that is meant: the one with this id, or the only one.
func askOfRun(r *run, id string) (*dispatch.Ask, error) {
	id = strings.TrimSpace(id)
	if told := r.ToldOf(id); told != nil && r.AskByID(id) == nil {
		return nil, refused(control.CodeConflict, "", "%s was answered already: %s, by the %s at %s",
			r.Card.Title, short(oneLine(told.What), 200), told.By, told.At.Local().Format("15:04"))
	}
	if id != "" {
		if ask := r.AskByID(id); ask != nil {
			return ask, nil
		}
		return nil, refused(control.CodeConflict, "", "run %s has no open question %s", r.ID, id)
	}
	switch len(r.Asks) {
	case 1:
		return &r.Asks[0], nil
	case 0:
		if told := r.Last(); told != nil && told.Ask != "" {
			return askOfRun(r, told.Ask)
		}
		return nil, refused(control.CodeConflict, "deckhand status", "%s asks nothing", r.Card.Title)
	}
	e := &control.Error{Text: fmt.Sprintf("%s asks %d questions: name one", r.Card.Title, len(r.Asks)), Hint: "--ask ID", Code: control.CodeUsage}
	for _, a := range r.Asks {
		e.Matches = append(e.Matches, a.ID+" "+oneLine(a.Title))
	}
	return nil, e
}

// answerOf is the answer that a command gives to an ask, when it is one.
func answerOf(ask dispatch.Ask, c control.Command) (a dispatch.Answer, err error) {
	if utf8.RuneCountInString(c.Note) > control.NoteMax {
		return a, refused(control.CodeUsage, "", "the note is longer than %d characters", control.NoteMax)
	}
	a.Note, a.Scope = strings.TrimSpace(c.Note), c.Scope
	if a.Scope != "" && !slices.Contains(dispatch.Scopes(ask), a.Scope) {
		return a, refused(control.CodeUsage, "", "an answer to it reaches no further than: %s", strings.Join(dispatch.Scopes(ask), ", "))
	}
	if c.Value == nil {
		return a, refused(control.CodeUsage, choices(ask), "an answer is missing")
	}
	switch ask.Kind {
	case "confirm":
		yes, ok := yesOrNo(*c.Value)
		if !ok {
			return a, refused(control.CodeUsage, choices(ask), "%q is neither allow nor deny", *c.Value)
		}
		if a.Confirmed = &yes; !yes {
			a.Scope = "" // a no is for this once
		}
		return a, nil
	case "select":
		option, ok := optionOf(ask.Options, *c.Value)
		if !ok {
			return a, refused(control.CodeUsage, choices(ask), "%q is not one of its options", *c.Value)
		}
		a.Value = &option
		return a, nil
	}
	if ask.Kind == "question" && strings.TrimSpace(*c.Value) == "" {
		return a, refused(control.CodeUsage, "", "the answer is empty")
	}
	a.Value = c.Value
	return a, nil
}

func yesOrNo(s string) (yes, ok bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case control.Allow, "yes", "y":
		return true, true
	case control.Deny, "no", "n":
		return false, true
	}
	return false, false
}

// optionOf is the option that is meant: by its text, or without regard to case
// when only one reads so.
func optionOf(options []string, s string) (string, bool) {
	if slices.Contains(options, s) {
		return s, true
	}
	var found []string
	for _, o := range options {
		if strings.EqualFold(strings.TrimSpace(o), strings.TrimSpace(s)) {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// choices says what can be answered.
func choices(ask dispatch.Ask) string {
	switch ask.Kind {
	case "confirm":
		return "allow or deny"
	case "select":
		return "one of: " + oneLine(strings.Join(ask.Options, " | "))
	}
	return "a text, or - to read it from the standard input"
}

// answer logs an answer and sends it.
func (d *daemon) answer(r *run, ask dispatch.Ask, a dispatch.Answer, e dispatch.Entry) bool {
	e.Kind, e.Ask, e.Answer = dispatch.Answered, &dispatch.Ask{ID: ask.ID, Kind: ask.Kind, Title: ask.Title}, &a
	p, wide := d.permission(r, ask, a, e.By)
	if wide = wide && e.Approval == ""; wide {
		if err := d.keepApprovals(append(slices.Clone(d.approvals.all), p)); err != nil {
			d.stall(err)
			return false
		}
		e.Approval = p.ID
	}
	if !d.log(r, e) {
		if wide {
			d.takeBackApproval(p.ID)
		}
		return false
	}
	if e.By == dispatch.ByApproval {
		d.usedApproval(e.Approval)
	}
	d.say("%s: @%s on %q is answered by the %s: %s", r.Board, r.Agent, r.Card.Title, e.By, short(oneLine(a.String()), 200))
	d.deliver(r)
	return true
}

// doEndAsk ends a run in place of an answer.
func (d *daemon) doEndAsk(c control.Command) (res control.Result, err error) {
	r, fault := d.run(c.Run)
	if fault != nil {
		return res, fault
	}
	if done, err := r.did(c.ID); !done && err == nil {
		if _, err := askOfRun(r, c.Ask); err != nil {
			return res, err
		}
	}
	c.Text = "its question was ended without an answer"
	return d.doStop(c)
}

// doSteer says something to an agent at work.
func (d *daemon) doSteer(c control.Command, done reply) {
	r, fault := d.run(c.Run)
	if fault != nil {
		done(control.Result{}, fault)
		return
	}
	res := control.Result{Text: "told @" + r.Agent + " on " + r.Card.Title, Run: r.ID}
	did, err := r.did(c.ID)
	if err == nil && !did {
		err = maySay(r)
	}
	switch {
	case did || err != nil:
		done(res, err)
	case c.Notes:
		d.steerNotes(r, c, done)
	case strings.TrimSpace(c.Text) == "":
		done(res, refused(control.CodeUsage, "", "there is nothing to say"))
	case !d.steer(r, dispatch.Entry{How: c.Name, Text: c.Text, By: from(c), Command: c.ID}):
		done(res, unwritable())
	default:
		if len(r.Renoted) > 0 {
			res.Text += "; not as it was told: " + strings.Join(r.Renoted, ", ") + " (deckhand steer " + strings.ToLower(r.ID) + " --notes)"
		}
		done(res, nil)
	}
}

// maySay says why an agent cannot be told anything now.
func maySay(r *run) error {
	switch {
	case !r.Live() || r.Phase == dispatch.PhaseEnding:
		return refused(control.CodeConflict, "deckhand reply "+strings.ToLower(r.ID)+" TEXT", "%s is over: %s", r.Card.Title, r.Outcome)
	case r.Phase == dispatch.PhaseStopping:
		return refused(control.CodeConflict, "", "%s is being stopped", r.Card.Title)
	case r.Phase == dispatch.PhaseClaimed:
		return refused(control.CodeConflict, "try again in a moment", "@%s is being started", r.Agent)
	}
	for _, ask := range r.Asks {
		if ask.Kind == "question" {
			return refused(control.CodeConflict, "deckhand answer "+strings.ToLower(r.ID)+" TEXT", "%s asks: this is no answer", r.Card.Title)
		}
	}
	return nil
}

// steer logs what a person says to an agent at work and sends it.
func (d *daemon) steer(r *run, e dispatch.Entry) bool {
	e.Kind = dispatch.Steered
	if !d.log(r, e) {
		return false
	}
	d.deliver(r)
	return true
}

// doReply lets a run that is over go on with what a person says.
func (d *daemon) doReply(c control.Command) (res control.Result, err error) {
	r, fault := d.run(c.Run)
	if fault != nil {
		return res, fault
	}
	res = control.Result{Text: r.Card.Title + " goes on", Run: r.ID}
	if done, err := r.did(c.ID); done || err != nil {
		return res, err
	}
	switch {
	case strings.TrimSpace(c.Text) == "":
		return res, refused(control.CodeUsage, "", "there is nothing to say")
	case r.Open():
		return res, refused(control.CodeConflict, "deckhand steer "+strings.ToLower(r.ID)+" TEXT", "%s is not over", r.Card.Title)
	case r.Live():
		return res, ending(r)
	case c.Name == "send_back" && r.Outcome != dispatch.Review:
		return res, refused(control.CodeConflict, "deckhand reply "+strings.ToLower(r.ID)+" TEXT", "%s is not in review: %s", r.Card.Title, r.Outcome)
	}
	e := dispatch.Entry{By: from(c), Command: c.ID}
	why := d.room(r)
	if _, yet := errors.AsType[soon](why); why != nil && !yet && d.mayRun(r) == nil && r.Outcome != dispatch.Accept {
		e.How, e.Text, e.Reason = dispatch.HowReply, c.Text, why.Error()
		if !d.steer(r, e) {
			return res, unwritable()
		}
		res.Text += " when there is room: " + e.Reason
		return res, nil
	}
	return d.goOn(r, e, c.Text)
}

// doAccept takes a reviewed run on.
func (d *daemon) doAccept(c control.Command) (res control.Result, err error) {
	r, fault := d.run(c.Run)
	if fault != nil {
		return res, fault
	}
	res = control.Result{Text: r.Card.Title + " is accepted", Run: r.ID}
	if done, err := r.did(c.ID); done || err != nil || r.Outcome == dispatch.Accept {
		return res, err
	}
	if r.Outcome != dispatch.Review {
		return res, refused(control.CodeConflict, "deckhand status", "%s is not in review: it is %s", r.Card.Title, r.Status())
	}
	if !d.log(r, dispatch.Entry{Kind: dispatch.Accepted, By: from(c), Command: c.ID}) {
		return res, unwritable()
	}
	return res, nil
}
