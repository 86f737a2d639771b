package race

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// process is a child that takes lines and gives lines.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	c := exec.Command(exe, args...)
	c.Env, c.Stderr = append(os.Environ(), env...), os.Stderr
	in, err := c.StdinPipe()
	must(t, err)
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	return &process{t, c, in, bufio.NewReader(out)}
}

func (p *process) tell(fields ...any) {
	p.t.Helper()
	line := fmt.Sprintln(fields...)
	for i, f := range fields {
		if i == 0 {
			line = fmt.Sprint(f)
			continue
		}
		line += "\t" + fmt.Sprint(f)
	}
	_, err := io.WriteString(p.in, line+"\n")
	must(p.t, err)
}

func (p *process) line() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	must(p.t, err)
	return strings.TrimSpace(line)
}

func (p *process) end() {
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		p.t.Error(err)
	}
}

// user is whose a process is; none: whoever runs the test.
type user struct{ id int }

func (u user) env() []string {
	if u.id == 0 {
		return nil
	}
	return []string{userEnv + "=" + strconv.Itoa(u.id)}
}

// referee has an editor and a writer and one board for both.
type referee struct {
	t            *testing.T
	root, state  string
	name         string
	person       user
	program      user
	editor, hand *process
}

func newReferee(t *testing.T, person, program user) *referee {
	t.Helper()
	dir := t.TempDir()
	r := &referee{t: t, root: filepath.Join(dir, "notes"), state: filepath.Join(dir, "state"), person: person, program: program}
	r.name = filepath.Join(r.root, boardName)
	must(t, os.Mkdir(r.root, 0o755))
	must(t, os.Mkdir(r.state, 0o700))
	if person.id != 0 {
		must(t, os.Chmod(filepath.Dir(dir), 0o755))
		must(t, os.Chmod(r.root, 0o777))
		must(t, os.Chown(r.state, program.id, program.id))
	}
	r.editor = start(t, person.env(), "editor")
	t.Cleanup(r.editor.end)
	r.write()
	return r
}

// write starts a writer, which first makes good what an earlier one has left.
func (r *referee) write(env ...string) {
	r.t.Helper()
	r.hand = start(r.t, append(r.program.env(), env...), "writer", r.root, r.state)
	r.expect(r.hand, "ready")
}

// race goes through all styles and fails for whatever is lost. beside is called
// after each round.
func (r *referee) race(who, way string, rounds int, beside func(style string, n int)) {
	r.t.Helper()
	met, lost := 0, 0
	for _, style := range styles {
		for n := range rounds {
			got := r.round(style, n, way)
			if got.swaps > 1 {
				met++
			}
			if got.missing != "" {
				lost++
				r.t.Errorf("%s, %s, round %d: %s", who, style, n, got.missing)
			}
			if beside != nil {
				beside(style, n)
			}
		}
	}
	what := strings.TrimSpace("saves and moves lost by deckhand " + who)
	suite.Figure(r.t, what, "%d of %d (%d saves fell between its read and its swap)", lost, rounds*len(styles), met)
}

// outcome is what a round left.
type outcome struct {
	missing string // what is lost; empty: nothing
	swaps   int
	held    int // 1: when the writer was killed the person's save was in a temp file alone
}

// round lets the editor and the writer change one board at the same time.
func (r *referee) round(style string, n int, way string) outcome {
	r.t.Helper()
	r.put(n)
	r.editor.tell(r.name, style, n, rand.IntN(5000), rand.IntN(300))
	r.expect(r.editor, "loaded")
	r.hand.tell(way, n, rand.IntN(4000))
	if way == poll {
		r.expect(r.editor, "<nil>")
		must(r.t, os.WriteFile(r.name+enough, nil, 0o666))
		swaps := r.swaps()
		must(r.t, os.Remove(r.name+enough))
		return outcome{missing: r.missing(n), swaps: swaps}
	}
	swaps := r.swaps()
	r.expect(r.editor, "<nil>")
	// What follows on the event of the save: a look at what was displaced, and
	// the move again when it is not there.
	r.hand.tell(flush, n, 0)
	r.swaps()
	r.hand.tell(way, n, 0)
	swaps = max(swaps, r.swaps())
	return outcome{missing: r.missing(n), swaps: swaps}
}

// killed is a round in which the writer dies before it compares. The next one
// starts at once, whatever the editor is doing.
func (r *referee) killed(style string, n int) outcome {
	r.t.Helper()
	r.hand.end()
	r.write(killEnv + "=compare")
	r.put(n)
	r.editor.tell(r.name, style, n, rand.IntN(2000), rand.IntN(300))
	r.expect(r.editor, "loaded")
	r.hand.tell(ours, n, 0)
	if _, err := r.hand.out.ReadString('\n'); !errors.Is(err, io.EOF) {
		r.t.Fatalf("the writer lives: %v", err)
	}
	_ = r.hand.cmd.Wait() // it was killed
	got := outcome{held: r.held(n)}
	r.write()
	r.expect(r.editor, "<nil>")
	for _, what := range []string{flush, ours} {
		r.hand.tell(what, n, 0)
		r.swaps()
	}
	got.missing = r.missing(n)
	return got
}

// held looks whether the person's save is where only deckhand finds it.
func (r *referee) held(n int) int {
	r.t.Helper()
	temps, err := filepath.Glob(filepath.Join(r.root, ".deckhand-*"))
	must(r.t, err)
	edit := typed(raceBoard(n), n)
	if board, err := os.ReadFile(r.name); err == nil && bytes.Contains(board, []byte(" EDITED")) {
		return 0 // it came before deckhand's read
	}
	for _, name := range temps {
		data, err := os.ReadFile(name)
		must(r.t, err)
		if bytes.Equal(data, edit) {
			return 1
		}
	}
	return 0
}

func (r *referee) put(n int) {
	r.t.Helper()
	must(r.t, os.WriteFile(r.name, raceBoard(n), 0o666))
	if id := r.person.id; id != 0 {
		must(r.t, os.Chown(r.name, id, id))
		must(r.t, os.Chmod(r.name, 0o666))
	}
}

func (r *referee) expect(p *process, want string) {
	r.t.Helper()
	if got := p.line(); got != want {
		r.t.Fatalf("got %q, want %q", got, want)
	}
}

// swaps reads the writer's answer.
func (r *referee) swaps() int {
	r.t.Helper()
	swaps, err, _ := strings.Cut(r.hand.line(), "\t")
	if err != "<nil>" {
		r.t.Errorf("the writer: %s", err)
	}
	n, _ := strconv.Atoi(swaps)
	return n
}

// missing compares the board with what both wanted, byte for byte.
func (r *referee) missing(n int) string {
	r.t.Helper()
	final, err := os.ReadFile(r.name)
	must(r.t, err)
	edited := typed(raceBoard(n), n)
	both, err := moveCard(n)(edited)
	must(r.t, err)
	moved, err := moveCard(n)(raceBoard(n))
	must(r.t, err)
	switch {
	case bytes.Equal(final, both):
		return ""
	case bytes.Equal(final, moved):
		return "the edit is lost"
	case bytes.Equal(final, edited):
		return "the move is lost"
	case bytes.Count(final, fmt.Appendf(nil, "card 300 of round %d ", n)) > 1:
		return "the card is there twice"
	}
	return fmt.Sprintf("neither theirs nor ours: %d bytes", len(final))
}

// clean ends the writer and checks that it left nothing of its own.
func (r *referee) clean() {
	r.t.Helper()
	r.hand.end()
	entries, err := os.ReadDir(r.root)
	must(r.t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".deckhand-") {
			r.t.Errorf("left behind: %s", e.Name())
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
