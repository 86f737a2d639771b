package race

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"deckhand/internal/store"
)

// The ways of writing that are compared.
const (
	ours    = "deckhand"
	naive   = "read, write, rename"
	careful = "read, write, read again, rename"
)

const boardName = "board.md"

// settle is how long the writer leaves a file alone that is being saved.
const settle = 2 * time.Millisecond

// errNotThere: the operation does not apply to these bytes.
var errNotThere = errors.New("the card is not there")

// moveCard moves card 300 to Review.
func moveCard(n int) store.Op {
	card := fmt.Appendf(nil, "- [ ] card 300 of round %d and some more words\n", n)
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

// userEnv names the user that the processes of a race are to be, when the
// tests are root's.
const userEnv = "RACE_USER"

func become() {
	id, err := strconv.Atoi(os.Getenv(userEnv))
	if err != nil {
		return
	}
	syscall.Umask(0) // two users share the folder
	for _, err := range []error{syscall.Setgroups(nil), syscall.Setgid(id), syscall.Setuid(id)} {
		if err != nil {
			panic(err)
		}
	}
}

// writer moves cards when it is told to: what, round and delay in µs, by tabs.
// It answers with the number of swaps and the error.
func writer(root, state string, commands io.Reader, out io.Writer) {
	become()
	ctx := context.Background()
	s, err := store.Open(root, store.Options{State: state, Settle: settle, Grace: time.Hour, Fault: killAt(os.Getenv(killEnv))})
	if err != nil {
		panic(err)
	}
	if _, err := s.Recover(ctx); err != nil {
		panic(err)
	}
	fmt.Fprintln(out, "ready")
	for in := bufio.NewScanner(commands); in.Scan(); {
		f := strings.Split(in.Text(), "\t")
		n, _ := strconv.Atoi(f[1])
		spin(micros(f[2]))
		swaps, err := do(ctx, s, root, f[0], moveCard(n))
		if errors.Is(err, errNotThere) {
			err = nil
		}
		fmt.Fprintf(out, "%d\t%v\n", swaps, err)
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
}

// killEnv names the step of a write at which the writer ends itself with -9.
const killEnv = "RACE_KILL"

func killAt(step string) func(string) {
	return func(point string) {
		if point == step {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal is delivered
		}
	}
}

func do(ctx context.Context, s *store.Store, root, way string, op store.Op) (swaps int, err error) {
	name := filepath.Join(root, boardName)
	switch way {
	case naive, careful:
		return 0, rewrite(name, way, op)
	case flush:
		return 0, s.Flush(ctx)
	case poll:
		return lookAgain(ctx, s, name, op)
	}
	res, err := s.UpdateNow(ctx, boardName, op)
	return res.Swaps, err
}

const (
	flush  = "flush"      // the writer looks at the copies it has displaced
	poll   = "poll"       // it writes again and again, until there is a file
	enough = ".enough.md" // of this name
)

// lookAgain moves the card until it is told that the race is over, and once
// more.
func lookAgain(ctx context.Context, s *store.Store, name string, op store.Op) (swaps int, err error) {
	for over := false; !over; {
		_, err := os.Stat(name + enough)
		if over = err == nil; over {
			if err := s.Flush(ctx); err != nil {
				return swaps, err
			}
		}
		res, err := s.Update(ctx, boardName, op)
		if err != nil && !errors.Is(err, errNotThere) {
			return swaps, err
		}
		swaps = max(swaps, res.Swaps)
	}
	return swaps, nil
}

// rewrite is how files are written otherwise: whole, beside it, renamed over.
// The careful form looks once more before the rename.
func rewrite(name, way string, op store.Op) error {
	for range 10 {
		cur, err := os.ReadFile(name)
		if err != nil {
			return ignoreMissing(err)
		}
		out, err := op(cur)
		if err != nil || bytes.Equal(out, cur) {
			return err
		}
		if err := durable(name+".new", out); err != nil {
			return err
		}
		if way == careful {
			if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, cur) {
				continue
			}
		}
		return os.Rename(name+".new", name)
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func durable(name string, data []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}
