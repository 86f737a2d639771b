package review

import (
	"context"
	"errors"
	"time"

	"github.com/gdamore/tcell/v2"

	"deckhand/internal/control"
)

// frameTime is the least time between two pictures while events pour in. A key
// is answered at once.
const frameTime = 30 * time.Millisecond

// loop takes events one by one and shows what follows.
func (p *pane) loop(terminal <-chan tcell.Event) (control.Status, error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	w, h := p.screen.Size()
	p.take(resized{now(), w, h})
	p.draw()
	for !p.done {
		timer.Reset(p.rest())
		urgent := true
		select {
		case e, ok := <-terminal:
			if !ok {
				return p.m.status, errors.New("the terminal is gone")
			}
			p.fromTerminal(e)
			urgent = len(terminal) == 0
		case e := <-p.inbox:
			p.take(e)
			urgent = false
		case <-timer.C:
			p.take(ticked{now()})
		case <-p.ctx.Done():
			return p.m.status, nil
		}
		if p.stale && (urgent || time.Since(p.drawn) >= frameTime) {
			p.draw()
		}
	}
	return p.m.status, nil
}

// rest is how long nothing has to be done.
func (p *pane) rest() time.Duration {
	if p.stale {
		return max(0, frameTime-time.Since(p.drawn))
	}
	if at, ok := p.m.next(); ok {
		return max(time.Millisecond, time.Until(at))
	}
	return time.Hour
}

func (p *pane) draw() {
	Draw(p.m, p.screen)
	p.screen.Show()
	p.drawn, p.stale = time.Now(), false
}

// take gives the model an event, and does what follows.
func (p *pane) take(e event) {
	switch e := e.(type) {
	case failed:
		panic(e.value)
	case dialled:
		p.backend = e.backend
		return
	}
	var effects []effect
	p.m, effects = Update(p.m, e)
	p.stale = true
	for _, f := range effects {
		p.perform(f)
	}
}

// fromTerminal turns what the terminal says into events.
func (p *pane) fromTerminal(e tcell.Event) {
	switch e := e.(type) {
	case *tcell.EventKey:
		if p.paste != nil {
			*p.paste += pastedKey(e)
		} else if key := keyOf(e); key != "" {
			p.take(keyed{now(), key})
		}
	case *tcell.EventPaste:
		if e.Start() {
			p.paste = new(string)
		} else if p.paste != nil {
			text := *p.paste
			p.paste = nil
			p.take(pasted{now(), text})
		}
	case *tcell.EventResize:
		w, h := e.Size()
		p.screen.Sync()
		p.take(resized{now(), w, h})
	case *tcell.EventMouse:
		x, y := e.Position()
		switch b := e.Buttons(); {
		case b&tcell.WheelUp != 0:
			p.take(moused{now(), x, y, -3})
		case b&tcell.WheelDown != 0:
			p.take(moused{now(), x, y, 3})
		case b&tcell.ButtonPrimary != 0:
			p.take(moused{now(), x, y, 0})
		}
	}
}

// perform does what the model wants. What takes time is done beside the pane.
func (p *pane) perform(e effect) {
	switch e := e.(type) {
	case quit:
		p.done = true
	case editText:
		p.lend(func() event {
			text, err := p.o.Edit(e.text)
			return edited{now(), text, err}
		})
	case openFile:
		p.lend(func() event {
			if err := p.o.Open(e.path, e.line); err != nil {
				return edited{now(), "", err}
			}
			return ticked{now()}
		})
	case startDaemon:
		p.posting(func() {
			if err := p.o.Start(); err != nil {
				p.post(linked{now(), false, err.Error()})
			}
		})
	default:
		if b := p.backend; b != nil {
			p.posting(func() { p.post(fetched(p.ctx, b, e)) })
		}
	}
}

// lend gives the terminal to another program for a while.
func (p *pane) lend(fn func() event) {
	if err := p.screen.Suspend(); err != nil {
		p.take(edited{now(), "", err})
		return
	}
	e := fn()
	if err := p.screen.Resume(); err != nil {
		panic(err) // there is no terminal to go on with
	}
	w, h := p.screen.Size()
	p.take(resized{now(), w, h})
	p.take(e)
}

// fetched asks the daemon.
func fetched(ctx context.Context, b control.Backend, e effect) event {
	switch e := e.(type) {
	case askLog:
		l, err := b.Log(ctx, e.run, e.since)
		return gotLog{now(), e.key, l, err}
	case askChat:
		c, err := b.Chat(ctx, e.run)
		return gotChat{now(), e.key, c, err}
	case askPrompt:
		v, err := b.Prompt(ctx, e.card)
		return gotPrompt{now(), e.key, v, err}
	case askDiff:
		d, err := b.Diff(ctx, e.of)
		return gotDiff{now(), e.key, d, err}
	case askWhy:
		w, err := b.Why(ctx, e.card)
		return gotWhy{now(), e.key, w, err}
	case askBoards:
		boards, err := b.Boards(ctx)
		return gotBoards{now(), boards, err}
	case do:
		r, err := b.Do(ctx, e.cmd)
		return did{now(), e.cmd.ID, r, err}
	}
	return ticked{now()}
}

// How long until a lost daemon is called again.
const (
	soonAgain  = 100 * time.Millisecond
	latestWait = 2 * time.Second
)

// follow keeps a connection: events as they come, and again when it is lost.
func (p *pane) follow() {
	wait := soonAgain
	for p.ctx.Err() == nil {
		err := p.connection()
		if err == nil {
			wait = soonAgain
			err = errLost
		}
		if !p.post(linked{now(), false, err.Error()}) {
			return
		}
		select {
		case <-time.After(wait):
		case <-p.ctx.Done():
		}
		wait = min(2*wait, latestWait)
	}
}

var errLost = errors.New("the daemon has ended, or the pane was too slow for it")

// connection passes on the events of one connection until it is lost; an error
// means that there was none.
func (p *pane) connection() error {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	b, err := p.o.Dial(ctx)
	if err != nil {
		return err
	}
	events, err := b.Events(ctx, 0)
	if err != nil {
		return err
	}
	p.post(dialled{now(), b})
	p.post(linked{now(), true, ""})
	for e := range events {
		if e, err = decoded(e); err != nil {
			return err
		}
		p.post(told{now(), e})
	}
	return nil
}

// decoded is an event with its data as what it is.
func decoded(e control.Event) (control.Event, error) {
	switch e.Kind {
	case "snapshot", "status":
		var s control.Status
		err := e.Decode(&s)
		e.Data = s
		return e, err
	case "run":
		var l control.LogEvent
		err := e.Decode(&l)
		e.Data = l
		return e, err
	}
	return e, nil // of a newer daemon
}
