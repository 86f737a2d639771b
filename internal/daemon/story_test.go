package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"deckhand/harness"
	"deckhand/internal/control"
)

// story is something a person and the daemon do together, told so that it can
// go on with another daemon when one was killed in the middle: each step is the
// same again when it is done again.
type story struct {
	name  string
	plan  string // cards of the lane Plan
	after string // points before this one are another story's
	act   func(*teller)
	check func(*teller)
}

// teller tells a story to one daemon after the other.
type teller struct {
	*placeT
	ctx    context.Context
	cmd    *exec.Cmd
	gone   chan error
	client *control.Client  // nil while no daemon runs
	pace   <-chan time.Time // of looking: both processes need the machine for something else
	kills  int
}

// begin starts a daemon that is killed at a point ("": at none, "list": it says
// by which it comes).
func (s *teller) begin(point string) {
	s.t.Helper()
	o := s.o
	o.Once = false
	options, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd = exec.Command(o.Exe, "daemon", string(options))
	s.cmd.Env = append(os.Environ(), "FAULT="+point)
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd := s.cmd
	s.gone = make(chan error, 1)
	go func() { s.gone <- cmd.Wait() }()
}

// meet gives a client of the daemon that runs; one that was killed has a
// successor that nobody kills.
func (s *teller) meet() *control.Client {
	s.t.Helper()
	f, err := openFolder(s.o.Dir, s.o.State)
	if err != nil {
		s.t.Fatal(err)
	}
	for s.ctx.Err() == nil {
		<-s.pace
		select {
		case <-s.gone:
			s.kills++
			s.begin("")
			s.client = nil
		default:
		}
		if s.client == nil {
			if s.client, err = control.Connect(s.ctx, f.socket(s.o.Runtime)); err != nil {
				s.client = nil
				continue
			}
		}
		st, err := s.client.Status(s.ctx)
		if err != nil {
			s.client.Close()
			s.client = nil
			continue
		}
		if st.Watch != "scanning" {
			return s.client
		}
	}
	s.t.Fatalf("no daemon, or nothing more from it: %v\n%s\n%s", s.ctx.Err(), s.text("Shop.md"), s.logs())
	return nil
}

// until waits until the notes are so.
func (s *teller) until(what string, ok func() bool) {
	s.t.Helper()
	for !ok() {
		s.meet()
		if s.ctx.Err() != nil {
			s.t.Fatalf("never %s:\n%s\n%s\n%s", what, s.text("Shop.md"), s.log, s.logs())
		}
	}
}

// keepers counts the lives that have one.
func (s *teller) keepers() int {
	s.t.Helper()
	runs, err := filepath.Glob(filepath.Join(s.o.State, "*/runs/*"))
	if err != nil {
		s.t.Fatal(err)
	}
	n := 0
	for _, run := range runs {
		lives, err := harness.Dir{Path: run}.Lives()
		if err != nil {
			s.t.Fatal(err)
		}
		for _, l := range lives {
			if held(l.Path) {
				n++
			}
		}
	}
	return n
}

// held reports whether a life, by its folder, has a keeper.
func held(path string) bool {
	state, err := harness.Life{Path: path}.State()
	return err != nil || state.Held
}

// text is a file that a swap may be replacing.
func (p *placeT) text(rel string) string {
	data, err := os.ReadFile(p.at(rel))
	if err != nil {
		return ""
	}
	return string(data)
}

// shows waits until a lane holds a text.
func (s *teller) shows(lane, text string) {
	s.t.Helper()
	s.until(fmt.Sprintf("%q in %s", text, lane), func() bool {
		_, after, _ := strings.Cut(s.text("Shop.md"), "## "+lane+"\n")
		in, _, _ := strings.Cut(after, "\n## ")
		return strings.Contains(in, text)
	})
}

// command sends a command until it is answered, each time with the same id.
func (s *teller) command(id, name, run string) {
	s.t.Helper()
	for s.ctx.Err() == nil {
		_, err := s.meet().Do(s.ctx, control.Command{ID: id, Name: name, Run: run})
		fault, isAnswer := err.(*control.Error)
		switch {
		case err == nil:
			return
		case isAnswer && fault.Code == control.CodeConflict: // the run is not so far yet
		case isAnswer && fault.Code != control.CodeNoDaemon && fault.Code != control.CodeError:
			s.t.Fatalf("%s: %v", name, err)
		}
	}
}

