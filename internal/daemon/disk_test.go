package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"deckhand/internal/control"
)

// A state that cannot be written is shown as a thing in the place of another:
// that fails for everybody, whatever the rights of who runs the test.

// block puts a folder in the place of a file, or a file in that of a folder, and
// gives back what undoes it.
func (p *placeT) block(path string, folder bool) (undo func()) {
	p.t.Helper()
	must := func(err error) {
		p.t.Helper()
		if err != nil {
			p.t.Fatal(err)
		}
	}
	must(os.Rename(path, path+".aside"))
	if folder {
		must(os.Mkdir(path, 0o700))
	} else {
		p.write(path, "")
	}
	return func() {
		must(os.Remove(path))
		must(os.Rename(path+".aside", path))
	}
}

func (p *placeT) only(pattern string) string {
	p.t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		p.t.Fatalf("%s: %v %v", pattern, found, err)
	}
	return found[0]
}

// While no run can be made nothing starts, that is the reason shown, nothing is
// left behind, and it goes on by itself.
func TestStateThatCannotBeWritten(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf(""))
	d := p.watching(ctx)
	free := p.block(p.only(filepath.Join(p.o.State, "*/runs")), false)
	p.save("Shop.md", boardOf("- [ ] Ship it @pi\n\t[record]\n"))
	s := d.until(func(s control.Status) bool {
		return len(s.Held) == 1 && strings.Contains(s.Held[0].Reasons[0], "the state cannot be written")
	})
	if len(s.Runs) != 0 || p.starts() != 0 {
		t.Errorf("runs %+v", s.Runs)
	}
	free()
	p.shows(d, "Review", "🟢 pi: review")
	if n := p.starts(); n != 1 {
		t.Errorf("started %d times", n)
	}
}

// With --once it is the error that ends the daemon.
func TestOnceEndsWhenTheStateCannotBeWritten(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
	p.block(p.only(filepath.Join(p.o.State, "*/runs")), false)
	_, err := Run(bounded(t), p.o)
	if err == nil || !strings.Contains(err.Error(), "runs") {
		t.Errorf("%v, want the folder that cannot be written", err)
	}
}

// The log of a run at work cannot be written when its agent is done. What
// happened is not lost, no second agent starts, and the log does not grow.
func TestLogThatCannotBeWrittenForAWhile(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[record] [slow:20ms]\n- [ ] Next @pi\n\t[record]\n"))
	d := p.watching(ctx)
	d.until(working(1))
	for p.starts() == 0 && ctx.Err() == nil {
	}
	log := p.only(filepath.Join(p.o.State, "*/runs/*/log.jsonl"))
	free := p.block(log, true)
	for !strings.Contains(p.record(), "end") && ctx.Err() == nil {
	}
	s := d.until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Status == "done" })
	if p.starts() != 1 {
		t.Errorf("another agent was started: %+v", s)
	}
	free()
	p.shows(d, "Review", "Next @pi")
	d.until(func(s control.Status) bool { return len(s.Runs) == 2 && s.Runs[1].Status == "done" })
	p.inTurn()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, once := range []string{`"finished"`, `"ended"`, `"started"`} {
		if n := strings.Count(string(data), once); n != 1 {
			t.Errorf("%s stands %d times in the log:\n%s", once, n, data)
		}
	}
}

// record is what the agents wrote down.
func (p *placeT) record() string {
	data, err := os.ReadFile(filepath.Join(p.proj, "RECORD.log"))
	if err != nil {
		return ""
	}
	return string(data)
}

