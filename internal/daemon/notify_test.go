package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/config"
)

// notifies makes a place whose notifier writes its arguments, one a line, into
// the file it returns.
func notifies(t *testing.T, board string) (p *placeT, told func() string) {
	t.Helper()
	p = newPlace(t, "", board)
	out := p.at("../told")
	script := p.at("../tell.sh")
	p.write(script, "#!/bin/sh\nprintf '%s|' \"$@\" >>'"+out+"'\necho >>'"+out+"'\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	p.addConfig("notify: [./tell.sh, \"{title}\", \"-- {text}\"]\n")
	return p, func() string {
		data, err := os.ReadFile(out)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(data)
	}
}

func (p *placeT) addConfig(text string) {
	p.t.Helper()
	data, err := os.ReadFile(p.o.Config)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(p.o.Config, string(data)+text)
}

// TestNotifiedOnce: each thing that needs a person is told once, also when the
// daemon starts again.
func TestNotifiedOnce(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"", "pi review · Ship it|-- SHIP.md holds what the card asks for. Nothing else was changed."},
		{"[fail]", "pi failed · Ship it|-- "},
		{"[ask]", "pi asks · Ship it|-- Write SHIP.md? The card says [ask]."},
		{"[question]", "pi asks · Ship it|-- "},
	} {
		t.Run(strings.Trim(c.words, "[]"), func(t *testing.T) {
			t.Parallel()
			p, told := notifies(t, "---\nproject: shop\n---\n\n## Plan\n\n- [ ] Ship it @pi\n\t"+c.words+"\n\n## In Progress\n\n## Review\n")
			p.once()
			first := told()
			p.once()
			if !strings.HasPrefix(first, c.want) || strings.Count(first, "\n") != 1 {
				t.Errorf("told %q, want %q", first, c.want)
			}
			if again := told(); again != first {
				t.Errorf("after a restart: %q", again)
			}
		})
	}
}

// TestNotifiedNothingOld: what was there before notify: was, and long ago, is
// no news.
func TestNotifiedNothingOld(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r := newRun(&dispatch.Run{}, harness.Dir{})
	for _, e := range []dispatch.Entry{
		{Kind: dispatch.Claimed, Time: now.Add(-2 * time.Hour)},
		{Kind: dispatch.Started, Life: 1, Time: now.Add(-2 * time.Hour)},
		{Kind: dispatch.Asked, Life: 1, Ask: &dispatch.Ask{ID: "old"}, Time: now.Add(-61 * time.Minute)},
		{Kind: dispatch.Asked, Life: 1, Ask: &dispatch.Ask{ID: "new"}, Time: now.Add(-59 * time.Minute)},
	} {
		r.apply(e)
	}
	if n := r.news(now); len(n) != 1 || n[0].ask != "new" {
		t.Errorf("%+v", n)
	}
	r.apply(dispatch.Entry{Kind: notified, Word: "asks", Ask: &dispatch.Ask{ID: "new"}})
	if n := r.news(now); len(n) != 0 {
		t.Errorf("again: %+v", n)
	}
	r.apply(dispatch.Entry{Kind: dispatch.Interrupted, Life: 1, Time: now, Reason: "the keeper died"})
	if n := r.news(now); len(n) != 1 || n[0].word != "interrupted" || n[0].text != "the keeper died" {
		t.Errorf("%+v", n)
	}
	r.apply(dispatch.Entry{Kind: notified, Word: "interrupted"})
	r.apply(dispatch.Entry{Kind: dispatch.Resumed, Time: now})
	r.apply(dispatch.Entry{Kind: dispatch.Ended, Time: now, Reason: "no such program"})
	if n := r.news(now); len(n) != 1 || n[0].word != "failed" {
		t.Errorf("the next turn: %+v", n)
	}
}

