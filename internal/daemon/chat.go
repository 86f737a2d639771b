package daemon

import (
	"errors"
	"path"
	"strconv"
	"time"

	"deckhand/chats"
	"deckhand/dispatch"
)

// chatEvery is how often a chat is written at most while its agent works; an
// ask, a failure and the end of a turn are written at once.
const chatEvery = 10 * time.Second

// chatFirst is how long a chat is left alone when an agent is started, which
// wants the same disk and comes first.
const chatFirst = 150 * time.Millisecond

// chatAway is how long a chat may be on its way to another place, for each of a
// few looks.
const chatAway = 5 * time.Second

// chatName is where the chat of a new run goes.
func (d *daemon) chatName(now time.Time, title string) string {
	dir := path.Join(d.settings.Output, "chats", now.Format("2006-01"))
	name := chats.FileName(now, title, func(name string) bool {
		return d.files.taken(name)
	})
	d.files.put(path.Join(dir, name))
	return path.Join(dir, name)
}

// chatLater writes a chat now, or when it is due.
func (d *daemon) chatLater(r *run, now, soon bool) {
	switch {
	case now:
		d.writeChat(r, true)
	case soon:
		r.chatBy(r.chatNext())
	}
}

// chatBy has a chat written at a time, if it is not written before.
func (r *run) chatBy(at time.Time) {
	if r.chatDue.IsZero() || at.Before(r.chatDue) {
		r.chatDue = at
	}
}

// chatShare is the part of the time in which one chat may be written: a chat is
// written whole, so that a long one takes its time, and an agent that says much
// would have the disk at work with nothing else.
const chatShare = 10

// chatNext is when a chat may be written next: before its time when much waits,
// and the later the longer the last write took.
func (r *run) chatNext() time.Time {
	if r.talk.much() {
		return r.chatAt.Add(chatShare * r.chatTook)
	}
	return r.chatAt.Add(max(chatEvery, chatShare*r.chatTook))
}

// draftKept is how long a chat is left alone after a person wrote into its end
// and did not send it. What cannot wait is written all the same.
const draftKept = 5 * time.Minute

// writeChat brings a chat up to what was said. What is about to be added is
// announced in the log first, so that a kill in the middle adds it once: the
// piece that was announced, and may or may not be there, is compared with the
// end of the file.
func (d *daemon) writeChat(r *run, urgent bool) {
	r.chatDue = time.Time{}
	at, found := d.chats.of(r)
	if r.Claimed.IsZero() || r.chatGone && !found || d.chatWaits(r, urgent) {
		return
	}
	if r.talk == nil { // its last life is over, and a person has something to say
		r.talk = &talk{role: r.Agent, life: r.Life}
	}
	life := r.Life
	add := d.unwritten(r)
	if add.again && add.seq < r.ChatSeq {
		return // the capture is read again and has not come that far
	}
	send := d.mintSend(r)
	if len(add.items) == 0 && d.shape(r) == r.props && send == "" || !d.announce(r, life, add, send) {
		return
	}
	r.chatBusy, r.chatAt = true, time.Now()
	shape := d.shape(r)
	op := d.chatOp(r, add)
	d.queues.add(chatQueue(r.ID), func() any {
		_, err := d.store.UpdateNow(d.ctx, at, op)
		d.o.at("chat written")
		return err
	}, func(v any) {
		r.chatBusy, d.dirty = false, true // a life may wait for it
		r.chatTook = time.Since(r.chatAt)
		if err, _ := v.(error); err != nil {
			d.chatFailed(r, at, err)
			return
		}
		r.props, r.chatFault, r.chatMiss, r.chatGone = shape, trouble{}, 0, false
		if len(add.items) > 0 {
			d.chatted(r, life, add.seq)
		}
		d.chatMore(r)
	})
}

// chatWaits reports whether a chat cannot be written now, or not yet; then it is
// due again.
func (d *daemon) chatWaits(r *run, urgent bool) bool {
	since := d.drafted(r)
	switch {
	case r.chatBusy:
		r.chatDue = time.Now().Add(time.Second)
	case !urgent && !since.IsZero() && time.Since(since) < draftKept:
		r.chatDue = since.Add(draftKept)
	default:
		return false
	}
	return true
}

// announce logs what is about to be written. It reports false, and the chat is
// due again, when it cannot.
func (d *daemon) announce(r *run, life int, add unwritten, send string) bool {
	ok := true
	switch {
	case len(add.items) > 0 && !add.again:
		ok = d.log(r, dispatch.Entry{Kind: dispatch.Chat, Life: life, Seq: add.seq, Said: add.told, Offer: send})
	case send != "":
		ok = d.log(r, dispatch.Entry{Kind: dispatch.Offered, Offer: send})
	}
	if !ok {
		r.chatDue = time.Now().Add(pause)
	}
	return ok
}