// What deckhand writes for people cannot be written: the card goes its way, a
// daemon that runs once ends, and the next one writes what is missing.
func TestChatsAndJournalThatCannotBeWritten(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[record]\n"))
	for _, name := range []string{"chats", "journal", needsName} {
		if err := os.MkdirAll(p.at("deckhand/"+name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	undo := []func(){p.block(p.at("deckhand/chats"), false), p.block(p.at("deckhand/journal"), false)}
	p.once()
	if got := p.lane("Review"); !strings.Contains(got, "🟢 pi: review") {
		t.Errorf("Review:\n%s\n%s", got, p.log)
	}
	for _, text := range []string{"journal: ", "chats/", needsName} {
		if n := strings.Count(p.log.String(), text); n != 1 {
			t.Errorf("%q is said %d times:\n%s", text, n, p.log)
		}
	}
	for _, fn := range undo {
		fn()
	}
	if err := os.Remove(p.at("deckhand/" + needsName)); err != nil {
		t.Fatal(err)
	}
	p.once()
	p.checkRecords()
	if n := p.starts(); n != 1 {
		t.Errorf("started %d times", n)
	}
}

// A board that may not be written holds its cards and nothing else, makes no
// runs in vain, and goes on when it may be written again.
func TestBoardThatMayNotBeWritten(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[record]\n"))
	p.write(p.at("Other.md"), boardOf("- [ ] Other @pi\n"))
	if err := os.Chmod(p.at("Other.md"), 0o400); err != nil {
		t.Fatal(err)
	}
	d := p.watching(ctx)
	p.shows(d, "Review", "🟢 pi: review")
	s := d.until(func(s control.Status) bool { return len(s.Held) == 1 && s.Held[0].Board == "Other.md" })
	if want := "read-only"; !strings.Contains(s.Held[0].Reasons[0], want) {
		t.Errorf("held %+v, want %s", s.Held, want)
	}
	if runs, err := filepath.Glob(filepath.Join(p.o.State, "*/runs/*")); err != nil || len(runs) != 2 {
		t.Errorf("runs %v %v, want one claim in vain", runs, err)
	}
	if err := os.Chmod(p.at("Other.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.until(func(s control.Status) bool { return len(s.Runs) == 2 && s.Runs[1].Status == "done" && len(s.Held) == 0 })
}

// What keeps a board from being written goes away without any change of the
// board that is told of: it is found by asking now and then, without claims in
// vain. (A second name elsewhere stands for a folder that is read-only, which it
// is for nobody who may write everything.)
func TestBoardThatCanBeWrittenAgain(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[record]\n"))
	other := p.at("../Shop.md")
	if err := os.Link(p.at("Shop.md"), other); err != nil {
		t.Fatal(err)
	}
	d := p.watching(ctx)
	d.until(heldBy("several names (hard links); it is tried again by itself"))
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	p.shows(d, "Review", "🟢 pi: review")
	if runs, err := filepath.Glob(filepath.Join(p.o.State, "*/runs/*")); err != nil || len(runs) != 2 || p.starts() != 1 {
		t.Errorf("runs %v %v, %d starts, want one claim in vain", runs, err, p.starts())
	}
}

// A run folder that cannot be read is named and left alone.
func TestRunFolderThatCannotBeRead(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
	p.once()
	runs := filepath.Dir(p.only(filepath.Join(p.o.State, "*/runs/*")))
	for name, log := range map[string]string{
		"01BROKEN0000000000000000AA": "not a log\n",
		"01BROKEN0000000000000000BB": `{"id":"01BROKEN0000000000000000BC","time":"2026-11-30T10:00:00Z","run":"01BROKEN0000000000000000BB","kind":"started","life":1}` + "\n",
		"01BROKEN0000000000000000CC": `{"id":"01BROKEN0000000000000000CD","time":"2026-11-30T10:00:00Z","run":"another","kind":"claimed"}` + "\n",
		"not-a-run":                  "",
	} {
		if err := os.Mkdir(filepath.Join(runs, name), 0o700); err != nil {
			t.Fatal(err)
		}
		p.write(filepath.Join(runs, name, "log.jsonl"), log)
	}
	if err := os.Mkdir(filepath.Join(runs, "folder-as-log"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(runs, "folder-as-log", "log.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.save("Shop.md", strings.Replace(p.read("Shop.md"), "## Plan\n", "## Plan\n\n- [ ] Next @pi\n", 1))
	p.once()
	if got := p.lane("Review"); !strings.Contains(got, "Next @pi") {
		t.Errorf("Review:\n%s\n%s", got, p.log)
	}
	for _, name := range []string{"BB", "CC", "folder-as-log"} {
		if !strings.Contains(p.log.String(), name+" is left alone: ") {
			t.Errorf("%s is not named:\n%s", name, p.log)
		}
	}
}

// A log, receipts and an exit that a power cut tore are read as far as they are whole.
func TestTornState(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n\t[record]\n"))
	p.once()
	state := filepath.Dir(p.only(filepath.Join(p.o.State, "*/runs")))
	for _, f := range []string{p.only(filepath.Join(state, "runs/*/log.jsonl")), filepath.Join(state, "receipts.jsonl")} {
		file, err := os.OpenFile(f, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(`{"id":"01ZZ","kind":"interru`); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
	d := p.watching(bounded(t))
	if _, err := d.do("retry", "Ship it"); err != nil {
		t.Fatal(err)
	}
	d.until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Status == "done" && p.lives() == 2 })
	data, err := os.ReadFile(filepath.Join(state, "receipts.jsonl"))
	if err != nil || strings.Contains(string(data), "interru") || strings.Count(string(data), "\n") != 1 {
		t.Errorf("receipts: %v\n%s", err, data)
	}
}

// What was to replace a file of the state and was killed before it did goes at
// the next start.
func TestHalfWrittenStateIsSwept(t *testing.T) {
	p := newPlace(t, fast, boardOf(""))
	half := filepath.Join(filepath.Dir(p.only(filepath.Join(p.o.State, "*/folder.json"))), newPrefix+"123")
	p.write(half, `{"format":1,"pa`)
	p.once()
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", half, err)
	}
}

// A state of which the first file is spoilt is not guessed at.
func TestSpoiltFolderFileIsRefused(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
	p.write(p.only(filepath.Join(p.o.State, "*/folder.json")), `{"format":1,"path":"/no`)
	_, err := Run(context.Background(), p.o)
	if err == nil || !strings.Contains(err.Error(), "folder.json: ") {
		t.Errorf("%v, want the file that is spoilt", err)
	}
	if n := p.starts(); n != 0 {
		t.Errorf("started %d times", n)
	}
}

// A claim that cannot be logged leaves nothing behind: no folder of a run, and
// its chat's name is free for the one that can.
func TestClaimThatCannotBeLogged(t *testing.T) {
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
	var failed atomic.Bool
	p.o.Fault = func(at string) {
		if at == "log claimed" && failed.CompareAndSwap(false, true) {
			if err := os.MkdirAll(filepath.Join(p.only(filepath.Join(p.o.State, "*/runs/*")), "log.jsonl"), 0o700); err != nil {
				t.Error(err)
			}
		}
	}
	d := p.watching(bounded(t))
	p.shows(d, "Review", "🟢 pi: review")
	if n := p.lives(); n != 1 || !failed.Load() {
		t.Errorf("%d lives", n)
	}
	p.only(filepath.Join(p.o.State, "*/runs/*"))
	if chat := p.only(p.at("deckhand/chats/*/*.md")); !strings.HasSuffix(chat, "Ship it.md") {
		t.Errorf("its chat is called %s", chat)
	}
}
