package daemon

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/control"
)

// trace is a run's trace as far as it was read. Read again, it goes on from
// there: whoever follows a run asks once for each thing that happens, and a
// capture that were decoded from its first line each time would cost the square
// of its length. What it holds is bounded: the newest events, for clients that
// are not all at the same place, what a life has not finished saying, and the
// state of its driver.
type trace struct {
	mu    sync.Mutex // guards the rest
	n     int64      // events so far
	kept  []*traced  // the newest of them, the last is number n
	size  int        // bytes of their text
	lives map[int]*hearing
	over  int // lives up to this one are read to their end
	lines int // of the log that are read
	last  mark
}

// The newest events that are kept, by number and by bytes of text.
const (
	keptEvents = 1000
	keptBytes  = 1 << 20
)

// hearing is a life that is being read.
type hearing struct {
	life    harness.Life
	capture *harness.Capture
	session harness.Session
	tracer  tracer
	ahead   *harness.Line // was read and lies behind what the loop has heard
}

// since gives the events of a run that came after the number n.
func (t tracing) since(n int64) (control.Log, error) {
	tr := newTrace()
	defer tr.close()
	out, _, err := tr.since(t, n)
	return out, err
}

func newTrace() *trace { return &trace{lives: map[int]*hearing{}, last: mark{entry: true}} }

// since reads on and gives the events after the number n; known is false when
// they are not all there any more.
func (tr *trace) since(t tracing, n int64) (out control.Log, known bool, err error) {
	out = control.Log{Run: t.run, Events: []control.LogEvent{}, Open: t.open}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if n < tr.n-int64(len(tr.kept)) {
		return out, false, nil
	}
	fresh, err := tr.read(t)
	if err != nil {
		return out, true, err
	}
	for _, e := range fresh {
		tr.n++
		e.N = tr.n
		tr.size += len(e.Text)
	}
	tr.kept = append(tr.kept, fresh...)
	for _, e := range tr.kept {
		if e.N > n && !e.over {
			out.Events = append(out.Events, e.LogEvent)
		}
	}
	tr.forget()
	out.Next = max(n, tr.n)
	return out, true, nil
}

// forget drops the oldest of what is kept.
func (tr *trace) forget() {
	drop := max(0, len(tr.kept)-keptEvents)
	for i := range tr.kept {
		if i >= drop && tr.size <= keptBytes {
			break
		}
		tr.size -= len(tr.kept[i].Text)
		drop = max(drop, i+1)
	}
	tr.kept = slices.Delete(tr.kept, 0, drop)
}

// read gives what has come since it was called last, in its order.
func (tr *trace) read(t tracing) ([]*traced, error) {
	lives, err := t.dir.Lives()
	if err != nil {
		return nil, err
	}
	var fresh []*traced
	for _, l := range lives {
		upTo := int64(0) // all of it
		switch {
		case l.N <= tr.over:
			continue
		case l.N == t.life:
			if upTo = t.heard; upTo == 0 {
				continue
			}
		case t.life != 0 && l.N > t.life:
			continue // it is being started
		}
		more, err := tr.hear(l, t.drivers, upTo)
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, more...)
	}
	entries, err := tr.entries(t)
	fresh = append(fresh, entries...)
	slices.SortStableFunc(fresh, func(a, b *traced) int { return a.at.compare(b.at) })
	return fresh, err
}

// hear reads a life on, up to a position (0: to its end).
func (tr *trace) hear(l harness.Life, drivers map[string]harness.Driver, upTo int64) ([]*traced, error) {
	h := tr.lives[l.N]
	if h == nil {
		s, _, err := reopen(l, drivers)
		if err != nil {
			return nil, err
		}
		h = &hearing{life: l, capture: l.Capture(), session: s.session, tracer: tracer{life: l.N}}
		tr.lives[l.N] = h
	}
	if err := h.on(upTo); err != nil {
		return nil, err
	}
	if upTo == 0 {
		if err := h.end(); err != nil {
			return nil, err
		}
		h.capture.Close()
		delete(tr.lives, l.N)
		tr.over = l.N
	}
	fresh := h.tracer.out
	h.tracer.out = nil
	return fresh, nil
}

