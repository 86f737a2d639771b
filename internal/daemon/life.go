package daemon

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/harness"
)

// grace is how long an agent whose turn is over may take to go by itself.
const grace = 5 * time.Second

// logKey names an entry that comes from a capture: the same line read again
// after a restart must not be logged twice.
type logKey struct {
	kind dispatch.Kind
	life int
	seq  int64
	ask  string
}

func newRun(r *dispatch.Run, dir harness.Dir) *run {
	return &run{Run: r, dir: dir, logged: map[logKey]bool{}}
}

// apply adds an entry to what is known of the run.
func (r *run) apply(e dispatch.Entry) {
	r.Apply(e)
	if e.Kind == dispatch.Chat && r.chatFirst == 0 {
		r.chatFirst = e.Life
	}
	if e.Seq > 0 {
		r.logged[keyOf(e)] = true
	}
}

func keyOf(e dispatch.Entry) logKey {
	k := logKey{kind: e.Kind, life: e.Life, seq: e.Seq}
	if e.Ask != nil {
		k.ask = e.Ask.ID
	}
	return k
}

// spawned is the result of starting a life.
type spawned struct {
	err     error
	life    *harness.Life
	n       int
	session harness.Session
	prompt  string
}

// startLife starts an agent on a run whose claim stands on the board.
func (d *daemon) startLife(r *run) {
	path, _, card := d.find(r)
	if card == nil || !d.chatDone(r) {
		return
	}
	d.busy[r.ID] = true
	job, err := d.job(r, path, card)
	if err != nil {
		delete(d.busy, r.ID)
		d.log(r, dispatch.Entry{Kind: dispatch.Ended, Reason: err.Error()})
		return
	}
	r.starting = true
	d.queues.add("run:"+r.ID, func() any { return job.start() }, func(v any) {
		s := v.(spawned)
		r.starting = false
		delete(d.busy, r.ID)
		if s.err != nil {
			d.log(r, dispatch.Entry{Kind: dispatch.Ended, Reason: harness.OneSentence(s.err.Error())})
			return
		}
		if d.log(r, dispatch.Entry{Kind: dispatch.Started, Life: s.n}) {
			d.follow(r, s)
		}
	})
}

// job is everything that starting a life needs, so that it can be done outside
// the loop.
type job struct {
	dir    harness.Dir
	driver harness.Driver
	agent  harness.Agent
	spec   harness.Spec
	exe    string
	build  func() prompted
	at     func(point string)
}

// job collects it.
func (d *daemon) job(r *run, path string, card *board.Card) (*job, error) {
	agent, driver, err := d.harnessAgent(r.Agent)
	if err != nil {
		return nil, err
	}
	spec := harness.Spec{
		Format: 1, Run: r.ID, Agent: r.Agent, Driver: driver.Name(), Dir: r.Folder, Session: filepath.Join(r.dir.Path, "session.jsonl"),
	}
	// An agent that was killed in its first answer may have left no session:
	// then the next life begins anew.
	_, err = os.Stat(spec.Session)
	spec.Resume = err == nil
	return &job{
		dir: r.dir, driver: driver, agent: agent.Agent, spec: spec, exe: d.o.Exe, at: d.o.at,
		build: d.prompter(r, path, card, spec.Resume),
	}, nil
}

func (j *job) start() spawned {
	p := j.build()
	receipt, err := json.Marshal(p.receipt)
	if err != nil {
		return spawned{err: err}
	}
	j.spec.Receipt = receipt
	if j.spec.Argv, err = j.driver.Argv(j.agent, j.spec); err != nil {
		return spawned{err: err}
	}
	session, rows, err := attach(j.driver, j.agent, j.spec, p.text)
	if err != nil {
		return spawned{err: err}
	}
	life, err := j.dir.NewLife(j.spec, []byte(p.text), rows)
	if err != nil {
		return spawned{err: err}
	}
	j.at("life made")
	exe := j.exe
	if exe == "" {
		exe = "/proc/self/exe"
		if _, err := os.Stat(exe); err != nil {
			if exe, err = os.Executable(); err != nil {
				return spawned{err: err}
			}
		}
	}
	if err := life.Start(exe, j.agent.Env); err != nil {
		return spawned{err: err}
	}
	j.at("keeper started")
	return spawned{life: life, n: life.N, session: session, prompt: p.text}
}

// follow attaches the loop to a life.
func (d *daemon) follow(r *run, s spawned) {
	r.use = usage{}
	r.talk = &talk{role: r.Agent}
	r.prompt = s.prompt
	r.runner = &runner{
		run: r.ID, life: s.life, n: s.n, post: d.post, session: s.session, ended: make(chan struct{}), turn: make(chan struct{}),
		onEvent: func(e harness.Event) { d.hear(r, s.n, e) },
		onEnd:   func(e end) { d.lifeEnded(r, s, e) },
	}
	run := r.runner
	d.wg.Go(func() { run.follow(d.ctx) })
	d.writeChat(r)
	if r.Phase == dispatch.PhaseStopping {
		run.stop(d.ctx)
	}
}

// hear takes one event of an agent.
func (d *daemon) hear(r *run, life int, e harness.Event) {
	r.last = e.Time
	entry := dispatch.Entry{Life: life, Seq: e.Seq}
	switch e.Kind {
	case harness.Bound:
		entry.Kind, entry.Session = dispatch.Bound, e.Session
	case harness.AskOpen:
		entry.Kind, entry.Ask = dispatch.Asked, askOf(e.Ask)
	case harness.AskGone:
		entry.Kind, entry.Ask, entry.Reason = dispatch.AskGone, &dispatch.Ask{ID: e.AskID}, e.Reason
	case harness.UsageSeen:
		r.use.add(e.Usage)
		r.model = cmp.Or(e.Usage.Model, r.model)
	case harness.Done:
		entry = d.finished(r, entry, e)
	}
	now, soon := r.talk.hear(e)
	if r.takes(entry) {
		d.log(r, entry)
	}
	if e.Kind == harness.Done && r.runner != nil {
		r.runner.turnOver()
		if r.Phase == dispatch.PhaseEnding {
			r.runner.finish(d.ctx, grace)
		}
	}
	d.chatLater(r, now, soon)
	d.clients.event(r, e)
}

