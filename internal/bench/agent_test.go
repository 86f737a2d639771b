package bench

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deckhand/harness"
	"deckhand/harness/conformance"
	"deckhand/harness/pi"
)

// recordings are the captures of one generation of the real pi.
func recordings(b *testing.B, version string) (all []conformance.Recording, size int64) {
	b.Helper()
	names, err := filepath.Glob(filepath.Join("../../testdata/pi", version, "*.jsonl"))
	must(b, err)
	if len(names) == 0 {
		b.Fatalf("no captures of pi %s", version)
	}
	for _, name := range names {
		f, err := os.Open(name)
		must(b, err)
		rec, err := conformance.Read(name, f)
		must(b, err)
		must(b, f.Close())
		for _, l := range rec.Lines {
			size += int64(len(l.Data))
		}
		all = append(all, rec)
	}
	return all, size
}

// BenchmarkDecode is understanding what the real pi said, in both generations,
// by processor time; beside it, only seeing that the same bytes are JSON.
func BenchmarkDecode(b *testing.B) {
	const enough = 100 << 20
	for _, version := range []string{"0.73.1", "1.6.0"} {
		recs, size := recordings(b, version)
		var decode, valid time.Duration
		var read int64
		for read < enough {
			decode += cpu(func() { decodeAll(recs) })
			valid += cpu(func() { validAll(recs) })
			read += size
		}
		what := "reading pi " + version
		results.add(b, what+", a second and core", "MB/s", mb(read)/decode.Seconds(), 100, "")
		results.add(b, what+" / json.Valid", "×", float64(decode)/float64(valid), 0, "")
	}
}

func decodeAll(recs []conformance.Recording) {
	for _, rec := range recs {
		s := pi.New().Open(harness.Agent{Name: "pi"}, harness.Spec{Run: "01KB7X2M", Life: 1})
		s.Start()
		for _, l := range rec.Lines {
			s.Decode(l)
		}
		s.Exit(rec.Code, rec.Signal, time.Time{})
	}
}

func validAll(recs []conformance.Recording) {
	for _, rec := range recs {
		for _, l := range rec.Lines {
			json.Valid(l.Data)
		}
	}
}

// cpu is the processor time that do takes, collecting its garbage included.
func cpu(do func()) time.Duration {
	before := used()
	do()
	return used() - before
}

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it takes no argument that could be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLongLine is what a line of 64 MB costs in memory: in the keeper,
// which stores it, and where it is read and understood.
func BenchmarkLongLine(b *testing.B) {
	const size = 64<<20 - 1
	state := b.TempDir()
	head, tail := `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"a"},"message":{"role":"assistant","content":[{"type":"text","text":"`, `"}]}}`
	file := filepath.Join(state, "line")
	text := head + strings.Repeat("x", size-len(head)-len(tail)) + tail + "\n{}\n"
	must(b, os.WriteFile(file, []byte(text), 0o600))
	life := startLife(b, state, "sh", "-c", "cat "+file+"; exec sleep 600")
	pid := keeperOf(b, life.Path)
	lines := 0
	for range time.Tick(10 * time.Millisecond) {
		must(b, life.Read(1, func(l harness.Line) error {
			if l.Stream == harness.Out {
				lines++
			}
			return nil
		}))
		if lines >= 2 {
			break
		}
		lines = 0
	}
	results.add(b, "a line of 64 MB: memory of the keeper", "MB", mb(private(pid)), 0, "private, after it")
	results.add(b, "a line of 64 MB: allocated to read it / its size", "×", float64(allocated(func() { decodeLife(b, life) }))/size, 0, "")
	must(b, life.End())
	must(b, life.Follow(b.Context(), new(harness.Watches), func(harness.Line) error { return nil }))
}

func decodeLife(b *testing.B, life *harness.Life) {
	s := pi.New().Open(harness.Agent{Name: "pi"}, harness.Spec{Run: life.Run, Life: life.N})
	must(b, life.Read(1, func(l harness.Line) error { s.Decode(l); return nil }))
}

func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// startLife starts a command under a keeper.
func startLife(b *testing.B, state string, argv ...string) *harness.Life {
	b.Helper()
	p, err := built()
	must(b, err)
	dir, err := harness.CreateDir(state, strings.ToLower(rand.Text()))
	must(b, err)
	life, err := dir.Next()
	must(b, err)
	must(b, life.Hire(p.deckhand, os.Environ()))
	must(b, life.Write(harness.Spec{Agent: "pi", Driver: "pi", Argv: argv, Dir: state}, nil, nil))
	must(b, life.Place())
	must(b, life.Start())
	return life
}

// keeperOf waits for the keeper of a life and returns its process id.
func keeperOf(b *testing.B, path string) int {
	b.Helper()
	for range time.Tick(time.Millisecond) {
		data, err := os.ReadFile(filepath.Join(path, "lock"))
		must(b, err)
		if text, ok := bytes.CutSuffix(data, []byte("\n")); ok {
			pid, err := strconv.Atoi(string(text))
			must(b, err)
			return pid
		}
	}
	return 0
}
