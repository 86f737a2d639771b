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
	"syscall"
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

// The keeper dies: what the agent did last is not known. The card says so, the
// agent does not live on, nothing starts by itself, and retry goes on.
func TestKeeperKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p := newPlace(t, fast, strings.Replace(shopBoard, "[[Specification#Payment]] @pi\n", "@pi\n\t[record] [hang]\n", 1))
	d, kill := p.process(ctx)
	defer func() { kill() }()
	d.until(working(1))
	for p.starts() == 0 && ctx.Err() == nil {
	}
	p.killAll("keep")
	s := d.until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Status == "interrupted" })
	p.shows(d, "In Progress", "🟠 pi interrupted")
	if n := p.processes(); len(n) != 0 {
		t.Errorf("still there: %v", n)
	}
	if _, err := d.do("retry", s.Runs[0].ID); err != nil {
		t.Fatal(err)
	}
	p.shows(d, "Review", "🟢 pi: review")
}

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

// killAll kills this place's processes with such a subcommand.
func (p *placeT) killAll(sub string) {
	p.t.Helper()
	for _, pid := range p.find(func(args string) bool {
		return strings.Contains(args, " "+sub+" ") && strings.Contains(args, p.o.State)
	}) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			p.t.Error(err)
		}
	}
}

// Whatever the moment of a kill -9, the next start brings the card to Review,
// and its agent was prompted once.
func TestKilledAtEveryPoint(t *testing.T) {
	if testing.Short() {
		t.Skip("a process for each of some forty points")
	}
	board := strings.Replace(shopBoard, "[[Specification#Payment]] @pi\n", "@pi\n\t[record]\n", 1)
	list := newPlace(t, fast, board)
	list.killedAt("list")
	var points []string
	for l := range strings.Lines(list.log.String()) {
		if point, ok := strings.CutPrefix(strings.TrimSpace(l), "point: "); ok {
			points = append(points, point)
		}
	}
	if len(points) < 20 {
		t.Fatalf("only %d points: %s", len(points), list.log)
	}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, fast, board)
			p.killedAt(point)
			p.once()
			if n := p.starts(); n != 1 {
				t.Errorf("the agent was prompted %d times", n)
			}
			if got := p.lane("Review"); strings.Count(got, "🟢 pi: review") != 1 {
				t.Errorf("Review:\n%s\n%s", got, p.log)
			}
			if left := p.processes(); len(left) != 0 {
				t.Errorf("still there: %v", left)
			}
			p.checkRecords()
			if t.Failed() {
				t.Logf("%s\n%s", p.log, p.logs())
			}
		})
	}
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
	for _, once := range []string{"## You\n", "I look at the project", "holds what the card asks for", "status: review"} {
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
