package review

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"deckhand/internal/control"
)

// story is a pane without a terminal and without a daemon: the test says what
// happens, and sees what the pane wants done and what it shows.
type story struct {
	t      *testing.T
	m      Model
	now    time.Time
	did    []effect // since it was looked at last
	screen tcell.SimulationScreen
}

func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func tell(t *testing.T, w, h int) *story {
	t.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Fini)
	screen.SetSize(w, h)
	s := &story{t: t, now: noon(), screen: screen, m: newModel(Look{Name: "~/notes", Motion: true}, "p")}
	s.happens(resized{s.at(), w, h})
	return s
}

func (s *story) at() at { return at(s.now) }

func (s *story) happens(e event) {
	s.t.Helper()
	var out []effect
	s.m, out = Update(s.m, e)
	s.did = append(s.did, out...)
}

func (s *story) later(d time.Duration) { s.now = s.now.Add(d) }

// press presses keys, some time apart.
func (s *story) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		s.later(time.Second)
		s.happens(keyed{s.at(), k})
	}
}

// types types a text, character by character.
func (s *story) types(text string) {
	s.t.Helper()
	for _, c := range text {
		s.happens(keyed{s.at(), string(c)})
	}
}

func (s *story) connected(st control.Status) {
	s.t.Helper()
	s.happens(linked{s.at(), true, ""})
	s.says("snapshot", "", st)
}

func (s *story) says(kind, run string, data any) {
	s.t.Helper()
	s.happens(told{s.at(), control.Event{Kind: kind, Run: run, Data: data}})
}

// effects are what the pane wanted since the last time; commands those for the
// daemon.
func (s *story) effects() []effect {
	out := s.did
	s.did = nil
	return out
}

func (s *story) commands() []control.Command {
	var out []control.Command
	for _, e := range s.effects() {
		if d, ok := e.(do); ok {
			out = append(out, d.cmd)
		}
	}
	return out
}

// command is the only one there is.
func (s *story) command() control.Command {
	s.t.Helper()
	all := s.commands()
	if len(all) != 1 {
		s.t.Fatalf("%d commands: %+v", len(all), all)
	}
	return all[0]
}

// shown is what stands on the screen.
func (s *story) shown() string {
	s.t.Helper()
	Draw(s.m, s.screen)
	s.screen.Show()
	return screenText(s.screen)
}

func screenText(s tcell.SimulationScreen) string {
	w, h := s.Size()
	var b strings.Builder
	for y := range h {
		var row strings.Builder
		for x := 0; x < w; {
			text, _, n := s.Get(x, y)
			row.WriteString(text)
			x += max(1, n)
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return b.String()
}

func (s *story) sees(wants ...string) {
	s.t.Helper()
	got := s.shown()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			s.t.Fatalf("%q is not shown:\n%s", want, got)
		}
	}
}

func (s *story) seesNot(wants ...string) {
	s.t.Helper()
	got := s.shown()
	for _, want := range wants {
		if strings.Contains(got, want) {
			s.t.Fatalf("%q is shown:\n%s", want, got)
		}
	}
}

func aRun(id, card, status string) control.Run {
	cost := 0.03
	return control.Run{
		ID: id, Card: card, Board: "Shop.md", Line: 12, Lane: "In Progress", Agent: "pi", Project: "web-ecommerce",
		Status: status, Chat: "deckhand/chats/" + card + ".md", Started: noon().Add(-4 * time.Minute), Tokens: 41210, Cost: &cost,
	}
}

func confirm(id string) control.Ask {
	return control.Ask{ID: id, Kind: "confirm", Title: "Run in web-ecommerce?", Message: "rm -rf build", Scopes: []string{"once", "session"}, Since: noon()}
}

func asking(id, card string, asks ...control.Ask) control.Run {
	r := aRun(id, card, "waiting")
	r.Asks = asks
	return r
}

func over(id, card, status string) control.Run {
	r := aRun(id, card, status)
	ended := noon()
	r.Ended, r.Lane = &ended, "Review"
	return r
}

func status(runs ...control.Run) control.Status {
	return control.Status{Dir: "/home/ada/notes", Daemon: true, Runs: runs}
}

// A run asks; a is pressed; the card goes on.
func TestAnAskIsAllowed(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working")))
	s.sees("Working", "● Checkout", "x stop", "s steer")
	s.later(time.Minute)
	s.says("status", "", status(asking("R1", "Checkout", confirm("A1"))))
	s.sees("Needs you", "@pi asks", "rm -rf build", "a allow once", "d deny")
	s.effects()
	s.press("a")
	c := s.command()
	if c.Name != "answer" || c.Run != "R1" || c.Ask != "A1" || c.Value == nil || *c.Value != "allow" || c.Scope != "once" || c.From != "pane" || c.ID == "" {
		t.Fatalf("got %+v", c)
	}
	s.happens(did{s.at(), c.ID, control.Result{OK: true, Text: "answered"}, nil})
	s.says("status", "", status(aRun("R1", "Checkout", "working")))
	s.sees("Working", "x stop", "answered")
	s.seesNot("asks")
}

