package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/harness"
)

// spawned is a life that was started, and what is needed to follow it.
type spawned struct {
	err     error
	life    *harness.Life
	session harness.Session
	prompt  string
	receipt json.RawMessage // of what went into it
}

// startLife starts an agent on a run whose claim stands on the board.
func (d *daemon) startLife(r *run) bool {
	s, ok := d.find(r)
	if !ok || !d.chatDone(r) {
		return false
	}
	job, err := d.job(r, s.path, s.card)
	if err != nil {
		d.fact(r, dispatch.Entry{Kind: dispatch.Ended, Reason: err.Error()})
		return true
	}
	a := r.ahead
	if a == nil {
		a = &ahead{}
	}
	d.busy[r.ID], r.starting, r.ahead = true, true, nil
	d.queues.add("run:"+r.ID, func() any { return job.start(a) }, func(v any) {
		s := v.(spawned)
		r.starting = false
		delete(d.busy, r.ID)
		if s.err != nil && diskFailed(s.err) {
			// Nothing ran, and the card is no worse than it was: again, in a while.
			d.writing[r.ID] = true
			if r.fault.failed(time.Now(), s.err) {
				d.say("run %s: %v", r.ID, s.err)
			}
			return
		}
		if s.err != nil {
			d.fact(r, dispatch.Entry{Kind: dispatch.Ended, Reason: harness.OneSentence(s.err.Error())})
			return
		}
		r.fault = trouble{}
		d.fact(r, dispatch.Entry{Kind: dispatch.Started, Life: s.life.N})
		d.follow(r, s)
	})
	return true
}

// diskFailed reports whether an error is the machine's and not of what was
// asked for: it may be gone when the same is tried again.
func diskFailed(err error) bool {
	for _, errno := range [...]syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// job is everything that starting a life needs, so that it can be done outside
// the loop.
type job struct {
	dir    harness.Dir
	driver harness.Driver
	agent  harness.Agent
	spec   harness.Spec
	exe    string
	nonces []string // of the turns before
	copied copied   // the agent works in a copy of the notes
	build  func(arrived int) prompted
	at     func(point string)
}

// job collects it.
func (d *daemon) job(r *run, path string, card *board.Card) (*job, error) {
	agent, driver, err := d.harnessAgent(r.Agent)
	if err != nil {
		return nil, err
	}
	spec := harness.Spec{
		Format: 1, Run: r.ID, Agent: r.Agent, Driver: driver.Name(), Dir: r.Folder, Session: sessionOf(r.dir),
	}
	agent.Files = d.f.path("agents")
	return &job{
		dir: r.dir, driver: driver, agent: agent.Agent, spec: spec, exe: d.o.Exe, at: d.o.at, nonces: d.nonces(r), copied: d.copyFor(d.ctx, r), build: d.prompter(r, path, card),
	}, nil
}

// composed is what a life is about.
type composed struct {
	spec    harness.Spec
	prompt  string
	rows    []harness.Send
	session harness.Session // the other end of rows
}

// compose makes the prompt and what leads to it.
func (j *job) compose() (c composed, err error) {
	c.spec = j.spec
	turn, err := arrived(c.spec.Session, j.nonces)
	if err != nil {
		return c, err
	}
	p := j.build(turn)
	c.spec.Resume, c.prompt = turn >= 0, p.text
	if c.spec.Receipt, err = json.Marshal(p.receipt); err != nil {
		return c, err
	}
	if err := harness.PlaceFiles(j.agent.Files, j.driver.Files(j.agent)); err != nil {
		return c, err
	}
	if c.spec.Argv, err = j.driver.Argv(j.agent, c.spec); err != nil {
		return c, err
	}
	c.session, c.rows, err = attach(j.driver, j.agent, c.spec, c.prompt)
	return c, err
}

// start starts a life: the one that was made ahead, with what is true now.
func (j *job) start(a *ahead) spawned {
	s, err := j.startOn(a)
	if err != nil {
		a.close()
		return spawned{err: err}
	}
	j.at("keeper started")
	return s
}

func (j *job) startOn(a *ahead) (s spawned, err error) {
	if err := j.copied.make(); err != nil {
		return s, err
	}
	c, err := j.compose()
	if err != nil {
		return s, err
	}
	exe, err := keeperExe(j.exe)
	if err != nil {
		return s, err
	}
	if err := a.hire(j.dir, exe, j.agent.Env); err != nil {
		return s, err
	}
	if err := a.write(c); err != nil {
		return s, err
	}
	if err := a.life.Place(); err != nil {
		return s, err
	}
	j.at("life made")
	return spawned{life: a.life, session: c.session, prompt: c.prompt, receipt: c.spec.Receipt}, a.life.Start()
}

// keeperExe is the program that keepers are, where none is set.
func keeperExe(exe string) (string, error) {
	if exe != "" {
		return exe, nil
	}
	return harness.KeeperExe()
}

// arrived tells which turn's prompt came to the agent's session last, by its
// nonce; -1 when none did. An agent that was killed early may have left no
// session, or one that never got the card: then the next life begins anew.
func arrived(session string, nonces []string) (turn int, err error) {
	data, err := os.ReadFile(session)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return -1, err
	}
	for turn := len(nonces) - 1; turn >= 0; turn-- {
		if nonces[turn] != "" && bytes.Contains(data, []byte(nonces[turn])) {
			return turn, nil
		}
	}
	return -1, nil
}

// attach opens the protocol on a life that is starting or running and gives
// it the prompt; rows that were sent before are not sent again.
func attach(d harness.Driver, a harness.Agent, spec harness.Spec, prompt string) (harness.Session, []harness.Send, error) {
	s := d.Open(a, spec)
	rows := s.Start()
	more, err := s.Encode(harness.Command{ID: "prompt", Kind: "prompt", Text: prompt})
	return s, append(rows, more...), err
}
