package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/change"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/store"
)

// BenchmarkProposal is 20 notes of 480,000 characters whose whole contents are
// replaced: looked at, kept, compared, written and taken back; and beside it the
// same bytes read, and written with fsync, as often as that needs them.
func BenchmarkProposal(b *testing.B) {
	const files, size = 20, 480_000
	text := func(word string) string {
		return strings.Repeat("a line of the "+word+" text\n", size/len("a line of the old text\n"))
	}
	was, is := text("old"), text("new")
	work, state := b.TempDir(), b.TempDir()
	s, err := store.Open(work, store.Options{State: filepath.Join(state, "store")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	p := &harness.Proposal{ID: "p1"}
	for i := range files {
		name := fmt.Sprintf("%02d.md", i)
		if err := os.WriteFile(filepath.Join(work, name), []byte(was), 0o644); err != nil {
			b.Fatal(err)
		}
		p.Changes = append(p.Changes, harness.Change{Kind: "edit", File: name, Before: was, After: is})
	}
	var ours, plain time.Duration
	for b.Loop() {
		start := time.Now()
		batch, err := proposing{store: s, state: state, folder: change.Folder{}}.take(p)
		if err != nil {
			b.Fatal(err)
		}
		job := &applying{ctx: b.Context(), store: s, state: state, changes: batch.Changes}
		back := &applying{ctx: b.Context(), store: s, state: state, changes: batch.Changes, undo: true}
		for _, j := range []*applying{job, back} {
			if w := j.write(); w.err != nil {
				b.Fatal(w.err)
			}
		}
		ours += time.Since(start)
		start = time.Now()
		baseline(b, b.TempDir(), work, batch.Changes, was)
		plain += time.Since(start)
		b.StopTimer()
		if err := os.RemoveAll(filepath.Join(state, "objects")); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(ours)/float64(plain), "x-plain")
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ms-ours")
}

// baseline reads each file and writes as many bytes as often: kept before and
// after, applied, taken back.
func baseline(b *testing.B, to, work string, changes []dispatch.Change, text string) {
	b.Helper()
	for n := range 4 {
		for _, c := range changes {
			if _, err := os.ReadFile(filepath.Join(work, c.File)); err != nil {
				b.Fatal(err)
			}
			f, err := os.Create(filepath.Join(to, fmt.Sprint(n, c.File)))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.WriteString(text); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	}
}
