package standin

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"deckhand/harness/pi"
)

// session is the conversation on disk, like pi's: a header, then messages. A
// later process on the same path goes on with it.
type session struct {
	path string
	id   string

	mu       sync.Mutex
	messages int // guarded by mu
}

// load counts what is there. Without a path nothing is kept.
func load(path string) *session {
	s := &session{path: path, id: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	old, err := os.ReadFile(path)
	if err == nil {
		s.messages = bytes.Count(old, []byte(`"type":"message"`))
	}
	return s
}

func (s *session) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages
}

// add appends a message. It is as lossy as a demo may be: a file that cannot be
// written only means that a later process starts anew.
func (s *session) add(m pi.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.messages == 0
	s.messages++
	if s.path == "" {
		return
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	e := json.NewEncoder(f)
	if first {
		_ = e.Encode(map[string]any{"type": "session", "version": 3, "id": s.id})
	}
	_ = e.Encode(map[string]any{"type": "message", "message": m})
}
