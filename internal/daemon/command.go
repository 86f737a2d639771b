package daemon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/internal/control"
)

// reply gives the answer to a command; it is called once.
type reply func(control.Result, error)

func refused(code int, hint, format string, args ...any) error {
	return &control.Error{Text: fmt.Sprintf(format, args...), Hint: hint, Code: code}
}

// command carries out what a client wants. It counts once: its receipt is on
// the disk before it is answered, and so is, before anything is done, either the
// begin of a receipt or an entry of a run's log with the command's id. After a
// kill in between, the same id finds what was done. The same id while it is
// under way waits for the same answer.
func (d *daemon) command(c control.Command, answer reply) {
	if c.ID == "" {
		answer(control.Result{}, refused(control.CodeUsage, "", "a command needs an id"))
		return
	}
	if !d.ready {
		answer(control.Result{}, refused(control.CodeError, "try again in a moment", "the first scan is not done"))
		return
	}
	if old, ok := d.f.receipts.byID[c.ID]; ok && !old.Begun {
		answer(old.Result, nil)
		return
	}
	waiting, under := d.pending[c.ID]
	d.pending[c.ID] = append(waiting, answer)
	if under {
		return
	}
	d.do(c, func(res control.Result, err error) {
		d.o.at("command done")
		if err == nil {
			res.OK = true
			err = d.f.keepReceipt(receipt{ID: c.ID, Result: res})
		}
		all := d.pending[c.ID]
		delete(d.pending, c.ID)
		d.dirty = true
		for _, fn := range all {
			fn(res, err)
		}
	})
}

func (d *daemon) do(c control.Command, done reply) {
	switch c.Name {
	case "run":
		done(d.doRun(c))
	case "stop":
		done(d.doStop(c))
	case "stop_all":
		done(d.doStopAll(c))
	case "retry":
		d.whenEnded(func() (control.Result, error) { return d.doRetry(c) }, done)
	case "answer":
		done(d.doAnswer(c))
	case "end_ask":
		done(d.doEndAsk(c))
	case "steer", "follow_up":
		d.doSteer(c, done)
	case "reply", "send_back":
		d.whenEnded(func() (control.Result, error) { return d.doReply(c) }, done)
	case "revoke":
		done(d.doRevoke(c))
	case "accept":
		done(d.doAccept(c))
	default:
		d.doLater(c, done)
	}
}

// doLater does what may take its time, and is answered then.
func (d *daemon) doLater(c control.Command, done reply) {
	switch c.Name {
	case "add":
		d.doAdd(c, done)
	case "lanes_add":
		d.doLanes(c, done)
	case "apply", "reject":
		d.doDecide(c, done)
	case "revert":
		d.doRevert(c, done)
	case "grant":
		d.doGrant(c, done)
	case "probe":
		d.probe()
		done(control.Result{Text: "the agents are looked at"}, nil)
	default:
		done(control.Result{}, refused(control.CodeUsage, "", "no command is called %q", c.Name))
	}
}

func (d *daemon) doRun(c control.Command) (res control.Result, err error) {
	s, fault := d.card(c.Card)
	if fault != nil {
		return res, fault
	}
	if s.card.Status != nil && d.f.receipts.byID[c.ID].Begun { // it had not when this was asked for first
		return control.Result{Text: s.card.Title + " has been started", Run: strings.ToUpper(s.card.Status.Run)}, nil
	}
	if s.card.Status != nil {
		return res, refused(control.CodeConflict, "deckhand retry "+s.card.Status.Run, "%s has run already", s)
	}
	id := dispatch.CardID{Board: s.path, Key: s.card.Key}
	was := d.forced[id]
	d.forced[id] = true
	v, ok := dispatch.Judge(d.view(time.Now()), s.path, s.card.Line)
	held := v.Held()
	if !ok {
		held = []dispatch.Reason{{Text: "the card is gone"}}
	}
	if len(held) > 0 {
		err = refused(control.CodeConflict, held[0].Hint, "%s: %s", where(s.path, s.card.Line, 0), held[0].Text)
	} else if err = d.f.keepReceipt(receipt{ID: c.ID, Begun: true}); err == nil {
		err = d.f.force(id, true)
	}
	if err != nil {
		if !was {
			delete(d.forced, id)
		}
		return res, err
	}
	text := "starts now"
	if !v.Start() {
		text = "is queued: " + turn(v)
	}
	return control.Result{Text: s.card.Title + " " + text}, nil
}

