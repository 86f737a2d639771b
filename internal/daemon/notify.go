package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/control"
)

// notified is the log entry of a notification, written before its program runs:
// at most once, whatever is killed when.
const notified dispatch.Kind = "notified"

const (
	notifyTime  = 10 * time.Second // a notifier that takes longer is ended
	notifyStale = time.Hour        // what is older is no news: a start, or notify: that is new, tells of nothing older
	notifyMost  = 20               // that wait their turn; a broken notifier must not pile them up
	longTitle   = 100              // characters
	longText    = 300
)

// notifier is what the loop knows of notify:.
type notifier struct {
	waiting int    // notifications whose program has not ended
	fault   string // why the last one failed: said once
}

// news is something a person is told of outside the notes.
type news struct {
	word string // asks, failed, interrupted, review
	ask  string // asks: its id
	text string
}

// key tells one thing from the next of a run's turn.
func (n news) key() string { return n.word + " " + n.ask }

// notify runs the notifier for what is new and not notified.
func (d *daemon) notify(now time.Time) {
	if len(d.machine.Notify) == 0 || !d.decides() {
		return
	}
	for _, r := range d.sorted() {
		for _, n := range r.news(now) {
			e := dispatch.Entry{Kind: notified, Word: n.word}
			if d.covered(r, n.ask) {
				continue
			}
			if n.ask != "" {
				e.Ask = &dispatch.Ask{ID: n.ask}
			}
			if !d.log(r, e) {
				return
			}
			d.ring(r.Agent+" "+n.word+" · "+r.Card.Title, n.text)
		}
	}
}

// news is what of a run is to be told and was not.
func (r *run) news(now time.Time) (all []news) {
	for _, a := range r.Asks {
		if now.Sub(a.Since) < notifyStale {
			all = append(all, news{"asks", a.ID, a.Title + " " + a.Message})
		}
	}
	for _, p := range r.Undecided() {
		if now.Sub(p.Since) < notifyStale {
			all = append(all, news{"asks", p.Offer, p.Asks() + " " + p.Reason})
		}
	}
	if over := r.Phase == dispatch.PhaseOver || r.Phase == dispatch.PhaseEnding; over && (r.Ended.IsZero() || now.Sub(r.Ended) < notifyStale) {
		switch r.Outcome {
		case dispatch.Review:
			all = append(all, news{word: dispatch.Review, text: r.Answer})
		case dispatch.Failed, dispatch.Broken:
			all = append(all, news{word: r.Outcome, text: r.Reason})
		}
	}
	return slices.DeleteFunc(all, func(n news) bool { return r.notified[n.key()] })
}

// tell remembers a notification, until the run goes on with another turn.
func (r *run) tell(e dispatch.Entry) {
	switch e.Kind {
	case dispatch.Resumed:
		r.notified = nil
	case notified:
		if r.notified == nil {
			r.notified = map[string]bool{}
		}
		n := news{word: e.Word}
		if e.Ask != nil {
			n.ask = e.Ask.ID
		}
		r.notified[n.key()] = true
	}
}

// ring runs the notifier outside the loop, one after the other.
func (d *daemon) ring(title, text string) {
	if d.bell.waiting >= notifyMost {
		d.say("notify: %s: left out, %d wait already", printable(title, longTitle), d.bell.waiting)
		return
	}
	argv, err := d.notifyArgv(title, text)
	d.bell.waiting++
	mark := d.f.path("notify-failed")
	d.queues.add("notify", func() any {
		if err == nil {
			err = runNotifier(d.ctx, argv)
		}
		return errors.Join(err, keepFault(mark, err))
	}, func(v any) {
		d.bell.waiting--
		err, _ := v.(error)
		fault := ""
		if err != nil {
			fault = err.Error()
		}
		if fault != "" && fault != d.bell.fault {
			d.say("notify: %s", fault)
		}
		d.bell.fault = fault
	})
}

// runNotifier runs it and gives its own words when it fails.
func runNotifier(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithTimeout(ctx, notifyTime)
	defer cancel()
	out, err := harness.Look(ctx, argv, nil)
	switch said := harness.OneSentence(string(out)); {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: no end after %s", argv[0], notifyTime)
	case err != nil && said != "":
		return fmt.Errorf("%s: %w: %s", argv[0], err, said)
	case err != nil:
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	return nil
}

// keepFault leaves word for doctor, which asks no daemon.
func keepFault(path string, fault error) error {
	if fault != nil {
		return os.WriteFile(path, []byte(harness.OneSentence(fault.Error())+"\n"), 0o600)
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// notifyArgv is the notifier's command for one notification. Placeholders are
// replaced inside their argument, once: no shell, and what a value holds is not
// read again.
func (m *model) notifyArgv(title, text string) ([]string, error) {
	program, err := m.notifyProgram()
	if err != nil {
		return nil, err
	}
	title, text = printable(title, longTitle), printable(text, longText)
	argv := []string{program}
	for _, arg := range m.machine.Notify[1:] {
		filled := strings.NewReplacer("{title}", title, "{text}", text).Replace(arg)
		if strings.HasPrefix(arg, "{") && filled != "" && strings.ContainsRune("-@", rune(filled[0])) {
			filled = " " + filled // an option, or curl's name of a file, that an agent chose
		}
		argv = append(argv, filled)
	}
	return argv, nil
}

// notifyProgram finds the notifier as agents are found.
func (m *model) notifyProgram() (string, error) {
	name := m.machine.Notify[0]
	if strings.ContainsRune(name, filepath.Separator) {
		if fault := harness.CheckProgram(name); fault != nil {
			return "", fmt.Errorf("%s %s", name, fault.Text)
		}
		return name, nil
	}
	for _, dir := range slices.Concat(m.machine.Path, filepath.SplitList(os.Getenv("PATH"))) {
		if at := filepath.Join(dir, name); filepath.IsAbs(dir) && harness.CheckProgram(at) == nil {
			return at, nil
		}
	}
	return "", fmt.Errorf("%s was not found on PATH", name)
}

// printable makes one line of a text, of at most so many characters, without
// what is not seen.
func printable(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ") {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) {
			continue
		}
		if n++; n > most {
			return b.String() + "…"
		}
		b.WriteRune(r)
	}
	return b.String()
}

// checkNotify looks at the notifier without running it.
func (m *model) checkNotify() control.Check {
	c := control.Check{Name: "notify", OK: true, Text: "off"}
	if len(m.machine.Notify) == 0 {
		return c
	}
	program, err := m.notifyProgram()
	if err != nil {
		return control.Check{Name: c.Name, Text: err.Error(), Hint: "install it, or correct notify: in config.yaml"}
	}
	c.Text = program
	if fault, err := os.ReadFile(m.f.path("notify-failed")); err == nil {
		c.OK, c.Text = false, "the last one failed: "+cmp.Or(strings.TrimSpace(string(fault)), program)
		c.Hint = "try the command of notify: in a terminal"
	}
	return c
}
