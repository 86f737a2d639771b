package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/change"
)

// BenchmarkDiff is the diff that a person decides on, beside git's on the same
// two files, which is a process that reads them.
func BenchmarkDiff(b *testing.B) {
	const size = 480_000
	old := manuscript(size, 0)
	for _, every := range []int{100, 3, 1} {
		lines := strings.SplitAfter(old, "\n")
		for i := range lines {
			if i%every == 0 {
				lines[i] = fmt.Sprintf("line %d, written anew\n", i)
			}
		}
		next := strings.Join(lines, "")
		dir := b.TempDir()
		must(b, os.WriteFile(filepath.Join(dir, "old.md"), []byte(old), 0o644))
		must(b, os.WriteFile(filepath.Join(dir, "new.md"), []byte(next), 0o644))
		var ours, git times
		for range 30 {
			git.take(func() {
				cmd := exec.Command("git", "diff", "--no-index", "--no-ext-diff", "old.md", "new.md")
				cmd.Dir = dir
				if out, err := cmd.Output(); len(out) == 0 {
					b.Fatal(err)
				}
			})
			ours.take(func() {
				if len(change.Compare(old, next).Hunks(3)) == 0 {
					b.Fatal("no hunks")
				}
			})
		}
		results.add(b, fmt.Sprintf("diff of 480 KB, %d%% of the lines / git diff", 100/every), "×", ours.over(git), 2,
			fmt.Sprintf("%.1f ms / %.1f ms", ms(ours.median()), ms(git.median())))
	}
}
