package daemon

import (
	"crypto/rand"
	"encoding/binary"
)

// offers makes the ids of what people can tick. One is never used twice: a tick
// that a merge or an old copy brings back belongs to nothing any more. It belongs
// to the loop.
type offers struct{ used map[string]bool }

// offerLetters are easy to tell apart, and what an id is made of.
const offerLetters = "abcdefghjkmnpqrtuvwxyz23456789"

// next is a new id of five characters. None begins with an s: those are of the
// send boxes of chats, which are read by that.
func (o *offers) next() string {
	for {
		var raw [8]byte
		rand.Read(raw[:]) // never fails
		n := binary.LittleEndian.Uint64(raw[:])
		var id [5]byte
		for i := range id {
			id[i] = offerLetters[n%uint64(len(offerLetters))]
			n /= uint64(len(offerLetters))
		}
		if s := string(id[:]); !o.used[s] {
			o.take(s)
			return s
		}
	}
}

func (o *offers) take(id string) {
	if o.used == nil {
		o.used = map[string]bool{}
	}
	o.used[id] = true
}

// nextSend is one of a send box.
func (o *offers) nextSend() string {
	for {
		if s := "s" + o.next()[1:]; !o.used[s] {
			o.take(s)
			return s
		}
	}
}
