package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Texts of the sweeps: what was there, what we make of it, and what a person
// saves in the middle, without and with our change.
const (
	oldText    = "## Plan\n- [ ] card\n"
	newText    = "## Plan\n- [x] card\n"
	theirText  = "## Plan\n- [ ] card\n- [ ] a line typed just now\n"
	mergedText = "## Plan\n- [x] card\n- [ ] a line typed just now\n"
)

var tick = replace("- [ ] card", "- [x] card")

// nth is a fault function that does something at the nth point, and saves
// theirText to name once, at the first point called at.
type nth struct {
	mu   sync.Mutex
	n    int // guarded by mu: counts down
	do   func(point string) error
	name string // empty: nobody saves
	at   string
	mark string // made after the save
}

func (f *nth) fault(point string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.name != "" && point == f.at {
		name := f.name
		f.name = ""
		if err := os.WriteFile(name, []byte(theirText), 0o644); err != nil {
			panic(err)
		}
		if f.mark != "" {
			if err := os.WriteFile(f.mark, nil, 0o644); err != nil {
				panic(err)
			}
		}
	}
	if f.n--; f.n == 0 {
		return f.do(point)
	}
	return nil
}

// scenario is one way a sweep goes.
type scenario struct {
	name string
	at   string // where a person saves; empty: nobody does
	link bool   // without exchange, and without files that have no name
}

var scenarios = []scenario{
	{name: "alone"},
	{name: "saved before the swap", at: pointExchange},
	{name: "saved before the comparison", at: pointCompare},
	{name: "without exchange", link: true},
	{name: "without exchange, saved before the swap", at: pointExchange, link: true},
}

// check compares what is there after a fault and a new start with what may be.
func (sc scenario) check(t *testing.T, root, state string) {
	t.Helper()
	r, err := Open(root, Options{State: state})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Recover(t.Context())
	if err != nil {
		t.Errorf("recover: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	noTemp(t, root)
	data, err := os.ReadFile(filepath.Join(root, "Shop.md"))
	if err != nil {
		t.Fatal(err)
	}
	may := []string{oldText, newText}
	if sc.at != "" {
		may = []string{oldText, newText, theirText, mergedText}
	}
	for _, text := range may {
		if string(data) == text {
			return
		}
	}
	t.Errorf("neither old nor new: %q (recovered %+v)", data, got)
}

// saved reports that a person saved, and checks that the save is still there.
func (sc scenario) saved(t *testing.T, f *nth, root string) {
	t.Helper()
	if sc.at == "" || f.name != "" {
		return
	}
	data, err := os.ReadFile(filepath.Join(root, "Shop.md"))
	if err != nil || !bytes.Contains(data, []byte("typed just now")) {
		t.Errorf("the person's line is lost: %q, %v", data, err)
	}
}

// TestFaultSweep fails every single file operation of an update, with and
// without a person who saves in the middle: what is there afterwards is old or
// new, the person's line is in it, and a new start leaves no temp file.
func TestFaultSweep(t *testing.T) {
	for _, errno := range []unix.Errno{unix.ENOSPC, unix.EIO, unix.EMFILE} {
		for _, sc := range scenarios {
			t.Run(fmt.Sprintf("%s/%s", unix.ErrnoName(errno), sc.name), func(t *testing.T) {
				for n := 1; sc.failAt(t, n, errno); n++ {
				}
			})
		}
	}
}

// failAt reports whether there was an nth operation.
func (sc scenario) failAt(t *testing.T, n int, errno unix.Errno) bool {
	t.Helper()
	state := t.TempDir()
	s, root := openWith(t, Options{State: state, Grace: time.Hour}, "Shop.md", oldText)
	s.disk.noExchange, s.disk.noUnnamed = sc.link, sc.link
	hit := ""
	f := &nth{n: n, at: sc.at, do: func(point string) error { hit = point; return errno }}
	if sc.at != "" {
		f.name = filepath.Join(root, "Shop.md")
	}
	s.disk.fault = f.fault
	res, err := s.UpdateNow(t.Context(), "Shop.md", tick)
	if err != nil && !errors.Is(err, errno) && !errors.Is(err, errNotThere) {
		t.Errorf("%s %d: %v does not say what failed", hit, n, err)
	}
	if data, _ := os.ReadFile(filepath.Join(root, "Shop.md")); err == nil && !bytes.Equal(data, res.Bytes) && f.at != pointCompare {
		t.Errorf("%s %d: the result %q is not what is there: %q", hit, n, res.Bytes, data)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	sc.check(t, root, state)
	sc.saved(t, f, root)
	if t.Failed() {
		t.Logf("failed %s, the %dth operation: %v", hit, n, err)
		t.FailNow()
	}
	return hit != ""
}

// TestKillSweep ends the process at every single file operation of an update.
func TestKillSweep(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			for n := 1; sc.killAt(t, n); n++ {
			}
		})
	}
}

func (sc scenario) killAt(t *testing.T, n int) bool {
	t.Helper()
	root, state := t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, "Shop.md"), oldText)
	saved := filepath.Join(t.TempDir(), "saved")
	err := child("killed", "ROOT="+root, "STATE="+state, "N="+strconv.Itoa(n), "AT="+sc.at, "SAVED="+saved, fmt.Sprintf("LINK=%v", sc.link)).Run()
	sc.check(t, root, state)
	f := &nth{name: "nobody"}
	if _, err := os.Stat(saved); err == nil {
		f.name = ""
	}
	sc.saved(t, f, root)
	if t.Failed() {
		t.Fatalf("killed at operation %d: %v", n, err)
	}
	return err != nil
}

// doomed is what the process that is killed does.
func doomed(s *Store, do string) (err error) {
	switch do {
	case "remove":
		err = s.Remove(context.Background(), "Shop.md", []byte(oldText))
	case "move":
		err = s.Move(context.Background(), "Shop.md", "Moved.md", []byte(oldText))
	default:
		_, err = s.UpdateNow(context.Background(), "Shop.md", tick)
	}
	if errors.Is(err, ErrChanged) {
		return nil // a person saved
	}
	return err
}

// killed is the process that is killed.
func killed() {
	root := os.Getenv("ROOT")
	s, err := Open(root, Options{State: os.Getenv("STATE"), Grace: time.Hour})
	if err != nil {
		panic(err)
	}
	n, _ := strconv.Atoi(os.Getenv("N"))
	s.disk.noExchange = os.Getenv("LINK") == "true"
	s.disk.noUnnamed = s.disk.noExchange
	die := func(string) error { return unix.Kill(os.Getpid(), unix.SIGKILL) }
	f := &nth{n: n, at: os.Getenv("AT"), do: die, mark: os.Getenv("SAVED")}
	if f.at != "" {
		f.name = filepath.Join(root, "Shop.md")
	}
	s.disk.fault = f.fault
	if err := doomed(s, os.Getenv("DO")); err != nil {
		panic(err)
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
}