// TestNotifyArguments: values stay inside their argument and are no options.
func TestNotifyArguments(t *testing.T) {
	m := &model{machine: config.Machine{Notify: []string{"sh", "{title}", "{text}", "x={text}{title}", "{other}", "plain"}}}
	for _, c := range []struct{ title, text, want string }{
		{"pi asks", "rm -rf build", `pi asks|rm -rf build|x=rm -rf buildpi asks|{other}|plain`},
		{"a\nb\x1b[31m\u202ec", "{title}; $(boom) 'x'", `a b[31mc|{title}; $(boom) 'x'|x={title}; $(boom) 'x'a b[31mc|{other}|plain`},
		{"t", "--help", `t| --help|x=--helpt|{other}|plain`},
		{"t", "@/etc/passwd", `t| @/etc/passwd|x=@/etc/passwdt|{other}|plain`},
		{"t", strings.Repeat("ä", 400), "t|" + strings.Repeat("ä", 300) + "…|x=" + strings.Repeat("ä", 300) + "…t|{other}|plain"},
		{"t", "", "t||x=t|{other}|plain"},
	} {
		argv, err := m.notifyArgv(c.title, c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(argv[1:], "|"); got != c.want || !strings.HasSuffix(argv[0], "/sh") {
			t.Errorf("%q", argv)
		}
	}
	m.machine.Notify = []string{"no-such-notifier"}
	if _, err := m.notifyArgv("t", "x"); err == nil || err.Error() != "no-such-notifier was not found on PATH" {
		t.Errorf("%v", err)
	}
}

// TestNotifierFails: it is said once in the log, and by doctor until it works.
func TestNotifierFails(t *testing.T) {
	p, _ := notifies(t, "---\nproject: shop\n---\n\n## Plan\n\n- [ ] One @pi\n- [ ] Two @pi\n\n## In Progress\n\n## Review\n")
	p.write(p.at("../tell.sh"), "#!/bin/sh\necho no display; exit 3\n")
	p.once()
	if n := strings.Count(p.log.String(), "notify: "); n != 1 || !strings.Contains(p.log.String(), "exit status 3: no display") {
		t.Errorf("log:\n%s", p.log)
	}
	check := func() string {
		checks, err := Doctor(t.Context(), p.o)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			if c.Name == "notify" {
				return fmt.Sprintf("%v %s", c.OK, c.Text)
			}
		}
		return "none"
	}
	if got := check(); !strings.HasPrefix(got, "false the last one failed: ") || !strings.Contains(got, "no display") {
		t.Errorf("doctor: %s", got)
	}
	p.write(p.at("../tell.sh"), "#!/bin/sh\n")
	p.write(p.at("Shop.md"), strings.Replace(p.read("Shop.md"), "## Plan\n", "## Plan\n\n- [ ] Three @pi\n", 1))
	p.once()
	if got := check(); !strings.HasPrefix(got, "true /") {
		t.Errorf("doctor: %s", got)
	}
}

// TestNotifierHangs: the loop goes on, and no more than a bounded number waits.
func TestNotifierHangs(t *testing.T) {
	done := make(chan func(), notifyMost)
	d := &daemon{model: &model{machine: config.Machine{Notify: []string{"sleep", "600"}}, f: &folder{state: t.TempDir()}}}
	var log strings.Builder
	d.o.Log = &log
	d.ctx = t.Context()
	d.queues = newQueues(func(fn func()) { done <- fn })
	d.queues.wait["notify"] = []effect{{}} // one that never ends
	for i := range notifyMost + 2 {
		d.ring(fmt.Sprint("title ", i), "text")
	}
	if n := len(d.queues.wait["notify"]); n != notifyMost+1 || strings.Count(log.String(), "left out") != 2 {
		t.Errorf("%d wait\n%s", n, &log)
	}
}

// TestNotifiedIsInTheLog: the entry comes before the program runs, and is no
// decision that others read.
func TestNotifiedIsInTheLog(t *testing.T) {
	p, told := notifies(t, shopBoard)
	p.once()
	if told() == "" {
		t.Fatal("nothing was told")
	}
	var kinds []string
	_, rows, _ := strings.Cut(strings.TrimSpace(p.logs()), "\n")
	for line := range strings.SplitSeq(rows, "\n") {
		var e dispatch.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, string(e.Kind)+" "+e.Word)
	}
	if n := slices.Index(kinds, "notified review"); n < 0 || slices.Contains(kinds[n+1:], "notified review") {
		t.Errorf("log: %q", kinds)
	}
}
