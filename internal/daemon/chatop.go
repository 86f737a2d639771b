package daemon

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"deckhand/chats"
	"deckhand/dispatch"
	"deckhand/internal/store"
)

// unwritten are the items that a chat lacks, and how far they reach: in the
// capture, and among what people said.
type unwritten struct {
	items []chats.Item
	seq   int64
	told  string
	again bool // they were announced before a kill and may be there
}

// unwritten collects them. Those that were announced before a kill are all there
// are when they reach to where they did then: the last of them may not be whole
// before. The prompt is one of them when there was an agent to have it: a life
// whose keeper did not come so far was given none.
func (d *daemon) unwritten(r *run) (u unwritten) {
	from, to := int64(-1), int64(-1)
	toldFrom, toldTo := r.ChatTold, ""
	if r.ChatLife == r.Life {
		from = r.ChatSeq
		if r.ChatOpen {
			from, to, u.again = r.ChatFrom, r.ChatSeq, true
			toldFrom, toldTo = r.ChatToldFrom, r.ChatTold
		}
	}
	said, seq := r.talk.after(max(from, 0), to)
	u.seq, u.told = seq, toldFrom
	if from < 0 && r.prompt != "" && r.talk.began {
		u.items = append(u.items, chats.Item{Role: chats.You, Kind: chats.Text, Text: r.prompt})
	}
	for _, t := range r.Told {
		if t.Prompt || t.Entry <= toldFrom || u.again && t.Entry > toldTo {
			continue
		}
		said = u.upTo(said, t, r.talk.life)
		u.add(t)
	}
	for _, p := range said {
		u.items = append(u.items, p.Item)
	}
	return u
}

// owedToChat reports whether a person said something that the chat does not have:
// a kill came before it was announced. It is written with all that the capture
// has, when that is read again.
func owedToChat(r *run) bool {
	return slices.ContainsFunc(r.Told, func(t dispatch.Told) bool {
		return !t.Prompt && t.Entry > r.ChatTold && !(t.By == dispatch.ByChat && isSend(t.Offer))
	})
}

// upTo adds what the agent had said when a person said something, and gives the
// rest. What was said to the agent of an earlier life comes before all of it.
func (u *unwritten) upTo(said []piece, t dispatch.Told, life int) []piece {
	for len(said) > 0 && t.Life >= life && said[0].seq <= t.Seq {
		u.items, said = append(u.items, said[0].Item), said[1:]
	}
	return said
}

// add is what a person said. What they wrote at the end of the chat stands there.
func (u *unwritten) add(t dispatch.Told) {
	u.told = t.Entry
	if t.By == dispatch.ByChat && isSend(t.Offer) {
		return
	}
	u.items = append(u.items,
		chats.Item{Role: chats.You, Kind: chats.Text, Text: t.What}, chats.Item{Role: chats.You, Kind: chats.Sent, Time: t.At.Local()})
}

// isSend reports whether an id is one of a send box.
func isSend(offer string) bool { return strings.HasPrefix(offer, "s") }

// chatEdit is a change of a chat: items that are added, and its header, its boxes
// and the box at its end brought up to date.
type chatEdit struct {
	props chats.Props
	add   unwritten
	first bool                 // it makes the chat
	send  string               // the box it ends in; empty: none
	sent  map[string]time.Time // send boxes that were used, and when
	open  map[string]bool      // offers that are open
	over  []string             // and those that are not, without send boxes
}

// chatOp collects one.
func (d *daemon) chatOp(r *run, add unwritten) store.Op {
	e := chatEdit{props: d.props(r), add: add, first: !r.chatMade, send: r.Send, sent: maps.Clone(r.Sent), open: map[string]bool{}}
	for _, o := range r.Offers() {
		e.open[o.ID] = true
	}
	for _, id := range r.offered {
		if !e.open[id] && !isSend(id) {
			e.over = append(e.over, id)
		}
	}
	return e.apply
}

// apply makes the change. What a person broke is left alone.
func (e chatEdit) apply(cur []byte) ([]byte, error) {
	items := e.add.items
	switch {
	case cur == nil && e.first:
		return endIn(chats.New(e.props, items), e.send)
	case cur == nil:
		return nil, errChatGone
	}
	if e.add.again && chats.Ends(cur, items) {
		items = nil
	}
	next, err := closed(cur, e.over)
	if err == nil {
		next, err = e.body(next, items)
	}
	if err != nil {
		return nil, err
	}
	if with, err := chats.SetProps(next, e.props); err == nil {
		return with, nil
	}
	return next, nil // a header that a person broke is left alone
}

// body adds the items and sees to the draft at the end. A long chat is not read
// for that when it ends in the right box and nobody has written there.
func (e chatEdit) body(cur []byte, items []chats.Item) (next []byte, err error) {
	ends := inDraft(cur, e.send)
	next = cur
	if !ends {
		next = used(next, e.sent, e.open)
	}
	if len(items) > 0 {
		next, err = chats.Append(next, items)
	}
	if err != nil || ends {
		return next, err
	}
	return endIn(next, e.send)
}

// closed takes away the boxes that do nothing any more. A long chat is not read
// for it where it has none.
func closed(cur []byte, over []string) ([]byte, error) {
	has := func(id string) bool { return bytes.Contains(cur, []byte(" ^"+id+"-")) }
	if !slices.ContainsFunc(over, has) {
		return cur, nil
	}
	return chats.Close(cur, func(offer string) bool { return slices.Contains(over, offer) })
}

// inDraft reports whether a chat ends in an empty draft with this box.
func inDraft(cur []byte, send string) bool {
	return send != "" && bytes.HasSuffix(bytes.TrimRight(cur, " \r\n"), []byte("\n- [ ] send ^"+send+"-1"))
}

// used marks a draft that was sent, and takes a send box away that does nothing
// any more.
func used(cur []byte, sent map[string]time.Time, open map[string]bool) []byte {
	_, _, id := chats.DraftOf(cur)
	if id == "" {
		return cur
	}
	offer, _ := dispatch.CutOffer(id)
	next, err := cur, error(nil)
	if at, ok := sent[offer]; ok {
		next, err = chats.MarkSent(cur, id, at.Local())
	} else if !open[offer] {
		next, err = chats.Withdraw(cur, id)
	}
	if err != nil {
		return cur
	}
	return next
}

// endIn ends a chat in a send box.
func endIn(cur []byte, send string) ([]byte, error) {
	if send == "" {
		return cur, nil
	}
	return chats.Offer(cur, send+"-1")
}
