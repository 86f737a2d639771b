package standin

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"deckhand/harness/pi"
)

// turn is one prompt being worked on, in a goroutine of its own. Its fields
// belong to that goroutine except where they say otherwise.
type turn struct {
	a     *agent
	ctx   context.Context // ends with the process
	stop  chan struct{}   // closed by abort
	once  sync.Once
	over  chan struct{} // closed before agent_settled is said: the next prompt may come
	done  chan struct{} // closed when the goroutine has ended
	exit  int           // exit code the process ends with; -1: it goes on. Read after done
	words map[string]string
	title string
	start time.Time

	messages []pi.Message
	open     *pi.Message // the assistant message being written
	answered string      // what a dialog was answered with, as it is reported
	calls    int
	tokens   int64

	mu       sync.Mutex
	steering []string                    // guarded by mu
	followUp []string                    // guarded by mu
	answers  map[string]chan pi.Request  // guarded by mu
	decision map[string]chan pi.Decision // guarded by mu
}

// word is a switch in the text of a card.
var word = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[(ask|propose|timeout|question|slow|hang|deaf|fail|empty|length|flood|stream|noise|exit|record|say|raw)(?::([^\]\s]*))?\]`)
})

// What a card is called stands in the first line of its fence, or, in a prompt
// that goes on with a session, in the sentence before it.
var (
	cardFence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^<card [^\n]*>\n(.+)$`) })
	cardNamed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`the card "([^"\n]*)"`) })
)

// dressing is what a title has around its words: box, links, mentions, tags.
var dressing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-*+] \[.\] |!?\[\[[^\]]*\]\]|(?:^|\s)[@#][^\s]+`) })

func (a *agent) start(ctx context.Context, prompt string) {
	t := &turn{
		a: a, ctx: ctx, exit: -1,
		stop: make(chan struct{}), over: make(chan struct{}), done: make(chan struct{}),
		words: map[string]string{}, answers: map[string]chan pi.Request{}, decision: map[string]chan pi.Decision{},
		title: name(prompt),
		start: time.Now(),
	}
	for _, m := range word().FindAllStringSubmatch(prompt, -1) {
		t.words[m[1]] = m[2]
	}
	a.turn = t
	go func() {
		defer close(t.done)
		t.run(prompt)
	}()
}

// name is the title of the card a prompt is about, without its switches.
func name(prompt string) string {
	title := prompt
	for _, form := range []*regexp.Regexp{cardFence(), cardNamed()} {
		if m := form.FindStringSubmatch(prompt); m != nil {
			title = m[1]
			break
		}
	}
	title, _, _ = strings.Cut(strings.TrimSpace(title), "\n")
	title = dressing().ReplaceAllString(word().ReplaceAllString(title, ""), "")
	return strings.Join(strings.Fields(title), " ")
}

// file is the name of the file a card leads to: its first word in capitals.
func (t *turn) file() string {
	first, _, _ := strings.Cut(strings.TrimSpace(t.title), " ")
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-') {
			return r
		}
		return -1
	}, first)
	if clean == "" {
		clean = "card"
	}
	return strings.ToUpper(clean) + ".md"
}

// run is the whole turn.
func (t *turn) run(prompt string) {
	_, record := t.words["record"]
	if record {
		t.record("start")
		defer t.record("end")
	}
	t.a.emit(pi.Event{Type: "agent_start"})
	t.a.emit(pi.Event{Type: "turn_start"})
	t.user(prompt)
	aborted := !t.work()
	if t.exit >= 0 {
		return
	}
	if aborted {
		t.broken("aborted", "Request was aborted")
	}
	no := false
	t.a.emit(pi.Event{Type: "agent_end", Messages: &t.messages, Retry: &no})
	close(t.over)
	t.a.emit(pi.Event{Type: "agent_settled", Aborted: &aborted})
}

// work is false when the turn was aborted.
func (t *turn) work() bool {
	if _, ok := t.words["fail"]; ok {
		t.broken("error", `500: {"message":"the stand-in was told to fail","type":"server_error","code":500}`)
		return true
	}
	if _, ok := t.words["noise"]; ok {
		t.a.raw("this line is no JSON")
	}
	if name, ok := t.words["raw"]; ok {
		t.print(name)
	}
	if !t.look() {
		return false
	}
	if code, ok := t.words["exit"]; ok {
		t.exit, _ = strconv.Atoi(code)
		return true
	}
	if t.has("hang") || t.has("deaf") {
		t.say("I wait. ")
		return t.wait(-1)
	}
	return t.stream() && t.write() && t.report() && t.later()
}

