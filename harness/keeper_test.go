package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLinesGoThereAndBack(t *testing.T) {
	l := newLife(t, "echo")
	send(t, l, Send{ID: "a", Line: "one"}, Send{ID: "b", Line: "two <&>  ü"})
	start(t, l)
	until(t, l, "got two")
	// A second send of an id, also by a daemon that was started again, is not
	// delivered a second time.
	send(t, l, Send{ID: "b", Line: "two <&>  ü"}, Send{ID: "c", Line: ""})
	again := Life{Path: l.Path, Run: l.Run, N: l.N}
	send(t, &again, Send{ID: "a", Line: "one"}, Send{ID: "d", Line: "three"}, Send{ID: "d", Line: "three"}, Send{ID: "e", Do: DoEOF})
	lines, exit := collect(t, &again)
	equal(t, lines[Out], []string{"got one", "got two <&>  ü", "got ", "got three"})
	if exit.Code != 0 || exit.Signal != "" || exit.Reason != "" || exit.Time.IsZero() {
		t.Errorf("exit %+v", exit)
	}
	if n := len(lines[In]); n != 5 {
		t.Errorf("%d rows of in, want 5: %q", n, lines[In])
	}
	ids, err := l.Perhaps()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, ids, []string{"a", "b", "c", "d", "e"})
}

func TestFollowAgainGivesTheSameLines(t *testing.T) {
	l := newLife(t, "echo")
	start(t, l)
	send(t, l, Send{ID: "a", Line: "one"})
	until(t, l, "got one")
	var first, second []string
	record := func(all *[]string) func(Line) {
		return func(line Line) {
			*all = append(*all, fmt.Sprint(line.Seq, line.Time.UnixMilli(), line.Stream, string(line.Data)))
			if strings.Contains(string(line.Data), "got one") {
				send(t, l, Send{ID: "b", Line: "two"}, Send{ID: "c", Do: DoEOF})
			}
		}
	}
	if err := errors.Join(follow(t, l, record(&first)), follow(t, l, record(&second))); err != nil {
		t.Fatal(err)
	}
	equal(t, second, first)
	var third []string
	if err := l.Read(3, func(line Line) error {
		third = append(third, fmt.Sprint(line.Seq, line.Time.UnixMilli(), line.Stream, string(line.Data)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	equal(t, third, first[2:])
}

func TestExits(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		do   string
		code int
		sig  string
	}{
		{"ok", []string{"exit", "0"}, "", 0, ""},
		{"code", []string{"exit", "42"}, "", 42, ""},
		{"signal of its own", []string{"signal"}, "", -1, "SIGKILL"},
		{"term", []string{"wait"}, DoTerm, -1, "SIGTERM"},
		{"kill", []string{"deaf"}, DoKill, -1, "SIGKILL"},
		{"reads no more", []string{"closed"}, DoKill, -1, "SIGKILL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLife(t, c.args[0], c.args[1:]...)
			start(t, l)
			if c.do != "" {
				until(t, l, `"`+RemarkStarted+`"`)
				if c.args[0] != "wait" {
					until(t, l, map[string]string{"deaf": "ready", "closed": "closed"}[c.args[0]])
				}
				send(t, l, Send{ID: "x", Do: c.do})
			}
			_, exit := collect(t, l)
			if exit.Code != c.code || exit.Signal != c.sig {
				t.Errorf("exit %+v", exit)
			}
		})
	}
}

// A kill must come through while a line waits for an agent that reads nothing.
func TestKillOvertakesLines(t *testing.T) {
	l := newLife(t, "deaf")
	start(t, l)
	until(t, l, "ready")
	send(t, l, Send{ID: "big", Line: strings.Repeat("z", 1<<20)}, Send{ID: "more", Line: "never"})
	until(t, l, `"id":"big"`)
	send(t, l, Send{ID: "k", Do: DoKill})
	_, exit := collect(t, l)
	if exit.Signal != "SIGKILL" {
		t.Errorf("exit %+v", exit)
	}
	ids, err := l.Perhaps()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, ids, []string{"big", "k"})
}

func TestAgentThatClosedItsInput(t *testing.T) {
	l := newLife(t, "closed")
	start(t, l)
	until(t, l, "closed")
	send(t, l, Send{ID: "a", Line: "hello"})
	until(t, l, RemarkNotTaken)
	send(t, l, Send{ID: "k", Do: DoKill})
	collect(t, l)
}

func TestWhatAnAgentFinds(t *testing.T) {
	old := unix.Umask(0o027)
	l := newLife(t, "look")
	start(t, l, "A_SECRET=s3cret", TokenVar+"=stale/9")
	unix.Umask(old)
	lines, _ := collect(t, l)
	spec, err := l.Spec()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, lines[Out], []string{"umask=027 dir=" + spec.Dir + " group=true session=false locks=0 token=" + l.Token() + " secret=s3cret"})
	for _, name := range lifeFiles(t, l) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: mode %v", name, info.Mode())
		}
		if data, _ := os.ReadFile(name); bytes.Contains(data, []byte("s3cret")) && !strings.HasSuffix(name, segmentName(1)) {
			t.Errorf("%s has the secret", name)
		}
	}
}

