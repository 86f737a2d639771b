package daemon

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/internal/control"
)

func itoa(n int) string { return strconv.Itoa(n) }

// receipt is the first result of a client's command; the same id again gets it.
type receipt struct {
	ID     string         `json:"id"`
	Result control.Result `json:"result"`
}

// command carries out what a client wants. It counts once: its receipt is on
// the disk before it is answered, and whatever it starts is in a run's log.
func (d *daemon) command(c control.Command) (control.Result, error) {
	if c.ID == "" {
		return control.Result{}, &control.Error{Text: "a command needs an id", Code: control.CodeUsage}
	}
	if !d.ready {
		return control.Result{}, &control.Error{Text: "the first scan is not done", Hint: "try again in a moment", Code: control.CodeError}
	}
	if old, ok := d.receipt(c.ID); ok {
		return old, nil
	}
	res, err := d.do(c)
	if err != nil {
		return res, err
	}
	res.OK = true
	d.dirty = true
	return res, d.keepReceipt(receipt{c.ID, res})
}

func (d *daemon) do(c control.Command) (control.Result, error) {
	switch c.Name {
	case "run":
		return d.doRun(c)
	case "stop":
		return d.doStop(c)
	case "stop_all":
		return d.doStopAll()
	case "retry":
		return d.doRetry(c)
	case "add":
		return d.doAdd(c)
	case "lanes_add":
		return d.doLanes(c)
	case "grant":
		return d.doGrant(c)
	case "probe":
		d.probe()
		return control.Result{Text: "the agents are looked at"}, nil
	}
	return control.Result{}, &control.Error{Text: fmt.Sprintf("no command is called %q", c.Name), Code: control.CodeUsage}
}

func (d *daemon) doRun(c control.Command) (control.Result, error) {
	s, fault := d.card(c.Card)
	if fault != nil {
		return control.Result{}, fault
	}
	if s.card.Status != nil {
		return control.Result{}, &control.Error{Text: s.String() + " has run already", Hint: "deckhand retry " + s.card.Status.Run, Code: control.CodeConflict}
	}
	id := dispatch.CardID{Board: s.path, Key: s.card.Key}
	d.forced[id] = true
	w := d.world(time.Now())
	v, ok := dispatch.Judge(w, s.path, s.card.Line)
	if held := v.Held(); !ok || len(held) > 0 {
		delete(d.forced, id)
		if len(held) == 0 {
			held = []dispatch.Reason{{Text: "the card is gone"}}
		}
		return control.Result{}, &control.Error{Text: where(s.path, s.card.Line, 0) + ": " + held[0].Text, Hint: held[0].Hint, Code: control.CodeConflict}
	}
	if err := d.f.forget(id); err != nil {
		return control.Result{}, err
	}
	text := "starts now"
	if !v.Start() {
		text = "is queued: " + turn(v)
	}
	return control.Result{Text: s.card.Title + " " + text}, nil
}

func (d *daemon) doStop(c control.Command) (control.Result, error) {
	r, fault := d.run(c.Run)
	if fault != nil {
		return control.Result{}, fault
	}
	if !r.Live() {
		return control.Result{}, &control.Error{Text: fmt.Sprintf("run %s is over: %s", r.ID, r.Outcome), Code: control.CodeConflict}
	}
	d.stop(r, "command", cmp.Or(c.Text, "by command"))
	return control.Result{Text: "stopping " + r.Card.Title, Run: r.ID}, nil
}

func (d *daemon) doStopAll() (control.Result, error) {
	n := 0
	for _, r := range d.sorted() {
		if r.Open() {
			d.stop(r, "command", "by command")
			n++
		}
	}
	return control.Result{Text: "stopping " + plural(n, "run", "runs")}, nil
}

func (d *daemon) doRetry(c control.Command) (control.Result, error) {
	r, fault := d.run(c.Run)
	if fault != nil {
		return control.Result{}, fault
	}
	if r.Live() {
		return control.Result{}, &control.Error{Text: fmt.Sprintf("run %s is not over", r.ID), Hint: "deckhand stop " + r.ID, Code: control.CodeConflict}
	}
	path, _, card := d.find(r)
	if card == nil {
		return control.Result{}, &control.Error{Text: fmt.Sprintf("run %s: its card is on no board", r.ID), Code: control.CodeConflict}
	}
	set := d.set()
	for _, why := range []dispatch.Reason{set.Held, set.Agents[r.Agent].Why, set.Projects[r.Project].Why} {
		if why.Text != "" {
			return control.Result{}, &control.Error{Text: why.Text, Hint: why.Hint, Code: control.CodeConflict}
		}
	}
	for _, o := range d.sorted() {
		if o != r && o.Live() && o.Folder == r.Folder {
			return control.Result{}, &control.Error{Text: fmt.Sprintf("%q is %s in that folder", o.Card.Title, o.Status()), Hint: "deckhand stop " + o.ID, Code: control.CodeConflict}
		}
	}
	now := append(append([]string{}, card.Lines...), board.Added(r.Wrote, card.Status.Lines)...)
	if !d.log(r, dispatch.Entry{Kind: dispatch.Resumed, By: "command", Lines: board.Added(r.Lines, now)}) {
		return control.Result{}, &control.Error{Text: "its log cannot be written", Hint: "deckhand doctor", Code: control.CodeError}
	}
	return control.Result{Text: where(path, card.Line, 0) + ": " + card.Title + " goes on", Run: r.ID}, nil
}

