package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var (
	samples = flag.Int("samples", 200, "cards that are saved to measure the way to their agents")
	long    = flag.Bool("long", false, "also what takes minutes: 100,000 notes, ten idle minutes")
)

// built are the programs under measurement, made once, in bin.
var (
	built = sync.OnceValues(build)
	bin   string
)

// programs are deckhand, as it is released, and the agent that tells when it began.
type programs struct{ deckhand, agent string }

func build() (p programs, err error) {
	p.deckhand, p.agent = filepath.Join(bin, "deckhand"), filepath.Join(bin, "agent")
	for out, pkg := range map[string]string{p.deckhand: "deckhand", p.agent: "deckhand/internal/bench/testdata/agent"} {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return p, fmt.Errorf("building %s: %w\n%s", pkg, err, text)
		}
	}
	return p, nil
}

func TestMain(m *testing.M) {
	flag.Parse()
	start := time.Now()
	var err error
	if bin, err = os.MkdirTemp("", "dh-bench-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	results.print(os.Stdout, time.Since(start))
	os.RemoveAll(bin)
	os.Exit(code)
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