// A key that was meant for what stood there before a question came answers
// nothing.
func TestAKeyMeantForSomethingElseAnswersNothing(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(asking("R1", "Checkout", confirm("A1"))))
	s.press("d")
	s.effects()
	second := confirm("A2")
	second.Message = "git push --force"
	s.says("status", "", status(asking("R1", "Checkout", second)))
	s.later(100 * time.Millisecond)
	s.happens(keyed{s.at(), "a"})
	if got := s.commands(); len(got) != 0 {
		t.Fatalf("answered: %+v", got)
	}
	s.sees("only just come")
	s.press("a")
	if c := s.command(); c.Ask != "A2" {
		t.Fatalf("got %+v", c)
	}
}

// The scope that is chosen for one question is not that of the next.
func TestAScopeIsChosenForOneQuestion(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(asking("R1", "Checkout", confirm("A1"))))
	s.press("S")
	s.sees("a allow session")
	s.press("a")
	if c := s.command(); c.Scope != "session" {
		t.Fatalf("got %+v", c)
	}
	s.says("status", "", status(asking("R1", "Checkout", confirm("A2"))))
	s.sees("a allow once")
}

// A refusal carries the reason that was typed, and the reason stays until the
// daemon has taken it.
func TestADenialWithItsReason(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(asking("R1", "Checkout", confirm("A1"))))
	s.press("D")
	s.types("not the cache, please")
	s.sees("▌ deny", "not the cache, please", "enter send")
	s.effects()
	s.press("enter")
	c := s.command()
	if c.Name != "answer" || c.Value == nil || *c.Value != "deny" || c.Note != "not the cache, please" {
		t.Fatalf("got %+v", c)
	}
	s.happens(did{s.at(), c.ID, control.Result{}, &control.Error{Text: "phone answered at 12:00", Code: control.CodeConflict}})
	s.sees("not the cache, please", "phone answered at 12:00")
	s.press("enter")
	c = s.command()
	s.happens(did{s.at(), c.ID, control.Result{OK: true, Text: "denied"}, nil})
	s.seesNot("not the cache, please")
}

func TestASelectIsChosen(t *testing.T) {
	ask := control.Ask{ID: "A1", Kind: "select", Title: "Which set?", Scopes: []string{"once"}, Since: noon()}
	ask.Options = append(ask.Options, "Lucide", "Tabler", "Phosphor", "4", "5", "6", "7", "8", "9", "Ten", "Eleven")
	s := tell(t, 80, 24)
	s.connected(status(asking("R1", "Icons", ask)))
	s.press("2")
	if c := s.command(); c.Value == nil || *c.Value != "Tabler" {
		t.Fatalf("got %+v", c)
	}
	s.press("a", "down", "down", "down", "down", "down", "down", "down", "down", "down")
	s.sees("Ten")
	s.press("enter")
	if c := s.command(); c.Value == nil || *c.Value != "Ten" {
		t.Fatalf("got %+v", c)
	}
}

// The text of an answer, also one that looks like a command of the agent.
func TestAQuestionIsAnswered(t *testing.T) {
	prefill := "name: "
	s := tell(t, 80, 24)
	s.connected(status(asking("R1", "Checkout", control.Ask{ID: "A1", Kind: "editor", Title: "Name?", Prefill: &prefill, Since: noon()})))
	s.press("a")
	s.types("/compact")
	s.press("alt+enter")
	s.happens(pasted{s.at(), "two\r\nthree"})
	s.press("enter")
	if c := s.command(); c.Value == nil || *c.Value != "name: /compact\ntwo\nthree" {
		t.Fatalf("got %+v", c)
	}
}

// What ends a run wants its key twice.
func TestEndingWithoutAnAnswerIsAskedFor(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(asking("R1", "Checkout", confirm("A1"))))
	s.press("E", "j", "E")
	if got := s.commands(); len(got) != 0 {
		t.Fatalf("ended: %+v", got)
	}
	s.press("E")
	if c := s.command(); c.Name != "end_ask" || c.Ask != "A1" {
		t.Fatalf("got %+v", c)
	}
}

// While a turn runs, stop stands where send stood; after another client has
// stopped it, this pane offers what is left.
func TestOffersFollowTheDaemon(t *testing.T) {
	s := tell(t, 80, 24)
	for _, step := range []struct {
		run  control.Run
		sees string
		key  string
		want string
	}{
		{aRun("R1", "Checkout", "working"), " x stop   s steer   f follow up", "x", "stop"},
		{over("R1", "Checkout", "stopped"), " s reply   R retry", "R", "retry"},
		{over("R1", "Checkout", "failed"), " s reply   R retry", "R", "retry"},
		{over("R1", "Checkout", "interrupted"), " a go on   s reply", "a", "retry"},
		{over("R1", "Checkout", "done"), " a accept   s send back", "a", "accept"},
	} {
		s.connected(status(step.run))
		s.sees(step.sees)
		s.press(step.key)
		if c := s.command(); c.Name != step.want || c.Run != "R1" {
			t.Errorf("%s: got %+v", step.run.Status, c)
		}
	}
}

