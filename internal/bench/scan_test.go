package bench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// BenchmarkScan is how long a daemon takes from its start until it has read
// every note, beside reading every note and doing nothing with it.
func BenchmarkScan(b *testing.B) {
	benchmarkScan(b, 10_000, 5)
}

// BenchmarkScanLarge is the same for 100,000 notes in 10,000 folders.
func BenchmarkScanLarge(b *testing.B) {
	if !*long {
		b.Skip("takes minutes: -long")
	}
	benchmarkScan(b, 100_000, 3)
}

func benchmarkScan(b *testing.B, notes, rounds int) {
	p := newPlace(b)
	p.vault(notes)
	var ready, read times
	var peak int64
	var watches int
	for range rounds + 1 {
		read.take(func() { must(b, readAll(p.work)) })
		var d *process
		ready.take(func() { d = p.watch() })
		peak, watches = d.memory("VmHWM"), d.watches()
		d.end()
	}
	ready, read = ready[1:], read[1:] // the first ones fill the cache
	what := fmt.Sprintf("first scan of %d notes", notes)
	results.add(b, what+": ready / walk and read all", "×", ready.over(read), 2.5,
		fmt.Sprintf("%.0f ms / %.0f ms", ms(ready.median()), ms(read.median())))
	folders := countFolders(b, p.work)
	goal := 0.0
	if notes > 10_000 {
		goal = 150
	}
	results.add(b, what+": peak memory", "MB", mb(peak), goal, "")
	if watches == 0 {
		b.Log("watches are not counted on this system")
		return
	}
	const configs = 2 // config.yaml's folder is watched, and what is in it
	results.add(b, what+": watches", "", float64(watches), float64(folders+configs), fmt.Sprintf("%d folders, %d of the configuration", folders, configs))
	if watches > folders+configs {
		b.Errorf("%d watches for %d folders", watches, folders)
	}
}

// readAll walks a folder and reads every file, with a worker for each processor.
func readAll(root string) error {
	names := make(chan []string, 16)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			var buf []byte
			for batch := range names {
				for _, name := range batch {
					buf = readInto(buf, name)
				}
			}
		})
	}
	var batch []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if batch = append(batch, name); len(batch) == 64 {
			names <- batch
			batch = nil
		}
		return nil
	})
	names <- batch
	close(names)
	wg.Wait()
	return err
}

// readInto reads a file into buf, which grows when it has to. What cannot be
// read is left to the one who measures nothing.
func readInto(buf []byte, name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		return buf
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return buf
	}
	if n := int(info.Size()) + 1; n > len(buf) {
		buf = make([]byte, 2*n)
	}
	for {
		if n, err := f.Read(buf); n == 0 || err != nil {
			return buf
		}
	}
}

func countFolders(b *testing.B, root string) (n int) {
	must(b, filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			n++
		}
		return err
	}))
	return n
}

// watches counts what the kernel watches for the daemon; 0 when it does not say.
func (d *process) watches() (n int) {
	infos, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", d.cmd.Process.Pid))
	for _, name := range infos {
		if data, err := os.ReadFile(name); err == nil {
			n += strings.Count(string(data), "inotify wd:")
		}
	}
	return n
}

// memory reads one figure in KB of /proc/PID/status; 0 when there is none.
func (d *process) memory(field string) int64 {
	return statusOf(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid), field) << 10
}

// statusOf reads one figure of a file of /proc.
func statusOf(name, field string) (n int64) {
	data, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if text, ok := strings.CutPrefix(line, field+":"); ok {
			fmt.Sscan(text, &n)
		}
	}
	return n
}

// private is the memory that a process shares with nobody.
func private(pid int) int64 {
	name := fmt.Sprintf("/proc/%d/smaps_rollup", pid)
	return (statusOf(name, "Private_Clean") + statusOf(name, "Private_Dirty")) << 10
}
