package crash

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

// teller tells a story to one daemon after the other: one that is killed has a
// successor that nobody kills. Each step of a story is the same again when it is
// done again.
type teller struct {
	*robust.Place
	t     *testing.T
	ctx   context.Context
	d     *robust.Process
	kills int
}

// begin starts a daemon that is killed at a point; at none when it is empty.
func (s *teller) begin(point string) {
	s.t.Helper()
	s.d = s.Spawn(s.ctx, robust.FaultEnv+"="+point)
}

// follow starts the successor of a daemon that has ended, by a kill.
func (s *teller) follow() {
	s.t.Helper()
	if err := s.d.Wait(); !robust.Killed(err) {
		s.t.Fatalf("the daemon ended by itself: %v\n%s", err, s.Log)
	}
	s.kills++
	s.begin("")
}

// until waits until the files are so.
func (s *teller) until(ok func() bool) {
	s.t.Helper()
	for !s.Await(s.ctx, s.d.Gone(), ok) {
		s.follow()
	}
}

// shows waits until a lane of the board holds a text.
func (s *teller) shows(lane, text string) {
	s.t.Helper()
	s.until(func() bool { return s.has(lane, text) })
}

// has looks at one moment of a file that a person may be replacing.
func (s *teller) has(lane, text string) bool {
	_, after, _ := strings.Cut(s.Text("Shop.md"), "## "+lane+"\n")
	in, _, _ := strings.Cut(after, "\n## ")
	return strings.Contains(in, text)
}

// edit saves a file with a text in it changed, when it has that text; rel is empty
// as long as it is not known.
func (s *teller) edit(rel func() string, old, text string) {
	s.t.Helper()
	s.until(func() bool {
		at := rel()
		if at == "" {
			return false
		}
		have := s.Text(at)
		if !strings.Contains(have, old) {
			return false
		}
		s.Save(at, strings.Replace(have, old, text, 1))
		return true
	})
}

// chat is where the only chat is; empty: there is none yet.
func (s *teller) chat() string {
	all, err := filepath.Glob(s.At("deckhand/chats/*/*.md"))
	if err != nil || len(all) != 1 {
		return ""
	}
	rel, err := filepath.Rel(s.Work, all[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return rel
}

// command has a command carried out, asking again with the same id when the
// daemon was killed under it, and as long as it comes too early.
func (s *teller) command(c control.Command) (res control.Result) {
	s.t.Helper()
	s.until(func() bool {
		if !s.d.Ready(s.Place) {
			return false
		}
		var err error
		res, err = s.d.Client.Do(s.ctx, c)
		var said *control.Error
		if errors.As(err, &said) && said.Code != control.CodeConflict && said.Code != control.CodeNoDaemon {
			s.t.Fatalf("%s: %v", c.Name, err)
		}
		return err == nil
	})
	return res
}

// end stops whatever runs, and ends the daemon.
func (s *teller) end() {
	s.t.Helper()
	s.command(control.Command{ID: "end", Name: "stop_all"})
	s.until(func() bool { return len(s.Procs()) == 0 })
	s.d.Kill()
}
