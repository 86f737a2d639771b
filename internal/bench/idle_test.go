package bench

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkIdle is a daemon that has read 10,000 notes and has nothing to do,
// and a keeper whose agent says nothing.
func BenchmarkIdle(b *testing.B) {
	p := newPlace(b)
	p.vault(10_000)
	must(b, os.MkdirAll(p.at("area-99"), 0o755))
	d := p.watch()
	defer d.end()
	window := time.Minute
	if *long {
		window = 10 * time.Minute
	}
	<-time.After(20 * time.Second) // the runtime gives the memory of the scan back
	what := fmt.Sprintf("idle for %s after 10,000 notes: ", window)
	wakes, busy := d.rest(window)
	results.add(b, what+"resident", "MB", mb(d.memory("VmRSS")), 30, fmt.Sprintf("private %.0f MB", mb(private(d.cmd.Process.Pid))))
	results.add(b, what+"wake-ups a minute", "", float64(wakes)/window.Minutes(), 0, fmt.Sprintf("%s of a processor", busy))
	if float64(wakes) > window.Seconds()/10 {
		b.Errorf("awake in %d seconds of %s: something polls", wakes, window)
	}
	var took times
	for range 20 {
		took.take(func() { p.run("status") })
	}
	results.add(b, "status, whole process, 10,000 notes", "ms", ms(took.median()), 50, "")

	p.save("area-99/Shop.md", strings.Replace(shop, "## Plan\n\n", "## Plan\n\n- [ ] Wait @pi\n\t[hang]\n", 1))
	p.agentBegan()
	<-time.After(2 * time.Second)
	lives, err := filepath.Glob(p.path("state/deckhand/*/runs/*/1"))
	must(b, err)
	results.add(b, "keeper of an agent that is silent", "MB", mb(private(keeperOf(b, lives[0]))), 10, "private")
	p.run("stop", "--all")
	d.until("stopped")
}

// rest lets time pass and returns in how many of its seconds any thread of the
// daemon woke up, and how much of a processor it took. A slow poll of the folder
// is one wake-up, however often its threads wait for the disk meanwhile.
func (d *process) rest(window time.Duration) (wakes int, busy time.Duration) {
	before, seen := d.used(), d.switches()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for range int(window.Seconds()) {
		<-second.C
		if now := d.switches(); now != seen {
			wakes, seen = wakes+1, now
		}
	}
	return wakes, d.used() - before
}

func (d *process) switches() (n int64) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", d.cmd.Process.Pid))
	for _, name := range tasks {
		n += statusOf(name, "voluntary_ctxt_switches")
	}
	return n
}

// used is the processor time of the daemon so far; 0 when the system does not say.
func (d *process) used() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	const utime, stime, tick = 11, 12, 10 * time.Millisecond // after the name
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+2:]))
	var user, system int64
	fmt.Sscan(fields[utime], &user)
	fmt.Sscan(fields[stime], &system)
	return time.Duration(user+system) * tick
}

// BenchmarkRuns is a folder in which 500 cards were worked on before.
func BenchmarkRuns(b *testing.B) {
	const runs = 500
	p := newPlace(b)
	p.grant()
	p.write(p.at("Shop.md"), strings.Replace(shop, "## Plan\n\n", "## Plan\n\n- [ ] Card @pi\n", 1))
	_ = p.command("watch", "--once").Run() // exit 3: the card waits for a review
	p.multiply(runs)

	var cold times
	var d *process
	for i := range 10 {
		if i > 0 {
			d.end()
		}
		cold.take(func() { d = p.watch() })
	}
	defer d.end()
	results.add(b, "start of the daemon, 500 runs", "ms", ms(cold.median()), 30, "to ready")
	for _, c := range []struct {
		args []string
		goal float64
	}{{[]string{"status"}, 50}, {[]string{"status", "--short"}, 20}} {
		var took times
		for range 40 {
			took.take(func() { p.run(c.args...) })
		}
		results.add(b, strings.Join(c.args, " ")+", whole process, 500 runs", "ms", ms(took.median()), c.goal, "")
	}
	results.add(b, "daemon with 500 runs: resident", "MB", mb(d.memory("VmRSS")), 0, "")
}

// multiply makes so many runs of the one there is, of some days ago.
func (p *place) multiply(n int) {
	p.b.Helper()
	dirs, err := filepath.Glob(p.path("state/deckhand/*/runs/*"))
	must(p.b, err)
	if len(dirs) != 1 {
		p.b.Fatalf("%d runs", len(dirs))
	}
	old := filepath.Base(dirs[0])
	today := time.Now().Format(time.DateOnly)
	before := time.Now().AddDate(0, 0, -5).Format(time.DateOnly)
	for i := range n - 1 {
		id := fmt.Sprintf("%s%04d", old[:22], i)
		swap := strings.NewReplacer(old, id, strings.ToLower(old), strings.ToLower(id), today, before)
		must(p.b, filepath.WalkDir(dirs[0], func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			to := filepath.Join(filepath.Dir(dirs[0]), id, strings.TrimPrefix(name, dirs[0]))
			if d.IsDir() {
				return os.MkdirAll(to, 0o700)
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return os.WriteFile(to, []byte(swap.Replace(string(data))), 0o600)
		}))
	}
}

// BenchmarkBinary is the size of the program.
func BenchmarkBinary(b *testing.B) {
	const limit = 15_000_000
	p, err := built()
	must(b, err)
	info, err := os.Stat(p.deckhand)
	must(b, err)
	results.add(b, "binary, stripped", "MB", mb(info.Size()), mb(limit), "")
	if info.Size() > limit {
		b.Errorf("%d bytes", info.Size())
	}
}
