package assistant

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"deckhand/change"
	"deckhand/harness/pi"
)

// session is the conversation on disk: one JSON object a line, the header first.
// All of it stays there, whatever of it a model is told. A later process on the
// same path goes on with it, also after a kill: a line that was cut off is passed
// over, and so is one of a kind that is not known.
//
//	{"type":"session","version":1,"id":"…"}
//	{"type":"message","message":{…}}                       as pi has it
//	{"type":"proposed","proposed":{…}}                     before it is said
//	{"type":"decision","decision":{…}}                     when it is known
//	{"type":"work","work":{…}}                             the plan, whole
//
// What a person can edit is data: it is restored and never done.
type session struct {
	path string
	id   string

	mu        sync.Mutex
	file      *os.File // guarded by mu
	torn      bool     // guarded by mu: the last line has no end
	headed    bool     // guarded by mu: the header is there
	messages  []pi.Message
	proposals []*proposal // guarded by mu; in the order they were made
	work      *work       // guarded by mu
}

// entry is one line of a session.
type entry struct {
	Type     string      `json:"type"`
	Version  int         `json:"version,omitempty"`
	ID       string      `json:"id,omitempty"`
	Message  *pi.Message `json:"message,omitempty"`
	Proposed *proposal   `json:"proposed,omitempty"`
	Decision *decision   `json:"decision,omitempty"`
	Work     *work       `json:"work,omitempty"`
}

// proposal is what was proposed and what became of it.
type proposal struct {
	change.Proposal
	Time    time.Time       `json:"time"`
	Actions []change.Action `json:"actions"` // as the model wanted them

	decision *decision // nil: open
}

// decision is a person's, or what was found on the disk in its place.
type decision struct {
	ID       string   `json:"id"`
	Applied  []string `json:"applied"`
	Rejected []string `json:"rejected"`
	Failed   string   `json:"failed,omitempty"`
	Note     string   `json:"note,omitempty"`
	Found    bool     `json:"found,omitempty"` // nobody said it: the files were looked at
}

// sessionMost is the size up to which a session is read: far more than a
// conversation is.
const sessionMost = 256 << 20

// openSession reads the session at path, which may not be there yet.
func openSession(path string) (*session, error) {
	s := &session{path: path}
	data, err := readSession(path)
	if err != nil {
		return nil, err
	}
	s.torn = len(data) > 0 && data[len(data)-1] != '\n'
	for line := range bytes.Lines(data) {
		s.take(line)
	}
	if s.id == "" {
		var id [16]byte
		if _, err := rand.Read(id[:]); err != nil {
			return nil, err
		}
		s.id = hex.EncodeToString(id[:])
	}
	return s, nil
}

func readSession(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, sessionMost+1))
	if err == nil && len(data) > sessionMost {
		err = fmt.Errorf("%s is larger than %d MB", path, sessionMost>>20)
	}
	return data, err
}

// take restores what one line says.
func (s *session) take(line []byte) {
	var e entry
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch {
	case e.Type == "session" && s.id == "":
		s.id, s.headed = e.ID, e.ID != ""
	case e.Type == "message" && e.Message != nil:
		s.messages = append(s.messages, *e.Message)
	case e.Type == "proposed" && e.Proposed != nil:
		s.proposals = append(s.proposals, e.Proposed)
	case e.Type == "decision" && e.Decision != nil:
		s.settle(*e.Decision)
	case e.Type == "work" && e.Work != nil:
		s.work = e.Work
	}
}

// settle gives a decision to its proposal, once. It reports whether there is
// one that was open.
func (s *session) settle(d decision) bool {
	for _, p := range s.proposals {
		if p.ID == d.ID && p.decision == nil {
			p.decision = &d
			return true
		}
	}
	return false
}

func (s *session) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.messages)
}

// add appends a message.
func (s *session) add(m pi.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, m)
	return s.write(entry{Type: "message", Message: &m}, m.Role == "user")
}

// propose keeps a proposal, with an id that this session never had.
func (s *session) propose(p proposal) (*proposal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.ID = fmt.Sprintf("p%d", len(s.proposals)+1)
	s.proposals = append(s.proposals, &p)
	return &p, s.write(entry{Type: "proposed", Proposed: &p}, true)
}

// decided keeps the decision about a proposal that is open; any other one is
// passed over.
func (s *session) decided(d decision) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.settle(d) {
		return nil
	}
	return s.write(entry{Type: "decision", Decision: &d}, true)
}

func (s *session) plan(w work) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work = &w
	return s.write(entry{Type: "work", Work: &w}, false)
}

// planned is the plan of the moment; nil: none.
func (s *session) planned() *work {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.work
}

// record lists what was proposed, and what became of it.
func (s *session) record() []proposal {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]proposal, len(s.proposals))
	for i, p := range s.proposals {
		all[i] = *p
	}
	return all
}

// said lists the messages so far.
func (s *session) said() []pi.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// write appends an entry; mu is held. What the world is about to see has to be
// on the disk before.
func (s *session) write(e entry, sync bool) error {
	if s.file == nil {
		if err := s.open(); err != nil {
			return err
		}
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if s.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := s.file.Write(append(line, '\n'))
	s.torn = err != nil && (n > 0 || s.torn)
	if err == nil && sync {
		err = s.file.Sync()
	}
	return err
}

func (s *session) open() (err error) {
	if s.file, err = os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil || s.headed {
		return err
	}
	s.headed = true
	return s.write(entry{Type: "session", Version: 1, ID: s.id}, false)
}

func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}
