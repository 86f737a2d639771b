package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// nobody is a user without rights to anything.
const nobody = 65534

// attempt is one write into a folder that may not be written.
type attempt struct {
	Name     string
	Error    string
	ReadOnly bool
}

// A folder that may not be written is said as a file that may not be is, and
// with the reason. Root may write everything, so that a child of this program
// that is somebody else tries it.
func TestFolderThatMayNotBeWritten(t *testing.T) {
	root, state := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Dir(root), root, state} {
		must(t, os.Chmod(dir, 0o755))
	}
	for _, rel := range []string{"ro/a.md", "top.md"} {
		put(t, filepath.Join(root, rel), "- [ ] a\n")
		must(t, os.Chmod(filepath.Join(root, rel), 0o666))
	}
	put(t, filepath.Join(root, "ro.md"), "- [ ] a\n")
	must(t, os.Chmod(filepath.Join(root, "ro.md"), 0o444))
	if os.Geteuid() == 0 {
		must(t, os.Chown(state, nobody, nobody))
	}
	for _, dir := range []string{filepath.Join(root, "ro"), root} {
		must(t, os.Chmod(dir, 0o555))
		t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	}
	out, err := child("refused", "ROOT="+root, "STATE="+state).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []attempt
	must(t, json.Unmarshal(out, &got))
	want := []string{
		"ro/a.md: temp file: read-only: permission denied for the folder ro",
		"top.md: temp file: read-only: permission denied for the work folder",
		"ro/new.md: temp file: read-only: permission denied for the folder ro",
		"ro/sub/new.md: folder ro/sub: read-only: permission denied for the folder ro",
		"ro.md: read-only: permission denied",
		"ro/a.md: read-only: permission denied for the folder ro",
		"ro.md: read-only",
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, a := range got {
		if !a.ReadOnly || a.Error != want[i] {
			t.Errorf("%s: %q, read-only %v; want %q", a.Name, a.Error, a.ReadOnly, want[i])
		}
	}
	noTemp(t, root)
}

// Asking writes nothing, and says what writing would.
func TestWritable(t *testing.T) {
	s, root := open(t, "a.md", "- [ ] a\n")
	s.disk.fault = func(point string) error {
		if point == pointCreate || point == pointLog {
			t.Errorf("%s: something is written", point)
		}
		return nil
	}
	if err := s.Writable(t.Context(), "a.md"); err != nil {
		t.Error(err)
	}
	must(t, os.Link(filepath.Join(root, "a.md"), filepath.Join(root, "b.md")))
	if err := s.Writable(t.Context(), "a.md"); !errors.Is(err, ErrHardLink) || !strings.HasPrefix(err.Error(), "a.md: ") {
		t.Errorf("%v, want that it has two names", err)
	}
	if err := s.Writable(t.Context(), "gone.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want that it is gone", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refusedChild is somebody who may not write.
func refusedChild() {
	if os.Geteuid() == 0 {
		for _, err := range []error{syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)} {
			if err != nil {
				panic(err)
			}
		}
	}
	s, err := Open(os.Getenv("ROOT"), Options{State: os.Getenv("STATE"), Grace: time.Hour})
	if err != nil {
		panic(err)
	}
	var all []attempt
	note := func(name string, err error) {
		all = append(all, attempt{name, fmt.Sprint(err), errors.Is(err, ErrReadOnly)})
	}
	ctx := context.Background()
	for _, rel := range []string{"ro/a.md", "top.md"} {
		_, err := s.UpdateNow(ctx, rel, replace("[ ]", "[x]"))
		note("update "+rel, err)
	}
	note("create", s.Create(ctx, "ro/new.md", nil))
	note("create with a folder", s.Create(ctx, "ro/sub/new.md", nil))
	note("append", s.Append(ctx, "ro.md", []byte("x\n")))
	for _, rel := range []string{"ro/a.md", "ro.md"} {
		note("ask for "+rel, s.Writable(ctx, rel))
	}
	if err := errors.Join(s.Close(), json.NewEncoder(os.Stdout).Encode(all)); err != nil {
		panic(err)
	}
}

// What the system calls a refusal differs: a mount that is read-only, a sticky
// folder, a file that may not be replaced. The log's own disk is another one.
func TestRefusals(t *testing.T) {
	for _, errno := range []unix.Errno{unix.EACCES, unix.EPERM, unix.EROFS} {
		for _, c := range []struct {
			point string
			want  bool
		}{
			{pointCreate, true},
			{pointWrite, true},
			{pointSync, true},
			{pointExchange, true},
			{pointLog, false},
			{pointLogSync, false},
		} {
			s, root := open(t, "sub/a.md", "- [ ] a\n")
			s.disk.fault = func(point string) error {
				if point == c.point {
					return errno
				}
				return nil
			}
			_, err := s.UpdateNow(t.Context(), "sub/a.md", replace("[ ]", "[x]"))
			if !errors.Is(err, errno) || errors.Is(err, ErrReadOnly) != c.want || bytes.Count([]byte(fmt.Sprint(err)), []byte("sub/a.md")) != 1 {
				t.Errorf("%s at %s: %v", unix.ErrnoName(errno), c.point, err)
			}
			want(t, filepath.Join(root, "sub/a.md"), "- [ ] a\n")
			s.disk.fault = nil
		}
	}
}
