package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// newCapture makes a capture in a folder of its own, with a clock that stands.
func newCapture(t testing.TB) (*capture, Life) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	c, err := createCapture(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.now = func() time.Time { return time.UnixMilli(1796040192412) }
	c.wait = func() { t.Error("had to wait") }
	return c, Life{Path: dir}
}

func readAll(t testing.TB, l Life) (lines []Line) {
	t.Helper()
	if err := l.Read(1, func(line Line) error { lines = append(lines, line); return nil }); err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestIndexRowRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := indexRow{
			ms:      rapid.Int64Range(0, 1<<50).Draw(t, "ms"),
			stream:  rapid.SampledFrom([]Stream{Out, Err}).Draw(t, "stream"),
			kind:    rapid.SampledFrom([]byte{0, pieceOf, voidOf}).Draw(t, "kind"),
			segment: rapid.IntRange(1, 1<<30).Draw(t, "segment"),
			offset:  rapid.Int64Range(0, segmentMax).Draw(t, "offset"),
			length:  rapid.Int64Range(0, lineMax).Draw(t, "length"),
		}
		if row.kind == 0 {
			row.seq = rapid.Int64Range(1, 1<<50).Draw(t, "seq")
		}
		text := row.append(nil)
		got, ok := parseIndexRow(text[:len(text)-1])
		if !ok || got != row {
			t.Fatalf("%q: %+v, %v; want %+v", text, got, ok, row)
		}
		// No cut of a row that has its line end is one, bar a shorter last number.
		for i := range len(text) - 1 {
			if got, ok := parseIndexRow(text[:i]); ok && (got.length >= row.length || got.offset != row.offset) {
				t.Fatalf("%q reads as %+v", text[:i], got)
			}
		}
	})
}

func FuzzIndexRow(f *testing.F) {
	f.Add([]byte("1 1796040192412 out 1 0 12"))
	f.Add([]byte("0 1796040192412 err+ 2 65536 65536"))
	f.Add([]byte("00 1 out! 1 0 0"))
	f.Fuzz(func(t *testing.T, line []byte) {
		row, ok := parseIndexRow(line)
		if !ok {
			return
		}
		text := row.append(nil)
		again, ok := parseIndexRow(text[:len(text)-1])
		if !ok || again != row {
			t.Fatalf("%q is %+v, written and read again %+v", line, row, again)
		}
	})
}

// Whatever comes in whatever blocks on two streams, the lines are those of the
// streams, complete and in order, and the seqs rise by one.
func TestLinesOfTwoStreams(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c, l := newCapture(t)
		c.limit = int64(rapid.IntRange(64, 4096).Draw(rt, "segment"))
		streams := map[Stream]*splitter{}
		want := map[Stream][]byte{}
		for _, s := range []Stream{Out, Err} {
			streams[s] = &splitter{cap: c, stream: s, buf: make([]byte, 32)}
		}
		for range rapid.IntRange(0, 40).Draw(rt, "blocks") {
			s := rapid.SampledFrom([]Stream{Out, Err}).Draw(rt, "stream")
			sp := streams[s]
			block := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\r\x00\n\n")), 0, len(sp.room())).Draw(rt, "block")
			if rapid.Bool().Draw(rt, "long") {
				block = bytes.ReplaceAll(block, []byte{'\n'}, []byte{'-'})
			}
			n := copy(sp.room(), block)
			want[s] = append(want[s], block...)
			if err := sp.take(n); err != nil {
				rt.Fatal(err)
			}
		}
		for _, sp := range streams {
			if err := sp.end(); err != nil {
				rt.Fatal(err)
			}
		}
		if err := c.close(); err != nil {
			rt.Fatal(err)
		}
		got := map[Stream][]string{}
		for i, line := range readAll(t, l) {
			if line.Seq != int64(i+1) || line.Time.UnixMilli() != 1796040192412 {
				rt.Fatalf("line %d: %+v", i, line)
			}
			got[line.Stream] = append(got[line.Stream], string(line.Data))
		}
		for s, text := range want {
			lines := strings.Split(string(text), "\n")
			if lines[len(lines)-1] == "" {
				lines = lines[:len(lines)-1]
			}
			if !slices.Equal(got[s], lines) {
				rt.Fatalf("%s: got %q, want %q", s, got[s], lines)
			}
		}
		checkSegments(rt, l, c.limit)
	})
}

