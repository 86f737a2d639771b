// Package robust holds the proofs that nothing is lost and nothing happens
// twice, each in a package of its own below this one, and what they share: the
// program in a process of its own that can be killed at a named point, a place
// to run it in, and the figures for docs/reliability.md.
//
//	go test ./internal/robust/...                      the short form
//	go test ./internal/robust/... -robust.rounds 500   the full form
//	… -robust.page                                     and the figures go into the page
//
// A proof counts what the world saw: the agent's own record, the bytes of the
// files, the processes. It does not ask the program whether it did well.
//
// Not for: how a part works. Its own package tests that.
package robust

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"deckhand/cli"
)

// full is the number of rounds at which every proof runs as often as the page
// says.
const full = 500

// Suite is what one package of proofs shares: its TestMain calls Main.
type Suite struct {
	Section string // of the page

	rounds  int
	mu      sync.Mutex
	figures []figure // guarded by mu
}

// figure is one line of the page's table.
type figure struct{ what, value string }

// Main runs the tests. The same program is also deckhand, with whatever command
// stands first: so the keeper, the stand-in agent and the daemon of a proof are
// what is under test, and "daemon OPTIONS" is a daemon that can be killed at a
// named point.
func (s *Suite) Main(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(child(os.Args[1:]))
	}
	flag.IntVar(&s.rounds, "robust.rounds", 10, fmt.Sprintf("how much is tried; %d is the full form", full))
	page := flag.Bool("robust.page", false, "write the figures into docs/reliability.md")
	// Proofs wait for processes of their own more than they compute.
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.NumCPU())); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	flag.Parse()
	code := m.Run()
	s.print(os.Stdout)
	if *page && code == 0 && s.Section != "" {
		if err := s.publish(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// child is the program under test.
func child(args []string) int {
	switch args[0] {
	case "daemon":
		return daemonMain(args[1], os.Stderr)
	case gateCommand:
		fmt.Fprintln(os.Stderr, gateMain(args[1:]))
		return 1
	}
	return cli.Main(args, os.Stdin, os.Stdout, os.Stderr)
}

// Rounds is the share of n, what the full form does, that this run does: at
// least one.
func (s *Suite) Rounds(n int) int { return max(1, n*s.rounds/full) }

// Full reports whether this run is the full form.
func (s *Suite) Full() bool { return s.rounds >= full }

// Figure keeps a line for the page. The same what again replaces it.
func (s *Suite) Figure(t testing.TB, what, format string, args ...any) {
	t.Helper()
	f := figure{what, fmt.Sprintf(format, args...)}
	t.Logf("%s: %s", f.what, f.value)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.figures, func(o figure) bool { return o.what == what }); i >= 0 {
		s.figures[i] = f
		return
	}
	s.figures = append(s.figures, f)
}

// print writes the table; its order does not depend on which test ended first.
func (s *Suite) print(w io.Writer) {
	slices.SortFunc(s.figures, func(a, b figure) int { return strings.Compare(a.what, b.what) })
	if len(s.figures) == 0 {
		return
	}
	fmt.Fprintf(w, "\n| %s, rounds %d | measured |\n| --- | --- |\n", s.Section, s.rounds)
	for _, f := range s.figures {
		fmt.Fprintf(w, "| %s | %s |\n", f.what, f.value)
	}
}
