package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestGlance(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	s, root := open(t, "a/b/Note.md", "text\n", "Big.md", string(big), "Empty.md", "")
	out := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(out, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"Out.md": out, "Up.md": "../../../etc/hostname", "In.md": "a/b/Note.md"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	g := s.Glancer()
	defer g.Close()
	for name, want := range map[string]string{"a/b/Note.md": "text\n", "Big.md": string(big), "Empty.md": "", "In.md": "text\n"} {
		if got, err := g.Read(name); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(want), err)
		}
		want = want[:min(len(want), glance)]
		if got, err := g.Head(name); err != nil || string(got) != want {
			t.Errorf("%s begins with %d bytes of %d, %v", name, len(got), len(want), err)
		}
	}
	for _, name := range []string{"Out.md", "Up.md", "../x", "None.md", "a"} {
		if got, err := g.Read(name); err == nil {
			t.Errorf("%s gave %q", name, got)
		}
		if got, err := g.Head(name); err == nil {
			t.Errorf("%s begins with %q", name, got)
		}
	}
}
