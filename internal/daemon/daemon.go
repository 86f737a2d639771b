// Package daemon owns every goroutine and all state of a work folder: it turns
// events into actions and actions into effects.
//
// One goroutine, the loop, owns the model and decides. Everything else reaches
// it as a function on its inbox: batches of the watcher, events of agents,
// commands of clients, results of effects. After each it asks
// dispatch.Reconcile what follows, logs it, and starts the effects, which run
// outside, in order for each board and each run (queues).
//
// Not for: what is decided (dispatch), what bytes mean (board, chats, journal,
// inbox), how a file is written (internal/store), how an agent is spoken to
// (harness).
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"deckhand/dispatch"
	"deckhand/internal/control"
	"deckhand/internal/store"
	"deckhand/watcher"
)

// Options of a daemon.
type Options struct {
	Dir     string    // the work folder
	Config  string    // config.yaml
	State   string    // $XDG_STATE_HOME/deckhand
	Runtime string    // folder of the control socket
	Exe     string    // the program to start keepers from; empty: /proc/self/exe
	Once    bool      // every card counts as settled; end when nothing runs and nothing can start
	DryRun  bool      // say what would start, write nothing
	Log     io.Writer `json:"-"`
	Version string
	// Fault is called at named points of the life of a run ("log claimed",
	// "logged claimed", "card written", …), by tests that end the process
	// there. Nil in the program.
	Fault func(point string) `json:"-"`
}

// at marks a point where everything may end.
func (o Options) at(point string) {
	if o.Fault != nil {
		o.Fault(point)
	}
}

// Outcome of a run of the daemon.
type Outcome struct {
	Waiting int // runs and reviews that wait for a person (exit 3 with Once)
	Live    int // agents that go on
}

// daemon is a model with everything that keeps it up to date and acts on it.
// All fields are the loop's, but for those that say otherwise.
type daemon struct {
	*model
	ctx       context.Context
	end       context.CancelFunc
	inbox     chan func()  // any goroutine may send
	store     *store.Store // safe for any goroutine
	watch     *watcher.Watcher
	queues    *queues
	ids       ids
	clients   clients
	record    recorder
	page      needsState
	ready     bool // the first scan is done and open runs are taken up
	rereading int  // all notes are being looked at again: nothing is decided before
	dirty     bool // look again
	wake      time.Time
	stalled   time.Time // a log could not be written: nothing new is done before
	probed    time.Time
	busyLook  map[string]bool // paths that were being written when they were looked at
	wg        sync.WaitGroup  // goroutines that are joined at the end
}

// Run runs the daemon until ctx ends (or, with Once, until nothing is left to do).
func Run(ctx context.Context, o Options) (Outcome, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.DryRun {
		return Outcome{}, dryRun(ctx, o)
	}
	f, err := openFolder(o.Dir, o.State)
	if err != nil {
		return Outcome{}, err
	}
	if err := f.take(); err != nil {
		return Outcome{}, err
	}
	defer f.release()
	d, err := newDaemon(ctx, o, f)
	if err != nil {
		return Outcome{}, err
	}
	defer d.close()
	if err := d.start(); err != nil {
		return Outcome{}, err
	}
	err = d.loop()
	return d.outcome(), err
}

func newDaemon(ctx context.Context, o Options, f *folder) (*daemon, error) {
	d := &daemon{model: newModel(o, f), inbox: make(chan func(), 64), busyLook: map[string]bool{}}
	d.ctx, d.end = context.WithCancel(ctx)
	d.queues = newQueues(d.post)
	if err := d.configure(); err != nil {
		return nil, err
	}
	if err := errors.Join(f.output(d.settings.Output), f.trimReceipts()); err != nil {
		return nil, err
	}
	settle := d.settings.Settle
	if o.Once {
		settle = 0
	}
	var err error
	if d.store, err = store.Open(f.dir, store.Options{State: f.path(), Settle: settle, Late: d.late}); err != nil {
		return nil, err
	}
	if err := d.load(); err != nil {
		return nil, errors.Join(err, d.store.Close())
	}
	for _, r := range d.runs {
		d.ids.seen(r.LastID)
	}
	d.record.open(d)
	return d, nil
}

// start takes up what a killed daemon left, and starts the goroutines.
func (d *daemon) start() error {
	left, err := d.store.Recover(d.ctx)
	if err != nil {
		return err
	}
	for _, r := range left {
		d.recovered(r)
	}
	d.daemon = &running{PID: os.Getpid(), Version: d.o.Version, Watch: "scanning"}
	if err := writeJSON(d.f.path("daemon.json"), d.daemon); err != nil {
		return err
	}
	if err := d.serve(); err != nil {
		return err
	}
	if err := d.watchFolder(); err != nil {
		return err
	}
	d.watchConfig()
	d.probe()
	return nil
}

