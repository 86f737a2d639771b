package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// fake answers with what a test gave it and keeps what it was asked.
type fake struct {
	status  Status
	why     Why
	prompt  Prompt
	log     Log
	chat    Chat
	journal []JournalEntry
	boards  []Board
	allowed []Approval
	result  Result
	err     error
	asked   []string
	command Command
	events  func(ctx context.Context, since int64) (<-chan Event, error)
}

func (f *fake) ask(format string, args ...any) error {
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
	return f.err
}

func (f *fake) Status(context.Context) (Status, error)         { return f.status, f.ask("status") }
func (f *fake) Why(_ context.Context, c string) (Why, error)   { return f.why, f.ask("why %s", c) }
func (f *fake) Chat(_ context.Context, r string) (Chat, error) { return f.chat, f.ask("chat %s", r) }

func (f *fake) Approvals(context.Context) ([]Approval, error) { return f.allowed, f.ask("approvals") }
func (f *fake) Boards(context.Context) ([]Board, error)       { return f.boards, f.ask("boards") }
func (f *fake) Proposals(context.Context) ([]Proposal, error) {
	return []Proposal{{ID: "a7k2m"}}, f.ask("proposals")
}

func (f *fake) Diff(_ context.Context, of string) (Diff, error) {
	return Diff{Text: "of " + of}, f.ask("diff")
}

func (f *fake) Prompt(_ context.Context, c string) (Prompt, error) {
	return f.prompt, f.ask("prompt %s", c)
}

func (f *fake) Log(_ context.Context, r string, n int64) (Log, error) {
	return f.log, f.ask("log %s %d", r, n)
}

func (f *fake) Journal(_ context.Context, t time.Time) ([]JournalEntry, error) {
	return f.journal, f.ask("journal %s", t.Format(time.RFC3339Nano))
}

func (f *fake) Do(_ context.Context, c Command) (Result, error) {
	f.command = c
	return f.result, f.ask("do")
}

func (f *fake) Events(ctx context.Context, since int64) (<-chan Event, error) {
	return f.events(ctx, since)
}

// serve puts the backend behind a socket until the test ends.
func serve(t *testing.T, b Backend) *Client {
	t.Helper()
	path := SocketPath(shortDir(t), "k")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- NewServer(b).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	c, err := Connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// shortDir is a folder whose name leaves room for a socket's 104 bytes.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "run")
}

// filled is a T in which every field has a value of its own.
func filled[T any](t *testing.T) T {
	t.Helper()
	var v T
	n := 0
	fillValues(t, reflect.ValueOf(&v).Elem(), &n)
	return v
}

func fillValues(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Date(2026, 11, 30, 14, 3, 12, *n*1e6, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d <&> ä \u2028", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.03125)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValues(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fillValues(t, v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillValues(t, v.Field(i), n)
		}
	default:
		t.Fatalf("a test for %s is missing", v.Type())
	}
}

func check[T any](t *testing.T, what string, got T, err error, want T) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v\ngot  %+v\nwant %+v", what, err, got, want)
	}
}

func TestEveryFieldGoesThroughTheSocket(t *testing.T) {
	f := &fake{
		status: filled[Status](t), why: filled[Why](t), prompt: filled[Prompt](t), log: filled[Log](t), chat: filled[Chat](t),
		journal: filled[[]JournalEntry](t), boards: filled[[]Board](t), allowed: filled[[]Approval](t), result: filled[Result](t),
	}
	c, ctx := serve(t, f), t.Context()
	status, err := c.Status(ctx)
	check(t, "status", status, err, f.status)
	why, err := c.Why(ctx, "Checkout & [[x]] ?a=b")
	check(t, "why", why, err, f.why)
	prompt, err := c.Prompt(ctx, "ä")
	check(t, "prompt", prompt, err, f.prompt)
	log, err := c.Log(ctx, "01KB", 7)
	check(t, "log", log, err, f.log)
	chat, err := c.Chat(ctx, "01KB")
	check(t, "chat", chat, err, f.chat)
	since := time.Date(2026, 11, 30, 1, 2, 3, 4, time.FixedZone("", 7*3600))
	journal, err := c.Journal(ctx, since)
	check(t, "journal", journal, err, f.journal)
	boards, err := c.Boards(ctx)
	check(t, "boards", boards, err, f.boards)
	allowed, err := c.Approvals(ctx)
	check(t, "approvals", allowed, err, f.allowed)
	cmd := filled[Command](t)
	result, err := c.Do(ctx, cmd)
	check(t, "do", result, err, f.result)
	check(t, "command", f.command, nil, cmd)
	check(t, "asked", f.asked, nil, []string{
		"status", "why Checkout & [[x]] ?a=b", "prompt ä", "log 01KB 7", "chat 01KB", "journal 2026-11-30T01:02:03.000000004+07:00", "boards", "approvals", "do",
	})
}

func TestErrorsKeepHintCodeAndMatches(t *testing.T) {
	want := filled[Error](t)
	f := &fake{err: fmt.Errorf("wrapped: %w", &want)}
	c := serve(t, f)
	_, err := c.Status(t.Context())
	var got *Error
	if !errors.As(err, &got) || !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v", err)
	}
	f.err = errors.New("plain")
	_, err = c.Do(t.Context(), Command{ID: "1", Name: "run"})
	if !errors.As(err, &got) || !reflect.DeepEqual(*got, Error{Text: "plain", Code: CodeError}) {
		t.Errorf("got %+v", err)
	}
}

