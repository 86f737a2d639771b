package store

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain is also the main function of the second processes of these tests.
func TestMain(m *testing.M) {
	switch os.Getenv("STORE_TEST_CHILD") {
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

// open makes a store on a new folder with the given files (path, contents, …).
func open(t testing.TB, files ...string) (*Store, string) {
	t.Helper()
	return openWith(t, Options{State: t.TempDir(), Grace: time.Hour}, files...)
}

func openWith(t testing.TB, o Options, files ...string) (*Store, string) {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		put(t, filepath.Join(root, files[i]), files[i+1])
	}
	s, err := Open(root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return s, root
}

func put(t testing.TB, name, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func want(t testing.TB, name, data string) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != data {
		t.Errorf("%s:\n%q\nwant\n%q", filepath.Base(name), got, data)
	}
}

// noTemp checks that nothing of ours is left anywhere under root.
func noTemp(t testing.TB, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(name), ".deckhand-") {
			t.Errorf("left behind: %s", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// replace is an operation: it puts b in the place of a, and holds when b is
// there already.
func replace(a, b string) Op {
	return func(cur []byte) ([]byte, error) {
		switch {
		case bytes.Contains(cur, []byte(b)):
			return cur, nil
		case bytes.Contains(cur, []byte(a)):
			return bytes.Replace(cur, []byte(a), []byte(b), 1), nil
		}
		return nil, errNotThere
	}
}

var errNotThere = errors.New("the card is not there")

func TestUpdate(t *testing.T) {
	s, root := open(t, "Shop.md", "## Plan\n- [ ] a\n")
	res, err := s.Update(t.Context(), "Shop.md", replace("[ ]", "[x]"))
	if err != nil || !res.Changed || res.Swaps != 1 {
		t.Fatalf("got %+v, %v", res, err)
	}
	want(t, filepath.Join(root, "Shop.md"), "## Plan\n- [x] a\n")
	if res.Hash != hashOf(res.Bytes) || string(res.Bytes) != "## Plan\n- [x] a\n" {
		t.Errorf("result %q does not say what is there", res.Bytes)
	}
	if !s.Own("Shop.md", res.Hash) || s.Own("Shop.md", hashOf([]byte("other"))) || s.Own("Other.md", res.Hash) {
		t.Error("only what was written is ours, only where it was written")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	noTemp(t, root)
}

// Case 02: looking, and an operation that changes nothing, write nothing.
func TestNothingToChange(t *testing.T) {
	text := "## Plan\r\n\r\n- [ ] Nothing to do here  \r\n\r\n\r\n## Review\r\n- [x] done\r\n\r\n"
	s, root := open(t, "board.md", text)
	name := filepath.Join(root, "board.md")
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	same := func(cur []byte) ([]byte, error) { return bytes.Clone(cur), nil }
	if res, err := s.Update(t.Context(), "board.md", same); err != nil || res.Changed || res.Swaps != 0 {
		t.Fatalf("got %+v, %v", res, err)
	}
	if _, err := s.Update(t.Context(), "board.md", replace("no such", "text")); !errors.Is(err, errNotThere) {
		t.Fatalf("got %v", err)
	}
	data, info, err := s.Read("board.md")
	if err != nil || string(data) != text || info.Size != int64(len(text)) || info.Inode == 0 {
		t.Fatalf("read %q %+v, %v", data, info, err)
	}
	after, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("the file is another one")
	}
	noTemp(t, root)
}

func TestAttributesStay(t *testing.T) {
	s, root := open(t, "a.md", "one\n")
	name := filepath.Join(root, "a.md")
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	hasAttr := unix.Setxattr(name, "user.label", []byte("red"), 0) == nil
	if os.Geteuid() == 0 {
		if err := os.Chown(name, 1234, 4321); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := os.Stat(name)
	if _, err := s.Update(t.Context(), "a.md", replace("one", "two")); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(name)
	if after.Mode() != before.Mode() || owner(after) != owner(before) {
		t.Errorf("mode %v owner %v, want %v %v", after.Mode(), owner(after), before.Mode(), owner(before))
	}
	buf := make([]byte, 10)
	if n, err := unix.Getxattr(name, "user.label", buf); hasAttr && (err != nil || string(buf[:n]) != "red") {
		t.Errorf("attribute %q, %v", buf[:max(n, 0)], err)
	}
}

func TestRefused(t *testing.T) {
	s, root := open(t, "nul.md", "a\x00b", "hard.md", "x", "ro.md", "x", "dir/x.md", "x")
	outside := t.TempDir()
	put(t, filepath.Join(outside, "o.md"), "x")
	for _, err := range []error{
		os.Link(filepath.Join(root, "hard.md"), filepath.Join(root, "hard2.md")),
		os.Chmod(filepath.Join(root, "ro.md"), 0o444),
		os.Symlink(filepath.Join(outside, "o.md"), filepath.Join(root, "abs.md")),
		os.Symlink("../"+filepath.Base(outside)+"/o.md", filepath.Join(root, "rel.md")),
		os.Symlink(outside, filepath.Join(root, "away")),
		os.Symlink("loop.md", filepath.Join(root, "loop.md")),
		unix.Mkfifo(filepath.Join(root, "pipe.md"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		rel string
		err error
	}{
		{"../x.md", ErrOutside},
		{"/etc/passwd", ErrOutside},
		{".", ErrOutside},
		{"abs.md", ErrLink},
		{"rel.md", ErrLink},
		{"away/o.md", ErrLink},
		{"loop.md", unix.ELOOP},
		{"hard.md", ErrHardLink},
		{"ro.md", ErrReadOnly},
		{"nul.md", ErrNUL},
		{"dir", ErrNotFile},
		{"pipe.md", ErrNotFile},
	} {
		_, err := s.Update(t.Context(), tc.rel, func(cur []byte) ([]byte, error) { return append(cur, "y"...), nil })
		if !errors.Is(err, tc.err) {
			t.Errorf("%s: got %v, want %v", tc.rel, err, tc.err)
		} else if strings.Count(err.Error(), tc.rel) != 1 {
			t.Errorf("%v does not name the file once", err)
		}
	}
	want(t, filepath.Join(root, "nul.md"), "a\x00b")
	want(t, filepath.Join(outside, "o.md"), "x")
	if _, err := s.Update(t.Context(), "dir/x.md", func([]byte) ([]byte, error) { return []byte("a\x00"), nil }); !errors.Is(err, ErrNUL) {
		t.Errorf("NUL bytes were written: %v", err)
	}
	noTemp(t, root)
}

// Case 18: a link inside the work folder is followed and stays a link.
func TestLinkStays(t *testing.T) {
	s, root := open(t, "real/board.md", "## Plan\n- [ ] Linked @pi\n", "work/deep/x", "")
	for link, to := range map[string]string{
		"work/board.md": "../real/board.md", "l": "work/deep", "work/deep/up.md": "../../real/board.md", "chain.md": "work/board.md",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	last := "- [ ] Linked"
	for _, rel := range []string{"work/board.md", "l/up.md", "chain.md"} {
		next := last + "."
		res, err := s.Update(t.Context(), rel, func(cur []byte) ([]byte, error) {
			return bytes.Replace(cur, []byte(last), []byte(next), 1), nil
		})
		if err != nil || !res.Changed {
			t.Fatalf("%s: %+v, %v", rel, res, err)
		}
		last = next
		want(t, filepath.Join(root, "real/board.md"), "## Plan\n"+last+" @pi\n")
		if st, _ := os.Lstat(filepath.Join(root, rel)); st.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", rel)
		}
		if !s.Own("real/board.md", res.Hash) {
			t.Errorf("%s: our write is not known by the target's path", rel)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	noTemp(t, root)
}

func TestCreate(t *testing.T) {
	s, root := open(t, "there.md", "x")
	if err := s.Create(t.Context(), "deckhand/chats/2026-11/a.md", []byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	want(t, filepath.Join(root, "deckhand/chats/2026-11/a.md"), "hello\n")
	if !s.Own("deckhand/chats/2026-11/a.md", hashOf([]byte("hello\n"))) {
		t.Error("not known as ours")
	}
	if err := os.Symlink("nowhere.md", filepath.Join(root, "link.md")); err != nil {
		t.Fatal(err)
	}
	for _, rel := range []string{"there.md", "link.md", "deckhand"} {
		if err := s.Create(t.Context(), rel, []byte("y")); !errors.Is(err, ErrExists) {
			t.Errorf("%s: got %v", rel, err)
		}
	}
	want(t, filepath.Join(root, "there.md"), "x")
	noTemp(t, root)
}

func TestUpdateMakesTheFile(t *testing.T) {
	s, root := open(t)
	res, err := s.UpdateNow(t.Context(), "deckhand/Needs me.md", func(cur []byte) ([]byte, error) {
		if cur != nil {
			t.Errorf("cur is %q", cur)
		}
		return []byte("# Nothing needs you\n"), nil
	})
	if err != nil || !res.Changed {
		t.Fatalf("%+v, %v", res, err)
	}
	want(t, filepath.Join(root, "deckhand/Needs me.md"), "# Nothing needs you\n")
	if res, err := s.UpdateNow(t.Context(), "not/there.md", func([]byte) ([]byte, error) { return nil, nil }); err != nil || res.Changed {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := os.Stat(filepath.Join(root, "not")); err == nil {
		t.Error("a folder was made for nothing")
	}
}

// Case 09: a missing line end of our own file is repaired before appending.
func TestAppend(t *testing.T) {
	s, root := open(t, "journal.md", "2026-01-02 09:00 applied edit")
	name := filepath.Join(root, "journal.md")
	for _, line := range []string{"two\n", "three"} {
		if err := s.Append(t.Context(), "journal.md", []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	want(t, name, "2026-01-02 09:00 applied edit\ntwo\nthree\n")
	data, _ := os.ReadFile(name)
	if !s.Own("journal.md", hashOf(data)) {
		t.Error("not known as ours")
	}
	if err := s.Append(t.Context(), "new/journal.md", []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	want(t, filepath.Join(root, "new/journal.md"), "one\n")
}

func TestStateFolderInside(t *testing.T) {
	root := t.TempDir()
	if s, err := Open(root, Options{State: filepath.Join(root, "state")}); err == nil {
		s.Close()
		t.Error("a state folder inside the work folder was taken")
	}
}

func TestCapabilities(t *testing.T) {
	dir := t.TempDir()
	if _, err := Capabilities(dir); err != nil {
		t.Fatal(err)
	}
	noTemp(t, dir)
}