func (d *daemon) doAdd(c control.Command) (control.Result, error) {
	path, fault := d.boardFor(c.Board)
	if fault != nil {
		return control.Result{}, fault
	}
	if strings.ContainsAny(c.Text, "\r\n\x00") || strings.TrimSpace(c.Text) == "" {
		return control.Result{}, &control.Error{Text: "a card is one line of text", Code: control.CodeUsage}
	}
	return control.Result{Text: path + ": " + c.Text}, d.edit(path, func(b *board.Board) ([]byte, error) { return b.AddCard(c.Text) })
}

func (d *daemon) doLanes(c control.Command) (control.Result, error) {
	path, fault := d.boardFor(c.Board)
	if fault != nil {
		return control.Result{}, fault
	}
	missing := d.boards[path].board.Missing()
	if len(missing) == 0 {
		return control.Result{Text: path + " has a working and a review lane"}, nil
	}
	return control.Result{Text: path + ": lanes added"}, d.edit(path, func(b *board.Board) ([]byte, error) { return b.AddLanes() })
}

// editTime bounds how long the loop waits for a board that somebody else holds.
const editTime = 3 * time.Second

// edit changes a board for a command and waits: the answer says that it is
// written. The loop waits with it, so it is for commands of people only.
func (d *daemon) edit(path string, change func(*board.Board) ([]byte, error)) error {
	read := d.reader(path)
	ctx, cancel := context.WithTimeout(d.ctx, editTime)
	defer cancel()
	res, err := d.store.UpdateNow(ctx, path, func(cur []byte) ([]byte, error) {
		if cur == nil {
			return nil, fs.ErrNotExist
		}
		return change(read(cur))
	})
	if err != nil {
		return &control.Error{Text: path + ": " + err.Error(), Code: control.CodeConflict}
	}
	d.wrote(path, shown{bytes: res.Bytes, hash: res.Hash})
	return nil
}

// boardFor is the board that is meant: by path, by name, or the only one.
func (m *model) boardFor(name string) (string, *control.Error) {
	var found []string
	for _, path := range m.paths() {
		if name == "" || path == name || strings.EqualFold(trimMD(path), trimMD(name)) || strings.HasSuffix("/"+path, "/"+name) {
			found = append(found, path)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && name == "":
		return "", &control.Error{Text: "the folder has no board", Hint: "deckhand init --sample", Code: control.CodeError}
	case len(found) == 0:
		return "", &control.Error{Text: fmt.Sprintf("no board is called %q", name), Hint: "deckhand doctor", Code: control.CodeError}
	}
	return "", &control.Error{Text: "several boards: name one", Hint: "--board BOARD", Code: control.CodeUsage, Matches: found}
}

func (d *daemon) doGrant(c control.Command) (control.Result, error) {
	d.reload()
	words := strings.Fields(c.Text)
	has := func(w string) bool {
		for _, word := range words {
			if word == w {
				return true
			}
		}
		return false
	}
	if d.trusted() {
		if err := d.takeFolder(d.ctx, d.store, has("here")); err != nil {
			return control.Result{}, err
		}
	}
	d.regrant(has("start"))
	return control.Result{Text: "the daemon knows"}, nil
}

func (d *daemon) receipt(id string) (control.Result, bool) {
	data, err := os.ReadFile(d.f.path("receipts.jsonl"))
	if err != nil {
		return control.Result{}, false // none yet, or unreadable: then keepReceipt fails too
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r receipt
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.ID == id {
			return r.Result, true
		}
	}
	return control.Result{}, false
}

// receiptsMax bounds receipts.jsonl (bytes); at a start only the newest half of
// a longer one is kept. A client asks again within seconds, not within months.
const receiptsMax = 1 << 20

func (f *folder) trimReceipts() error {
	path := f.path("receipts.jsonl")
	data, err := readOptional(path)
	if err != nil || len(data) <= receiptsMax {
		return err
	}
	data = data[len(data)-receiptsMax/2:]
	return writeFile(path, data[bytes.IndexByte(data, '\n')+1:])
}

func (d *daemon) keepReceipt(r receipt) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(d.f.path("receipts.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}
