package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deckhand/harness"
	"deckhand/internal/control"
	"deckhand/internal/standin"
)

// TestMain lets the test binary be the keeper and the stand-in agent.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "keep":
			os.Exit(harness.KeepMain(os.Args[2:]))
		case "standin":
			os.Exit(standin.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case "daemon":
			os.Exit(daemonMain(os.Args[2]))
		}
	}
	os.Exit(m.Run())
}

// daemonMain is the daemon as a process of its own, to be killed.
func daemonMain(options string) int {
	var o Options
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	o.Log = os.Stderr
	o.Fault = faultFromEnv()
	if _, err := Run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// faultFromEnv ends the process with SIGKILL when a point is reached for the
// nth time (FAULT="3 card written"), or lists the points it comes by (FAULT=list).
func faultFromEnv() func(string) {
	want := os.Getenv("FAULT")
	var mu sync.Mutex
	seen := map[string]int{}
	return func(point string) {
		mu.Lock()
		defer mu.Unlock()
		seen[point]++
		at := fmt.Sprintf("%d %s", seen[point], point)
		switch want {
		case "list":
			fmt.Fprintln(os.Stderr, "point:", at)
		case at:
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal is delivered
		}
	}
}

// place is a work folder with its machine, for a test.
type placeT struct {
	t    *testing.T
	work string
	proj string
	o    Options
	log  *bytes.Buffer
}

func newPlace(t *testing.T, settings, board string) *placeT {
	t.Helper()
	root := t.TempDir()
	p := &placeT{t: t, work: filepath.Join(root, "notes"), proj: filepath.Join(root, "shop"), log: &bytes.Buffer{}}
	t.Cleanup(p.clear)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{p.work, p.proj, filepath.Join(root, "run")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.o = Options{
		Dir: p.work, Config: filepath.Join(root, "config.yaml"), State: filepath.Join(root, "state"),
		Runtime: filepath.Join(root, "run"), Exe: exe, Once: true, Log: p.log,
	}
	p.write(p.o.Config, fmt.Sprintf("trust: [%s]\nenv_file: %s\nprojects:\n  shop: {folder: %s}\nagents:\n  pi: {driver: pi, command: [%s, standin]}\n", p.work, p.at("../run/env"), p.proj, exe))
	if race := os.Getenv("GORACE"); race != "" { // agents inherit nothing, and each would wait a second at its end
		p.write(p.at("../run/env"), "GORACE="+race+"\n")
	}
	if settings != "" {
		p.write(filepath.Join(p.work, "deckhand.yaml"), settings)
	}
	if err := Grant(context.Background(), p.o, Grants{Trust: true}); err != nil {
		t.Fatal(err)
	}
	p.write(p.at("Shop.md"), board)
	return p
}

// clear ends the keepers that a test left, before its folder goes.
func (p *placeT) clear() {
	for end := time.Now().Add(20 * time.Second); ; runtime.Gosched() {
		left := p.processes()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			p.t.Errorf("still there: %v", left)
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGTERM) // gone meanwhile: fine
		}
	}
}

func (p *placeT) at(rel string) string { return filepath.Join(p.work, rel) }

func (p *placeT) write(path, text string) {
	p.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *placeT) read(rel string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.at(rel))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// once runs the daemon until nothing is left to do.
func (p *placeT) once() Outcome {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := Run(ctx, p.o)
	if err != nil || ctx.Err() != nil {
		p.t.Fatalf("run: %v %v\n%s", err, ctx.Err(), p.log)
	}
	return out
}

const shopBoard = `---
project: shop
---

## Plan

- [ ] Checkout with QRIS [[Specification#Payment]] @pi

## In Progress

## Review
`

func TestCardGoesFromPlanToReview(t *testing.T) {
	p := newPlace(t, "", shopBoard)
	p.write(p.at("Specification.md"), "# Spec\n\n## Payment\n\nUse QRIS.\n\n## Other\n\nNo.\n")
	out := p.once()
	got := p.read("Shop.md")
	if out.Waiting != 1 || out.Live != 0 {
		t.Errorf("outcome %+v, want one card that waits for review", out)
	}
	review := got[strings.Index(got, "## Review"):]
	if !strings.Contains(review, "- [ ] Checkout with QRIS [[Specification#Payment]] @pi\n") || !strings.Contains(review, "pi: review") {
		t.Fatalf("board:\n%s\nlog:\n%s", got, p.log)
	}
}