// on decodes the lines up to a position.
func (h *hearing) on(upTo int64) error {
	take := func(l harness.Line) error {
		if upTo > 0 && l.Seq > upTo {
			h.ahead = &l
			return errEnough
		}
		h.ahead = nil
		events, _ := h.session.Decode(l)
		for _, e := range events {
			h.tracer.hear(e)
		}
		return nil
	}
	var err error
	if h.ahead != nil {
		err = take(*h.ahead)
	}
	if err == nil {
		err = h.capture.Each(take)
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// end is what the end of a life says.
func (h *hearing) end() error {
	state, err := h.life.State()
	if err == nil && state.Exit != nil {
		for _, e := range h.session.Exit(state.Exit.Code, state.Exit.Signal, state.Exit.Time) {
			h.tracer.hear(e)
		}
	}
	h.tracer.flush(mark{life: h.life.N, seq: h.tracer.last + 1})
	return err
}

// entries are those of the log that came since.
func (tr *trace) entries(t tracing) ([]*traced, error) {
	var fresh []*traced
	n := 0
	err := t.dir.ReadLog(func(line []byte) error {
		if n++; n <= tr.lines {
			return nil
		}
		var e dispatch.Entry
		switch err := json.Unmarshal(line, &e); {
		case err != nil, e.Kind == "":
			return nil // the last may be half written: it is read again
		case e.ID > t.upTo:
			return errEnough
		}
		tr.lines = n
		if at := (mark{e.Life, e.Seq, true}); at.compare(tr.last) > 0 {
			tr.last = at // entries keep the order in which they were written
		}
		if ev, ok := entryView(e); ok {
			fresh = append(fresh, &traced{LogEvent: ev, at: tr.last})
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return fresh, err
}

// close lets go of what is held; asked again, a trace is read from its begin.
func (tr *trace) close() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, h := range tr.lives {
		h.capture.Close()
	}
	tr.n, tr.kept, tr.size, tr.lives, tr.over, tr.lines, tr.last = 0, nil, 0, map[int]*hearing{}, 0, 0, mark{entry: true}
}

// traces are those of the runs at work that somebody follows. Any goroutine may
// ask.
type traces struct {
	mu   sync.Mutex
	list []followed // guarded by mu: asked for last comes last
}

type followed struct {
	run   string
	trace *trace
}

// mostFollowed bounds the traces that are held.
const mostFollowed = 8

// since gives the events of a run after a number, from where its trace was read
// to when that is known.
func (f *traces) since(t tracing, n int64) (control.Log, error) {
	if t.life == 0 { // nothing is followed, or it is not known how far the capture is heard
		f.drop(t.run)
		return t.since(n)
	}
	tr := f.of(t.run)
	out, known, err := tr.since(t, n)
	switch {
	case err != nil:
		f.drop(t.run) // it is somewhere in the middle
		return out, err
	case !known:
		return t.since(n)
	}
	return out, nil
}

func (f *traces) of(run string) *trace {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(e followed) bool { return e.run == run })
	e := followed{run, nil}
	if i >= 0 {
		e = f.list[i]
		f.list = slices.Delete(f.list, i, i+1)
	} else {
		e.trace = newTrace()
	}
	if f.list = append(f.list, e); len(f.list) > mostFollowed {
		f.list[0].trace.close()
		f.list = slices.Delete(f.list, 0, 1)
	}
	return e.trace
}

func (f *traces) drop(run string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.DeleteFunc(f.list, func(e followed) bool {
		if e.run != run {
			return false
		}
		e.trace.close()
		return true
	})
}

func (f *traces) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.list {
		e.trace.close()
	}
	f.list = nil
}