// asks reports whether a card that a person asked for is still there to start.
func (d *daemon) asks(id dispatch.CardID) bool {
	s := d.boards[id.Board]
	if s == nil || s.gone != "" {
		return true // not known
	}
	for lane, c := range s.board.All() {
		if c.Key == id.Key && c.Open() && lane.Role == board.Ready && c.Status == nil {
			return true
		}
	}
	return false
}

func (d *daemon) doStop(c control.Command) (res control.Result, err error) {
	r, fault := d.run(c.Run)
	if fault != nil {
		return res, fault
	}
	res = control.Result{Text: "stopping " + r.Card.Title, Run: r.ID}
	if done, err := r.did(c.ID); done || err != nil {
		return res, err
	}
	if !r.Open() {
		return res, refused(control.CodeConflict, "", "run %s is over: %s", r.ID, r.Outcome)
	}
	if !d.stop(r, byCommand(c)) && r.Phase != dispatch.PhaseStopping {
		return res, unwritable()
	}
	return res, nil
}

// byCommand is why a run is stopped by a command.
func byCommand(c control.Command) dispatch.Entry {
	return dispatch.Entry{By: "command", Reason: cmp.Or(c.Text, "by command"), Command: c.ID}
}

// did reports whether a command is in the run's log: it was carried out by a
// daemon that was killed before it could answer.
func (r *run) did(command string) (done bool, err error) {
	err = eachEntry(r.dir, func(e dispatch.Entry) { done = done || e.Command == command })
	return done, err
}

// unwritable refuses a command that cannot be written down.
func unwritable() error {
	return refused(control.CodeError, "deckhand doctor", "the run's log cannot be written")
}

func (d *daemon) doStopAll(c control.Command) (control.Result, error) {
	n := 0
	for _, r := range d.sorted() {
		if !r.Open() {
			continue
		}
		if !d.stop(r, byCommand(c)) && r.Phase != dispatch.PhaseStopping {
			return control.Result{}, unwritable()
		}
		n++
	}
	return control.Result{Text: "stopping " + plural(n, "run", "runs")}, nil
}

func (d *daemon) doRetry(c control.Command) (res control.Result, err error) {
	r, fault := d.run(c.Run)
	if fault != nil {
		return res, fault
	}
	if done, err := r.did(c.ID); done || err != nil {
		return control.Result{Text: r.Card.Title + " goes on", Run: r.ID}, err
	}
	if r.Open() {
		return res, refused(control.CodeConflict, "deckhand stop "+r.ID, "run %s is not over", r.ID)
	}
	return d.goOn(r, dispatch.Entry{By: "command", Command: c.ID}, "")
}

// goOn lets a run that is over go on in its session, with what a person wrote
// on its card since and what they say now.
func (d *daemon) goOn(r *run, e dispatch.Entry, text string) (res control.Result, err error) {
	s, ok := d.find(r)
	if !ok {
		return res, refused(control.CodeConflict, "", "run %s: its card is on no board", r.ID)
	}
	if err := cmp.Or(d.mayRun(r), d.room(r)); err != nil {
		return res, err
	}
	e.Kind, e.Lines = dispatch.Resumed, slices.Concat(r.Unsaid(), dispatch.NewLines(r.Lines, personLines(r, s.card)))
	if text != "" {
		e.Lines = append(e.Lines, text)
	}
	if !d.log(r, e) {
		return res, unwritable()
	}
	return control.Result{Text: s.String() + " goes on", Run: r.ID}, nil
}

// mayRun says why a run may have no agent any more.
func (d *daemon) mayRun(r *run) error {
	set := d.view(time.Now()).Set
	agent := set.Agents[r.Agent]
	project, _ := set.Project(r.Project, r.Agent)
	whys := []dispatch.Reason{set.Held, project.Why}
	if !agent.Pending { // else it starts when it has been looked at
		whys = append(whys, agent.Why)
	}
	for _, why := range whys {
		if why.Text != "" {
			return refused(control.CodeConflict, why.Hint, "%s", why.Text)
		}
	}
	if project.Folder != r.Folder || !agent.Ready && !agent.Pending {
		return refused(control.CodeConflict, "", "@%s and project %s are not what they were when it ran", r.Agent, r.Project)
	}
	return nil
}

