package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	maxCommand   = 1 << 20          // bytes of a command
	slowBytes    = 4 << 20          // of events that may wait for one reader
	slowWrite    = 10 * time.Second // a reader that takes nothing for so long is gone
	keepAlive    = 15 * time.Second // a comment, so that a dead connection is noticed
	shutdownWait = 2 * time.Second  // for answers that are under way
)

// Server answers for a backend.
type Server struct{ backend Backend }

// NewServer makes a server. It answers when Serve runs.
func NewServer(b Backend) *Server { return &Server{backend: b} }

// Serve answers on l until ctx ends, then closes l and all connections.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: slowWrite,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("control socket: %w", err)
	case <-ctx.Done():
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWait)
	defer cancel()
	if err := h.Shutdown(wait); err != nil {
		_ = h.Close() // an answer that takes longer is cut; its client sees that
	}
	<-done
	return nil
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	get := func(path string, answer func(*http.Request) (any, error)) {
		mux.HandleFunc("GET /v1/"+path, func(w http.ResponseWriter, r *http.Request) {
			v, err := answer(r)
			reply(w, v, err)
		})
	}
	b := s.backend
	get("status", func(r *http.Request) (any, error) { return b.Status(r.Context()) })
	get("why", func(r *http.Request) (any, error) { return b.Why(r.Context(), r.FormValue("card")) })
	get("prompt", func(r *http.Request) (any, error) { return b.Prompt(r.Context(), r.FormValue("card")) })
	get("chat", func(r *http.Request) (any, error) { return b.Chat(r.Context(), r.FormValue("run")) })
	get("log", s.log)
	get("journal", s.journal)
	get("approvals", func(r *http.Request) (any, error) {
		list, err := b.Approvals(r.Context())
		return Approvals{Approvals: list}, err
	})
	get("boards", func(r *http.Request) (any, error) {
		list, err := b.Boards(r.Context())
		return Boards{Boards: list}, err
	})
	get("proposals", func(r *http.Request) (any, error) {
		list, err := b.Proposals(r.Context())
		return Proposals{Proposals: list}, err
	})
	get("diff", func(r *http.Request) (any, error) { return b.Diff(r.Context(), r.FormValue("of")) })
	mux.HandleFunc("GET /v1/events", s.events)
	mux.HandleFunc("POST /v1/do", s.do)
	return mux
}

func (s *Server) log(r *http.Request) (any, error) {
	since, err := number(r)
	if err != nil {
		return nil, err
	}
	return s.backend.Log(r.Context(), r.FormValue("run"), since)
}

func (s *Server) journal(r *http.Request) (any, error) {
	var since time.Time
	if v := r.FormValue("since"); v != "" {
		var err error
		if since, err = time.Parse(time.RFC3339Nano, v); err != nil {
			return nil, &Error{Text: fmt.Sprintf("since %q is no time", v), Code: CodeUsage}
		}
	}
	entries, err := s.backend.Journal(r.Context(), since)
	return Journal{Entries: entries}, err
}

// number is the parameter since; without it 0, the start.
func number(r *http.Request) (int64, error) {
	v := r.FormValue("since")
	if v == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0, &Error{Text: fmt.Sprintf("since %q is no number", v), Code: CodeUsage}
	}
	return n, nil
}

func (s *Server) do(w http.ResponseWriter, r *http.Request) {
	var c Command
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxCommand))
	d.DisallowUnknownFields() // a newer client's word must not be dropped in silence
	if err := d.Decode(&c); err != nil {
		reply(w, nil, &Error{Text: "the command cannot be read: " + err.Error(), Code: CodeUsage})
		return
	}
	if c.ID == "" || c.Name == "" {
		reply(w, nil, &Error{Text: "a command needs an id and a name", Code: CodeUsage})
		return
	}
	result, err := s.backend.Do(r.Context(), c)
	reply(w, result, err)
}

// reply writes an answer or an Error.
func reply(w http.ResponseWriter, v any, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusUnprocessableEntity
		var e *Error
		if !errors.As(err, &e) {
			status, e = http.StatusInternalServerError, &Error{Text: err.Error(), Code: CodeError}
		}
		v = *e
	}
	body, err := Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client is gone: nobody to tell
}

// events streams until the client, the backend or the server ends. The
// backend's channel is always read at once: a reader that cannot follow fills
// its own buffer and loses its connection, and comes back with since=N.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	since, err := number(r)
	if err != nil {
		reply(w, nil, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	from, err := s.backend.Events(ctx, since)
	if err != nil {
		reply(w, nil, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	waiting := newMailbox()
	go pump(cancel, from, waiting)
	stream(ctx, w, waiting)
}

// pump moves events into a bounded box; when it is full, the reader is cut off.
func pump(cancel context.CancelFunc, from <-chan Event, to *mailbox) {
	defer to.close()
	for e := range from {
		if !to.put(e) {
			cancel()
			for range from { // the backend closes it when ctx is over
			}
			return
		}
	}
}

func stream(ctx context.Context, w http.ResponseWriter, events *mailbox) {
	c := http.NewResponseController(w)
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	write := func(text []byte) bool {
		_ = c.SetWriteDeadline(time.Now().Add(slowWrite))
		if _, err := w.Write(text); err != nil {
			return false
		}
		return c.Flush() == nil
	}
	for ok := write([]byte(": deckhand\n\n")); ok; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			ok = write([]byte(":\n\n"))
		case <-events.more:
			texts, open := events.take()
			for _, text := range texts {
				ok = ok && write(text)
			}
			ok = ok && open
		}
	}
}