// stream says many lines as a long run does: in pieces, with tools between them.
func (t *turn) stream() bool {
	n, _ := strconv.Atoi(t.words["stream"])
	for i := range n {
		if t.aborted() {
			return false
		}
		t.delta(fmt.Sprintf("line %d\n", i+1))
		if (i+1)%100 == 0 && !t.tool("step", map[string]string{"after": strconv.Itoa(i + 1)}, func() (string, bool) { return "done", true }) {
			return false
		}
	}
	return true
}

func (t *turn) has(w string) bool {
	_, ok := t.words[w]
	return ok
}

// look lists the folder.
func (t *turn) look() bool {
	if !t.say("I look at the project. ") {
		return false
	}
	return t.tool("ls", map[string]string{"path": "."}, func() (string, bool) {
		entries, err := os.ReadDir(".")
		if err != nil {
			return err.Error(), false
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, "\n"), true
	})
}

// write makes the file, when it may.
func (t *turn) write() bool {
	if t.has("propose") {
		return t.propose()
	}
	file := t.file()
	body := "# " + t.title + "\n\nWritten by the stand-in of deckhand.\n"
	if !t.say("I write " + file + ". ") {
		return false
	}
	return t.tool("write", map[string]string{"path": file, "content": body}, func() (string, bool) {
		if t.has("ask") && !t.allowed(file) {
			return "not allowed", false
		}
		if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("wrote %d bytes to %s", len(body), file), true
	})
}

// report is the last answer.
func (t *turn) report() bool {
	stop := "stop"
	answer := t.file() + " holds what the card asks for. Nothing else was changed." + t.answered
	if t.has("propose") {
		answer = "I proposed what the card asks for." + t.answered
	}
	switch {
	case t.has("question"):
		answer = t.file() + " is a first version. Shall I go on with the second part?"
	case t.has("empty"):
		answer = ""
	case t.has("say"):
		answer = t.read()
	case t.has("length"):
		answer, stop = t.file()+" holds wh", "length"
	case t.has("flood"):
		n, err := strconv.Atoi(t.words["flood"])
		if err != nil {
			n = 20000
		}
		for i := range n {
			if t.aborted() {
				return false
			}
			t.delta(fmt.Sprintf("line %d\n", i+1))
		}
	}
	if !t.say(answer) {
		return false
	}
	t.close(stop, nil)
	return true
}

// read is the text of the file that [say:FILE] names.
func (t *turn) read() string {
	text, err := os.ReadFile(t.words["say"])
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// print lets the bytes of a file out as they are, however many there are.
func (t *turn) print(name string) {
	f, err := os.Open(name)
	if err != nil {
		return // the turn goes on, and whoever wanted the bytes misses them
	}
	defer f.Close()
	t.a.copy(f)
}

// later answers what was queued while the turn ran.
func (t *turn) later() bool {
	for {
		text, ok := t.take()
		if !ok {
			return true
		}
		t.a.emit(pi.Event{Type: "turn_start"})
		t.user(text)
		if t.has("record") {
			t.record("message " + strconv.Quote(text))
		}
		if !t.say("Understood: " + text) {
			return false
		}
		t.close("stop", nil)
	}
}

// wait is the pause before a step; negative is for ever. It is false when the
// turn was aborted.
func (t *turn) wait(d time.Duration) bool {
	var timer <-chan time.Time
	if d >= 0 {
		timer = time.After(d)
	}
	select {
	case <-timer:
		return !t.aborted()
	case <-t.stop:
	case <-t.ctx.Done():
	}
	return false
}

func (t *turn) pause() bool {
	d := t.a.pace
	if v, ok := t.words["slow"]; ok {
		d = 2 * time.Second
		if more, err := time.ParseDuration(v); err == nil {
			d = more
		}
	}
	return t.wait(d)
}

func (t *turn) aborted() bool {
	select {
	case <-t.stop:
		return true
	case <-t.ctx.Done():
		return true
	default:
		return false
	}
}

// record appends to a log in the project, from which the order of runs can be
// proved.
func (t *turn) record(what string) {
	f, err := os.OpenFile("RECORD.log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %s %s\n", what, time.Now().Format(time.RFC3339Nano), t.title)
}
