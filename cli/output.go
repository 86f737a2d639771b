package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
)

// output is the standard output. It remembers that it could not be written: a
// text that is missing is no success.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// or is how a command ended that gave err, with what it printed in mind. Who
// closed the pipe wants no more, and is told nothing: the exit code is what
// shells make of SIGPIPE.
func (o *output) or(err error) error {
	var code exit
	switch {
	case o.err == nil:
		return err
	case errors.Is(o.err, syscall.EPIPE):
		return exit(128 + int(syscall.SIGPIPE))
	case err == nil || errors.As(err, &code):
		return fmt.Errorf("the output cannot be written: %w", o.err)
	}
	return err
}

// lines passes the daemon's log on. What it names is escaped; a write that holds
// several lines stands as one line and what belongs to it, so that no name can
// pass for a line of its own.
type lines struct{ w io.Writer }

func (l lines) Write(p []byte) (int, error) {
	text := cleanText(strings.TrimSuffix(string(p), "\n"))
	if _, err := io.WriteString(l.w, strings.ReplaceAll(text, "\n", "\n  ")+"\n"); err != nil {
		return 0, err
	}
	return len(p), nil
}