// takes reports whether an entry is news: not in the log already, and not
// about a turn that is over.
func (r *run) takes(e dispatch.Entry) bool {
	return e.Kind != "" && !r.logged[keyOf(e)] && r.Open()
}

// finished is the entry of the end of a turn. A turn that ends in a question
// is not over for its run: it waits.
func (d *daemon) finished(r *run, entry dispatch.Entry, e harness.Event) dispatch.Entry {
	if e.Outcome == harness.Completed && e.Question {
		entry.Kind = dispatch.Asked
		entry.Ask = &dispatch.Ask{ID: "q" + strconv.FormatInt(e.Seq, 10), Kind: "question", Title: lastParagraph(e.Text)}
		return entry
	}
	entry.Kind, entry.Text, entry.Reason = dispatch.Finished, short(e.Text, 4000), e.Reason
	entry.Outcome = dispatch.Failed
	if e.Outcome == harness.Completed {
		entry.Outcome = dispatch.Review
	}
	if entry.Outcome == dispatch.Failed && entry.Reason == "" {
		entry.Reason = "the turn ended: " + e.Outcome
	}
	entry.Tokens, entry.Cost = r.use.tokens, r.use.cost
	return entry
}

func askOf(a *harness.Ask) *dispatch.Ask {
	return &dispatch.Ask{
		ID: a.ID, Kind: a.Kind, Title: a.Title, Message: a.Message, Options: a.Options,
		Prefill: a.Prefill, Placeholder: a.Placeholder, Timeout: a.Timeout,
	}
}

// lifeEnded is told that a life is over: exit known, or keeper killed. What
// the agent started and left behind is ended first.
func (d *daemon) lifeEnded(r *run, s spawned, e end) {
	for _, ev := range e.events {
		d.hear(r, s.n, ev)
	}
	r.runner = nil
	d.busy[r.ID] = true
	token, keep := s.life.Token(), d.machine.SweepKeep
	state, err := s.life.State()
	nothing := e.gone && err == nil && !state.HasOut
	d.queues.add("run:"+r.ID, func() any {
		ended, kept, err := harness.Sweep(d.ctx, token, keep)
		return swept{ended, kept, err}
	}, func(v any) {
		delete(d.busy, r.ID)
		if nothing && d.startAgain(r) {
			return
		}
		d.lifeOver(r, s.n, e, v.(swept))
	})
}

// startAgain starts another life for one whose keeper died before it had done
// anything: nothing ran. Not for ever: a keeper that cannot live has a reason.
func (d *daemon) startAgain(r *run) bool {
	if r.misses++; r.misses > 2 || r.Phase != dispatch.PhaseWorking {
		return false
	}
	return d.log(r, dispatch.Entry{Kind: dispatch.Resumed, By: "start", Lines: r.Extra})
}

type swept struct {
	ended, kept []harness.Proc
	err         error
}

func (d *daemon) lifeOver(r *run, n int, e end, s swept) {
	for _, p := range s.ended {
		d.log(r, dispatch.Entry{Kind: dispatch.Said, Life: n, Reason: fmt.Sprintf("ended what the agent left behind: %s (process %d)", p.Name, p.PID)})
	}
	for _, p := range s.kept {
		d.log(r, dispatch.Entry{Kind: dispatch.Said, Life: n, Reason: fmt.Sprintf("still there, and left alone: %s (process %d)", p.Name, p.PID)})
	}
	if s.err != nil {
		d.log(r, dispatch.Entry{Kind: dispatch.Said, Life: n, Reason: "sweep: " + s.err.Error()})
	}
	if !r.Live() {
		d.chatLater(r, true, true)
		return // it was over already: only its chat was to be completed
	}
	entry := dispatch.Entry{Kind: dispatch.Ended, Life: n}
	if e.exit != nil {
		entry.Exit, entry.Reason = &dispatch.Exit{Code: e.exit.Code, Signal: e.exit.Signal}, e.exit.Reason
	}
	if r.Phase == dispatch.PhaseWorking || r.Phase == dispatch.PhaseWaiting {
		entry.Reason = cmp.Or(entry.Reason, "the agent ended without finishing its turn")
	}
	if r.Phase == dispatch.PhaseStopping {
		entry.Tokens, entry.Cost = r.use.tokens, r.use.cost
	}
	if e.gone && r.Phase != dispatch.PhaseEnding && r.Phase != dispatch.PhaseStopping {
		entry = dispatch.Entry{Kind: dispatch.Interrupted, Life: n, Reason: "its keeper was killed or the machine restarted; what the agent did last is not known", Tokens: r.use.tokens, Cost: r.use.cost}
	}
	d.log(r, entry)
	d.chatLater(r, true, true)
	if entry.Kind == dispatch.Interrupted && d.machine.OnInterrupt == "resume" {
		d.log(r, dispatch.Entry{Kind: dispatch.Resumed, By: "on_interrupt: resume"})
	}
	d.say("%s: @%s on %q: %s", r.Board, r.Agent, r.Card.Title, r.ending())
}

// ending is one line about how a run stands.
func (r *run) ending() string {
	text := r.Outcome
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return fmt.Sprintf("%s · %s · %s", text, dispatch.Short(r.Ended.Sub(r.Turn)), usd(r.Cost))
}
