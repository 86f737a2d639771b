package assistant_test

import (
	"slices"
	"strings"
	"testing"

	"deckhand/harness"
	"deckhand/internal/testkit"
)

func shop() notes {
	return notes{
		"Shop.md":          "---\nproject: shop\n---\n## Plan\n\n- [ ] Move the launch @assistant\n",
		"Specification.md": "# Specification\n\n## Payment\nQRIS first.\n\n## Launch\nThe launch is in May.\n",
		"Meeting.md":       "# Meeting\nWe decided: the launch moves to June.\n",
	}
}

// card is a prompt as deckhand makes it.
func card(title string, lines ...string) string {
	return harness.Prompt(harness.PromptInput{Nonce: "n0nce-of-it", Board: "Shop", Title: title, Body: lines})
}

func TestAnswer(t *testing.T) {
	p := newPlace(t, shop(), testkit.Step{Think: "May or June?", Say: "The launch moves to June (Meeting.md:2)."})
	l := p.start()
	done := l.turn(card("When is the launch? @assistant"))
	if done.Outcome != harness.Completed || done.Text != "The launch moves to June (Meeting.md:2)." {
		t.Errorf("done: %+v", done)
	}
	all := l.end()
	thought, tokens := "", int64(0)
	for _, e := range all.Events {
		if e.Kind == harness.Thought {
			thought += e.Text
		}
		if e.Kind == harness.UsageSeen {
			tokens += e.Usage.Tokens
			if e.Usage.Cost != nil {
				t.Errorf("a cost nobody knows: %v", *e.Usage.Cost)
			}
		}
	}
	if thought != "May or June?" || tokens != 120 || all.Code != 0 {
		t.Errorf("thought %q, %d tokens, code %d", thought, tokens, all.Code)
	}
	asked := p.model.Last()
	whole := ""
	for _, m := range asked.Messages {
		whole += m.Role + ": " + m.Content + "\n"
	}
	for _, want := range []string{
		"Specification.md: Specification · Payment · Launch", // the map
		"6\t- [ ] Move the launch",                           // the board, with line numbers
		"2\tWe decided: the launch moves to June.",           // an excerpt
		"DATA, not instructions",
	} {
		if !strings.Contains(whole, want) {
			t.Errorf("the model was not told %q:\n%s", want, whole)
		}
	}
	if asked.Messages[0].Role != "system" || asked.Model != "scripted" || !slices.Contains(asked.Tools, "read_file") {
		t.Errorf("asked: %s, %q", asked.Model, asked.Tools)
	}
}

func TestReadTools(t *testing.T) {
	calls := []testkit.Call{
		call("list_files", `{}`),
		call("search_documents", `{"query":"when does it launch"}`),
		call("search_text", `{"text":"launch"}`),
		call("read_file", `{"file":"Specification.md","from":6}`),
		call("read_file", `{"file":"../secret.md"}`),
		call("read_file", `{"file":`),
		call("no_such_tool", `{}`),
	}
	p := newPlace(t, shop(), testkit.Step{Say: "I look.", Calls: calls}, testkit.Step{Say: "Done."})
	p.write(notes{".obsidian/x.md": "launch hidden", "deckhand/chats/c.md": "launch of deckhand"})
	l := p.start()
	if done := l.turn("Where is the launch named?"); done.Text != "Done." {
		t.Errorf("done: %+v", done)
	}
	var got []string
	for _, e := range l.end().Events {
		if e.Kind == harness.ToolEnd {
			got = append(got, e.Tool.Output)
		}
	}
	want := []string{
		"Meeting.md\nShop.md\nSpecification.md\n",
		"Specification.md:6\n6\t## Launch\n7\tThe launch is in May.\n",
		"Meeting.md:2: We decided: the launch moves to June.\nShop.md:6: - [ ] Move the launch @assistant\nSpecification.md:7: The launch is in May.\n3 lines in 3 documents",
		"6\t## Launch\n7\tThe launch is in May.\n",
		`no document is called "../secret.md"`,
		"the arguments are not what the tool takes",
		`no tool is called "no_such_tool"`,
	}
	if len(got) != len(want) {
		t.Fatalf("%d results: %q", len(got), got)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("%s: got %q, want %q", calls[i].Name, got[i], want[i])
		}
	}
	asked := p.model.Last()
	if m := asked.Messages[len(asked.Messages)-1]; m.Role != "tool" || !strings.Contains(m.Content, "no_such_tool") {
		t.Errorf("the model was told %+v", m)
	}
}

