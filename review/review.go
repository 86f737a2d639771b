// Package review is the pane: what a person looks at all day. On the left what
// there is, in groups, first what needs them; on the right what is selected: its
// question with the choices, its log as it comes, chat, prompt, rules, board.
//
// It is a client of the control socket and nothing more: it reads no file of the
// work folder, decides nothing about runs and keeps nothing when it ends. What it
// offers follows what the daemon says, so that several panes, the command line
// and the notes agree.
//
// A Model is all it knows. Update takes an event and gives the next Model with
// what is to be done; Draw shows a Model on a screen. Neither has a clock, a
// terminal or a connection, and tests tell stories to them. Run is the rest: one
// goroutine owns Model and screen, others post events to it.
//
// Text of agents and notes is data. It is shown with escapes in place of what a
// terminal would obey, and nothing is said by colour alone.
package review

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/gdamore/tcell/v2"

	"deckhand/internal/control"
)

// Options are what the pane needs of its surroundings.
type Options struct {
	// Dial gives the daemon, or an error when none answers. It is called again
	// after a lost connection.
	Dial func(context.Context) (control.Backend, error)
	// Start starts a daemon, when the person wants one and none answers.
	Start func() error
	// Edit has the person change a text in their editor, Open look at a file of
	// the work folder. The pane has left the terminal to them meanwhile.
	Edit func(text string) (string, error)
	Open func(path string, line int) error
	// Guard is called when the terminal has been taken, and what it gives when it
	// has been given back.
	Guard func() (release func())
	Look  Look
}

// Screen takes the terminal.
func Screen() (tcell.Screen, error) {
	s, err := tcell.NewScreen()
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	for mark, ascii := range map[rune]string{
		'●': "*", '○': "o", '◆': "?", '×': "x", '■': "#", '✓': "v", '–': "-", '…': ".", '▌': "|", '▸': ">", '□': "-", '↓': "v", '·': "-",
	} {
		s.RegisterRuneFallback(mark, ascii)
	}
	return s, nil
}

// Run shows the pane until the person leaves it or ctx ends, and says what goes
// on behind it: the status as it was last known. The terminal is as it was
// before, also after a panic.
func Run(ctx context.Context, s tcell.Screen, o Options) (control.Status, error) {
	if err := s.Init(); err != nil {
		return control.Status{}, fmt.Errorf("terminal: %w", err)
	}
	release := func() {}
	if o.Guard != nil {
		release = o.Guard()
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &pane{o: o, screen: s, inbox: make(chan event, 256), m: newModel(o.Look, rand.Text()[:8]), ctx: ctx}
	defer func() { // also on the way of a panic
		cancel()
		s.Fini()
		release()
	}()
	s.EnableMouse(tcell.MouseButtonEvents)
	s.EnablePaste()
	p.posting(p.follow)
	terminal := make(chan tcell.Event, 64)
	quitting := make(chan struct{})
	defer close(quitting)
	p.posting(func() { s.ChannelEvents(terminal, quitting) })
	return p.loop(terminal)
}

// pane is what Run owns; everything but inbox and ctx belongs to its goroutine.
type pane struct {
	o       Options
	ctx     context.Context
	screen  tcell.Screen
	inbox   chan event
	m       Model
	backend control.Backend
	paste   *string // of a paste that has not ended
	done    bool
	stale   bool      // the screen does not show m
	drawn   time.Time // it did then
}

// failed is a panic of another goroutine: only the one that owns the screen may
// give the terminal back.
type failed struct {
	at
	value any
}

// dialled is a new connection.
type dialled struct {
	at
	backend control.Backend
}

func now() at { return at(time.Now()) }

// posting runs fn beside the pane.
func (p *pane) posting(fn func()) {
	go func() {
		defer func() {
			if v := recover(); v != nil {
				p.post(failed{now(), v})
			}
		}()
		fn()
	}()
}

// post gives an event to the pane; false when it has ended.
func (p *pane) post(e event) bool {
	select {
	case p.inbox <- e:
		return true
	case <-p.ctx.Done():
		return false
	}
}