func lifeFiles(t *testing.T, l *Life) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(l.Path, "*"))
	if err != nil || len(names) < 8 {
		t.Fatalf("files of the life: %q, %v", names, err)
	}
	return names
}

func TestKeeperByHandDoesNothing(t *testing.T) {
	l := newLife(t, "exit", "0")
	for _, args := range [][]string{{KeepCommand, l.Path}, {KeepCommand}, {KeepCommand, "/no/such/life"}} {
		out, err := exec.Command(os.Args[0], args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "deckhand keep: ") {
			t.Errorf("%q: %v, says %q", args, err, out)
		}
	}
	if s, err := l.State(); err != nil || s.HasOut {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestNothingToStart(t *testing.T) {
	d, err := CreateDir(t.TempDir(), "01kb7x2n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		spec Spec
		want string
	}{
		{"folder gone", Spec{Argv: []string{"/bin/true"}, Dir: filepath.Join(t.TempDir(), "gone")}, ReasonFolderGone},
		{"folder is a file", Spec{Argv: []string{"/bin/true"}, Dir: filepath.Join(d.Path, "f")}, ReasonFolderGone},
		{"no program", Spec{Argv: []string{"/no/such/agent"}, Dir: t.TempDir()}, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(d.Path, "f"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := lifeOf(d, c.spec, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, exit := run(t, l)
			if exit.Code != -1 || !strings.Contains(exit.Reason, c.want) {
				t.Errorf("exit %+v", exit)
			}
		})
	}
}

// A child in the agent's group holds its output open. The keeper does not wait
// for it and asks it to end; one that does not heed that is left to the sweep.
func TestOutputHeldOpenAfterExit(t *testing.T) {
	t.Run("polite", func(t *testing.T) {
		dir := t.TempDir()
		wake := make(chan struct{}, 1)
		stop := new(Watches).watch(dir, wake)
		defer stop()
		lines, exit := run(t, newLife(t, "hold", "polite", dir))
		checkHeld(t, lines, exit)
		for told := false; !told; {
			var err error
			if told, err = exists(filepath.Join(dir, "told")); err != nil {
				t.Fatal(err)
			}
			if !told {
				<-wake
			}
		}
	})
	t.Run("deaf", func(t *testing.T) {
		l := newLife(t, "hold", "deaf")
		lines, exit := run(t, l)
		checkHeld(t, lines, exit)
		ended, kept, err := Sweep(t.Context(), l.Token(), nil)
		if errors.Is(err, ErrNotSwept) {
			t.Skip(err)
		}
		if err != nil || len(ended) != 1 || len(kept) != 0 {
			t.Errorf("swept %v, kept %v, %v", ended, kept, err)
		}
	})
}

func checkHeld(t *testing.T, lines map[Stream][]string, exit Exit) {
	t.Helper()
	if exit.Code != 3 || !slices.Contains(lines[Out], "left") || !slices.Contains(lines[Out], "ready") {
		t.Errorf("exit %+v, out %q", exit, lines[Out])
	}
}

func TestKeeperKilled(t *testing.T) {
	l := newLife(t, "stray", "wait")
	start(t, l)
	until(t, l, "tool")
	if err := unix.Kill(l.pid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := follow(t, l, nil); !errors.Is(err, ErrKeeperGone) {
		t.Errorf("follow: %v", err)
	}
	if s, err := l.State(); err != nil || !s.HasOut || s.Held || s.Exit != nil {
		t.Errorf("%+v, %v", s, err)
	}
	ended, _, err := Sweep(t.Context(), l.Token(), nil)
	if errors.Is(err, ErrNotSwept) {
		t.Skip(err)
	}
	if err != nil || len(ended) == 0 {
		t.Errorf("swept %v, %v", ended, err)
	}
	startAgain(t, l)
}

// Hang-up, interrupt and a closed terminal are nothing to a keeper; TERM, which
// a machine that shuts down sends, ends the agent in good order.
func TestSignalsToTheKeeper(t *testing.T) {
	l := newLife(t, "echo")
	start(t, l)
	until(t, l, RemarkStarted)
	for _, s := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGXFSZ} {
		if err := unix.Kill(l.pid(), s); err != nil {
			t.Fatal(err)
		}
	}
	send(t, l, Send{ID: "a", Line: "still here"})
	until(t, l, "got still here")
	if err := unix.Kill(l.pid(), unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, exit := collect(t, l)
	if exit.Reason == "" {
		t.Errorf("exit %+v: no reason", exit)
	}
}

func TestFolderTakenAway(t *testing.T) {
	l := newLife(t, "deaf")
	start(t, l)
	until(t, l, "ready")
	dead := keeperDeath(t.Context(), l.pid())
	if dead == nil {
		t.Skip("no way to wait for a process here")
	}
	if err := os.RemoveAll(filepath.Dir(l.Path)); err != nil {
		t.Fatal(err)
	}
	<-dead
	if ended, _, err := Sweep(t.Context(), l.Token(), nil); err != nil || len(ended) > 0 {
		t.Errorf("the agent lived on: %v, %v", ended, err)
	}
}

// An agent that removes its own folder is told from one whose keeper was
// killed, whichever of the two is seen first.
func TestFolderRemovedIsNotAKilledKeeper(t *testing.T) {
	l := newLife(t, "deaf")
	start(t, l)
	until(t, l, "ready")
	err := follow(t, l, func(line Line) {
		if err := os.RemoveAll(l.Path); err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, ErrRemoved) || errors.Is(err, ErrKeeperGone) {
		t.Errorf("followed: %v", err)
	}
	if s, err := l.State(); !errors.Is(err, ErrRemoved) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("state %+v, %v", s, err)
	}
	// What a follower sees that looked at the lock before it went.
	if err := l.over(); !errors.Is(err, ErrRemoved) {
		t.Errorf("over: %v", err)
	}
}

// The state folder may be renamed while agents run.
func TestFolderRenamed(t *testing.T) {
	l := newLife(t, "echo")
	start(t, l)
	until(t, l, RemarkStarted)
	run := filepath.Dir(l.Path)
	if err := os.Rename(run, run+"-moved"); err != nil {
		t.Fatal(err)
	}
	moved := Life{Path: filepath.Join(run+"-moved", "1"), Run: l.Run, N: 1}
	send(t, &moved, Send{ID: "a", Line: "one"}, Send{ID: "e", Do: DoEOF})
	lines, _ := collect(t, &moved)
	equal(t, lines[Out], []string{"got one"})
	if err := os.Rename(run+"-moved", run); err != nil {
		t.Fatal(err)
	}
}

func TestTornRowWaitsForItsEnd(t *testing.T) {
	l := newLife(t, "echo")
	start(t, l)
	path := filepath.Join(l.Path, inFile)
	write := func(s string) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(s); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"id":"a","line":"one"}` + "\n" + `{"id":"b","line":"cut`)
	until(t, l, "got one")
	send(t, l, Send{ID: "b", Line: "whole"}) // puts a line end behind the torn row
	until(t, l, RemarkBadRow)
	until(t, l, "got whole")
	write(`{"id":"c","line":"only its line end is missing"}`)
	send(t, l, Send{ID: "c", Line: "only its line end is missing"}, Send{ID: "d", Line: "next"}, Send{ID: "e", Do: DoEOF})
	lines, _ := collect(t, l)
	equal(t, lines[Out], []string{"got one", "got whole", "got only its line end is missing", "got next"})
}

func TestAgentOutlivesAFollower(t *testing.T) {
	l := newLife(t, "echo")
	start(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	err := l.Follow(ctx, new(Watches), func(Line) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("follow: %v", err)
	}
	send(t, l, Send{ID: "a", Line: "one"}, Send{ID: "e", Do: DoEOF})
	lines, _ := collect(t, l)
	equal(t, lines[Out], []string{"got one"})
}

func TestRemarks(t *testing.T) {
	l := newLife(t, "exit", "5")
	lines, _ := run(t, l)
	var events []string
	for _, m := range lines[Meta] {
		var r Remark
		if err := json.Unmarshal([]byte(m), &r); err != nil {
			t.Fatal(err)
		}
		events = append(events, r.Event)
		if r.Event == RemarkStarted && r.PID == 0 || r.Event == RemarkExit && r.Code != 5 {
			t.Errorf("remark %s", m)
		}
	}
	equal(t, events, []string{RemarkStarted, RemarkExit})
}