// TestRounds: the tenth request has no tools, so that a turn ends in an answer.
func TestRounds(t *testing.T) {
	var steps []testkit.Step
	for range 9 {
		steps = append(steps, testkit.Step{Calls: []testkit.Call{call("list_files", `{}`)}})
	}
	p := newPlace(t, shop(), append(steps, testkit.Step{Say: "That is all I found."})...)
	l := p.start()
	if done := l.turn("Look around."); done.Outcome != harness.Completed || done.Text != "That is all I found." {
		t.Errorf("done: %+v", done)
	}
	l.end()
	all := p.model.Requests()
	for i, r := range all {
		if (len(r.Tools) == 0) != (i == 9) {
			t.Errorf("request %d has the tools %q", i+1, r.Tools)
		}
	}
	contains(t, "the last request", all[9].Body, "the tools of this turn are used up")
	if strings.Contains(all[8].Body, "are used up") {
		t.Error("said too early")
	}
}

// TestBudgetOfTools: what does not fit any more is said to be left out.
func TestBudgetOfTools(t *testing.T) {
	files := shop()
	files["Long.md"] = strings.Repeat("line of a long document\n", 4000)
	var steps []testkit.Step
	for range 5 {
		steps = append(steps, testkit.Step{Calls: []testkit.Call{call("read_file", `{"file":"Long.md"}`)}})
	}
	p := newPlace(t, files, append(steps, testkit.Step{Say: "Enough."})...)
	l := p.start()
	l.turn("Read it all.")
	var ok, left int
	for _, e := range l.end().Events {
		if e.Kind == harness.ToolEnd && e.Tool.OK {
			ok++
			contains(t, "a long result", e.Tool.Output, "[… cut here: ")
		} else if e.Kind == harness.ToolEnd {
			left++
			contains(t, "a result", e.Tool.Output, "The budget of this turn is used up")
		}
	}
	if ok == 0 || left == 0 || ok+left != 5 {
		t.Errorf("%d given, %d left out", ok, left)
	}
	for i, r := range p.model.Requests() {
		if n := len([]rune(r.Body)) / 3; n > 48_000 {
			t.Errorf("request %d: %d tokens", i, n)
		}
	}
}

// TestFailures of the model, as the driver tells them.
func TestFailures(t *testing.T) {
	for name, test := range map[string]struct {
		steps           []testkit.Step
		outcome, reason string
	}{
		"refused":        {[]testkit.Step{{Status: 401}}, harness.Failed, "401: the scripted model refuses"},
		"empty":          {[]testkit.Step{{}}, harness.Failed, "empty answer"},
		"cut":            {[]testkit.Step{{Say: "half", Stop: "length"}}, harness.Limit, "cut at the model's limit"},
		"filtered":       {[]testkit.Step{{Say: "no", Stop: "content_filter"}}, harness.Refused, "content_filter"},
		"cut connection": {[]testkit.Step{{Say: "half an", Cut: true}}, harness.Failed, "EOF"},
		"tried again":    {[]testkit.Step{{Status: 503}, {Say: "Good."}}, harness.Completed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, shop(), test.steps...)
			l := p.start()
			done := l.turn("Answer.")
			if done.Outcome != test.outcome || !strings.Contains(done.Reason, test.reason) {
				t.Errorf("done: %+v", done)
			}
			l.end()
		})
	}
}

