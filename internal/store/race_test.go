package store

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var raceRounds = flag.Int("race.rounds", 150, "rounds of each save style in the race with an editor")

// styles are the ways in which editors save.
var styles = []string{"truncate", "in place", "rename", "vim"}

// TestMain is also the main function of the second processes of these tests.
func TestMain(m *testing.M) {
	switch os.Getenv("STORE_TEST_CHILD") {
	case "editor":
		editor(os.Stdin)
	case "killed":
		killed()
	case "refused":
		refusedChild()
	default:
		os.Exit(m.Run())
	}
}

// child starts this test program again as something else.
func child(as string, env ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), "STORE_TEST_CHILD="+as), env...)
	c.Stderr = os.Stderr
	return c
}

// spin passes a time that is too short to sleep. Nothing waits by it: it moves
// the two saves of a round against each other.
func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

func raceBoard(round int) []byte {
	var b bytes.Buffer
	b.WriteString("---\nkanban-plugin: board\n---\n\n## Plan\n\n")
	for i := range 400 {
		fmt.Fprintf(&b, "- [ ] card %d of round %d and some more words\n", i, round)
	}
	b.WriteString("\n## Review\n\n- [ ] other\n")
	return b.Bytes()
}

// moveCard moves card 300 to Review.
func moveCard(round int) Op {
	card := fmt.Appendf(nil, "- [ ] card 300 of round %d and some more words\n", round)
	lane := []byte("## Review\n\n")
	return func(cur []byte) ([]byte, error) {
		i, r := bytes.Index(cur, card), bytes.Index(cur, lane)
		switch {
		case i < 0 || r < 0:
			return nil, errNotThere
		case i > r:
			return cur, nil
		}
		r += len(lane)
		return slices.Concat(cur[:i], cur[i+len(card):r], card, cur[r:]), nil
	}
}

// typed is what the person does to the copy in the editor.
func typed(cur []byte, round int) []byte {
	card := fmt.Appendf(nil, "card 10 of round %d", round)
	return bytes.Replace(cur, card, append(card, " EDITED"...), 1)
}

// editor saves on command: path, style, round, delay and gap in µs, by tabs.
func editor(commands io.Reader) {
	for in := bufio.NewScanner(commands); in.Scan(); {
		f := strings.Split(in.Text(), "\t")
		round, _ := strconv.Atoi(f[2])
		delay, _ := strconv.Atoi(f[3])
		gap, _ := strconv.Atoi(f[4])
		data := typed(raceBoard(round), round) // loaded before our change
		fmt.Println("loaded")
		spin(time.Duration(delay) * time.Microsecond)
		fmt.Println(save(f[0], f[1], data, time.Duration(gap)*time.Microsecond))
	}
}

func save(name, style string, data []byte, gap time.Duration) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	switch style {
	case "in place":
		flags = os.O_WRONLY | os.O_CREATE
	case "rename":
		defer os.Rename(name+".ed", name)
		name += ".ed"
	case "vim":
		defer os.Remove(name + "~")
		if err := os.Rename(name, name+"~"); err != nil {
			return err
		}
		spin(gap)
	}
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	spin(gap)
	half := len(data) * 3 / 4
	if _, err := f.Write(data[:half]); err != nil {
		return err
	}
	spin(gap)
	if _, err := f.Write(data[half:]); err != nil {
		return err
	}
	return f.Truncate(int64(len(data)))
}

// hammer is an editor process and the folder it works in.
type hammer struct {
	t    *testing.T
	root string
	in   io.Writer
	out  *bufio.Reader
}

func newHammer(t *testing.T, root string) *hammer {
	c := child("editor")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &hammer{t, root, in, bufio.NewReader(out)}
}

func (h *hammer) line() string {
	line, err := h.out.ReadString('\n')
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// round lets the editor and move change one board at the same time and reports
// what is missing in the end: "", "edit", "move", "both".
func (h *hammer) round(i int, style string, move func(), after func()) string {
	name := filepath.Join(h.root, "board.md")
	put(h.t, name, string(raceBoard(i)))
	fmt.Fprintf(h.in, "%s\t%s\t%d\t%d\t%d\n", name, style, i, rand.IntN(2500), rand.IntN(300))
	if got := h.line(); got != "loaded" {
		h.t.Fatal(got)
	}
	spin(time.Duration(rand.IntN(400)) * time.Microsecond)
	move()
	if got := h.line(); got != "<nil>" {
		h.t.Fatal("the editor could not save: ", got)
	}
	after()
	final, err := os.ReadFile(name)
	if err != nil {
		h.t.Fatal(err)
	}
	edited := typed(raceBoard(i), i)
	both, _ := moveCard(i)(edited)
	moved, _ := moveCard(i)(raceBoard(i))
	switch {
	case bytes.Equal(final, both):
		return ""
	case bytes.Equal(final, moved):
		return "edit"
	case bytes.Equal(final, edited):
		return "move"
	}
	return "both"
}

// TestRaceWithEditor: a save of an editor and an update of ours meet, in four
// styles of saving; both must be there afterwards.
func TestRaceWithEditor(t *testing.T) {
	s, root := open(t)
	h := newHammer(t, root)
	met := 0
	for _, style := range styles {
		for i := range *raceRounds {
			op := moveCard(i)
			update := func() {
				res, err := s.UpdateNow(t.Context(), "board.md", op)
				if err != nil && !strings.Contains(err.Error(), errNotThere.Error()) {
					t.Error(err)
				}
				if res.Swaps > 1 {
					met++
				}
			}
			after := func() { // what the daemon does on the event of the save
				if err := s.Flush(t.Context()); err != nil {
					t.Error(err)
				}
				update()
			}
			if missing := h.round(i, style, update, after); missing != "" {
				t.Errorf("%s, round %d: %s lost", style, i, missing)
			}
		}
	}
	t.Logf("%d of %d saves fell between our read and our swap", met, len(styles)**raceRounds)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	noTemp(t, root)
}

// TestRaceControl: the same race with read, write, rename must lose edits,
// else the race above proves nothing.
func TestRaceControl(t *testing.T) {
	root := t.TempDir()
	h := newHammer(t, root)
	name := filepath.Join(root, "board.md")
	for i := range 5000 {
		move := func() {
			cur, err := os.ReadFile(name)
			if err != nil {
				return
			}
			if out, err := moveCard(i)(cur); err == nil {
				if err := bareWrite(root, "board.md", out); err != nil {
					t.Fatal(err)
				}
			}
		}
		if missing := h.round(i, styles[i%len(styles)], move, func() {}); missing == "edit" {
			t.Logf("lost the first edit in round %d", i)
			return
		}
	}
	t.Error("no edit was lost: the race is too weak")
}
