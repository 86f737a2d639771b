package daemon

import (
	"fmt"
	"time"

	"deckhand/dispatch"
	"deckhand/harness"
)

// run is one run: what its log says, and what its live capture adds.
type run struct {
	*dispatch.Run
	dir      harness.Dir
	runner   *runner    // of the loop; nil when no life is attached
	talk     *talk      // what goes into the chat; of the loop
	use      usage      // of the life that is attached
	counted  int        // the life whose usage the log has
	resumes  int        // how often it went on by itself since a person last had a word
	turns    int        // how often it went on at all
	told     [][]string // and what it was told each time
	prompt   string     // of the attached life, as sent
	model    string     // that the agent says it uses
	logged   map[logKey]bool
	asked    map[string]dispatch.Ask // all it ever asked, by id
	unlogged []dispatch.Entry        // facts that the disk has not taken yet, oldest first
	starting bool                    // a life is being started
	ahead    *ahead                  // a life that waits to be started; nil: none is made yet
	misses   int                     // keepers that died before they did anything
	offered  []string                // ids of all that could ever be ticked about it
	telling  bool                    // the agent is being told something
	untold   trouble                 // why it could not be
	looking  map[logKey]bool         // proposals that are being looked at
	stuck    trouble                 // why its proposals cannot be carried on
	pages    map[string]*pageState   // of its proposals, by their ids
	noting   bool                    // the notes that it was given are being looked at
	noteSeen bool                    // and one of them has changed meanwhile
	noted    map[string]bool         // paths of those; nil: not known yet
	notified map[string]bool         // what the notifier was run for in this turn

	fault trouble   // why the last effect on its card failed
	lost  time.Time // its capture could not be read; followed again then

	chatSoon  bool          // it is to be written, whatever waits in it
	chatDue   time.Time     // the chat is written then at the latest
	chatAt    time.Time     // it was written last
	chatTook  time.Duration // and for how long, with the wait for others
	chatBusy  bool          // it is being written
	chatMade  bool          // it was there: one that is not any more was deleted
	chatMiss  int           // how often it was not where it should be
	chatGone  bool          // a person deleted it: it is not made again
	chatFault trouble       // why it could not be written
	props     chatShape     // what its header was given last, to see that it changed
}

// logKey names an entry that comes from a capture: the same line read again
// after a restart must not be logged twice.
type logKey struct {
	kind dispatch.Kind
	life int
	seq  int64
	ask  string
}

func keyOf(e dispatch.Entry) logKey {
	k := logKey{kind: e.Kind, life: e.Life, seq: e.Seq}
	if e.Ask != nil {
		k.ask = e.Ask.ID
	}
	return k
}

func newRun(r *dispatch.Run, dir harness.Dir) *run {
	return &run{Run: r, dir: dir, logged: map[logKey]bool{}, asked: map[string]dispatch.Ask{}}
}

// apply adds an entry to what is known of the run.
func (r *run) apply(e dispatch.Entry) {
	r.Apply(e)
	r.tell(e)
	switch e.Kind {
	case dispatch.Chatted:
		r.chatMade = true
	case dispatch.Asked:
		if e.Ask != nil {
			ask := *e.Ask
			ask.Offer = e.Offer
			r.asked[ask.ID] = ask
		}
	case dispatch.Finished, dispatch.Ended, dispatch.Interrupted:
		if e.Tokens > 0 || e.Cost != nil {
			r.counted = e.Life
		}
	case dispatch.Resumed:
		r.turns++
		r.told = append(r.told, e.Lines)
		if r.resumes++; e.By != byItself {
			r.resumes = 0
		}
	}
	if e.Offer != "" {
		r.offered = append(r.offered, e.Offer)
	}
	if e.Seq > 0 {
		r.logged[keyOf(e)] = true
	}
}

// takes reports whether an entry is news: not in the log already, and not
// about a turn that is over.
func (r *run) takes(e dispatch.Entry) bool {
	return e.Kind != "" && !r.logged[keyOf(e)] && r.Open()
}

// uncounted is what the attached life has used and the log does not have yet.
func (r *run) uncounted() (tokens int64, cost *float64) {
	if r.use.life == 0 || r.use.life == r.counted {
		return 0, nil
	}
	return r.use.tokens, r.use.cost
}

// ending is one line about how a run stands.
func (r *run) ending() string {
	text := r.Outcome
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return fmt.Sprintf("%s · %s · %s", text, dispatch.Short(r.Ended.Sub(r.Turn)), usd(r.Cost))
}

// usage adds up what the messages of one life cost; each message counts once.
type usage struct {
	life   int
	seen   map[string]bool
	tokens int64
	cost   *float64
}

func (u *usage) add(m *harness.Usage) {
	if m.Message != "" {
		if u.seen[m.Message] {
			return
		}
		if u.seen == nil {
			u.seen = map[string]bool{}
		}
		u.seen[m.Message] = true
	}
	u.tokens += m.Tokens
	u.cost = sum(u.cost, m.Cost)
}

// sum adds two costs of which one or both may be unknown.
func sum(a, b *float64) *float64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	s := *a + *b
	return &s
}
