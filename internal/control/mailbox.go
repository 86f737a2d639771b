package control

import (
	"fmt"
	"sync"
)

// mailbox holds the events that one reader has not taken yet, as they are sent:
// what waits is bounded by its bytes. A status says everything anew, so that of
// those that wait only the newest is kept.
type mailbox struct {
	more chan struct{} // holds a value when there is something to take

	mu     sync.Mutex
	list   []letter // guarded by mu
	size   int      // guarded by mu: bytes of list
	closed bool     // guarded by mu
}

type letter struct {
	status bool
	text   []byte
}

func newMailbox() *mailbox { return &mailbox{more: make(chan struct{}, 1)} }

// put adds an event; it reports false when too much waits. What is too much for
// an empty box has to be sent all the same.
func (m *mailbox) put(e Event) bool {
	data, err := Marshal(e)
	if err != nil {
		return false
	}
	l := letter{e.Kind == "status", fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, data)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.status {
		m.dropStatus()
	}
	if m.size > 0 && m.size+len(l.text) > slowBytes {
		return false
	}
	m.list, m.size = append(m.list, l), m.size+len(l.text)
	m.ring()
	return true
}

// dropStatus takes out the status that waits; mu is held.
func (m *mailbox) dropStatus() {
	for i, l := range m.list {
		if l.status {
			m.size -= len(l.text)
			m.list = append(m.list[:i], m.list[i+1:]...)
			return
		}
	}
}

// take empties the box; open is false when no more comes.
func (m *mailbox) take() (texts [][]byte, open bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.list {
		texts = append(texts, l.text)
	}
	m.list, m.size = nil, 0
	return texts, !m.closed
}

func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.ring()
}

func (m *mailbox) ring() {
	select {
	case m.more <- struct{}{}:
	default:
	}
}