// move takes the card with a text to another lane, as a person does, with what
// stands below it; not twice.
func (s *teller) move(text, lane, add string) {
	s.t.Helper()
	board := s.text("Shop.md")
	at := strings.Index(board, "- [ ] "+text)
	if at < 0 {
		s.t.Fatalf("no card %s:\n%s", text, board)
	}
	end := at + strings.IndexByte(board[at:], '\n') + 1
	for end < len(board) && (board[end] == '\t' || board[end] == ' ') {
		end += strings.IndexByte(board[end:], '\n') + 1
	}
	card := board[at:end]
	first, rest, _ := strings.Cut(card, "\n")
	if add != "" {
		rest = "\t" + add + "\n" + rest
	}
	board = board[:at] + board[end:]
	head := "## " + lane + "\n"
	s.save("Shop.md", strings.Replace(board, head, head+"\n"+first+"\n"+rest, 1))
}

// end ends the daemon and whatever runs.
func (s *teller) end() {
	s.command("end", "stop_all", "")
	s.until("quiet", func() bool { return s.keepers() == 0 })
	if left := s.processes(); len(left) != 0 {
		s.t.Errorf("still there: %v", left)
	}
	s.client.Close()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Error(err)
	}
	<-s.gone
}

// promptsTwice reports whether a chat has no prompt, or one of them twice: each
// has a nonce of its own in its fences.
func promptsTwice(chat string) bool {
	fence := regexp.MustCompile(`nonce="[0-9a-f]{16}"`)
	seen := map[string]bool{}
	for _, said := range strings.Split(chat, "\n## You\n")[1:] {
		nonce := fence.FindString(said)
		if nonce != "" && seen[nonce] {
			return true
		}
		seen[nonce] = true
	}
	delete(seen, "")
	return len(seen) == 0
}

// whole is what holds at the end of every story: each run's chat has each
// prompt once, the journal each event, and what is known after another start
// is the same.
func (s *teller) whole(runs int) {
	s.t.Helper()
	chats, err := filepath.Glob(s.at("deckhand/chats/*/*.md"))
	if err != nil || len(chats) != runs {
		s.t.Errorf("chats %v %v, want %d", chats, err, runs)
	}
	for _, path := range chats {
		data, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		if twice := promptsTwice(string(data)); twice {
			s.t.Errorf("a prompt is missing, or stands twice, in %s:\n%s", path, data)
		}
	}
	days, err := filepath.Glob(s.at("deckhand/journal/*.md"))
	if err != nil {
		s.t.Fatal(err)
	}
	events := map[string]int{}
	for _, path := range days {
		data, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, word := range strings.Fields(string(data)) {
			if len(word) == 26 && strings.HasPrefix(word, "01") {
				events[word]++
			}
		}
	}
	r, err := Open(s.ctx, s.o)
	if err != nil {
		s.t.Fatal(err)
	}
	logged, err := r.Journal(s.ctx, time.Time{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range logged {
		if n := events[e.Event] - len(runsNamed(logged, e.Event)); n != 1 {
			s.t.Errorf("%s %s stands %d times in the journal", e.Status, e.Event, n)
		}
	}
}

// runsNamed are the entries whose run has this id: the journal names it too.
func runsNamed(all []control.JournalEntry, id string) []control.JournalEntry {
	var out []control.JournalEntry
	for _, e := range all {
		if e.Run == id {
			out = append(out, e)
		}
	}
	return out
}

func (s *teller) answers(text string) int {
	chats, err := filepath.Glob(s.at("deckhand/chats/*/*.md"))
	if err != nil {
		s.t.Fatal(err)
	}
	n := 0
	for _, path := range chats {
		data, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		n += strings.Count(string(data), text)
	}
	return n
}

var stories = []story{
	{
		name: "retry", plan: "- [ ] Ship it @pi\n\t[record] [fail]\n", after: "log resumed",
		act: func(s *teller) {
			s.shows("Review", "🔴 pi failed")
			s.until("its agent is gone", func() bool { return s.keepers() == 0 })
			s.command("again", "retry", "Ship it")
			s.shows("Review", "🟢 pi: review")
		},
		check: func(s *teller) {
			if n := s.starts(); n != 1 { // the second prompt does not say [record]
				s.t.Errorf("the card was prompted %d times", n)
			}
			if n := strings.Count(s.logs(), `"kind":"resumed"`); n != 1 {
				s.t.Errorf("it went on %d times", n)
			}
			if n := s.answers("Go on with the card"); n > 2 {
				s.t.Errorf("the second prompt stands %d times", n)
			}
		},
	},
	{
		name: "stop", plan: "- [ ] Ship it @pi\n\t[record] [hang]\n", after: "log stopping",
		act: func(s *teller) {
			s.shows("In Progress", "🔵 pi works")
			s.until("it works", func() bool { return s.starts() == 1 })
			s.command("halt", "stop", "Ship it")
			s.shows("Review", "⚪ pi stopped")
		},
		check: func(s *teller) {
			if n := s.starts(); n != 1 {
				s.t.Errorf("prompted %d times", n)
			}
		},
	},
	{
		name: "ask", plan: "- [ ] Ship it @pi\n\t[record] [ask]\n", after: "log asked",
		act: func(s *teller) {
			s.shows("In Progress", "🟡 pi asks")
			s.until("it is in Needs me", func() bool { return strings.Contains(s.text("deckhand/Needs me.md"), "## pi asks · Ship it") })
			s.command("halt", "stop", "Ship it")
			s.shows("Review", "⚪ pi stopped")
		},
		check: func(s *teller) {
			if n := s.starts(); n != 1 {
				s.t.Errorf("prompted %d times", n)
			}
			if n := s.answers("Write SHIP.md?"); n != 1 {
				s.t.Errorf("the question stands %d times in the chat", n)
			}
		},
	},
	{
		name: "queue", plan: "- [ ] One @pi\n\t[record]\n- [ ] Two @pi\n\t[record]\n", after: "2 log claimed",
		act: func(s *teller) {
			s.shows("Review", "- [ ] Two @pi")
			s.until("both are done", func() bool { return strings.Count(s.text("Shop.md"), "🟢 pi: review") == 2 })
		},
		check: func(s *teller) {
			if n := s.starts(); n != 2 {
				s.t.Errorf("prompted %d times", n)
			}
			s.inTurn()
		},
	},
	{
		name: "sent back", plan: "- [ ] Ship it @pi\n\t[record]\n", after: "log resumed",
		act: func(s *teller) {
			s.shows("Review", "🟢 pi: review")
			s.move("Ship it", "Plan", "Now with the sandbox key. [record]")
			s.until("the second prompt", func() bool { return s.starts() == 2 })
			s.until("it is back", func() bool {
				_, after, _ := strings.Cut(s.text("Shop.md"), "## Review\n")
				return strings.Contains(after, "🟢 pi: review") && s.keepers() == 0
			})
		},
		check: func(s *teller) {
			if n := s.starts(); n != 2 {
				s.t.Errorf("prompted %d times", n)
			}
		},
	},
}

// inTurn looks by the agents' own record that no two of them overlapped.
func (p *placeT) inTurn() {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.proj, "RECORD.log"))
	if err != nil {
		p.t.Fatal(err)
	}
	busy := false
	for l := range strings.Lines(string(data)) {
		begins := strings.Contains(l, "start")
		if begins == busy {
			p.t.Fatalf("two at once:\n%s", data)
		}
		busy = begins
	}
}