func TestCommandsThatCannotBeRead(t *testing.T) {
	f := &fake{}
	h := NewServer(f).handler()
	for body, want := range map[string]string{
		`{"id":"1","name":"run","later":true}`: `{"error":"the command cannot be read: json: unknown field \"later\"","code":2}`,
		`{"id":"1"}`:                           `{"error":"a command needs an id and a name","code":2}`,
		`{`:                                    `{"error":"the command cannot be read: unexpected EOF","code":2}`,
		`{"id":"` + strings.Repeat("x", maxCommand) + `"}`: `{"error":"the command cannot be read: http: request body too large","code":2}`,
	} {
		w := newRecorder()
		h.ServeHTTP(w, mustRequest(t, http.MethodPost, "/v1/do", body))
		if w.status != http.StatusUnprocessableEntity || strings.TrimSpace(w.String()) != want {
			t.Errorf("%.40s: %d %s", body, w.status, w.String())
		}
	}
	for _, q := range []string{"/v1/log?since=x", "/v1/journal?since=x", "/v1/events?since=x"} {
		w := newRecorder()
		h.ServeHTTP(w, mustRequest(t, http.MethodGet, q, ""))
		if w.status != http.StatusUnprocessableEntity || !strings.Contains(w.String(), `"code":2`) {
			t.Errorf("%s: %d %s", q, w.status, w.String())
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("the backend was asked %v", f.asked)
	}
}

func TestListsAreNeverNull(t *testing.T) {
	got, err := Marshal(Status{Runs: []Run{{}}, Held: []Held{{}}})
	if err != nil || strings.Count(string(got), "null") != strings.Count(string(got), `"ended":null`)+strings.Count(string(got), `"cost":null`) {
		t.Errorf("%s, %v", got, err)
	}
	for _, want := range []string{`"asks":[]`, `"reasons":[]`, `"queued":[]`, `"proposals":[]`, `"problems":[]`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	got, err = Marshal(Event{Kind: "status", Data: Status{}})
	if err != nil || !strings.Contains(string(got), `"runs":[]`) {
		t.Errorf("%s, %v", got, err)
	}
	s := Status{Runs: []Run{{}}}
	if _, err := Marshal(s); err != nil || s.Runs[0].Asks != nil {
		t.Errorf("the answer itself was changed: %+v, %v", s, err)
	}
}

// docs/json.md names every field of every type, and no other.
func TestEveryFieldIsInTheDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|")
	for _, section := range strings.Split(string(doc), "\n## ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		if fields := row.FindAllStringSubmatch(body, -1); name != "The socket" {
			for _, m := range fields {
				documented[name] = append(documented[name], m[1])
			}
		}
	}
	types := map[string]reflect.Type{}
	for _, v := range []any{
		Status{}, Why{}, Prompt{}, Log{}, Chat{}, Journal{}, Boards{}, Agents{}, Checks{}, Projects{}, Approvals{}, Command{}, Result{}, Event{}, Error{}, Proposals{}, Diff{},
	} {
		collect(reflect.TypeOf(v), types)
	}
	for name, typ := range types {
		var want []string
		for i := range typ.NumField() {
			tag, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			want = append(want, tag)
		}
		if !slices.Equal(documented[name], want) {
			t.Errorf("## %s has %v, the type has %v", name, documented[name], want)
		}
	}
	if got, want := slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(types)); !slices.Equal(got, want) {
		t.Errorf("sections %v, types %v", got, want)
	}
}

func collect(typ reflect.Type, to map[string]reflect.Type) {
	switch typ.Kind() {
	case reflect.Slice, reflect.Pointer:
		collect(typ.Elem(), to)
	case reflect.Struct:
		if typ.PkgPath() != reflect.TypeFor[Status]().PkgPath() || to[typ.Name()] != nil {
			return
		}
		to[typ.Name()] = typ
		for i := range typ.NumField() {
			collect(typ.Field(i).Type, to)
		}
	}
}

// The example in the design of status --json has exactly these names.
func TestStatusHasTheAgreedNames(t *testing.T) {
	got, err := Marshal(filled[Status](t))
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Runs []map[string]any
	}
	if err := json.Unmarshal(got, &v); err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("accepted agent asks board card changed chat cost ended folder id lane line next project reason started status tokens")
	if names := slices.Sorted(maps.Keys(v.Runs[0])); !slices.Equal(names, want) {
		t.Errorf("got %v", names)
	}
}

func TestNobodyAnswers(t *testing.T) {
	_, err := Connect(t.Context(), filepath.Join(t.TempDir(), "none.sock"))
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeNoDaemon || e.Hint != "deckhand watch" {
		t.Errorf("got %+v", err)
	}
}

func TestTheSocketIsOurs(t *testing.T) {
	dir := shortDir(t)
	path := SocketPath(dir, "k")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]os.FileMode{dir: 0o700, path: 0o600} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "a daemon answers") {
		t.Errorf("beside a live daemon: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAStaleSocketIsReplacedAndNothingElse(t *testing.T) {
	dir := shortDir(t)
	path := SocketPath(dir, "k")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("a file in its place: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "mine" {
		t.Errorf("the file: %q, %v", got, err)
	}
}

func TestThePeerIsThisUser(t *testing.T) {
	path := filepath.Join(shortDir(t), "k.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if uid, err := peer(c); err != nil || uid != os.Getuid() {
		t.Errorf("%d, %v", uid, err)
	}
	if _, err := peer(fakeConn{}); err == nil {
		t.Error("what is no unix socket has a user")
	}
}

type fakeConn struct{ net.Conn }
