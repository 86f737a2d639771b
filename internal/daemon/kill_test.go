package daemon

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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

// The daemon is killed with -9 while its agent works; started again it goes on
// with the same agent, which is prompted once.
func TestKilledInTheMiddle(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p := newPlace(t, fast, strings.Replace(shopBoard, "[[Specification#Payment]] @pi\n", "@pi\n\t[record] [slow:300ms]\n", 1))
	d, kill := p.process(ctx)
	d.until(working(1))
	for p.starts() == 0 && ctx.Err() == nil {
	}
	kill()
	p.once()
	if n := p.starts(); n != 1 {
		t.Errorf("the agent was prompted %d times", n)
	}
	if got := p.lane("Review"); !strings.Contains(got, "🟢 pi: review") {
		t.Errorf("Review:\n%s\n%s", got, p.log)
	}
	chat, err := filepath.Glob(p.at("deckhand/chats/*/*.md"))
	if err != nil || len(chat) != 1 {
		t.Fatalf("chats: %v %v", chat, err)
	}
	data, err := os.ReadFile(chat[0])
	if err != nil || strings.Count(string(data), "I look at the project") != 1 || strings.Count(string(data), "## You") != 1 {
		t.Errorf("chat:\n%s", data)
	}
}
