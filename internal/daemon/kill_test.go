package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"deckhand/internal/control"
)

// process runs the daemon as a process of its own, connects to it, and returns
// how to kill it with -9.
func (p *placeT) process(ctx context.Context) (*runningT, func()) {
	p.t.Helper()
	o := p.o
	o.Once = false
	options, err := json.Marshal(o)
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(p.o.Exe, "daemon", string(options))
	cmd.Stderr = p.log
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	f, err := openFolder(o.Dir, o.State)
	if err != nil {
		p.t.Fatal(err)
	}
	r := &runningT{t: p.t, ctx: ctx}
	for r.client == nil {
		if c, err := control.Connect(ctx, f.socket(o.Runtime)); err == nil {
			r.client = c
		} else if ctx.Err() != nil {
			p.t.Fatalf("%v\n%s", err, p.log)
		}
	}
	r.until(func(s control.Status) bool { return s.Watch != "scanning" })
	return r, func() {
		r.client.Close()
		if err := cmd.Process.Kill(); err != nil {
			p.t.Error(err)
		}
		_ = cmd.Wait() // killed: that is its error
	}
}

func working(n int) func(control.Status) bool {
	return func(s control.Status) bool {
		return len(s.Runs) == n && s.Runs[0].Status == "working" && s.Runs[0].Tokens+1 > 0
	}
}

// starts counts how often the stand-in began, by its own record.
func (p *placeT) starts() int {
	data, err := os.ReadFile(filepath.Join(p.proj, "RECORD.log"))
	if err != nil {
		return 0
	}
	return strings.Count(string(data), "start")
}

const fast = "settle: 10ms\ntyping: 10ms\n"

// shows waits until a lane of the board holds a text.
func (p *placeT) shows(d *runningT, lane, text string) {
	p.t.Helper()
	for !strings.Contains(p.lane(lane), text) {
		if _, err := d.client.Status(d.ctx); err != nil {
			p.t.Fatalf("%s lacks %q: %v\n%s\n%s", lane, text, err, p.read("Shop.md"), p.log)
		}
	}
}

// processes lists the keepers and agents of this place.
func (p *placeT) processes() []int {
	return p.find(func(args string) bool {
		return strings.Contains(args, p.o.State) && !strings.Contains(args, " daemon ")
	})
}

func (p *placeT) find(match func(args string) bool) []int {
	p.t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		p.t.Fatal(err)
	}
	var out []int
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		args, _ := os.ReadFile(dir + "/cmdline") // gone meanwhile: no match
		if pid == os.Getpid() || len(args) == 0 {
			continue
		}
		if match(strings.ReplaceAll(string(args), "\x00", " ")) {
			out = append(out, pid)
		}
	}
	return out
}

// logs is what the logs of the runs hold, for a test that has failed.
func (p *placeT) logs() string {
	files, err := filepath.Glob(filepath.Join(p.o.State, "*/runs/*/log.jsonl"))
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		fmt.Fprintf(&b, "%s: %v\n%s", f, err, data)
	}
	return b.String()
}

// killedAt runs the daemon until it ends, by itself or by the fault.
func (p *placeT) killedAt(point string) {
	p.t.Helper()
	options, err := json.Marshal(p.o)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.o.Exe, "daemon", string(options))
	cmd.Env = append(os.Environ(), "FAULT="+point)
	cmd.Stderr = p.log
	err = cmd.Run()
	killed := err != nil && strings.Contains(err.Error(), "killed")
	switch {
	case killed && point != "list":
	case err != nil || ctx.Err() != nil:
		p.t.Fatalf("daemon: %v %v\n%s", err, ctx.Err(), p.log)
	case point != "list":
		p.t.Logf("this time the daemon did not come by")
	}
}

// checkRecords looks that chat and journal tell the story once.
func (p *placeT) checkRecords() {
	p.t.Helper()
	files, err := filepath.Glob(p.at("deckhand/*/*/*.md"))
	if err != nil || len(files) != 1 {
		p.t.Fatalf("chats: %v %v", files, err)
	}
	chat, err := os.ReadFile(files[0])
	if err != nil {
		p.t.Fatal(err)
	}
	for _, once := range []string{"## You\n\nYou work on", "I look at the project", "holds what the card asks for", "status: review"} {
		if n := strings.Count(string(chat), once); n != 1 {
			p.t.Errorf("%q stands %d times in the chat:\n%s", once, n, chat)
		}
	}
	days, err := filepath.Glob(p.at("deckhand/journal/*.md"))
	if err != nil || len(days) != 1 {
		p.t.Fatalf("journal: %v %v", days, err)
	}
	day, err := os.ReadFile(days[0])
	if err != nil {
		p.t.Fatal(err)
	}
	for _, once := range []string{" · started · ", " · finished · "} {
		if n := strings.Count(string(day), once); n != 1 {
			p.t.Errorf("%q stands %d times in the journal:\n%s", once, n, day)
		}
	}
}
