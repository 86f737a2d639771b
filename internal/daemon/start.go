package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

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
	d.busy[r.ID], r.starting = true, true
	d.queues.add("run:"+r.ID, func() any { return job.start() }, func(v any) {
		s := v.(spawned)
		r.starting = false
		delete(d.busy, r.ID)
		if s.err != nil {
			d.fact(r, dispatch.Entry{Kind: dispatch.Ended, Reason: harness.OneSentence(s.err.Error())})
			return
		}
		d.fact(r, dispatch.Entry{Kind: dispatch.Started, Life: s.life.N})
		d.follow(r, s)
	})
	return true
}

// job is everything that starting a life needs, so that it can be done outside
// the loop.
type job struct {
	dir    harness.Dir
	driver harness.Driver
	agent  harness.Agent
	spec   harness.Spec
	exe    string
	build  func(resume bool) prompted
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
	return &job{
		dir: r.dir, driver: driver, agent: agent.Agent, spec: spec, exe: d.o.Exe, at: d.o.at, build: d.prompter(r, path, card),
	}, nil
}

func (j *job) start() spawned {
	var err error
	if j.spec.Resume, err = arrived(j.dir, j.spec.Session); err != nil {
		return spawned{err: err}
	}
	p := j.build(j.spec.Resume)
	if j.spec.Receipt, err = json.Marshal(p.receipt); err != nil {
		return spawned{err: err}
	}
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
	exe, err := keeperExe(j.exe)
	if err == nil {
		err = life.Start(exe, j.agent.Env)
	}
	if err != nil {
		life.Close()
		return spawned{err: err}
	}
	j.at("keeper started")
	return spawned{life: life, session: session, prompt: p.text}
}

// keeperExe is the program that keepers are: this one, also when its file was
// replaced by a newer version.
func keeperExe(exe string) (string, error) {
	if exe != "" {
		return exe, nil
	}
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// fence finds the nonce in a prompt.
var fence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`nonce="([0-9A-Za-z-]{8,})"`) })

// arrived reports whether the agent's session holds a prompt of an earlier
// life, so that another life can go on with it. An agent that was killed early
// may have left no session, or one that never got the card: then the next life
// begins anew.
func arrived(dir harness.Dir, session string) (bool, error) {
	lives, err := dir.Lives()
	if err != nil || len(lives) == 0 {
		return false, err
	}
	data, err := os.ReadFile(session)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, l := range lives {
		prompt, err := l.Prompt()
		if err != nil {
			return false, err
		}
		if m := fence().FindSubmatch(prompt); m != nil && bytes.Contains(data, m[1]) {
			return true, nil
		}
	}
	return false, nil
}

// attach opens the protocol on a life that is starting or running and gives
// it the prompt; rows that were sent before are not sent again.
func attach(d harness.Driver, a harness.Agent, spec harness.Spec, prompt string) (harness.Session, []harness.Send, error) {
	s := d.Open(a, spec)
	rows := s.Start()
	more, err := s.Encode(harness.Command{ID: "prompt", Kind: "prompt", Text: prompt})
	return s, append(rows, more...), err
}