// lane is the text of one lane of Shop.md.
func (p *placeT) lane(name string) string {
	p.t.Helper()
	_, after, ok := strings.Cut(p.read("Shop.md"), "## "+name+"\n")
	if !ok {
		p.t.Fatalf("no lane %s:\n%s", name, p.read("Shop.md"))
	}
	text, _, _ := strings.Cut(after, "\n## ")
	return text
}

func TestEndings(t *testing.T) {
	for _, c := range []struct{ name, note, lane, item string }{
		{"fails", "[fail]", "Review", "🔴 pi failed · "},
		{"says nothing", "[empty]", "Review", "🔴 pi failed · "},
		{"is cut", "[length]", "Review", "🔴 pi failed · "},
		{"dies", "[exit:3]", "Review", "🔴 pi failed · "},
		{"prints garbage", "[noise]", "Review", "🟢 pi: review · "},
		{"floods", "[flood:3000]", "Review", "🟢 pi: review · "},
		{"asks at the end", "[question]", "In Progress", "🟡 pi asks · "},
		{"asks before", "[ask]", "In Progress", "🟡 pi asks · "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, "", strings.Replace(shopBoard, "[[Specification#Payment]] @pi\n", "@pi\n  "+c.note+"\n", 1))
			out := p.once()
			defer p.stopAll()
			if got := p.lane(c.lane); !strings.Contains(got, c.item) {
				t.Errorf("lane %s:\n%s\nlog:\n%s", c.lane, got, p.log)
			}
			if out.Waiting != 1 {
				t.Errorf("outcome %+v, want one card that waits for a person", out)
			}
			t.Log(p.read("Shop.md"))
			t.Log(p.read("deckhand/Needs me.md"))
		})
	}
}

// stopAll ends what the test's agents left running.
func (p *placeT) stopAll() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	o := p.o
	o.Once, o.Log = false, io.Discard
	d := p.start(ctx, o)
	for _, err := d.do("stop_all", ""); err != nil; _, err = d.do("stop_all", "") { // the first scan may not be done
		if ctx.Err() != nil {
			p.t.Fatal(err)
		}
	}
	d.until(func(s control.Status) bool {
		for _, r := range s.Runs {
			if r.Status == "working" || r.Status == "waiting" {
				return false
			}
		}
		return true
	})
	d.end()
}

// running is a daemon in the background and a client of it.
type runningT struct {
	t      *testing.T
	ctx    context.Context
	cancel context.CancelFunc
	done   chan error
	client *control.Client
	n      int
}

func (p *placeT) start(ctx context.Context, o Options) *runningT {
	p.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	r := &runningT{t: p.t, ctx: ctx, cancel: cancel, done: make(chan error, 1)}
	go func() { _, err := Run(ctx, o); r.done <- err }()
	f, err := openFolder(o.Dir, o.State)
	if err != nil {
		p.t.Fatal(err)
	}
	for r.client == nil {
		select {
		case err := <-r.done:
			p.t.Fatalf("daemon: %v", err)
		default:
		}
		if c, err := control.Connect(ctx, f.socket(o.Runtime)); err == nil {
			r.client = c
		} else if ctx.Err() != nil {
			p.t.Fatal(err)
		}
	}
	r.until(func(s control.Status) bool { return s.Watch != "scanning" })
	return r
}

// until waits for a status.
func (r *runningT) until(ok func(control.Status) bool) control.Status {
	r.t.Helper()
	events, err := r.client.Events(r.ctx, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	var last control.Status
	for {
		select {
		case e, open := <-events:
			if !open {
				r.t.Fatalf("events ended; last status %+v", last)
			}
			if e.Kind == "run" {
				continue
			}
			last = control.Status{} // what an event leaves out is empty, and not as it was
			if err := e.Decode(&last); err != nil {
				r.t.Fatal(err)
			}
			if ok(last) {
				return last
			}
		case <-r.ctx.Done():
			r.t.Fatalf("%v; last status %+v", r.ctx.Err(), last)
		}
	}
}

func (r *runningT) do(name, run string) (control.Result, error) {
	r.t.Helper()
	r.n++
	return r.client.Do(r.ctx, control.Command{ID: fmt.Sprintf("%s-%d-%d", r.t.Name(), time.Now().UnixNano(), r.n), Name: name, Run: run})
}

func (r *runningT) end() {
	r.t.Helper()
	r.client.Close()
	r.cancel()
	if err := <-r.done; err != nil {
		r.t.Error(err)
	}
}
