package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
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
	done  chan struct{} // closed when the goroutine has ended
	exit  int           // exit code the process ends with; -1: it goes on. Read after done
	words map[string]string
	title string
	start time.Time

	messages []pi.Message
	open     *pi.Message // the assistant message being written
	calls    int
	tokens   int64

	mu       sync.Mutex
	steering []string                   // guarded by mu
	followUp []string                   // guarded by mu
	answers  map[string]chan pi.Request // guarded by mu
}

// word is a switch in the text of a card.
var word = regexp.MustCompile(`\[(ask|question|slow|hang|deaf|fail|empty|length|flood|noise|exit|record)(?::([^\]\s]*))?\]`)

// What a card is called stands in the first line of its fence, or, in a prompt
// that goes on with a session, in the sentence before it.
var (
	cardFence = regexp.MustCompile(`(?m)^<card [^\n]*>\n(.+)$`)
	cardNamed = regexp.MustCompile(`the card "([^"\n]*)"`)
)

// dressing is what a title has around its words: box, links, mentions, tags.
var dressing = regexp.MustCompile(`^[-*+] \[.\] |!?\[\[[^\]]*\]\]|(?:^|\s)[@#][^\s]+`)

func (a *agent) start(ctx context.Context, prompt string) {
	t := &turn{
		a: a, ctx: ctx, exit: -1,
		stop: make(chan struct{}), done: make(chan struct{}),
		words: map[string]string{}, answers: map[string]chan pi.Request{},
		title: name(prompt),
		start: time.Now(),
	}
	for _, m := range word.FindAllStringSubmatch(prompt, -1) {
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
	for _, form := range []*regexp.Regexp{cardFence, cardNamed} {
		if m := form.FindStringSubmatch(prompt); m != nil {
			title = m[1]
			break
		}
	}
	title, _, _ = strings.Cut(strings.TrimSpace(title), "\n")
	title = dressing.ReplaceAllString(word.ReplaceAllString(title, ""), "")
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
	t.a.emit(event{Type: "agent_start"})
	t.a.emit(event{Type: "turn_start"})
	t.user(prompt)
	aborted := !t.work()
	if t.exit >= 0 {
		return
	}
	if aborted {
		t.broken("aborted", "Request was aborted")
	}
	no := false
	t.a.emit(event{Type: "agent_end", Messages: &t.messages, Retry: &no})
	t.a.emit(event{Type: "agent_settled", Aborted: &aborted})
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
	return t.write() && t.report() && t.later()
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
	file := t.file()
	body := "# " + t.title + "\n\nWritten by the stand-in of deckhand.\n"
	if !t.say("I write " + file + ". ") {
		return false
	}
	return t.tool("write", map[string]string{"path": file, "content": body}, func() (string, bool) {
		if t.has("ask") && !t.allowed("Write "+file+"?") {
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
	answer := t.file() + " holds what the card asks for. Nothing else was changed."
	switch {
	case t.has("question"):
		answer = t.file() + " is a first version. Shall I go on with the second part?"
	case t.has("empty"):
		answer = ""
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

// later answers what was queued while the turn ran.
func (t *turn) later() bool {
	for {
		text, ok := t.take()
		if !ok {
			return true
		}
		t.a.emit(event{Type: "turn_start"})
		t.user(text)
		if !t.say("Understood: " + text) {
			return false
		}
		t.close("stop", nil)
	}
}

// allowed opens a dialog and waits for its answer, as long as it takes.
func (t *turn) allowed(title string) bool {
	t.calls++
	id := fmt.Sprintf("ask-%d-%d", t.start.UnixNano(), t.calls)
	answer := make(chan pi.Request, 1)
	t.mu.Lock()
	t.answers[id] = answer
	t.mu.Unlock()
	t.a.emit(dialog{Type: "extension_ui_request", ID: id, Method: "confirm", Title: title, Message: "The card says [ask]."})
	select {
	case r := <-answer:
		return r.Confirmed != nil && *r.Confirmed
	case <-t.ctx.Done():
		return false
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

// say streams text into the message being written, in a few pieces.
func (t *turn) say(s string) bool {
	if !t.pause() {
		return false
	}
	if t.open == nil {
		t.begin()
	}
	for piece := range slices.Chunk([]rune(s), 24) {
		t.delta(string(piece))
	}
	return true
}

func (t *turn) begin() {
	t.open = &pi.Message{
		Role: "assistant", Content: []pi.Content{}, Provider: "deckhand", Model: "stand-in",
		Usage: &pi.TokenUsage{Cost: &pi.Cost{}}, StopReason: "pending", Timestamp: time.Now().UnixMilli(),
	}
	t.a.emit(event{Type: "message_start", Message: t.open})
}

func (t *turn) delta(s string) {
	if t.open == nil {
		t.begin()
	}
	if len(t.open.Content) == 0 {
		t.open.Content = append(t.open.Content, pi.Content{Type: "text"})
		t.a.emit(event{Type: "message_update", Usage: t.open.Usage, Update: &update{Type: "text_start"}})
	}
	t.open.Content[0].Text += s
	t.a.emit(event{Type: "message_update", Usage: t.open.Usage, Update: &update{Type: "text_delta", Delta: &s}})
}

// close ends the message being written, and its model turn.
func (t *turn) close(stop string, results []pi.Message) {
	t.end(stop, "")
	t.a.emit(event{Type: "turn_end", Message: &t.messages[len(t.messages)-1], Results: &results})
}

func (t *turn) end(stop, failure string) {
	m := t.open
	t.open = nil
	m.StopReason, m.ErrorMessage = stop, failure
	if failure == "" {
		t.tokens += 120
		cost := float64(100+20) / 1e5
		m.Usage = &pi.TokenUsage{Input: 100, Output: 20, Total: 120, Cost: &pi.Cost{Total: cost}}
		m.ResponseID = fmt.Sprintf("standin-%d-%d", t.start.UnixNano(), len(t.messages))
	}
	t.add(*m)
	t.a.emit(event{Type: "message_end", Message: m})
}

// broken ends the turn with a message that failed.
func (t *turn) broken(stop, failure string) {
	if t.open == nil {
		t.begin()
	}
	t.end(stop, failure)
	t.a.emit(event{Type: "turn_end", Message: &t.messages[len(t.messages)-1], Results: &[]pi.Message{}})
}

func (t *turn) user(text string) {
	m := pi.Message{Role: "user", Content: []pi.Content{{Type: "text", Text: text}}, Timestamp: time.Now().UnixMilli()}
	t.add(m)
	t.a.emit(event{Type: "message_start", Message: &m})
	t.a.emit(event{Type: "message_end", Message: &m})
}

func (t *turn) add(m pi.Message) {
	t.messages = append(t.messages, m)
	t.a.session.add(m)
}

// tool ends the message being written with a call, and runs it.
func (t *turn) tool(name string, args map[string]string, do func() (string, bool)) bool {
	t.calls++
	id := fmt.Sprintf("call-%d", t.calls)
	raw, err := json.Marshal(args)
	if err != nil {
		panic("standin: " + err.Error()) // a map of strings
	}
	t.open.Content = append(t.open.Content, pi.Content{Type: "toolCall", ID: id, Name: name, Arguments: raw})
	t.end("toolUse", "")
	call := len(t.messages) - 1

	began := time.Now()
	t.a.emit(event{Type: "tool_execution_start", ToolCallID: id, ToolName: name, Args: raw})
	t.a.emit(event{Type: "tool_execution_update", ToolCallID: id, ToolName: name, Args: raw, Partial: &pi.Result{Content: []pi.Content{}}})
	out, fine := do()
	took, failed := time.Since(began).Milliseconds(), !fine
	content := []pi.Content{{Type: "text", Text: out}}
	t.a.emit(event{Type: "tool_execution_end", ToolCallID: id, ToolName: name, Result: &pi.Result{Content: content}, IsError: &failed, Duration: &took})

	result := pi.Message{
		Role: "toolResult", ToolCallID: id, ToolName: name, Content: content, IsError: &failed,
		Timestamp: time.Now().UnixMilli(),
	}
	t.add(result)
	t.a.emit(event{Type: "message_start", Message: &result})
	t.a.emit(event{Type: "message_end", Message: &result})
	t.a.emit(event{Type: "turn_end", Message: &t.messages[call], Results: &[]pi.Message{result}})
	if t.aborted() {
		return false
	}
	t.a.emit(event{Type: "turn_start"})
	return true
}

// The methods below are called by the process, also when nothing runs.

func (t *turn) ended() <-chan struct{} {
	if t == nil {
		return nil
	}
	return t.done
}

func (t *turn) deaf() bool { return t != nil && t.has("deaf") }

func (t *turn) abort() { t.once.Do(func() { close(t.stop) }) }

func (t *turn) answer(r pi.Request) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, ok := t.answers[r.ID]; ok {
		delete(t.answers, r.ID)
		c <- r
	}
}

func (t *turn) enqueue(r pi.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Type == pi.Steer {
		t.steering = append(t.steering, r.Message)
	} else {
		t.followUp = append(t.followUp, r.Message)
	}
	t.showQueue()
}

// take removes the next queued message.
func (t *turn) take() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range []*[]string{&t.steering, &t.followUp} {
		if len(*q) > 0 {
			text := (*q)[0]
			*q = (*q)[1:]
			t.showQueue()
			return text, true
		}
	}
	return "", false
}

func (t *turn) clear() (steering, followUp []string) {
	steering, followUp = []string{}, []string{}
	if t == nil {
		return steering, followUp
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	steering, followUp = append(steering, t.steering...), append(followUp, t.followUp...)
	t.steering, t.followUp = nil, nil
	t.showQueue()
	return steering, followUp
}

func (t *turn) pending() int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.steering) + len(t.followUp)
}

// showQueue says what is queued; mu is held.
func (t *turn) showQueue() {
	s, f := append([]string{}, t.steering...), append([]string{}, t.followUp...)
	t.a.emit(event{Type: "queue_update", Steering: &s, FollowUp: &f})
}