// room says whose agent a run that may go on has to wait for: its own, another one
// in its folder, or any, when as many are at work as may be.
func (d *daemon) room(r *run) error {
	live, most := 0, d.machine.MaxRunning
	var leaves *run // one that is over in a moment
	for _, o := range d.sorted() {
		if !o.Live() {
			continue
		}
		same := within(o.Folder, r.Folder) || within(r.Folder, o.Folder)
		if o != r && same && o.Open() {
			return refused(control.CodeConflict, "deckhand stop "+strings.ToLower(o.ID), "%q is %s in that folder", o.Card.Title, o.Status())
		}
		live++
		if !o.Open() {
			leaves = o
			if same {
				return ending(o)
			}
		}
	}
	switch {
	case most == 0 || live < most:
		return nil
	case leaves != nil:
		return ending(leaves)
	}
	return refused(control.CodeConflict, "deckhand status", "%s at work: max_running is %d", plural(live, "agent is", "agents are"), most)
}

// doAdd adds a card. A daemon that was killed in it may or may not have done
// so: asked again, it looks whether the card is there.
func (d *daemon) doAdd(c control.Command, done reply) {
	path, fault := d.boardFor(c.Board)
	switch {
	case fault != nil:
		done(control.Result{}, fault)
		return
	case strings.ContainsAny(c.Text, "\r\n\x00") || strings.TrimSpace(c.Text) == "":
		done(control.Result{}, refused(control.CodeUsage, "", "a card is one line of text"))
		return
	}
	again := d.f.receipts.byID[c.ID].Begun
	if err := d.f.keepReceipt(receipt{ID: c.ID, Begun: true}); err != nil {
		done(control.Result{}, err)
		return
	}
	d.edit(path, control.Result{Text: path + ": " + c.Text}, done, func(b *board.Board) ([]byte, error) {
		if again && holds(b, c.Text) {
			return b.Src, nil
		}
		return b.AddCard(c.Text)
	})
}

// holds reports whether an open card of a ready lane reads so.
func holds(b *board.Board, text string) bool {
	for lane, c := range b.All() {
		if lane.Role == board.Ready && c.Open() && strings.TrimSpace(c.First) == strings.TrimSpace(text) {
			return true
		}
	}
	return false
}

func (d *daemon) doLanes(c control.Command, done reply) {
	path, fault := d.boardFor(c.Board)
	if fault != nil {
		done(control.Result{}, fault)
		return
	}
	if len(d.boards[path].board.Missing()) == 0 {
		done(control.Result{Text: path + " has a working and a review lane"}, nil)
		return
	}
	d.edit(path, control.Result{Text: path + ": lanes added"}, done, (*board.Board).AddLanes)
}

// edit changes a board for a command, which is answered when it is written. A
// person waits for it, so it does not wait for a quiet moment.
func (d *daemon) edit(path string, res control.Result, done reply, op func(*board.Board) ([]byte, error)) {
	d.writeBoard(path, d.store.UpdateNow, d.bytewise(path, op), func(err error) {
		if err != nil {
			done(control.Result{}, refused(control.CodeConflict, "", "%s", named(path, err)))
			return
		}
		done(res, nil)
	})
}

// named is an error that names its file once.
func named(path string, err error) string {
	if text := err.Error(); strings.HasPrefix(text, path+":") {
		return text
	}
	return path + ": " + err.Error()
}

// boardFor is the board that is meant: by path, by name, or the only one.
func (m *model) boardFor(name string) (string, *control.Error) {
	var found []string
	for _, path := range m.paths() {
		if name == "" || path == name || strings.EqualFold(trimMD(path), trimMD(name)) || strings.HasSuffix("/"+path, "/"+name) {
			found = append(found, path)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && name == "":
		return "", &control.Error{Text: "the folder has no board", Hint: "deckhand init --sample", Code: control.CodeError}
	case len(found) == 0:
		return "", &control.Error{Text: fmt.Sprintf("no board is called %q", name), Hint: "deckhand doctor", Code: control.CodeError}
	}
	return "", &control.Error{Text: "several boards: name one", Hint: "--board BOARD", Code: control.CodeUsage, Matches: found}
}

// doGrant takes over what a command has just changed in config.yaml. It is
// answered when all that this means is known.
func (d *daemon) doGrant(c control.Command, done reply) {
	words := strings.Fields(c.Text)
	g := Grants{Start: slices.Contains(words, "start"), Trust: slices.Contains(words, "trust"), Here: slices.Contains(words, "here")}
	d.reload(func() {
		granted := func(err error) {
			if err == nil {
				d.regrant(g.Start)
			}
			done(control.Result{Text: "the daemon knows"}, err)
		}
		if !d.trusted() {
			granted(nil)
			return
		}
		d.takeFolder(g.claim(), granted)
	})
}