func TestTextsForARun(t *testing.T) {
	for _, test := range []struct {
		run  control.Run
		key  string
		want string
	}{
		{aRun("R1", "Checkout", "working"), "s", "steer"},
		{aRun("R1", "Checkout", "working"), "f", "follow_up"},
		{over("R1", "Checkout", "done"), "s", "send_back"},
		{over("R1", "Checkout", "done"), "r", "reply"},
		{over("R1", "Checkout", "failed"), "s", "reply"},
	} {
		s := tell(t, 80, 24)
		s.connected(status(test.run))
		s.press(test.key)
		s.types("use the sdk")
		s.press("enter")
		if c := s.command(); c.Name != test.want || c.Text != "use the sdk" || c.Run != "R1" {
			t.Errorf("%s %s: got %+v", test.run.Status, test.key, c)
		}
	}
}

// A key that cannot act says why.
func TestADisabledKeySaysWhy(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working")))
	s.press("a")
	s.sees("nothing is asked")
	s.press("R")
	s.sees("it is not over")
	s.press("?")
	s.sees("retry: it is not over")
	if got := s.commands(); len(got) != 0 {
		t.Fatalf("did %+v", got)
	}
}

// A text that is left comes back, and so does what was sent before.
func TestDraftsAndHistory(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working"), aRun("R2", "Footer", "working")))
	s.press("s")
	s.types("half a th")
	s.press("esc", "j", "s")
	s.types("for the footer")
	s.press("enter")
	s.happens(did{s.at(), s.command().ID, control.Result{OK: true}, nil})
	s.press("k", "s")
	s.sees("half a th")
	s.press("up")
	s.sees("for the footer")
	s.press("down")
	s.sees("half a th")
	s.press("esc", "q")
	for _, e := range s.effects() {
		if _, ok := e.(quit); ok {
			t.Fatal("left with a text unsent")
		}
	}
	s.press("q")
	if all := s.effects(); len(all) != 1 || all[0] != (quit{}) {
		t.Fatalf("got %+v", all)
	}
}

func TestTheEditorChangesTheText(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(aRun("R1", "Checkout", "working")))
	s.press("s")
	s.types("short")
	s.effects()
	s.press("ctrl+e")
	if all := s.effects(); len(all) != 1 || all[0] != (editText{"short"}) {
		t.Fatalf("got %+v", all)
	}
	s.happens(edited{s.at(), "long\nand longer\n", nil})
	s.sees("long", "and longer")
	s.happens(edited{s.at(), "", errors.New("vi: exit status 1")})
	s.sees("and longer", "vi: exit status 1")
}

// Pasted text is no row of keys: it stops and allows nothing.
func TestPastedTextPressesNoKeys(t *testing.T) {
	s := tell(t, 80, 24)
	s.connected(status(asking("R1", "Checkout", confirm("A1"))))
	s.later(time.Minute)
	s.effects()
	s.happens(pasted{s.at(), "aXXq"})
	if all := s.commands(); len(all) != 0 {
		t.Fatalf("did %+v", all)
	}
	s.sees("open a text first")
}

// Nothing is allowed that is not seen whole.
func TestALongCommandIsReadBeforeItIsAllowed(t *testing.T) {
	ask := confirm("A1")
	ask.Message = strings.Repeat("rm -rf build/some/folder && ", 60)
	s := tell(t, 80, 24)
	s.connected(status(asking("R1", "Checkout", ask)))
	s.sees("more rows in the chat")
	s.press("a")
	s.sees("there is more of it")
	if all := s.commands(); len(all) != 0 {
		t.Fatalf("allowed %+v", all)
	}
	s.press("c", "a")
	if c := s.command(); *c.Value != "allow" {
		t.Fatalf("got %+v", c)
	}
}

// A note that a run was given changes while it works: it says so, and what to type.
func TestNotesThatChangedAreNamed(t *testing.T) {
	s := tell(t, 80, 24)
	r := aRun("R1", "Checkout", "working")
	r.Changed = []string{"Spec", "Payment\x1b[31m"}
	s.connected(status(r))
	s.sees("not as it was told: Spec, Payment", "deckhand steer r1 --notes")
	s.seesNot("\x1b")
	gone := over("R1", "Checkout", "done")
	gone.Changed = r.Changed
	s.says("status", "", status(gone))
	s.seesNot("not as it was told")
}