func checkSegments(t *rapid.T, l Life, limit int64) {
	names, err := filepath.Glob(filepath.Join(l.Path, "out.0*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > limit {
			t.Fatalf("%s has %d bytes, more than %d", name, info.Size(), limit)
		}
	}
}

// Cut anywhere, as a crash or a power cut leaves it, a capture reads as some of
// its first lines.
func TestCaptureCutAnywhere(t *testing.T) {
	c, l := newCapture(t)
	sp := &splitter{cap: c, stream: Out, buf: make([]byte, 16)}
	var want []string
	for i := range 8 {
		line := strings.Repeat(string(rune('a'+i)), i*3)
		want = append(want, line)
		feed(t, sp, line+"\n")
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{indexFile, segmentName(1)} {
		path := filepath.Join(l.Path, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := len(whole); n >= 0; n-- {
			for _, tail := range []string{"", "\x00\x00\x00", "\x00\n\x00\n"} {
				if err := os.WriteFile(path, append(bytes.Clone(whole[:n]), tail...), 0o600); err != nil {
					t.Fatal(err)
				}
				if name != indexFile && tail != "" {
					continue // zeros in place of lost text are text
				}
				for i, line := range readAll(t, l) {
					if string(line.Data) != want[i] {
						t.Fatalf("%s cut at %d: line %d is %q, want %q", name, n, i, line.Data, want[i])
					}
				}
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if n := len(readAll(t, l)); n != len(want) {
			t.Fatalf("%d lines, want %d", n, len(want))
		}
	}
}

func feed(t testing.TB, sp *splitter, text string) {
	t.Helper()
	for text != "" {
		n := copy(sp.room(), text)
		if err := sp.take(n); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
}

func TestCaptureOnce(t *testing.T) {
	c, _ := newCapture(t)
	if _, err := createCapture(c.root, t.TempDir()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second capture: %v", err)
	}
}

// A disk that is full for a while loses nothing and doubles nothing, wherever
// in a write it fills up.
func TestFullDisk(t *testing.T) {
	c, l := newCapture(t)
	failures := 0
	c.wait = func() { failures++ }
	for room := range 40 {
		disk := &fullDisk{room: room, rounds: 3}
		p := []byte(fmt.Sprintf("line %d\nand another\n", room))
		err := c.insist(func() error {
			n, err := disk.write(c.seg, p)
			p = p[n:]
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if failures == 0 {
		t.Error("the disk was never full")
	}
	data, err := os.ReadFile(filepath.Join(l.Path, segmentName(1)))
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for room := range 40 {
		fmt.Fprintf(&want, "line %d\nand another\n", room)
	}
	if string(data) != want.String() {
		t.Errorf("got %q", data)
	}
	c.gone = func() bool { return true }
	if err := c.insist(func() error { return unix.EIO }); !errors.Is(err, errGone) {
		t.Errorf("in a folder that is gone: %v", err)
	}
}

// fullDisk takes room bytes a write, until it was full often enough.
type fullDisk struct{ room, rounds int }

func (d *fullDisk) write(w io.Writer, p []byte) (int, error) {
	if d.rounds == 0 || len(p) <= d.room {
		return w.Write(p)
	}
	d.rounds--
	n, err := w.Write(p[:d.room])
	return n, errors.Join(err, unix.ENOSPC)
}

func TestOutput(t *testing.T) {
	l := newLife(t, "say", `one\ntwo\r\n`, `warn\n`, `\n`, "", `no line end`)
	lines, _ := run(t, l)
	equal(t, lines[Out], []string{"one", "two\r", "", "no line end"})
	equal(t, lines[Err], []string{"warn"})
}

// A line without an end on one stream keeps nothing back on the other.
func TestStreamsDoNotWaitForEachOther(t *testing.T) {
	half := strings.Repeat("h", 100_000)
	l := newLife(t, "say", half, `warn\n`, `end\n`)
	lines, _ := run(t, l)
	equal(t, lines[Out], []string{half + "end"})
	equal(t, lines[Err], []string{"warn"})
}

func TestLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 200 MB")
	}
	t.Run("64 MB", func(t *testing.T) {
		l := newLife(t, "long", fmt.Sprint(lineMax))
		start(t, l)
		var got []string
		if err := follow(t, l, func(line Line) {
			if line.Stream == Out {
				got = append(got, fmt.Sprint(len(line.Data), string(line.Data[:1])))
			}
		}); err != nil {
			t.Fatal(err)
		}
		equal(t, got, []string{fmt.Sprint(lineMax, "y"), fmt.Sprint(len("after"), "a")})
	})
	t.Run("one byte more", func(t *testing.T) {
		l := newLife(t, "long", fmt.Sprint(lineMax+1))
		lines, _ := run(t, l)
		equal(t, lines[Out], []string{"after"})
		var r Remark
		if err := json.Unmarshal([]byte(lines[Meta][1]), &r); err != nil {
			t.Fatal(err)
		}
		if r != (Remark{Event: RemarkTooLong, Stream: Out, Bytes: lineMax + 1}) {
			t.Errorf("remark %+v", r)
		}
	})
}

// A flood arrives whole, in segments of 64 MB, and the keeper stays small.
func TestFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	l := newLife(t, "flood", "100000000")
	start(t, l)
	lines, most := 0, int64(0)
	if err := follow(t, l, func(line Line) {
		if line.Stream != Out {
			return
		}
		if lines++; len(line.Data) != 199 {
			t.Fatalf("line %d has %d bytes", lines, len(line.Data))
		}
		if lines%10_000 == 0 {
			most = max(most, privateMemory(l.pid()))
		}
	}); err != nil {
		t.Fatal(err)
	}
	if lines != 500_000 {
		t.Errorf("%d lines", lines)
	}
	t.Logf("the keeper had at most %.1f MB for itself", float64(most)/1e6)
	if !raceEnabled && most > 10<<20 {
		t.Errorf("the keeper had %d bytes for itself, the limit is 10 MB", most)
	}
	if _, err := os.Stat(filepath.Join(l.Path, segmentName(2))); err != nil {
		t.Error(err)
	}
}

// privateMemory is what ends with a process, in bytes; 0 where it is not known
// or the process has ended.
func privateMemory(pid int) (sum int64) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(data)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "Private_Clean: %d kB", &kb); err == nil {
			sum += kb << 10
		}
		if _, err := fmt.Sscanf(line, "Private_Dirty: %d kB", &kb); err == nil {
			sum += kb << 10
		}
	}
	return sum
}

// BenchmarkKeeper is an agent's output through pipe, keeper and disk, to the
// end of the agent.
func BenchmarkKeeper(b *testing.B) {
	const total = 100_000_000
	b.SetBytes(total)
	for b.Loop() {
		l := newLife(b, "flood", fmt.Sprint(total))
		start(b, l)
		if err := follow(b, l, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead is reading a capture back.
func BenchmarkRead(b *testing.B) {
	const total = 100_000_000
	l := newLife(b, "flood", fmt.Sprint(total))
	start(b, l)
	if err := follow(b, l, nil); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(total)
	for b.Loop() {
		if err := l.Read(1, func(Line) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// A capture that cannot be begun leaves none: it would say that the agent
// perhaps ran.
func TestCaptureThatCannotBeBegun(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Mkdir(filepath.Join(dir, indexFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := createCapture(root, t.TempDir()); err == nil {
		t.Fatal("it began without an index")
	}
	if there, err := exists(filepath.Join(dir, segmentName(1))); there || err != nil {
		t.Errorf("%s is there: %v %v", segmentName(1), there, err)
	}
}
