package control

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// recorder keeps an answer; a write may be made to wait.
type recorder struct {
	strings.Builder
	status int
	header http.Header
	wait   chan struct{} // nil: writes are taken at once
}

func newRecorder() *recorder { return &recorder{header: http.Header{}, status: http.StatusOK} }

func (r *recorder) Header() http.Header  { return r.header }
func (r *recorder) WriteHeader(code int) { r.status = code }
func (r *recorder) Flush()               {}

func (r *recorder) Write(p []byte) (int, error) {
	if r.wait != nil {
		<-r.wait
	}
	return r.Builder.Write(p)
}

func mustRequest(t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://deckhand"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEventsComeInOrderAndEndWithTheBackend(t *testing.T) {
	f := &fake{events: func(_ context.Context, since int64) (<-chan Event, error) {
		c := make(chan Event, 3)
		c <- Event{Seq: since, Kind: "snapshot", Data: filledStatus()}
		c <- Event{Seq: since + 1, Kind: "run", Run: "01KB", Data: LogEvent{N: 4, Text: "a\nb <c>"}}
		close(c)
		return c, nil
	}}
	events, err := serve(t, f).Events(t.Context(), 41)
	if err != nil {
		t.Fatal(err)
	}
	first, second := <-events, <-events
	var s Status
	if err := first.Decode(&s); err != nil || first.Seq != 41 || first.Kind != "snapshot" || s.Dir != "/notes" {
		t.Errorf("%+v %+v %v", first, s, err)
	}
	var l LogEvent
	if err := second.Decode(&l); err != nil || second.Seq != 42 || second.Run != "01KB" || l.N != 4 || l.Text != "a\nb <c>" {
		t.Errorf("%+v %+v %v", second, l, err)
	}
	if e, open := <-events; open {
		t.Errorf("one more: %+v", e)
	}
}

func filledStatus() Status { return Status{Dir: "/notes"} }

func TestEventsThatCannotBegin(t *testing.T) {
	f := &fake{events: func(context.Context, int64) (<-chan Event, error) {
		return nil, &Error{Text: "closing", Code: CodeError}
	}}
	_, err := serve(t, f).Events(t.Context(), 0)
	var e *Error
	if !errors.As(err, &e) || e.Text != "closing" {
		t.Errorf("got %v", err)
	}
}

func TestTheBackendIsToldThatAReaderIsGone(t *testing.T) {
	gone := make(chan struct{})
	f := &fake{events: func(ctx context.Context, _ int64) (<-chan Event, error) {
		c := make(chan Event)
		go func() {
			<-ctx.Done()
			close(c)
			close(gone)
		}()
		return c, nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	events, err := serve(t, f).Events(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range events {
		t.Error("an event from nowhere")
	}
	<-gone
}

// A reader that takes nothing costs the backend nothing: its events are all
// taken at once, and the reader's connection ends.
func TestASlowReaderLosesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many, wait = 3 * slowBytes >> 10, slowBytes >> 10 * 9 / 10
		big := strings.Repeat("x", 1<<10)
		taken := make(chan int, 1)
		f := &fake{events: func(ctx context.Context, _ int64) (<-chan Event, error) {
			c := make(chan Event)
			go func() {
				defer close(c)
				for i := range many {
					select {
					case c <- Event{Seq: int64(i), Kind: "run", Data: big}:
					case <-ctx.Done():
						taken <- i
						return
					}
				}
				<-ctx.Done()
				taken <- many
			}()
			return c, nil
		}}
		w := newRecorder()
		w.wait = make(chan struct{})
		done := make(chan struct{})
		go func() {
			NewServer(f).handler().ServeHTTP(w, mustRequest(t, http.MethodGet, "/v1/events", ""))
			close(done)
		}()
		if n := <-taken; n < wait || n == many {
			t.Errorf("cut off after %d of %d events, though %d may wait", n, many, wait)
		}
		close(w.wait)
		<-done
	})
}

// Of statuses that wait for a reader only the newest does, behind what came before it.
func TestAStatusReplacesTheOneThatWaits(t *testing.T) {
	m := newMailbox()
	big := strings.Repeat("x", 1<<20)
	m.put(Event{Seq: 1, Kind: "snapshot"})
	for i := range int64(100) {
		if !m.put(Event{Seq: 2 + 2*i, Kind: "status", Data: big}) || !m.put(Event{Seq: 3 + 2*i, Kind: "run"}) {
			t.Fatalf("cut off at %d", i)
		}
	}
	texts, open := m.take()
	if last := string(texts[len(texts)-2]); len(texts) != 102 || !open || !strings.HasPrefix(last, "id: 200\n") {
		t.Errorf("%d wait, the last but one is %.20q", len(texts), last)
	}
	if !m.put(Event{Seq: 9, Kind: "snapshot", Data: strings.Repeat(big, 6)}) {
		t.Error("one that is too much for any box was not sent")
	}
	m.close()
	if texts, open := m.take(); len(texts) != 1 || open {
		t.Errorf("in the end %d, open %v", len(texts), open)
	}
}

func TestAQuietConnectionIsKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{events: func(ctx context.Context, _ int64) (<-chan Event, error) {
			c := make(chan Event)
			go func() { <-ctx.Done(); close(c) }()
			return c, nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 2*keepAlive+1)
		defer cancel()
		w := newRecorder()
		NewServer(f).handler().ServeHTTP(w, mustRequest(t, http.MethodGet, "/v1/events", "").WithContext(ctx))
		if got := w.String(); got != ": deckhand\n\n:\n\n:\n\n" {
			t.Errorf("got %q", got)
		}
	})
}

func TestLongEventsAreRead(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	events := make(chan Event, 1)
	readEvents(t.Context(), io.MultiReader(strings.NewReader(": hello\n\nid: 1\ndata: {\"seq\":1,\"data\":\""+long+"\"}\n\ndata: {broken\n\ndata: {\"seq\":2}\n")), events)
	var got string
	if e := <-events; e.Decode(&got) != nil || got != long {
		t.Errorf("%d bytes", len(got))
	}
	if len(events) > 0 {
		t.Error("went on after a broken event")
	}
}
