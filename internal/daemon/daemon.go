// Package daemon owns every goroutine and all state of a work folder: it turns
// events into actions and actions into effects.
//
// One goroutine, the loop, owns the model and decides. Everything else reaches
// it as a function on its inbox: batches of the watcher, events of agents,
// commands of clients, results of effects. After each it asks
// dispatch.Reconcile what follows, logs it, and starts the effects, which run
// outside, in order for each board and each run (queues). The loop itself
// touches the state folder, which is the program's own memory, and no file of
// the work folder: that may lie on a disk that does not answer.
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
	"deckhand/harness"
	"deckhand/internal/control"
	"deckhand/internal/shell"
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
	// "logged claimed", "card written", …) and before each file operation of
	// the store ("store exchange", …), by tests that end the process there.
	// Nil in the program.
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
	ctx     context.Context
	end     context.CancelFunc
	failure error          // why it ends, when that is no person's will
	inbox   chan func()    // any goroutine may send
	store   *store.Store   // safe for any goroutine
	wg      sync.WaitGroup // goroutines that are joined at the end
	saying  sync.Mutex     // guards o.Log

	// Seeing.
	watch      *watcher.Watcher
	config     bool                 // config.yaml is watched
	scanned    int                  // notes that the first scan has read
	again      map[string]time.Time // files that are looked at again, and when
	looks      map[string]int       // how often one was being written when it was looked at
	rereading  int                  // all notes are being looked at again: nothing is decided before
	afterwards []func()             // what is to be done when they are
	surveyed   time.Time            // when projects were looked at last
	surveying  bool

	// Deciding.
	ids         ids
	ready       bool // the first scan is done and open runs are taken up
	dirty       bool // look again
	acted       int  // actions of the last look that could be done
	wake        time.Time
	surveyAgain time.Time
	stalled     trouble // the state cannot be written: nothing new is done before it can

	// Acting.
	queues   *queues
	adding   map[string]bool // boards that are getting lanes
	record   recorder
	page     needsState
	bell     notifier
	based    bool // Runs.base was seen to
	clients  clients
	traces   traces             // any goroutine may ask
	pending  map[string][]reply // commands under way, by the client's id
	deciding map[string][]reply // commands that wait for a proposal, by its id
	probed   time.Time
	pruned   time.Time
	news     harness.Watches // of captures; any goroutine may wait
	waits    []postponed     // commands that agents that are being ended stand in the way of
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
	if f.moved != "" {
		return Outcome{}, &control.Error{
			Text: tilde(f.dir) + " was at " + tilde(f.moved) + " before, and its runs are known by that place",
			Hint: "deckhand adopt\ndeckhand trust " + shell.Path(tilde(f.dir)), Code: control.CodeConflict,
		}
	}
	if why := f.wasCopied(); why.Text != "" {
		return Outcome{}, &control.Error{Text: tilde(f.dir) + ": " + why.Text, Hint: why.Hint, Code: control.CodeConflict}
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
	d := &daemon{
		model: newModel(o, f), inbox: make(chan func(), 64), again: map[string]time.Time{}, looks: map[string]int{},
		adding: map[string]bool{}, pending: map[string][]reply{}, deciding: map[string][]reply{}, record: newRecorder(f),
	}
	d.ctx, d.end = context.WithCancel(ctx)
	d.queues = newQueues(d.post)
	if err := d.configure(); err != nil {
		return nil, err
	}
	if d.badOutput == "" {
		if err := f.output(d.settings.Output); err != nil {
			return nil, err
		}
	}
	if err := f.openReceipts(); err != nil {
		return nil, err
	}
	disk := store.Options{State: f.path(), Settle: d.quiet(), Late: d.late}
	if o.Fault != nil {
		disk.Fault = func(point string) { o.at("store " + point) }
	}
	var err error
	if d.store, err = store.Open(f.dir, disk); err != nil {
		return nil, err
	}
	if err := d.load(); err != nil {
		return nil, errors.Join(err, d.store.Close())
	}
	for _, text := range d.broken {
		d.say("%s", text)
	}
	for _, r := range d.runs {
		d.ids.seen(r.LastID)
	}
	for _, id := range f.file.Forced {
		d.forced[dispatch.CardID(id)] = true
	}
	return d, nil
}

// quiet is how long a person's file is left alone after its last change before it
// is written.
func (d *daemon) quiet() time.Duration {
	if d.o.Once {
		return 0
	}
	return d.settings.Settle
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
	if err := d.daemon.say(d.f); err != nil {
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

// patience is how long effects under way are waited for at the end. One that
// hangs on a dead disk is left: whatever it was doing, the next start finishes.
const patience = 10 * time.Second

func (d *daemon) close() {
	d.end()
	defer d.traces.close()
	joined := make(chan struct{})
	go func() {
		d.queues.wg.Wait()
		d.wg.Wait()
		close(joined)
	}()
	select {
	case <-joined:
		for _, r := range d.runs {
			if r.ahead != nil {
				r.ahead.close()
			}
		}
		if err := d.store.Close(); err != nil {
			d.say("store: %v", err)
		}
	case <-time.After(patience):
		d.say("the disk does not answer: ended without waiting for it any longer")
	}
	os.Remove(d.f.path("daemon.json")) // a stale one does no harm
}

// fail ends the daemon for a reason of its own.
func (d *daemon) fail(err error) {
	d.failure = err
	d.end()
}

// say writes one line for the person who watches the daemon. Any goroutine may.
func (d *daemon) say(format string, args ...any) {
	d.saying.Lock()
	defer d.saying.Unlock()
	fmt.Fprintf(d.o.Log, "%s %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

// socket is where the control socket of the folder is.
func (f *folder) socket(runtime string) string { return filepath.Join(runtime, f.key+".sock") }

var _ control.Backend = (*backend)(nil)
