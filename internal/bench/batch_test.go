package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/change"
)

// manuscript is a note of about size characters, other words for each seed.
func manuscript(size, seed int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "## Part %d of draft %d\n\nA paragraph about [[Note %02d]] and what `follows` from it.\n", i, seed, i%20)
		for k := range 5 {
			fmt.Fprintf(&b, "It goes on with sentence %d, and then with %d more words of draft %d.\n", k, i, seed)
		}
		fmt.Fprintf(&b, "\n- [ ] task %d\n- [x] task %d\n\n| what | when |\n|---|---|\n| part %d | draft %d |\n\n", i, i+1, i, seed)
	}
	return b.String()
}

// BenchmarkBatch is what a batch costs beside its writes: all contents of 20
// files replaced, read as they were, compared with the disk before they are
// written, verified and their structure checked after; beside reading those
// bytes and writing them durably.
func BenchmarkBatch(b *testing.B) {
	const files, warm, runs = 20, 3, 10
	for _, size := range []int{30_000, 480_000} {
		root := b.TempDir()
		name := func(i int) string { return fmt.Sprintf("Note %02d.md", i) }
		read := func(file string) (string, error) {
			text, err := os.ReadFile(filepath.Join(root, file))
			return string(text), err
		}
		folder := change.Folder{Read: read, Files: func() (names []string) {
			for i := range files {
				names = append(names, name(i))
			}
			return names
		}}
		var criteria []change.Criterion
		for i := range files {
			must(b, os.WriteFile(filepath.Join(root, name(i)), []byte(manuscript(size, 0)), 0o644))
			criteria = append(criteria, change.Criterion{Test: change.Structure, File: name(i)})
		}
		var ours, floor times
		for run := range warm + runs {
			next := manuscript(size, run+1)
			changes := make([]change.Change, files)
			var before, after times
			before.take(func() {
				for i := range changes {
					text, err := read(name(i))
					must(b, err)
					changes[i] = change.Change{Kind: change.Edit, File: name(i), Before: text, After: next}
				}
				if problems := change.Preflight(changes, read); problems != nil {
					b.Fatal(problems)
				}
			})
			write := times{}
			write.take(func() {
				for _, c := range changes {
					_, err := read(c.File)
					must(b, err)
					must(b, bareWrite(root, c.File, []byte(c.After)))
				}
			})
			after.take(func() {
				said := append([]change.Criterion{
					{Test: change.Present, File: name(0), Text: fmt.Sprintf("of draft %d", run+1)},
					{Test: change.Absent, File: change.Everywhere, Text: fmt.Sprintf("of draft %d\n", run)},
				}, criteria...)
				if v, err := change.Verify(folder, changes, said); err != nil || !v.Passed {
					b.Fatalf("%+v, %v", v, err)
				}
			})
			if run >= warm {
				ours, floor = append(ours, before[0]+after[0]), append(floor, write[0])
			}
		}
		results.add(b, fmt.Sprintf("batch of %d files of %d characters: checks / reads and durable writes", files, size), "×", ours.over(floor), 3,
			fmt.Sprintf("%.1f ms / %.1f ms", ms(ours.median()), ms(floor.median())))
	}
}
