package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"deckhand/internal/control"
)

// broken is a standard output that fails.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestOutputThatCannotBeWritten(t *testing.T) {
	for name, args := range map[string][]string{"text": {"version"}, "help": {"--help"}, "JSON": {"project", "list", "--json"}} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DECKHAND_CONFIG", t.TempDir()+"/none.yaml")
			var errs strings.Builder
			if code := Main(args, io.LimitReader(nil, 0), broken{syscall.ENOSPC}, &errs); code != control.CodeError {
				t.Errorf("exit code %d", code)
			}
			if want := "no space left on device"; strings.Count(errs.String(), want) != 1 || !strings.HasPrefix(errs.String(), "deckhand: ") {
				t.Errorf("errors %q", errs.String())
			}
			errs.Reset()
			if code := Main(args, io.LimitReader(nil, 0), broken{fmt.Errorf("write: %w", syscall.EPIPE)}, &errs); code != 141 || errs.Len() > 0 {
				t.Errorf("closed pipe: exit code %d, errors %q", code, errs.String())
			}
		})
	}
}

// What went wrong before counts for more than that it could not be printed.
func TestOutputErrorsGiveWay(t *testing.T) {
	full := &output{err: errors.New("full")}
	other := errors.New("other")
	if err := full.or(other); err != other {
		t.Errorf("got %v", err)
	}
	if err := full.or(exit(3)); err == nil || !strings.HasSuffix(err.Error(), ": full") {
		t.Errorf("got %v", err)
	}
	if err := (&output{}).or(exit(3)); err != exit(3) {
		t.Errorf("got %v", err)
	}
}

func TestLogIsCleaned(t *testing.T) {
	var b strings.Builder
	w := lines{&b}
	for _, s := range []string{"14:03 a\x1b[31m\r.md: bad\n", "one\n14:03 forged\x9b\n", "no end", "\n"} {
		if n, err := io.WriteString(w, s); n != len(s) || err != nil {
			t.Errorf("%q: %d %v", s, n, err)
		}
	}
	want := "14:03 a\\x1b[31m\\r.md: bad\none\n  14:03 forged\\x9b\nno end\n\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	if n, err := (lines{broken{syscall.EIO}}).Write([]byte("x\n")); n != 0 || !errors.Is(err, syscall.EIO) {
		t.Errorf("a log that fails: %d %v", n, err)
	}
}

func TestFolded(t *testing.T) {
	var b strings.Builder
	table(&b, folded([][]string{{"ok", "git", "here"}, {"no", "boards", "2 boards\r\n\ta.md: \x1b\nb.md: bad\n"}, {"", "hint", ""}}))
	want := "ok  git     here\nno  boards  2 boards\n                a.md: \\x1b\n            b.md: bad\n    hint\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
