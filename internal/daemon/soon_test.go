package daemon

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"deckhand/dispatch"
	"deckhand/internal/control"
)

// Of a run that is shown as failed its agent may not be gone yet: told to go on,
// it does so as soon as that is over.
func TestRetryWhileTheAgentIsBeingEnded(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[fail]\n"))
	var stopped atomic.Bool
	keepers := func() []int {
		return p.find(func(args string) bool { return strings.Contains(args, p.o.State) && strings.Contains(args, " keep ") })
	}
	p.o.Fault = func(at string) {
		if at == "logged finished" && stopped.CompareAndSwap(false, true) {
			for _, pid := range keepers() {
				_ = syscall.Kill(pid, syscall.SIGSTOP) // gone: then nothing is shown here
			}
		}
	}
	d := p.watching(bounded(t))
	failed := func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Status == dispatch.Failed }
	d.until(failed)
	said := make(chan error)
	go func() {
		_, err := d.do("retry", "Ship it")
		said <- err
	}()
	for range 3 { // so that it has come there
		if _, err := d.client.Status(d.ctx); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range keepers() {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	if err := <-said; err != nil {
		t.Fatal(err)
	}
	d.until(func(s control.Status) bool { return s.Runs[0].Status == "done" && p.lives() == 2 })
}

// A command that waits is answered once; when it has waited long enough, with
// what it waited for.
func TestCommandsWaitForAgentsThatEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, gone := &daemon{}, false
		try := func() (control.Result, error) {
			if !gone {
				return control.Result{}, ending(&run{Run: &dispatch.Run{Card: dispatch.Card{Title: "Ship it"}}})
			}
			return control.Result{Text: "goes on"}, nil
		}
		var answers []string
		done := func(res control.Result, err error) {
			if err != nil {
				res.Text = err.Error()
			}
			answers = append(answers, res.Text)
		}
		d.whenEnded(try, done)
		d.tryAgain(time.Now())
		if len(answers) != 0 {
			t.Fatalf("answered %q", answers)
		}
		gone = true
		d.tryAgain(time.Now())
		gone = false
		d.whenEnded(try, done)
		d.tryAgain(time.Now().Add(mostWait))
		d.tryAgain(time.Now().Add(mostWait))
		if want := "goes on;the agent of Ship it is still being ended"; strings.Join(answers, ";") != want {
			t.Errorf("answered %q, want %q", answers, want)
		}
	})
}
