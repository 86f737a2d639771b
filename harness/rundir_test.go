package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func newDir(t testing.TB) Dir {
	t.Helper()
	d, err := CreateDir(t.TempDir(), "01kb7x2m")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func readLog(t testing.TB, d Dir) (lines []string) {
	t.Helper()
	if err := d.ReadLog(func(line []byte) error { lines = append(lines, string(line)); return nil }); err != nil {
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
		l, err := d.NewLife(Spec{Agent: "pi", Argv: []string{"pi", "<&>"}}, []byte("the prompt"), []Send{{ID: "a", Line: "<&>"}})
		if err != nil {
			t.Fatal(err)
		}
		if s, err := l.State(); err != nil || s != (LifeState{Held: true}) {
			t.Errorf("new: %+v, %v", s, err)
		}
		if other := (Life{Path: l.Path}); n == 1 {
			if s, err := other.State(); err != nil || !s.Held {
				t.Errorf("seen by another: %+v, %v", s, err)
			}
		}
		l.Close()
		if s, err := l.State(); err != nil || s != (LifeState{}) {
			t.Errorf("given up: %+v, %v", s, err)
		}
	}
	lives, err := d.Lives()
	if err != nil || len(lives) != 11 {
		t.Fatalf("%d lives, %v", len(lives), err)
	}
	last := lives[10]
	spec, err := last.Spec()
	if err != nil || last.N != 11 || spec.Life != 11 || spec.Format != 1 || spec.Run != "01kb7x2m" || spec.Argv[1] != "<&>" {
		t.Errorf("spec %+v, %v", spec, err)
	}
	if last.Token() != "01kb7x2m/11" {
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
		if _, err := d.NewLife(Spec{}, nil, []Send{s}); err == nil {
			t.Errorf("%+v was taken", s)
		}
	}
	if lives, err := d.Lives(); err != nil || len(lives) != 0 {
		t.Errorf("lives %v, %v", lives, err)
	}
}

func TestSendersTogether(t *testing.T) {
	l, err := newDir(t).NewLife(Spec{}, nil, nil)
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

func TestPrune(t *testing.T) {
	state := t.TempDir()
	now := time.Now()
	put := func(path string, size int, days int) {
		path = filepath.Join(state, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		when := now.AddDate(0, 0, -days)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	sizes := func(paths ...string) (s []int64) {
		for _, p := range paths {
			info, err := os.Stat(filepath.Join(state, p))
			if err != nil {
				s = append(s, -1)
				continue
			}
			s = append(s, info.Size())
		}
		return s
	}
	want := func(what string, got, want []int64) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for run, days := range map[string]int{"old": 40, "open": 35, "week": 7, "new": 1} {
		put("runs/"+run+"/1/run.json", 10, days)
		put("runs/"+run+"/1/out.000001", 100, days)
		put("runs/"+run+"/1/out.000002", 50, days)
		put("runs/"+run+"/1/out.idx", 10, days)
		put("runs/"+run+"/log.jsonl", 10, days)
	}
	put("objects/before", 70, 36)
	put("objects/during", 30, 34)
	open := func(run string) bool { return run == "open" }
	capture := func(run string) []int64 {
		return sizes("runs/"+run+"/1/out.000001", "runs/"+run+"/1/out.000002", "runs/"+run+"/1/out.idx", "runs/"+run+"/1/run.json", "runs/"+run+"/log.jsonl")
	}
	kept, dropped := []int64{100, 50, 10, 10, 10}, []int64{0, -1, -1, 10, 10}

	freed, err := Prune(state, 30, 1<<30, open)
	if err != nil || freed != 160+70 {
		t.Errorf("by age: freed %d, %v", freed, err)
	}
	want("old", capture("old"), dropped)
	want("open", capture("open"), kept)
	want("week", capture("week"), kept)
	want("objects", sizes("objects/before", "objects/during"), []int64{-1, 30})

	if freed, err = Prune(state, 30, 400, open); err != nil || freed != 160 {
		t.Errorf("by size: freed %d, %v", freed, err)
	}
	want("week", capture("week"), dropped)
	want("new", capture("new"), kept)

	if freed, err = Prune(state, 30, 400, open); err != nil || freed != 0 {
		t.Errorf("again: freed %d, %v", freed, err)
	}
	l := Dir{Path: filepath.Join(state, "runs", "week")}.life(1)
	if out, err := exists(filepath.Join(l.Path, segmentName(1))); err != nil || !out {
		t.Error("a pruned life looks as if it had never been started")
	}
	if lines := readAll(t, l); len(lines) != 0 {
		t.Errorf("lines of a pruned capture: %v", lines)
	}
	if _, err := Prune(t.TempDir(), 30, 0, open); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

func TestExitReadBack(t *testing.T) {
	l, err := newDir(t).NewLife(Spec{}, nil, nil)
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
