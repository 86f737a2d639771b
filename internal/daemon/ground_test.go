package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"deckhand/dispatch"
	"deckhand/internal/config"
	"deckhand/internal/control"
)

func TestProjectFolders(t *testing.T) {
	root := realPath(t.TempDir())
	home, work, state := filepath.Join(root, "home"), filepath.Join(root, "home", "notes"), filepath.Join(root, "home", ".state")
	for _, dir := range []string{work, state, filepath.Join(work, "in"), filepath.Join(home, "shop")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(work, link); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{
		filepath.Join(home, "shop"): "", filepath.Join(home, "gone"): "is not there", file: "is not a folder",
		"/": "is the whole machine", home: "is the home folder", root: "holds the home folder", work: "is the work folder itself",
		link: "is the work folder itself", filepath.Join(link, "in"): "lies inside the work folder", state: "holds deckhand's own state",
	} {
		real, why := checkProject(config.Project{Name: "p", Folder: folder}, work, home, state)
		if (want == "") != (why == dispatch.Reason{}) || !strings.Contains(why.Text, want) || (real == "") != (want != "") {
			t.Errorf("%s: %q %q, want %q", folder, real, why.Text, want)
		}
	}
}

// An output: that would hide a person's boards is refused, nothing starts, and
// nothing is remembered of it.
func TestOutputWithNotesIsRefused(t *testing.T) {
	p := newPlace(t, fast, shopBoard)
	if err := os.Mkdir(p.at("Boards"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(p.at("Boards/Mine.md"), shopBoard)
	for output, want := range map[string]string{"Boards": "holds things of yours (Mine.md)", "Shop.md": "is not a folder"} {
		p.write(p.at("deckhand.yaml"), fast+"output: "+output+"\n")
		p.once()
		if n := p.starts(); n != 0 || strings.Contains(p.read("Shop.md"), "pi:") {
			t.Errorf("output: %s: something started", output)
		}
		r, err := Open(context.Background(), p.o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Status(context.Background())
		if err != nil || len(s.Problems) == 0 || !strings.Contains(s.Problems[0].Text, want) || s.Problems[0].Hint == "" {
			t.Errorf("output: %s: problems %+v %v, want %q and a hint", output, s.Problems, err, want)
		}
		boards, err := r.Boards(context.Background())
		if err != nil || len(boards) != 2 {
			t.Errorf("output: %s: boards %+v %v, want both", output, boards, err)
		}
	}
}

// A pipe in the place of a file must not make anybody wait.
func TestPipesInPlaceOfFiles(t *testing.T) {
	p := newPlace(t, "", shopBoard)
	for _, path := range []string{p.at("deckhand.yaml"), p.at("deckhand/Machine.md"), p.o.Config} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { _, err := Open(context.Background(), p.o); done <- err }()
		select {
		case err := <-done:
			if err != nil && !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("%s: %v", path, err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: still waiting", path)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// A folder that was moved is known again; its state is taken over on request
// and not begun anew by the way.
func TestMovedFolder(t *testing.T) {
	p := newPlace(t, "", shopBoard)
	p.once()
	was := p.work
	p.work += "-moved"
	if err := os.Rename(was, p.work); err != nil {
		t.Fatal(err)
	}
	p.o.Dir = p.work
	_, err := Run(context.Background(), p.o)
	var said *control.Error
	if !errors.As(err, &said) || !strings.Contains(said.Hint, "deckhand adopt") {
		t.Fatalf("%v, want a hint to adopt", err)
	}
	if from, err := Adopt(p.o); err != nil || from != realPath(filepath.Dir(was))+"/"+filepath.Base(was) {
		t.Fatalf("adopt: %q %v", from, err)
	}
	r, err := Open(context.Background(), p.o)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := r.Status(context.Background()); err != nil || len(s.Runs) != 1 {
		t.Errorf("status %+v %v, want the run of before", s, err)
	}
}

// The state of a work folder never lies in it.
func TestStateInsideTheWorkFolder(t *testing.T) {
	p := newPlace(t, "", shopBoard)
	p.o.State = p.at("state")
	if _, err := Run(context.Background(), p.o); err == nil || !strings.Contains(err.Error(), "inside the work folder") {
		t.Errorf("%v, want a refusal", err)
	}
	if _, err := os.Stat(p.o.State); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made all the same: %v", err)
	}
}

// Notes that cannot be read are named, with what to do about it, and not
// without end; one that can be read again is forgotten.
func TestUnreadableNotesAreNamed(t *testing.T) {
	f, err := openFolder(t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(Options{}, f)
	base := len(m.faults())
	for i := range unreadMost + 5 {
		m.take(file{path: fmt.Sprintf("%02d.md", i), fault: "permission denied"})
	}
	got := m.faults()[base-1:]
	if len(got) != unreadMost+2 || got[1].Where != "00.md" || got[1].Hint == "" || got[unreadMost+1].Text != "5 more notes cannot be read" {
		t.Errorf("%+v", got)
	}
	for i := range unreadMost + 5 {
		m.take(file{path: fmt.Sprintf("%02d.md", i), gone: i%2 == 0})
	}
	if got := m.faults(); len(got) != base {
		t.Errorf("%+v", got)
	}
}

// A changed settle: counts at once, for the board that is to be written too.
func TestSettleIsReloaded(t *testing.T) {
	ctx := bounded(t)
	p := newPlace(t, "settle: 1h\ntyping: 1h\n", boardOf("- [ ] Ship it @pi\n"))
	d := p.watching(ctx)
	d.until(func(s control.Status) bool { return len(s.Queued) == 1 })
	p.save("deckhand.yaml", fast)
	p.shows(d, "Review", "🟢 pi: review")
}

// What the disk would not give is asked for again, ever more seldom, until it
// can be read: no event says that a disk has come back.
func TestFaultOfAReadIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &daemon{model: &model{}, again: map[string]time.Time{}, looks: map[string]int{}}
		bad := file{path: "a.md", fault: "input/output error"}
		for _, want := range []time.Duration{pause, 2 * pause, 4 * pause} {
			delete(d.again, bad.path)
			d.busyLook(bad)
			if got := time.Until(d.again[bad.path]); got != want {
				t.Errorf("asked again after %v, want %v", got, want)
			}
		}
		delete(d.again, bad.path)
		d.busyLook(file{path: bad.path})
		d.busyLook(bad)
		if got := time.Until(d.again[bad.path]); got != pause {
			t.Errorf("after a read that worked: asked again after %v, want %v", got, pause)
		}
	})
}

// A machine that cannot read its own name does not take itself for another one:
// that would be kept for good.
func TestMachineThatCannotReadItsName(t *testing.T) {
	p := newPlace(t, fast, boardOf(""))
	free := p.block(filepath.Join(p.o.State, "machine-id"), true)
	now := readMachine(p.o.Dir, "deckhand", p.o.State)
	if now.elsewhere() || now.here || !now.lost {
		t.Errorf("with its name unreadable: %+v", now)
	}
	free()
	if now = readMachine(p.o.Dir, "deckhand", p.o.State); !now.here || now.lost {
		t.Errorf("with its name: %+v", now)
	}
}
