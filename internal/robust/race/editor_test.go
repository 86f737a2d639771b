package race

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// styles are the ways in which programs save a file.
var styles = [...]string{"truncate", "in place", "rename", "vim", "delete"}

// spin passes a time that is too short to sleep. Nothing waits by it: it moves
// the two saves of a round against each other.
func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// raceBoard is the board of a round, long enough for a save to take its time.
func raceBoard(n int) []byte {
	var b bytes.Buffer
	b.WriteString("---\nkanban-plugin: board\n---\n\n## Plan\n\n")
	for i := range 400 {
		fmt.Fprintf(&b, "- [ ] card %d of round %d and some more words\n", i, n)
	}
	b.WriteString("\n## Review\n\n- [ ] other\n")
	return b.Bytes()
}

// typed is what the person does to the copy in the editor.
func typed(cur []byte, n int) []byte {
	card := fmt.Appendf(nil, "card 10 of round %d", n)
	return bytes.Replace(cur, card, append(card, " EDITED"...), 1)
}

// editor is a program that loads a board, lets its person think, and saves:
// path, style, round, thinking and gap in µs, by tabs. It says when it has
// loaded, and how the save went.
func editor(commands io.Reader, out io.Writer) {
	become()
	for in := bufio.NewScanner(commands); in.Scan(); {
		f := strings.Split(in.Text(), "\t")
		n, _ := strconv.Atoi(f[2])
		data := typed(raceBoard(n), n) // loaded before our change
		fmt.Fprintln(out, "loaded")
		spin(micros(f[3]))
		fmt.Fprintln(out, save(f[0], f[1], data, micros(f[4])))
	}
}

func micros(s string) time.Duration {
	n, _ := strconv.Atoi(s)
	return time.Duration(n) * time.Microsecond
}

// save writes data to name; gap is how long the program takes between two of
// its steps.
func save(name, style string, data []byte, gap time.Duration) error {
	flags, path := os.O_WRONLY|os.O_CREATE|os.O_TRUNC, name
	var begin, end error
	switch style {
	case "in place":
		flags = os.O_WRONLY | os.O_CREATE
	case "rename":
		path = name + ".ed"
	case "vim":
		begin = os.Rename(name, name+"~")
		spin(gap)
	case "delete":
		begin = os.Remove(name)
		spin(gap)
	}
	written := write(path, flags, data, gap)
	switch style {
	case "rename":
		end = os.Rename(path, name)
	case "vim":
		end = os.Remove(name + "~")
	}
	return errors.Join(begin, written, end)
}

func write(name string, flags int, data []byte, gap time.Duration) error {
	f, err := os.OpenFile(name, flags, 0o666)
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