// mintSend is the id of a new send box, where the chat is to have one.
func (d *daemon) mintSend(r *run) string {
	if r.Send != "" || !sendable(r) {
		return ""
	}
	return d.offers.nextSend()
}

// sendable reports whether a person can say something at the end of the chat.
func sendable(r *run) bool {
	return r.Life > 0 && r.Phase != dispatch.PhaseReleased && r.Phase != dispatch.PhaseStopping && r.Outcome != dispatch.Accept
}

// chatQueues is how many chats are written at a time: each takes a few times its
// size in memory meanwhile.
const chatQueues = 2

// chatQueue is the queue in which the chat of a run is written, always the same.
func chatQueue(run string) string {
	sum := 0
	for i := range len(run) {
		sum += int(run[i])
	}
	return "chat:" + strconv.Itoa(sum%chatQueues)
}

// chatted notes that a chat has what was said in a life up to a position.
func (d *daemon) chatted(r *run, life int, seq int64) {
	d.fact(r, dispatch.Entry{Kind: dispatch.Chatted, Life: life, Seq: seq})
	if r.talk.life == life {
		r.talk.forget(seq)
	}
}

// chatMore sees to what has come while a chat was being written.
func (d *daemon) chatMore(r *run) {
	if len(d.unwritten(r).items) > 0 {
		r.chatBy(r.chatNext())
	}
	if d.shape(r) != r.props {
		d.writeChat(r, false)
	}
}

// errChatGone: the chat is not where it was. A person may be moving it; one that
// they deleted is not made again.
var errChatGone = errors.New("the chat is not there any more")

func (d *daemon) chatFailed(r *run, at string, err error) {
	if errors.Is(err, errChatGone) {
		if r.chatMiss++; r.chatMiss > enough {
			d.chatLost(r, at)
			return
		}
		r.chatDue = time.Now().Add(chatAway)
		return
	}
	if r.chatFault.failed(time.Now(), err) {
		d.say("%s", named(at, err))
	}
	r.chatDue, r.chatFault.again = r.chatFault.again, time.Time{}
}

// chatLost gives a chat up that was deleted: what it was to have is in the capture.
func (d *daemon) chatLost(r *run, at string) {
	r.chatMiss, r.chatGone = 0, true
	d.said(r, 0, at+": "+errChatGone.Error()+"; the rest is in `deckhand log`")
	if r.ChatOpen {
		d.fact(r, dispatch.Entry{Kind: dispatch.Chatted, Life: r.ChatLife, Seq: r.ChatSeq})
	}
	r.talk.forget(r.talk.seen)
}

// chatDone reports whether the chat has all of the life before; if not, it is
// written, at once when it only waits for its turn, and the next one starts
// after it. One that cannot be written does not keep an agent waiting.
func (d *daemon) chatDone(r *run) bool {
	if r.talk == nil || r.chatFault.tries >= enough || r.chatGone {
		return true
	}
	if len(d.unwritten(r).items) == 0 {
		return !r.chatBusy
	}
	if failed := r.chatFault.tries > 0 || r.chatMiss > 0; !r.chatBusy && !(failed && !r.chatDue.IsZero()) {
		d.writeChat(r, true)
	}
	return !r.chatBusy && r.chatDue.IsZero()
}

// chatShape tells apart what a chat is to show beside what was said. It is
// compared for each run whenever something happened.
type chatShape struct {
	props chats.Props // without its cost
	cost  string      // as it is shown
	open  string      // ids of what can be ticked
}

func (d *daemon) shape(r *run) chatShape {
	s := chatShape{props: d.props(r), cost: usd(r.Cost)}
	s.props.Cost = nil
	for _, o := range r.Offers() {
		s.open += o.ID + " "
	}
	return s
}

// props is the header of a run's chat.
func (m *model) props(r *run) chats.Props {
	p := chats.Props{
		Title: r.Card.Title, Agent: r.Agent, Model: r.model, Project: r.Project,
		Board: dispatch.Ref(m.chatPath(r), r.Card.Board), Run: r.ID, Status: r.Word(),
		Created: r.Claimed.Local(), Cost: r.Cost, Tokens: r.Tokens,
	}
	return p
}

func trimMD(name string) string {
	if path.Ext(name) == ".md" {
		return name[:len(name)-3]
	}
	return name
}