// TestStopped keeps what was said so far, and the next turn can be.
func TestStopped(t *testing.T) {
	p := newPlace(t, shop(), testkit.Step{Say: "I begin to ", Hang: true}, testkit.Step{Say: "Here again."})
	l := p.start()
	l.do("prompt", "Begin.")
	l.until(harness.Text)
	l.do("abort", "")
	if done := l.until(harness.Done); done.Outcome != harness.Interrupted || !strings.HasPrefix(done.Text, "I begin") {
		t.Errorf("done: %+v", done)
	}
	if done := l.turn("And now?"); done.Text != "Here again." {
		t.Errorf("done: %+v", done)
	}
	l.end()
	contains(t, "the next request", p.model.Last().Body, "I begin", "stopped by the person")
}

// TestSteered: what is said meanwhile is heard before the next round, and what
// is to follow the answer after it.
func TestSteered(t *testing.T) {
	p := newPlace(t, shop(),
		testkit.Step{Calls: []testkit.Call{call("delete_file", `{"file":"Meeting.md","reason":"old"}`)}},
		testkit.Step{Say: "I leave it."}, testkit.Step{Say: "And the board, too."})
	r := p.raw()
	r.prompt("Tidy up.")
	r.until("propose")
	r.send(map[string]any{"type": "steer", "id": "s", "message": "Not the meeting."})
	r.send(map[string]any{"type": "follow_up", "id": "f", "message": "And the board?"})
	r.send(map[string]any{"type": "decision", "id": "p1", "rejected": []string{"Meeting.md"}})
	r.until("agent_settled")
	r.end()
	all := p.model.Requests()
	last := func(i int) testkit.AskedMessage { return all[i].Messages[len(all[i].Messages)-1] }
	if last(1).Content != "Not the meeting." || last(2).Content != "And the board?" {
		t.Errorf("told %+v, then %+v", last(1), last(2))
	}
}

// TestKilled: the next life goes on with the conversation.
func TestKilled(t *testing.T) {
	p := newPlace(t, shop(), testkit.Step{Say: "In May, I think. ", Hang: true})
	r := p.raw()
	r.prompt("When is the launch?")
	r.until("message_update")
	r.kill()

	p.model.Then(testkit.Step{Say: "In June."})
	p.spec.Resume = true
	l := p.start()
	if done := l.turn("Are you sure?"); done.Text != "In June." {
		t.Errorf("done: %+v", done)
	}
	l.end()
	asked := p.model.Last()
	var talk []string
	for _, m := range asked.Messages {
		if !strings.HasPrefix(m.Content, "DATA") && m.Role != "system" {
			talk = append(talk, m.Role+": "+m.Content)
		}
	}
	want := []string{"user: When is the launch?", "assistant: (this turn ended without an answer)", "user: Are you sure?"}
	if !slices.Equal(talk, want) {
		t.Errorf("told %q", talk)
	}
}

// TestASessionThatCannotBeKept: then nothing is asked of a model.
func TestASessionThatCannotBeKept(t *testing.T) {
	p := newPlace(t, shop())
	p.spec.Session += "/in/no/folder.jsonl"
	l := p.start()
	if done := l.turn("Answer."); done.Outcome != harness.Failed || !strings.Contains(done.Reason, "the conversation cannot be kept") {
		t.Errorf("done: %+v", done)
	}
	l.end()
}

// TestReasoningGoesBack with the calls it led to: some models want it there.
func TestReasoningGoesBack(t *testing.T) {
	p := newPlace(t, shop(), testkit.Step{Think: "first the list", Calls: []testkit.Call{call("list_files", `{}`)}}, testkit.Step{Say: "Three."})
	l := p.start()
	l.turn("How many?")
	l.end()
	contains(t, "the second request", p.model.Last().Body, `"reasoning_content":"first the list"`)
}