// Whatever the moment of a kill -9 in what a person does with a run, the next
// daemon finishes it, and nothing happens twice.
func TestStoriesKilledAtEveryPoint(t *testing.T) {
	if testing.Short() {
		t.Skip("a process for each of some hundred points")
	}
	for _, st := range stories {
		t.Run(st.name, func(t *testing.T) {
			for _, point := range st.points(t) {
				t.Run(point, func(t *testing.T) {
					t.Parallel()
					st.tell(t, point)
				})
			}
		})
	}
}

// tell tells the story to a daemon that is killed at a point.
func (st story) tell(t *testing.T, point string) *teller {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pace := time.NewTicker(3 * time.Millisecond)
	defer pace.Stop()
	s := &teller{placeT: newPlace(t, fast, boardOf(st.plan)), ctx: ctx, pace: pace.C}
	s.begin(point)
	st.act(s)
	s.end()
	st.check(s)
	s.once()
	s.whole(strings.Count(st.plan, "- [ ]"))
	if t.Failed() {
		t.Logf("%s\n%s\n%s", s.text("Shop.md"), s.log, s.logs())
	}
	return s
}

// points are those of the story that come after its first words, each kind once.
func (st story) points(t *testing.T) []string {
	s := st.tell(t, "list")
	var points []string
	on, named := false, map[string]bool{}
	for l := range strings.Lines(s.log.String()) {
		point, ok := strings.CutPrefix(strings.TrimSpace(l), "point: ")
		on = on || ok && strings.HasSuffix(point, st.after)
		if _, name, _ := strings.Cut(point, " "); on && ok && !named[name] {
			points, named[name] = append(points, point), true
		}
	}
	if len(points) < 4 {
		t.Fatalf("only %d points: %s", len(points), s.log)
	}
	return points
}
