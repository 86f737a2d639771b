package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func newDir(t testing.TB) Dir {
	t.Helper()
	d, err := CreateDir(t.TempDir(), newRun())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// readLog gives the lines that can be decoded.
func readLog(t testing.TB, d Dir) (lines []string) {
	t.Helper()
	err := d.ReadLog(func(line []byte) error {
		if json.Valid(line) {
			lines = append(lines, string(line))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestRunFolder(t *testing.T) {
	state := t.TempDir()
	d, err := CreateDir(state, "01kb7x2m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CreateDir(state, "01kb7x2m"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	for _, name := range []string{"", ".", "..", "a/b", "../x", "/abs"} {
		if _, err := CreateDir(state, name); err == nil {
			t.Errorf("%q was made", name)
		}
	}
	if again, err := OpenDir(state, "01kb7x2m"); err != nil || again != d || again.Run() != "01kb7x2m" {
		t.Errorf("opened %v, %v", again, err)
	}
	if _, err := OpenDir(state, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opened one that is not: %v", err)
	}
}

func TestLivesAreNumberedAndWhole(t *testing.T) {
	d := newDir(t)
	// What a crash in the middle of making a life leaves.
	if err := os.MkdirAll(filepath.Join(d.Path, newFolder, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 11; n++ {
		l, err := lifeOf(d, Spec{Agent: "pi", Argv: []string{"pi", "<&>"}}, []byte("the prompt"), []Send{{ID: "a", Line: "<&>"}})
		if err != nil {
			t.Fatal(err)
		}
		other := Life{Path: l.Path}
		checkState(t, *l, LifeState{Held: true})
		checkState(t, other, LifeState{Held: true})
		l.Close()
		checkState(t, *l, LifeState{})
		checkState(t, other, LifeState{})
	}
	lives, err := d.Lives()
	if err != nil || len(lives) != 11 {
		t.Fatalf("%d lives, %v", len(lives), err)
	}
	checkFiles(t, lives[10])
}

func checkState(t *testing.T, l Life, want LifeState) {
	t.Helper()
	if s, err := l.State(); err != nil || s != want {
		t.Errorf("%+v, %v; want %+v", s, err, want)
	}
}

// checkFiles reads back what TestLivesAreNumberedAndWhole gave its last life.
func checkFiles(t *testing.T, last Life) {
	t.Helper()
	run := filepath.Base(filepath.Dir(last.Path))
	spec, err := last.Spec()
	if err != nil || last.N != 11 || spec.Life != 11 || spec.Format != 1 || spec.Run != run || spec.Argv[1] != "<&>" {
		t.Errorf("spec %+v, %v", spec, err)
	}
	if last.Token() != run+"/11" {
		t.Errorf("token %q", last.Token())
	}
	prompt, err := last.Prompt()
	if err != nil || string(prompt) != "the prompt" {
		t.Errorf("prompt %q, %v", prompt, err)
	}
	rows, err := os.ReadFile(filepath.Join(last.Path, inFile))
	if err != nil || string(rows) != `{"id":"a","line":"<&>"}`+"\n" {
		t.Errorf("rows %q, %v", rows, err)
	}
}

func TestRowsThatAreRefused(t *testing.T) {
	d := newDir(t)
	for _, s := range []Send{{Line: "no id"}, {ID: "a", Line: "two\nlines"}, {ID: "a", Do: "dance"}} {
		if _, err := lifeOf(d, Spec{}, nil, []Send{s}); err == nil {
			t.Errorf("%+v was taken", s)
		}
	}
	if lives, err := d.Lives(); err != nil || len(lives) != 0 {
		t.Errorf("lives %v, %v", lives, err)
	}
}

func TestSendersTogether(t *testing.T) {
	l, err := lifeOf(newDir(t), Spec{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 10 {
				if err := l.Send(Send{ID: fmt.Sprint(i), Line: strings.Repeat("x", 5000)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	data, err := os.ReadFile(filepath.Join(l.Path, inFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte{'\n'}); n != 10 {
		t.Errorf("%d rows, want 10", n)
	}
}

// The log, cut at every byte: exactly the whole entries before the cut are
// there, and an entry that is added afterwards comes right after them.
func TestLogCutAtEveryByte(t *testing.T) {
	d := newDir(t)
	var want []string
	for i := range 20 {
		entry := fmt.Sprintf(`{"id":%d,"text":"%s { \" ü"}`, i, strings.Repeat("x", i))
		want = append(want, entry)
		if err := d.AppendLog([]byte(entry)); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, readLog(t, d), want)
	path := filepath.Join(d.Path, logFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const next = `{"id":"next"}`
	for n := range len(whole) {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		complete := 0
		for end := 0; complete < len(want) && end+len(want[complete]) <= n; complete++ {
			end += len(want[complete]) + 1
		}
		equal(t, readLog(t, d), want[:complete])
		if n%7 != 0 {
			continue // each append waits for the disk
		}
		if err := d.AppendLog([]byte(next)); err != nil {
			t.Fatal(err)
		}
		equal(t, readLog(t, d), append(want[:complete:complete], next))
	}
}

func TestLogTakesObjectsOnly(t *testing.T) {
	d := newDir(t)
	for _, line := range []string{"", "12", "null", "{", "{}\n", "{}\n{}", `[1]`, ` {}`} {
		if err := d.AppendLog([]byte(line)); err == nil {
			t.Errorf("%q was taken", line)
		}
	}
	equal(t, readLog(t, d), nil)
	stop := errors.New("stop")
	if err := d.AppendLog([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := d.ReadLog(func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the reader's error is %v", err)
	}
}

func FuzzSend(f *testing.F) {
	f.Add("a", "line", []byte(`{"id":"a"`))
	f.Add("b", "<>&  ", []byte("{\"id\":\"b\"}\n\n{"))
	f.Fuzz(func(t *testing.T, id, line string, before []byte) {
		path := filepath.Join(t.TempDir(), inFile)
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		l := Life{Path: filepath.Dir(path)}
		if err := l.Send(Send{ID: id, Line: line}); err != nil {
			return
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, before) {
			t.Fatalf("%q became %q", before, data)
		}
		if err := l.Send(Send{ID: id, Line: "other"}); err != nil {
			t.Fatal(err)
		}
		if again, _ := os.ReadFile(path); !bytes.Equal(again, data) {
			t.Fatalf("sent twice: %q", again)
		}
	})
}

// stateFolder is a state folder whose files are some days old.
type stateFolder struct {
	t    *testing.T
	path string
}

func (f stateFolder) put(name string, size, days int) {
	f.t.Helper()
	path := filepath.Join(f.path, name)
	when := time.Now().AddDate(0, 0, -days)
	err := errors.Join(
		os.MkdirAll(filepath.Dir(path), 0o700),
		os.WriteFile(path, make([]byte, size), 0o600),
		os.Chtimes(path, when, when))
	if err != nil {
		f.t.Fatal(err)
	}
}

// want compares sizes; -1 is a file that is not there.
func (f stateFolder) want(what string, sizes map[string]int64) {
	f.t.Helper()
	for name, want := range sizes {
		got := int64(-1)
		if info, err := os.Stat(filepath.Join(f.path, name)); err == nil {
			got = info.Size()
		}
		if got != want {
			f.t.Errorf("%s: %s has %d bytes, want %d", what, name, got, want)
		}
	}
}

func (f stateFolder) prune(what string, size, want int64) {
	f.t.Helper()
	freed, err := Prune(f.path, 30, size, func(run string) bool { return run == "open" })
	if err != nil || freed != want {
		f.t.Errorf("%s: freed %d bytes, want %d, %v", what, freed, want, err)
	}
}

func TestPrune(t *testing.T) {
	f := stateFolder{t, t.TempDir()}
	f.prune("nothing", 0, 0)
	for run, days := range map[string]int{"old": 40, "open": 35, "week": 7, "new": 1} {
		f.put("runs/"+run+"/1/run.json", 10, days)
		f.put("runs/"+run+"/1/out.000001", 100, days)
		f.put("runs/"+run+"/1/out.000002", 50, days)
		f.put("runs/"+run+"/1/out.idx", 10, days)
		f.put("runs/"+run+"/log.jsonl", 10, days)
	}
	f.put("objects/before", 70, 36) // the open run began
	f.put("objects/since", 30, 34)
	whole := func(run string) map[string]int64 {
		run = "runs/" + run
		return map[string]int64{run + "/1/out.000001": 100, run + "/1/out.000002": 50, run + "/1/out.idx": 10, run + "/log.jsonl": 10}
	}
	dropped := func(run string) map[string]int64 {
		run = "runs/" + run
		return map[string]int64{run + "/1/out.000001": 0, run + "/1/out.000002": -1, run + "/1/out.idx": -1, run + "/log.jsonl": 10, run + "/1/run.json": 10}
	}

	f.prune("by age", 1<<30, 160+70)
	f.want("too old", dropped("old"))
	f.want("open", whole("open"))
	f.want("young enough", whole("week"))
	f.want("objects", map[string]int64{"objects/before": -1, "objects/since": 30})

	f.prune("by size", 400, 160)
	f.want("the oldest", dropped("week"))
	f.want("the next", whole("new"))
	f.want("open", whole("open"))
	f.prune("again", 400, 0)

	l := Dir{Path: filepath.Join(f.path, "runs", "week")}.life(1)
	if out, err := exists(filepath.Join(l.Path, segmentName(1))); err != nil || !out {
		t.Error("a pruned life looks as if it had never been started")
	}
	if lines := readAll(t, l); len(lines) != 0 {
		t.Errorf("lines of a pruned capture: %v", lines)
	}
}

func TestExitReadBack(t *testing.T) {
	l, err := lifeOf(newDir(t), Spec{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	want := Exit{Code: -1, Signal: "SIGKILL", Time: time.Date(2026, 11, 30, 14, 3, 12, 412e6, time.UTC), Reason: "r"}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.Path, exitFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := l.State(); err != nil || s.Exit == nil || *s.Exit != want {
		t.Errorf("%+v, %v", s.Exit, err)
	}
	if err := os.WriteFile(filepath.Join(l.Path, exitFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.State(); err == nil {
		t.Error("a broken exit.json was read")
	}
}

// Rows that a crash or a power cut has left in part are sent again: the keeper
// sees each of them once, whole, and none is lost for want of its line end.
func TestRowsCutAtEveryByte(t *testing.T) {
	path := t.TempDir()
	in, l := filepath.Join(path, inFile), Life{Path: path}
	rows := []Send{{ID: "prompt", Line: `{"a":"ü"}`}, {ID: "answer", Line: "x"}, {ID: "stop", Do: DoTerm}}
	whole, err := encodeRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(whole)) {
		want = append(want, strings.TrimSpace(line))
	}
	for n := range len(whole) + 1 {
		if err := os.WriteFile(in, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := l.Send(rows...); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		rr := rowReader{r: bufio.NewReader(bytes.NewReader(data)), seen: map[string]bool{}}
		var got []string
		for raw := rr.next(); raw != nil; raw = rr.next() {
			if _, ok := parseRow(raw); ok {
				got = append(got, string(raw))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("cut at %d: %q, want %q", n, got, want)
		}
	}
}
