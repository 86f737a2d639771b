package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Client is the Backend on the other end of a socket.
type Client struct{ http *http.Client }

var _ Backend = (*Client)(nil)

// noDaemon is the Error of a socket on which nobody answers.
func noDaemon(cause error) *Error {
	return &Error{Text: fmt.Sprintf("no daemon answers: %v", cause), Hint: "deckhand watch", Code: CodeNoDaemon}
}

// Connect makes a client and sees whether somebody answers; the error is an
// Error with CodeNoDaemon when nobody does.
func Connect(ctx context.Context, path string) (*Client, error) {
	c, err := dial(ctx, path)
	if err != nil {
		return nil, noDaemon(err)
	}
	if err := c.Close(); err != nil {
		return nil, noDaemon(err)
	}
	return &Client{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, path) },
	}}}, nil
}

// Close ends the client's idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status asks for all runs.
func (c *Client) Status(ctx context.Context) (v Status, err error) {
	err = c.get(ctx, "status", nil, &v)
	return v, err
}

// Why asks for the rules of a card.
func (c *Client) Why(ctx context.Context, card string) (v Why, err error) {
	err = c.get(ctx, "why", url.Values{"card": {card}}, &v)
	return v, err
}

// Prompt asks for a card's prompt.
func (c *Client) Prompt(ctx context.Context, card string) (v Prompt, err error) {
	err = c.get(ctx, "prompt", url.Values{"card": {card}}, &v)
	return v, err
}

// Log asks for a run's trace from event since on.
func (c *Client) Log(ctx context.Context, run string, since int64) (v Log, err error) {
	err = c.get(ctx, "log", url.Values{"run": {run}, "since": {strconv.FormatInt(since, 10)}}, &v)
	return v, err
}

// Chat asks for a run's chat.
func (c *Client) Chat(ctx context.Context, run string) (v Chat, err error) {
	err = c.get(ctx, "chat", url.Values{"run": {run}}, &v)
	return v, err
}

// Journal asks for the entries since a time; the zero time is the start.
func (c *Client) Journal(ctx context.Context, since time.Time) ([]JournalEntry, error) {
	q := url.Values{}
	if !since.IsZero() {
		q.Set("since", since.Format(time.RFC3339Nano))
	}
	var v Journal
	err := c.get(ctx, "journal", q, &v)
	return v.Entries, err
}

// Boards asks for all boards.
func (c *Client) Boards(ctx context.Context) ([]Board, error) {
	var v Boards
	err := c.get(ctx, "boards", nil, &v)
	return v.Boards, err
}

// Approvals asks for the permissions that were given for more than once.
func (c *Client) Approvals(ctx context.Context) ([]Approval, error) {
	var v Approvals
	err := c.get(ctx, "approvals", nil, &v)
	return v.Approvals, err
}

// Proposals asks for the proposals that wait for a decision.
func (c *Client) Proposals(ctx context.Context) ([]Proposal, error) {
	var v Proposals
	err := c.get(ctx, "proposals", nil, &v)
	return v.Proposals, err
}

// Diff asks what proposals do to notes.
func (c *Client) Diff(ctx context.Context, of string) (v Diff, err error) {
	return v, c.get(ctx, "diff", url.Values{"of": {of}}, &v)
}

// Do has something changed.
func (c *Client) Do(ctx context.Context, cmd Command) (v Result, err error) {
	body, err := Marshal(cmd)
	if err != nil {
		return v, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://deckhand/v1/do", bytes.NewReader(body))
	if err != nil {
		return v, err
	}
	r.Header.Set("Content-Type", "application/json")
	err = c.answer(r, &v)
	return v, err
}

// Events follows what happens. The channel is closed when ctx ends or the
// connection does; the caller may come back with the last Seq it saw.
func (c *Client) Events(ctx context.Context, since int64) (<-chan Event, error) {
	r, err := request(ctx, "events", url.Values{"since": {strconv.FormatInt(since, 10)}})
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, lost(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer closeBody(resp)
		return nil, readError(resp)
	}
	events := make(chan Event)
	go func() {
		defer close(events)
		defer closeBody(resp)
		readEvents(ctx, resp.Body, events)
	}()
	return events, nil
}

// readEvents reads server-sent events until the stream ends.
func readEvents(ctx context.Context, from io.Reader, to chan<- Event) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue // id and event stand in the data too; comments keep alive
		}
		var e struct {
			Event
			Data json.RawMessage `json:"data"`
		}
		if json.Unmarshal(data, &e) != nil {
			return
		}
		e.Event.Data = e.Data
		select {
		case to <- e.Event:
		case <-ctx.Done():
			return
		}
	}
}

func request(ctx context.Context, path string, q url.Values) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, http.MethodGet, "http://deckhand/v1/"+path+"?"+q.Encode(), nil)
}

func (c *Client) get(ctx context.Context, path string, q url.Values, v any) error {
	r, err := request(ctx, path, q)
	if err != nil {
		return err
	}
	return c.answer(r, v)
}

func (c *Client) answer(r *http.Request, v any) error {
	resp, err := c.http.Do(r)
	if err != nil {
		return lost(r.Context(), err)
	}
	defer closeBody(resp)
	if resp.StatusCode != http.StatusOK {
		return readError(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		return lost(r.Context(), err)
	}
	return nil
}

// lost is the error of a connection that broke, or of a caller that gave up.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return noDaemon(err)
}

func readError(resp *http.Response) error {
	var e Error
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil || e.Text == "" {
		return &Error{Text: "the daemon answers " + resp.Status + ": it may be of another version", Hint: "end it and type: deckhand watch", Code: CodeError}
	}
	return &e
}

func closeBody(resp *http.Response) { _ = resp.Body.Close() } // read only