// post gives the loop something to do. It waits for the loop, so that a flood
// is held back where it comes from, and gives up when the daemon ends.
func (d *daemon) post(fn func()) {
	select {
	case d.inbox <- fn:
	case <-d.ctx.Done():
	}
}

// loop is the one goroutine that owns the state.
func (d *daemon) loop() error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if d.dirty && d.ready && d.rereading == 0 {
			d.reconcile()
		}
		if d.o.Once && d.idle() {
			return nil
		}
		timer.Reset(time.Until(d.nextWake()))
		select {
		case <-d.ctx.Done():
			return nil
		case fn := <-d.inbox:
			fn()
			d.drain()
		case <-timer.C:
			d.dirty = true
			d.due(time.Now())
		}
	}
}

// drain handles what has come in meanwhile, so that one look serves a burst.
func (d *daemon) drain() {
	for range cap(d.inbox) {
		select {
		case fn := <-d.inbox:
			fn()
		default:
			return
		}
	}
}

// rounds bounds how often one wake-up looks again after its own actions.
const rounds = 16

func (d *daemon) reconcile() {
	d.dirty = false
	now := time.Now()
	if now.Before(d.stalled) {
		return
	}
	for range rounds {
		d.decision = dispatch.Reconcile(d.world(now))
		d.mem = d.decision.Memory
		if len(d.decision.Actions) == 0 {
			break
		}
		for _, a := range d.decision.Actions {
			d.act(a)
		}
	}
	d.wake = d.decision.Wake
	d.report(now)
}

// slowest is the longest the loop sleeps: probes of agents that are missing
// and clocks that jump are looked at then.
const slowest = 10 * time.Minute

func (d *daemon) nextWake() time.Time {
	at := time.Now().Add(slowest)
	earlier := func(t time.Time) {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	earlier(d.wake)
	earlier(d.stalled)
	earlier(d.record.due)
	earlier(d.page.again)
	for _, r := range d.runs {
		earlier(r.again)
		earlier(r.chatDue)
	}
	return at
}

// due does what was put off until now.
func (d *daemon) due(now time.Time) {
	for id, r := range d.runs {
		if !r.again.IsZero() && !now.Before(r.again) {
			r.again = time.Time{}
			delete(d.busy, id)
		}
		if !r.chatDue.IsZero() && !now.Before(r.chatDue) {
			d.writeChat(r)
		}
	}
	if !d.record.due.IsZero() && !now.Before(d.record.due) {
		d.record.write(d)
	}
	if !now.Before(d.page.again) {
		d.page.again = time.Time{}
	}
	if now.Sub(d.probed) >= slowest {
		d.probe()
	}
	if !d.stalled.IsZero() && !now.Before(d.stalled) {
		d.stalled = time.Time{}
	}
}

// idle reports whether nothing runs and nothing can start.
func (d *daemon) idle() bool {
	if !d.ready || d.rereading > 0 || d.dirty || !d.queues.idle() || d.unprobed() || len(d.decision.Actions) > 0 || !d.stalled.IsZero() {
		return false
	}
	if !d.record.due.IsZero() { // nothing else is left: what waits is written now
		d.record.write(d)
		return false
	}
	for _, r := range d.runs {
		if r.Live() && r.Phase != dispatch.PhaseWaiting || !r.again.IsZero() || !r.chatDue.IsZero() {
			return false
		}
	}
	return true
}

func (d *daemon) outcome() Outcome {
	var o Outcome
	for _, r := range d.runs {
		if r.Live() && r.Life > 0 {
			o.Live++
		}
		if r.Phase == dispatch.PhaseWaiting || r.Phase == dispatch.PhaseOver && r.Outcome != dispatch.Accept && d.onBoard(r) {
			o.Waiting++
		}
	}
	for _, v := range d.decision.Cards {
		if len(v.Held()) > 0 {
			o.Waiting++
		}
	}
	return o
}

func (d *daemon) close() {
	d.end()
	d.queues.wg.Wait()
	d.wg.Wait()
	if err := d.store.Close(); err != nil {
		d.say("store: %v", err)
	}
	os.Remove(d.f.path("daemon.json")) // a stale one does no harm
}

// say writes one line for the person who watches the daemon.
func (d *daemon) say(format string, args ...any) {
	fmt.Fprintf(d.o.Log, "%s %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

// socket is where the control socket of the folder is.
func (f *folder) socket(runtime string) string { return filepath.Join(runtime, f.key+".sock") }

var _ control.Backend = (*backend)(nil)
