package daemon

import (
	"os"
	"reflect"
	"slices"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/harness"
)

// ahead is a life that is made before it is known that it will be needed, while
// the claim goes to the disk and onto the board: a keeper takes a while to
// start, and what it needs takes a while to be synced. It waits, and has done
// nothing, until startLife takes it. Its fields are for the effects of its run,
// which come one after the other.
type ahead struct {
	life  *harness.Life // nil: it could not be made, or is taken
	exe   string        // of the keeper that waits; empty: there is none
	env   []string      // of its agent
	about *composed     // what is written; nil: nothing is
}

// hire sees to it that a keeper waits, with this environment for its agent.
func (a *ahead) hire(dir harness.Dir, exe string, env []string) (err error) {
	if a.life == nil {
		if a.life, err = dir.Next(); err != nil {
			return err
		}
	}
	if a.exe == exe && slices.Equal(a.env, env) {
		return nil
	}
	a.exe = ""
	if err := a.life.Hire(exe, env); err != nil {
		return err
	}
	a.exe, a.env = exe, env
	return nil
}

// write sees to it that the life is about c. Where that is what was expected
// nothing has to be written any more.
func (a *ahead) write(c composed) error {
	if a.about != nil && a.about.same(c) {
		return nil
	}
	a.about = nil
	if err := a.life.Write(c.spec, []byte(c.prompt), c.rows); err != nil {
		return err
	}
	a.about = &c
	return nil
}

// close gives the life up.
func (a *ahead) close() {
	if a.life != nil {
		a.life.Close()
	}
	*a = ahead{}
}

// same reports whether two lives are about the same.
func (c composed) same(o composed) bool {
	return c.prompt == o.prompt && slices.Equal(c.rows, o.rows) && reflect.DeepEqual(c.spec, o.spec)
}

// hireAhead lets the keeper of a run that is about to be claimed start. What
// goes wrong is left to startLife, which does it again and says so.
func (d *daemon) hireAhead(r *run, agent string) {
	set, _, err := d.harnessAgent(agent)
	if err != nil {
		return
	}
	a, dir, exe, at := &ahead{}, r.dir, d.o.Exe, d.o.at
	r.ahead = a
	d.queues.add("run:"+r.ID, func() any {
		if exe, err := keeperExe(exe); err == nil {
			_ = a.hire(dir, exe, set.Agent.Env)
		}
		at("keeper hired")
		return nil
	}, func(any) {})
}

// writeAhead writes what its agent will be told, if nothing changes meanwhile.
func (d *daemon) writeAhead(r *run, claim dispatch.Action) {
	a, card := r.ahead, d.cardAt(claim.Card.Board, claim.Card.Key)
	if a == nil || card == nil {
		return
	}
	job, err := d.job(r, claim.Card.Board, card)
	if err != nil {
		return
	}
	d.queues.add("run:"+r.ID, func() any {
		if c, err := job.compose(); err == nil && a.life != nil {
			_ = a.write(c)
		}
		job.at("life written")
		return nil
	}, func(any) {})
}

// cardAt is the one card of a board with a first line; nil when it is not known.
func (m *model) cardAt(path, key string) *board.Card {
	if b := m.boardAt(path); b != nil {
		if cards := b.ByKey(key); len(cards) == 1 {
			return cards[0]
		}
	}
	return nil
}

// dropAhead lets a keeper go that is not needed, and does then what is left.
func (d *daemon) dropAhead(r *run, then func()) {
	a := r.ahead
	r.ahead = nil
	d.queues.add("run:"+r.ID, func() any {
		if a != nil {
			a.close()
		}
		then()
		return nil
	}, func(any) {})
}

// forgetRun takes a claim back that could not be logged, with the name that its
// chat was to have: nothing was done, and a full disk must not fill up with it. Of
// its log the begin may be there.
func (d *daemon) forgetRun(r *run, chat string) {
	delete(d.runs, r.ID)
	d.files.drop(chat)
	d.dropAhead(r, func() { _ = os.RemoveAll(r.dir.Path) })
}
