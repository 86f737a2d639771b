package conformance

import (
	"time"

	"deckhand/harness"
)

// A Peer plays the agent where a session asks for something that the recording
// does not hold, because it was made before the session existed.
type Peer struct {
	// Answer is what the agent would say to a row; "" says nothing.
	Answer func(harness.Send) string
	// SameBreath says whether a line belongs to what came just before it, so
	// that nothing could have been answered between them.
	SameBreath func(line []byte) bool
}

// Life is what a replay gave: the lines as they were decoded, with those of the
// peer, and what the session said.
type Life struct {
	Recording
	Events []harness.Event
	Sends  []harness.Send // in the order they were handed out
}

// Replay decodes a recording with a session, from the first line to the end of
// the process.
func Replay(s harness.Session, rec Recording, peer Peer) Life {
	p := &player{session: s, peer: peer, life: Life{Recording: Recording{Name: rec.Name, Code: rec.Code, Signal: rec.Signal}}}
	at := epoch()
	for _, l := range rec.Lines {
		if l.Stream != harness.Out || peer.SameBreath == nil || !peer.SameBreath(l.Data) {
			p.answer(at)
		}
		at = l.Time
		p.decode(l.Stream, at, l.Data)
	}
	p.answer(at)
	p.life.Events = append(p.life.Events, s.Exit(rec.Code, rec.Signal, at)...)
	return p.life
}

type player struct {
	session harness.Session
	peer    Peer
	open    []harness.Send // handed out and not answered
	seen    map[string]bool
	life    Life
}

// decode feeds one line; rows the session hands out are kept until the agent
// could have read them.
func (p *player) decode(stream harness.Stream, at time.Time, data []byte) {
	p.life.add(stream, at, data)
	events, sends := p.session.Decode(p.life.Lines[len(p.life.Lines)-1])
	p.life.Events = append(p.life.Events, events...)
	p.life.Sends = append(p.life.Sends, sends...)
	p.open = append(p.open, sends...)
}

// answer writes down the rows that are open and what the agent says to them. A
// row with an id that is there already is not written again.
func (p *player) answer(at time.Time) {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	for len(p.open) > 0 {
		send := p.open[0]
		p.open = p.open[1:]
		if p.peer.Answer == nil || p.seen[send.ID] {
			continue
		}
		p.seen[send.ID] = true
		reply := p.peer.Answer(send)
		if reply == "" {
			continue
		}
		p.life.Sent(at, send)
		p.replay(at)
		p.decode(harness.Out, at, []byte(reply))
	}
}

// replay decodes the line that was just added.
func (p *player) replay(time.Time) {
	events, sends := p.session.Decode(p.life.Lines[len(p.life.Lines)-1])
	p.life.Events = append(p.life.Events, events...)
	p.life.Sends = append(p.life.Sends, sends...)
	p.open = append(p.open, sends...)
}

// Again decodes the lines of a life once more, as a daemon does that attaches to
// it, and returns what was said up to and including line n, 0 for all and the
// exit.
func (l Life) Again(s harness.Session, n int) []harness.Event {
	var events []harness.Event
	for _, line := range l.Lines {
		more, _ := s.Decode(line)
		events = append(events, more...)
		if int(line.Seq) == n {
			return events
		}
	}
	at := epoch()
	if len(l.Lines) > 0 {
		at = l.Lines[len(l.Lines)-1].Time
	}
	return append(events, s.Exit(l.Code, l.Signal, at)...)
}
